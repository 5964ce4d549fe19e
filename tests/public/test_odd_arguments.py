"""Public functions called with odd values at random: used, or refused in one sentence without a change."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Hashable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.errors import HapticsimError
from hapticsim.offline.run import simulate_offline
from hapticsim.offline.sweeps.sweep import run_sweep
from tests.places import CONFIGS
from tests.public_calls import (
    HUGE,
    LIMITS,
    NOWHERE,
    TURN,
    Z3,
    Z4,
    Unprintable,
    arm,
    bar,
    bits,
    observer,
    puck,
    rods,
    switches,
)

TRIES = 400
WRIST = CONFIGS / "mechanisms" / "wrist.py"

ODD: list[Any] = [
    None, "", "abc", "5", b"5", math.nan, math.inf, -math.inf, -1, 0, 1, 2.5, 1e308, -1e308, 1j, True,
    False, HUGE, -HUGE, 2**63, object(), Unprintable(), [], (), {}, {"J1": None}, {"J1": 1.0, 2: "x"}, {1,
    2}, range(3), [None] * 4, ["1"] * 4, [[0.0]], [[0.0] * 4] * 4, [1, [2, 3]], [HUGE] * 3, [math.nan] * 4,
    [True] * 4, np.zeros(0), np.zeros(3), np.zeros(4), np.zeros(7), np.zeros((3, 3)), np.array(None),
    np.array([None, 1.0]), np.array([1j] * 4), np.array(["a"] * 4), np.array([HUGE] * 4, object),
    np.float32(1.5), np.int64(-3), np.bool_(True), np.full(4, 1e308), np.array([b"x"]),
    np.datetime64("2026-01-01"), lambda *_: None, int, np, Path("nowhere"), "a\0b", "x" * 100_000, "\ud800",
    "a\nb", float, slice(3), iter([1.0, 2.0]), Ellipsis, np.ma.masked, memoryview(b"abcd"), bytearray(4),
    np.zeros(4, dtype="f4,i4"), np.zeros(4)[::2],
]  # fmt: skip


def calls() -> dict[str, tuple[Callable[..., Any], list[Any]]]:
    """Public functions, and arguments with which each works."""
    sim, equations, model = arm(), rods(), rods().model
    row = np.zeros(len(sim.columns))
    q = [0.1, 0.2]
    bare = "torque", "force"
    return {
        "Simulation": (lambda s, p: hs.Simulation(s, p) and None, [sim.scene, None]),
        "step": (sim.step, [1]),
        "apply": (lambda *a: sim.apply(**dict(zip(bare, a, strict=True))), [Z4, Z3]),
        "apply one": (
            lambda name, x: sim.apply(torque={name if isinstance(name, Hashable) else "J1": x}),
            ["J1", 1.0],
        ),
        "set_device": (sim.set_device, [Z3, Z3, 0.0, TURN, Z3, 1]),
        "couple": (sim.couple, [LIMITS]),
        "limits": (lambda x, y: sim.couple(replace(LIMITS, max_force_N=x, velocity_window_s=y)), [5.0, 0.01]),
        "switch": (bar().switch, ["loop", True]),
        "constraint_force": (bar().constraint_force, ["loop"]),
        "constraint_gap": (bar().constraint_gap, ["loop"]),
        "body_pose": (sim.body_pose, ["forearm"]),
        "restore": (sim.restore, [sim.fork()]),
        "set_state": (sim.set_state, [sim.scene.q0, Z4]),
        "set_state free": (puck().set_state, [puck().scene.q0, np.zeros(6)]),
        "read_row": (sim.read_row, [row]),
        "take_inputs": (sim.take_inputs, [row]),
        "scene": (
            lambda *a: hs.Simulation(replace(sim.scene, q0=a[0], u0=a[1], rate_Hz=a[2])),
            [sim.scene.q0, Z4, 1000.0],
        ),
        "compile_equations": (hs.compile_equations, [model, ["fore"], None, True]),
        "forward_dynamics": (equations.forward_dynamics, [q, q, q]),
        "inverse_dynamics": (equations.inverse_dynamics, [q, q, q]),
        "mass_matrix": (equations.mass_matrix, [q]),
        "bias": (equations.bias, [q, q]),
        "energy": (equations.energy, [q, q]),
        "sensors": (equations.sensors, [q, q]),
        "pose": (equations.body_pose, ["fore", q]),
        "partial_velocities": (equations.partial_velocities, ["fore", q]),
        "algorithm": (equations.algorithm, ["abm_exact", "float64"]),
        "batch": (equations.batch, ["bias", [q], [q]]),
        "batch out": (
            lambda out, n: equations.batch("bias", [q], [q], out=out, threads=n),
            [np.zeros((1, 2)), 1],
        ),
        "address": (equations.address, ["bias"]),
        "q_slice": (model.q_slice, ["elbow"]),
        "u_slice": (model.u_slice, ["elbow"]),
        "load_urdf": (hs.load_urdf, ["nowhere.urdf", True, None, [], True]),
        "load_mechanism": (hs.load_mechanism, [WRIST, None]),
        "compile_mechanism": (hs.compile_mechanism, [hs.load_mechanism(WRIST), None]),
        "Subscriber": (
            lambda *a: hs.Subscriber(a[0], a[1], context=a[2], curve=a[3]).close(),
            [NOWHERE, ["state"], None, None],
        ),
        "latest": (observer().latest, ["state", None]),
        "receive": (observer().receive, [0.0]),
        "age_s": (observer().age_s, ["state"]),
        "Switches": (lambda *a: hs.Switches(a[0], timeout_s=a[1]).close(), [NOWHERE, 0.0]),
        "offer": (switches().offer, ["brake", True]),
        "simulate_offline": (
            lambda *a: simulate_offline(
                equations, *a[:3], integrator=a[3], accuracy=a[4], torques=a[5], max_steps=a[6]
            ),
            [q, q, 0.01, "rk4", 1e-6, None, 10],
        ),
        "offline names": (
            lambda *a: simulate_offline(
                equations,
                q,
                q,
                0.01,
                algorithm=a[0],
                precision=a[1],
                compare_with=a[2],
                condition_number=a[3],
                step_s=a[4],
                store_every_s=a[5],
                max_steps=5,
            ),
            ["abm_exact", "float64", None, False, 0.01, 0.01],
        ),
        "run_sweep": (
            lambda *a: run_sweep(a[0], [], workers=a[1], scheduler=a[2], progress=a[3], journal=a[4]),
            [math.sqrt, 1, None, False, None],
        ),
    }


def told_wrong(tries: int, seed: int) -> tuple[list[str], int]:
    """Call with some arguments replaced by odd ones; what was not as promised, and how many were refused."""
    rng, wrong, refused = random.Random(seed), [], 0
    table = calls()
    sims = [arm(), bar(), puck()]
    for _ in range(tries):
        name = rng.choice(list(table))
        function, good = table[name]
        given = [rng.choice(ODD) if rng.random() < 0.5 else g for g in good]
        before = [bits(sim) for sim in sims]
        try:
            with np.errstate(all="ignore"):
                function(*given)
        except HapticsimError as error:
            refused += 1
            sentence = str(error)
            if not sentence.endswith((".", "...")) or "\n" in sentence or len(sentence) > 2000:
                wrong.append(f"{name}{[type(g).__name__ for g in given]}: {sentence[:300]!r}")
            if [bits(sim) for sim in sims] != before:
                wrong.append(f"{name} was refused and changed something: {sentence[:300]}")
        except Exception as error:
            words = [repr(g)[:40] if not isinstance(g, Unprintable) else "Unprintable" for g in given]
            wrong.append(f"{name}({', '.join(words)}): {type(error).__name__}: {str(error)[:200]}")
        for sim in sims:
            if not (np.isfinite(sim.state.q).all() and np.isfinite(sim.state.u).all()):
                wrong.append(f"{name} let in what is not finite")
                return wrong, refused
    return wrong, refused


def test_odd_values_are_used_or_refused_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)  # a journal of some name may be made
    wrong, refused = told_wrong(TRIES, 1)
    assert wrong == [] and refused > TRIES // 2
