"""A scene compiles the large parts of the tick that it has something for, and the others change nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hapticsim.assemble import assembly
from hapticsim.assemble.features import features_of
from hapticsim.config.load import load
from hapticsim.haptics.coupler import DeviceLimits
from hapticsim.kernels.entry import EVERY_FEATURE, FEATURE_UNITS, UNITS, Feature
from hapticsim.simulate.simulation import Simulation

CONFIGS = Path(__file__).parents[2] / "configs"
CONSTRAINTS, EDGES, MESHES, PAIRS = Feature.CONSTRAINTS, Feature.EDGES, Feature.MESHES, Feature.PAIRS
STEPS = Feature.TIME_STEPPING
SCENES = [
    ("wam_table", Feature(0)),
    ("puck_and_wall", EDGES | PAIRS | STEPS),
    ("double_four_bar", CONSTRAINTS),
    ("explore_part", MESHES),
    ("gears", CONSTRAINTS | PAIRS | Feature.TREES),
    ("soft_surfaces", PAIRS | Feature.TREES | Feature.COMPLIANCE),
    ("push_boxes", EDGES | PAIRS | STEPS | Feature.TREES | Feature.FRICTION),
]
DEVICE = DeviceLimits(
    max_force_N=12.0, max_stiffness_N_per_m=3000.0, max_damping_Ns_per_m=20.0, apparent_mass_kg=0.2
)
TICKS = 1500


def felt(name: str) -> tuple[np.ndarray, dict[str, int]]:
    """State and contact forces of a scene whose handle is pushed about, and the addresses of its tick."""
    sim = Simulation(load(CONFIGS / f"{name}.yaml"))
    rows = np.zeros((TICKS, len(sim.columns)))
    pushed = sim.scene.handle is not None
    if pushed:
        sim.couple(DEVICE)
        sim.arm()
    for tick in range(TICKS):
        t = tick * sim.scene.tick_s
        if pushed:
            place = np.array([0.03 * np.sin(5.0 * t), 0.02 * np.sin(7.0 * t), -0.08 * np.sin(4.0 * t)])
            rate = np.array([0.15 * np.cos(5.0 * t), 0.14 * np.cos(7.0 * t), -0.32 * np.cos(4.0 * t)])
            sim.set_device(place, rate, 0.0005)
        sim.step()
        sim.read_row(rows[tick])
    return rows, {name: int(getattr(sim.plan, name)) for name in names_of(EVERY_FEATURE)}


def names_of(features: Feature) -> set[str]:
    return set(UNITS).union(*(FEATURE_UNITS[feature] for feature in features))


@pytest.mark.parametrize(("name", "features"), SCENES, ids=[name for name, _ in SCENES])
def test_only_what_a_scene_has_something_for_has_an_address_and_the_rest_changes_no_bit(
    name: str, features: Feature, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert features_of(load(CONFIGS / f"{name}.yaml")) == features
    alone, addresses = felt(name)
    assert {part for part, address in addresses.items() if address != 0} == names_of(features)
    every = EVERY_FEATURE & ~Feature.SLEEP & (features | ~(STEPS | Feature.GRIP))  # which are other motion
    monkeypatch.setattr(assembly, "features_of", lambda scene: every)
    whole, addresses = felt(name)
    assert {part for part, address in addresses.items() if address != 0} == names_of(every)
    assert np.array_equal(alone, whole, equal_nan=True)


def test_every_part_of_the_tick_stands_in_the_plan_once() -> None:
    names = [*UNITS, *(name for units in FEATURE_UNITS.values() for name in units)]
    assert len(names) == len(set(names))
    assert set(FEATURE_UNITS) == set(Feature)
