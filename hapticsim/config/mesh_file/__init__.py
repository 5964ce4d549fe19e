"""A file of triangles into a closed surface that can be touched, or one sentence of refusal."""
