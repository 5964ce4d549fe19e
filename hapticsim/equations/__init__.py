"""Equations of motion of one robot, written once over any scalar and compiled.

In the order of reading::

    scalars     numbers of any kind: floats, traced values; spatial vectors over them
    tree        recursions of a tree, line for line with Featherstone's book; Kane's quantities of a body
    catalogue   the functions that are offered, built from them
    codegen     a trace to straight-line code, machine code, and the cache
    solvers, algorithms   forward dynamics by every algorithm, one name each
    operations  what a function costs
    batch       a function at many states, on all cores
    compiled    the public face
    kane        the same for a mechanism in SymPy's words
"""
