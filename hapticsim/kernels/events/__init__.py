"""A guard that fires into what is done about it: touch, release, slip, switch."""
