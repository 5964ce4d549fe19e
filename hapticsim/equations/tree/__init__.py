"""A tree of bodies into Kane's quantities: recursions over any scalar, line for line with the book."""
