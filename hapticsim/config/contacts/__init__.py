"""Pairs of names into pairs of shapes that may touch, or a sentence of refusal; what contacts cannot do."""
