"""An MJCF file, as MuJoCo compiles it, into a tree, what ties it, its springs, and what was left out."""
