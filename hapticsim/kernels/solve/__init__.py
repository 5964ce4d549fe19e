"""Rows into independent speeds, accelerations, forces and impulses."""
