"""A concave mesh into a few convex solids that touch for it, or one sentence of refusal."""
