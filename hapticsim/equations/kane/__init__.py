"""A mechanism in SymPy's words into Kane's equations, with the same face as those of a tree."""
