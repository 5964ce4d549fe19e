"""YAML, URDF or a mapping into a Scene, or one sentence of refusal."""
