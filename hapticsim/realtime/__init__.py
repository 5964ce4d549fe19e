"""The tick against the clock, and what passes between its thread and the others."""
