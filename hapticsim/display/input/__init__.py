"""Pointer, keys and wheel into the target of the hand and requests to the server."""
