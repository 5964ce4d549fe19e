"""Files that hold a robot and no scene, a URDF or an MJCF file, into a model."""
