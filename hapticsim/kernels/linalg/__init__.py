"""Small dense linear algebra that allocates nothing."""
