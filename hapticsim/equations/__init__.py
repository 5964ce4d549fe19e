"""Equations of motion of one robot, written once over any scalar and compiled.

In the order of reading::

    spatial       6-D vectors, inertias and transforms over any scalar
    joints        what the recursions know about a joint: one table
    recursions    RNEA, CRBM and ABM, line for line with Featherstone's book
    frames        Kane's quantities of a body: pose, partial velocities, velocity, remainder acceleration
    catalogue     the functions that are offered, built from the above
    trace         scalars that write down the arithmetic done with them
    emit          a trace to straight-line Python
    straightline  straight-line Python to LLVM
    cache         where the result is kept
    compiled      the public face
"""
