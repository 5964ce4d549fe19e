"""A published scene and state into a drawing."""
