"""Names, bodies, joints, shapes, constraints: checked, in SI units, never changed."""
