"""Convex solids that are joined to one shape: what of each shows on the outside, and is touched."""
