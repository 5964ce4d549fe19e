"""Friction of contacts in time steps: impulses in Coulomb's cone."""
