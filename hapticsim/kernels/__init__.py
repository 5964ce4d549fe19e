"""Arrays in, arrays out: the compiled tick.  ``entry`` compiles it, ``arrays`` says what it works on."""
