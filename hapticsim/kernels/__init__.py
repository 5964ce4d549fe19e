"""Arrays in, arrays out: the compiled tick.

Each room may use those before it::

    machine_code  how kernels are compiled, kept and called by address
    memory        the arrays of a run (arrays: what each of them means)
    haptics       coupler, safety, limits of force: a device's sample into the force for the hand
    linalg        small dense linear algebra
    solve         independent speeds, accelerations, forces, impulses
    units         the large parts of a tick, called by address
    geometry      gap and normal of a pair of shapes
    rows          the rows of contacts and constraints
    motion        the state after a piece of a tick
    events        what is done when a guard fires
    tick          the five stages of a tick: requests, begin, report, advance, commit
    step          the tick
    entry         all of it compiled, once for all robots
"""
