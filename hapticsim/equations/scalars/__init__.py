"""Arithmetic that recursions are written in: spatial vectors over floats, traced values, many digits."""
