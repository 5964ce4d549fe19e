"""What a mechanism by Kane's method is made of: variables, bodies, constraints and sensors.

It has no tree of joints, so that nothing is said of joints, of the mass matrix or of operations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hapticsim.model.mechanism_model import MechanismModel, Rows

Numbers = dict[str, Any]


def examine_mechanism(model: MechanismModel, q: np.ndarray | None = None) -> Numbers:
    """Return what there is to know about a mechanism at coordinates q (nq,), its own start by default.

    Everything is a number, a word, a list or a dict, ready for JSON.  ``rate_of`` of a speed is the
    coordinate whose rate it is, None where there is none.  Friction: static, kinetic, load [N] or whose force
    it is.
    """
    q = model.q0 if q is None else np.asarray(q, float)
    names = [c.name for c in model.coordinates]
    return {
        "name": model.name,
        "kind": "mechanism",
        "nq": model.nq,
        "nu": model.nu,
        "q": q.tolist(),
        "mass_kg": float(sum(b.mass for b in model.bodies)),
        "coordinates": [
            {"name": c.name, "unit": c.unit, "start": float(x)}
            for c, x in zip(model.coordinates, q, strict=True)
        ],
        "speeds": [
            {
                "name": s.name,
                "unit": f"{s.unit}/s",
                "start": float(x),
                "rate_of": names[i] if i >= 0 else None,
            }
            for s, x, i in zip(model.speeds, model.u0, model.rate_of, strict=True)
        ],
        "bodies": [{"name": b.name, "mass_kg": float(b.mass)} for b in model.bodies],
        "constraints": [_constraint(rows) for rows in model.rows],
        "handle": None
        if model.handle is None
        else {"body": model.handle[0], "point_m": list(model.handle[1])},
        "sensors": list(model.sensors),
    }


def _constraint(rows: Rows) -> Numbers:
    friction = None if rows.friction is None else list(rows.friction)
    return {"name": rows.name, "rows": rows.count, "held": rows.held, "friction": friction}


def mechanism_words(found: Numbers) -> str:
    """Return what ``examine_mechanism`` found, a line for each thing."""
    lines = [
        f"{found['name']}: a mechanism by Kane's method, {found['nq']} coordinates, {found['nu']} speeds",
        "coordinates",
        *(f"  {c['name']} = {c['start']:.4g} {c['unit']}" for c in found["coordinates"]),
        "speeds",
        *(
            f"  {s['name']} = {s['start']:.4g} {s['unit']}"
            + (f", the rate of {s['rate_of']}" if s["rate_of"] else "")
            for s in found["speeds"]
        ),
        "bodies",
        *(f"  {b['name']}" + (f" {b['mass_kg']:.4g} kg" if b["mass_kg"] else "") for b in found["bodies"]),
    ]
    if found["constraints"]:
        lines += ["constraints", *(f"  {_constraint_words(c)}" for c in found["constraints"])]
    if found["sensors"]:
        lines += ["sensors", *(f"  {name}" for name in found["sensors"])]
    if handle := found["handle"]:
        point = ", ".join(f"{x:.4g}" for x in handle["point_m"])
        lines.append(f"handle: {handle['body']}, at {point} m in its frame")
    lines.append(f"mass {found['mass_kg']:.6g} kg")
    return "\n".join(lines)


def _constraint_words(constraint: Numbers) -> str:
    words = f"{constraint['name']}: {constraint['rows']} row{'' if constraint['rows'] == 1 else 's'}, "
    words += "holds at the start" if constraint["held"] else "free at the start"
    if constraint["friction"]:
        static, kinetic, load = constraint["friction"]
        normal = f"the force of {load}" if isinstance(load, str) else f"{load:.4g} N"
        words += f", friction {static:.4g} static and {kinetic:.4g} kinetic under {normal}"
    return words
