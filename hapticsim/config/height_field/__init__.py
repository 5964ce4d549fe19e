"""Heights over a grid into a closed surface that can be touched, or one sentence of refusal."""
