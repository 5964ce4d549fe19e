"""Words of a command line into work: a run (live), a file (files), pages about it, upkeep."""
