"""What a compiled MJCF file holds and is not taken over, a line each."""

from __future__ import annotations

from typing import Any

import numpy as np

from hapticsim.model.mjcf.naming import Names
from hapticsim.model.mjcf.tree import BALL, FREE


def left_out(mj: Any, names: Names) -> list[str]:
    """Return the lines."""
    counts = [f"{what} ({count})" for what, count in _counts(mj) if count]
    notes = [f"not taken over from the MJCF file: {', '.join(counts)}."] if counts else []
    free = [names.joints[j] for j in _joints(mj, mj.dof_armature) if mj.jnt_type[j] == FREE]
    if free:
        notes.append(f"the armature of free joints is left out: {', '.join(free)}.")
    balls = [
        names.joints[j] for j in range(mj.njnt) if mj.jnt_type[j] in (FREE, BALL) and mj.jnt_stiffness[j]
    ]
    if balls:
        notes.append(f"springs of ball and free joints are left out: {', '.join(balls)}.")
    limited = [names.joints[j] for j in range(mj.njnt) if mj.jnt_type[j] == BALL and mj.jnt_limited[j]]
    if limited:
        notes.append(f"limits of ball joints are left out: {', '.join(limited)}.")
    bent = [j for j in range(mj.njnt) if mj.jnt_stiffnesspoly[j].any() or mj.jnt_plasticadr[j] >= 0]
    bent += _joints(mj, mj.dof_dampingpoly.any(axis=1))
    if bent:
        named = ", ".join(dict.fromkeys(names.joints[j] for j in bent))
        notes.append(f"of springs and damping that are not linear the linear part alone is taken: {named}.")
    lifted = [names.bodies[b] for b in np.flatnonzero(mj.body_gravcomp)]
    if lifted:
        notes.append(f"gravity compensation of bodies (gravcomp) is left out: {', '.join(lifted)}.")
    if mj.opt.density or mj.opt.viscosity:
        notes.append("the medium (density, viscosity, wind) is left out: nothing drags.")
    if mj.opt.disableflags:
        notes.append("what option flag switches off in MuJoCo is not switched off here.")
    if mj.neq:
        notes.append("equalities are exact here: solref and solimp are not used.")
    return notes


def _counts(mj: Any) -> list[tuple[str, int]]:
    fixed = [all(mj.wrap_type[w] == 1 for w in _wraps(mj, t)) for t in range(mj.ntendon)]
    forces = (
        mj.tendon_stiffnesspoly.any(axis=1),
        mj.tendon_dampingpoly.any(axis=1),
        mj.tendon_plasticadr >= 0,
        mj.tendon_stiffness,
        mj.tendon_damping,
        mj.tendon_frictionloss,
        mj.tendon_limited,
        mj.tendon_armature,
    )
    acting = np.any([np.asarray(one, bool) for one in forces], axis=0) if mj.ntendon else np.zeros(0)
    return [
        ("actuators", mj.nactuator),
        ("sensors", mj.nsensor),
        ("tendons along sites", sum(not one for one in fixed)),
        ("fixed tendons with springs, damping, friction, armature or limits", int(np.sum(acting[fixed]))),
        ("flexible bodies and skins", mj.nflex + mj.nskin),
        ("plugins", mj.nplugin),
        ("contact pairs", mj.npair),
        ("mocap bodies, which stand still here", mj.nmocap),
    ]


def _wraps(mj: Any, tendon: int) -> range:
    return range(mj.tendon_adr[tendon], mj.tendon_adr[tendon] + mj.tendon_num[tendon])


def _joints(mj: Any, of_dof: np.ndarray) -> list[int]:
    """Numbers of the joints of which a speed has a value other than 0."""
    return sorted({int(mj.dof_jntid[d]) for d in np.flatnonzero(of_dof)})
