"""Robots that differ in their numbers only share one compilation, and each keeps its own numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from hapticsim.config.load import loads
from hapticsim.equations.base import Equations
from hapticsim.equations.codegen import straightline, transplant
from hapticsim.equations.codegen.cache import forget_loaded
from hapticsim.equations.codegen.seal import sealed_files
from hapticsim.equations.compiled import compile_equations
from hapticsim.equations.tree.linkage import Linkage
from hapticsim.equations.tree.recursions import energy, forward_dynamics
from hapticsim.files.cache_folder import ENVIRONMENT

ARM = """
name: arm
robot:
  bodies:
    - {{name: upper, inertial: {{mass_kg: {mass}, com_m: [0.01, {y}, -0.3], inertia_kg_m2: {{xx: 0.1, yy: 0.12, zz: 0.03}}}}}}
    - {{name: lower, inertial: {{mass_kg: 1.3, com_m: [0.0, 0.02, -0.2], inertia_kg_m2: {{xx: 0.05, yy: 0.06, zz: 0.02}}}}}}
  joints:
    - {{name: shoulder, type: universal, parent: world, child: upper, axis: [1, 0, 0], axis2: [0, 1, 0]}}
    - {{name: elbow, type: revolute, parent: upper, child: lower, axis: [0, 1, 0], origin: {{xyz_m: [0, 0, -0.6]}}}}
"""  # noqa: E501

pytestmark = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT),  # type: ignore[attr-defined]
    reason="without the JIT nothing is compiled",
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache."""
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv(ENVIRONMENT, str(folder))
    forget_loaded()
    yield folder
    forget_loaded()


def arm(mass: float, y: float = -0.02) -> Equations:
    return compile_equations(loads(ARM.format(mass=mass, y=y)).model, ())


def is_compiled(kernel: Any) -> bool:
    """Whether this process made the machine code, instead of loading it."""
    return bool(kernel.stats.cache_misses)


def agrees(arm: Equations) -> bool:
    """Whether the compiled functions have the bits of the recursion on floats."""
    q, u, tau = np.random.default_rng(3).normal(size=(3, arm.nu))
    link = Linkage(arm.tree, list(q))
    udot = forward_dynamics(link, list(u), list(tau))
    return np.array_equal(udot, arm.forward_dynamics(q, u, tau)) and energy(link, list(u)) == arm.energy(q, u)


@pytest.mark.parametrize("split_from", (straightline.SPLIT_FROM, 10))
def test_many_masses_take_one_compilation(monkeypatch: pytest.MonkeyPatch, split_from: int) -> None:
    monkeypatch.setattr(straightline, "SPLIT_FROM", split_from)
    arms = [arm(mass, y) for mass, y in ((0.9, -0.02), (1.1, -0.03), (170.0, -1e-7), (2.5, -0.25))]
    made = [is_compiled(a.kernels.forward_dynamics) for a in arms]
    assert made == [True, False, False, False]
    assert [is_compiled(a.kernels.energy) for a in arms] == made
    assert all(agrees(a) for a in arms)  # all of them alive, in one process


def test_compiled_callers_get_the_numbers_too() -> None:
    for one in (arm(0.9), arm(1.1)):
        kernel = one.kernels.forward_dynamics

        @numba.njit
        def caller(q: Any, u: Any, tau: Any, udot: Any, kernel: Any = kernel) -> None:
            kernel(q, u, tau, udot)

        q, u, tau = np.random.default_rng(4).normal(size=(3, one.nu))
        udot = np.empty(one.nu)
        caller(q, u, tau, udot)
        np.testing.assert_array_equal(udot, one.forward_dynamics(q, u, tau))


def test_what_was_taken_over_is_sealed_and_loaded_again() -> None:
    assert agrees(arm(0.9)) and agrees(arm(1.1))
    forget_loaded()
    again = arm(1.1)
    assert sealed_files(again.kernels._folder, "energy")
    assert not is_compiled(again.kernels.forward_dynamics) and agrees(again)


def test_another_structure_is_compiled_for_itself() -> None:
    assert agrees(arm(0.9))
    for other in (arm(0.9, y=0.0), arm(1.0), arm(0.9, y=0.03)):  # a zero, a one, another sign
        assert is_compiled(other.kernels.energy) and agrees(other)


@pytest.mark.parametrize("damage", ("flip", "cut", "remove", "mislead", "unpickle", "strange"))
def test_a_donor_that_is_damaged_or_gone_is_no_donor(
    cache: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    first = arm(0.9)
    assert agrees(first)
    folder = first.kernels._folder
    code = next(folder.rglob("energy.*.nbc"))
    data = bytearray(code.read_bytes())
    if damage == "flip":
        data[len(data) // 2] ^= 1
        code.write_bytes(bytes(data))
    elif damage == "cut":
        code.write_bytes(bytes(data[:100]))
    elif damage == "remove":
        for file in folder.rglob("energy.*"):
            file.unlink()
    elif damage == "strange":
        monkeypatch.setattr(transplant, "_with_numbers", lambda *data: 1 / 0)
    elif damage == "unpickle":
        next(folder.rglob("energy.*.nbi")).write_bytes(b"")
    else:
        for note in (cache / "patterns").iterdir():
            if not note.suffix:
                note.write_text("../../elsewhere")
    second = arm(1.1)
    assert is_compiled(second.kernels.energy) and agrees(second)
