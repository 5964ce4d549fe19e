"""Traced equations into straight-line code, machine code, and a cache that is believed only to the bit."""
