"""A name or FILE.py:CLASS into a device driver; what a driver does wrong becomes one sentence."""
