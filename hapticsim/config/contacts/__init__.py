"""Entries of ``contacts`` into pairs of shapes that may touch, and notes of what these cannot do."""
