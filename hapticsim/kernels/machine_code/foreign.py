"""Call compiled equations by address, so that one step kernel serves every robot.

A first-class function of numba is a pair of pointers; here it is built from the address alone, which can
stand in a tuple of integers and survives the disk cache.  A call costs a few nanoseconds.
"""

from __future__ import annotations

from llvmlite import ir
from numba import f8, types
from numba.core import cgutils
from numba.extending import intrinsic

_vec, _mat, _cube = f8[::1], f8[:, ::1], f8[:, :, ::1]

KANE = types.void(_vec, _vec, _vec, _mat, _vec, _mat, _cube, _mat, _mat)  # q u qdot M h X V vel acc
KINEMATICS = types.void(_vec, _vec, _vec, _mat, _cube, _mat, _mat)  # q u qdot X V vel acc
FORWARD_DYNAMICS = types.void(_vec, _vec, _vec, _vec)  # q u tau udot
FORCE_OF_Q = types.void(_vec, _vec)  # q out
ENERGY = types.void(_vec, _vec, _vec)  # q u out
DISPLACE = types.void(_vec, _vec, _vec)  # q delta qnew
NORMALISE = types.void(_vec)  # q
RESPONSE_FACTOR = types.void(_vec, _vec)  # q F
RESPONSE = types.void(_vec, _vec, _vec)  # F tau x
ROWS = types.void(_vec, _vec, _vec, _mat, _vec, _vec)  # q u phi A b s


def callable_at(signature):
    """An intrinsic that turns an integer address into a first-class function of the signature."""
    kind = types.FunctionType(signature)

    @intrinsic
    def at_address(typing_context, address):
        def build(context, builder, _signature, args):
            function = cgutils.create_struct_proxy(kind)(context, builder)
            function.c_addr = builder.inttoptr(args[0], ir.IntType(8).as_pointer())
            function.py_addr = cgutils.get_null_value(function.py_addr.type)
            return function._getvalue()

        return kind(types.intp), build

    return at_address


kane_at = callable_at(KANE)
kinematics_at = callable_at(KINEMATICS)
forward_dynamics_at = callable_at(FORWARD_DYNAMICS)
force_at = callable_at(FORCE_OF_Q)
energy_at = callable_at(ENERGY)
displace_at = callable_at(DISPLACE)
normalise_at = callable_at(NORMALISE)
response_factor_at = callable_at(RESPONSE_FACTOR)
response_at = callable_at(RESPONSE)
rows_at = callable_at(ROWS)
