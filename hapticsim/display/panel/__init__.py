"""Published numbers into the instruments beside the picture."""
