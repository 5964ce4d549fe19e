"""Bodies and joints in a tree: checked, ordered from the root outwards, never changed."""
