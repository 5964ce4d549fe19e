"""A sphere and a triangle mesh: what is nearest, what is touched, and by what feature."""
