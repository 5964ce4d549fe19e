"""Equations of motion of one robot, written once over any scalar and compiled.

In the order of reading::

    spatial       6-D vectors, inertias and transforms over any scalar
    joints        what the recursions know about a joint: one table
    articulated   ABM, line for line with Featherstone's book, and other ways to write its elimination
    recursions    RNEA and CRBM, line for line with the same
    frames        Kane's quantities of a body: pose, partial velocities, velocity, remainder acceleration
    catalogue     the functions that are offered, built from the above
    precision     double and single
    trace         scalars that write down the arithmetic done with them
    emit          a trace to straight-line Python, the numbers of the model apart
    straightline  straight-line Python to LLVM
    transplant    machine code of one robot for another that differs in its numbers only
    cache         where the result is kept
    solvers       linear equations for the algorithms that form M
    algorithms    forward dynamics by every algorithm, one name each
    operations    what a function costs
    compiled      the public face
"""
