"""The robot of a scene: its tree, and the shapes of its collision elements."""
