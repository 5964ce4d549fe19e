"""A recording into a replay, a picture, a film, a plot or a page."""
