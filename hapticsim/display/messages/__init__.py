"""Payloads of the wire into arrays that the window can trust."""
