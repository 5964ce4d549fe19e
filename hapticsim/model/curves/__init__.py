"""Points into a smooth curve that a guide follows, or a refusal of what bends or meets itself too closely."""
