"""A device's limits, a rate and a delay into gains with which it rests when it is let go."""
