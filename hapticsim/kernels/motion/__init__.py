"""A state into the state after a piece of a tick, smooth or stiff."""
