"""Scenes whose motion is known in closed form, and what is known of it (tools/check_truth.py)."""
