"""A scene into the arrays of a run, and whether it can start as it is written."""
