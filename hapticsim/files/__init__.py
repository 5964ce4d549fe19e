"""Paths that a user gives, into files that are safe to read or new to write, or one sentence of refusal."""
