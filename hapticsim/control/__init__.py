"""Controllers of a simulated robot: sampled-data subsystems, called once per servo cycle."""
