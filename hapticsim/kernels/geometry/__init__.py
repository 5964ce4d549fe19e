"""Poses of two shapes into a gap, a normal and the row of their contact."""
