"""Rows and events into words and payloads: what a run tells its observers and its recording."""
