"""The road between a device and the server: both of its ends."""
