"""Sensors of a mechanism: the values that SymPy gives them, told to programs, observers and recordings."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

from hapticsim import Simulation, Subscriber, compile_mechanism, load
from hapticsim.commands.files import _end_of
from hapticsim.config.load import loads
from hapticsim.describe.topics import Describer
from hapticsim.equations.kane.compiled import ARGUMENTS, SENSORS
from hapticsim.playback.animation import Animation
from hapticsim.recording.writer import RecordingWriter
from hapticsim.wire.publisher import Publisher
from tests.four_bar import FOUR_BAR
from tests.mechanisms import pendulum, ready
from tests.rows import row_of

CONFIGS = Path(__file__).parents[2] / "configs"
PAGE = Path(__file__).parents[2] / "docs" / "mechanisms.md"
BEAD = PAGE.read_text().split("```python\n")[1].split("```")[0]


def odd_pendulum():
    """Sensors that are affine in nothing, and one that is constant."""
    mechanism = pendulum()
    (a, b, _), (u, v, _) = mechanism.coordinates, mechanism.speeds
    m = next(iter(mechanism.parameters))
    root = sp.sqrt(m + sp.tan(a) ** 2 / sp.sin(b))
    sensors = {"ratio": b.diff() ** 2 / (u * v), "root": root, "mass_kg": m}
    return replace(mechanism, sensors=sensors)


MAKERS = {
    "rolling_disk": lambda: ready("rolling_disk"),
    "wrist": lambda: ready("wrist"),
    "wrist_rates": lambda: ready("wrist", speeds="rates"),
    "shopping_cart": lambda: ready("shopping_cart"),
    "pendulum": odd_pendulum,
}


def by_sympy(mechanism):
    """(q, u) -> values by lambdify, rates solved from the kinematical equations by SymPy."""
    rates = [q.diff() for q in mechanism.coordinates]
    (solved,) = sp.solve(mechanism.kinematics, rates, dict=True)
    expressions = [sp.sympify(e).subs(solved).subs(mechanism.parameters) for e in mechanism.sensors.values()]
    function = sp.lambdify([*mechanism.coordinates, *mechanism.speeds], expressions)
    return lambda q, u: np.array(function(*q, *u), float)


def simulation(name: str) -> Simulation:
    return Simulation(load(CONFIGS / f"{name}.yaml"))


@pytest.mark.parametrize("name", MAKERS)
def test_sensors_have_the_values_that_sympy_gives_them(name):
    mechanism = MAKERS[name]()
    equations, expected = compile_mechanism(mechanism), by_sympy(mechanism)
    dice = np.random.default_rng(5)
    for _ in range(20):
        q, u = dice.uniform(0.2, 1.3, equations.nq), dice.uniform(-2.0, 2.0, equations.nu)
        found = equations.sensors(q, u)
        assert list(found) == list(equations.sensor_names) == list(mechanism.sensors)
        np.testing.assert_allclose(list(found.values()), expected(q, u), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", MAKERS)
def test_no_other_code_depends_on_sensors(name):
    mechanism = MAKERS[name]()
    changed = dict.fromkeys(mechanism.sensors, mechanism.coordinates[0])  # same names, other expressions
    ours, without, others = (
        compile_mechanism(replace(mechanism, sensors=s)) for s in (mechanism.sensors, {}, changed)
    )
    assert len({e.model.source.digest for e in (ours, without, others)}) == 3  # kept apart in the cache
    for function in ARGUMENTS:
        same = ours.kernels._generate(function) == without.kernels._generate(function)
        assert same == (function != SENSORS), function


def test_where_there_are_no_sensors_none_are_compiled_or_told():
    plain = compile_mechanism(replace(pendulum(), name="pendulum without sensors"))
    assert plain.sensors(np.zeros(3), np.zeros(3)) == {}
    assert SENSORS not in vars(plain.kernels)
    robot = Simulation(loads(FOUR_BAR))
    robot.step()
    describer = Describer(robot.assembly)
    assert robot.sensors == {} == describer.state(row_of(robot))["sensors"]
    assert describer.scene(0.0, 0.1)["sensors"] == []


# -- the examples ------------------------------------------------------------------------------------------


def test_the_disk_tells_how_far_it_rolled_and_how_fast_it_slips():
    sim = simulation("rolling_disk")
    sim.step(300)  # down the ramp by itself
    shown, (along, turned, _) = sim.sensors, sim.state.q
    assert shown["slip_m_per_s"] == pytest.approx(0.0, abs=1e-14) and along < -0.01
    assert (shown["turned_rad"], shown["rolled_m"]) == (turned, pytest.approx(along, abs=1e-12))
    sim.switch("rolling", False)
    sim.apply(force=[2.0, 0.0, 0.0])
    sim.step(300)
    x_rim = sim.body_pose("disk").rotation @ [0.0, 0.0, 1.0]  # the axis of the disk, by which it turns
    spin = x_rim @ (sim.assembly.equations.partial_velocities("disk", sim.state.q) @ sim.state.u)[:3]
    assert shown["slip_m_per_s"] < 0.1 < sim.sensors["slip_m_per_s"]
    assert sim.sensors["slip_m_per_s"] == pytest.approx(sim.state.u[0] + 0.06 * spin, abs=1e-12)


def test_the_wrist_tells_the_height_of_its_tip_and_its_spin():
    sim = simulation("wrist")
    sim.apply(force=[0.3, 0.2, 0.0])
    sim.step(150)
    tool = sim.body_pose("tool")
    motion = sim.assembly.equations.partial_velocities("tool", sim.state.q) @ sim.state.u
    shown = sim.sensors
    height = (tool.translation + tool.rotation @ [0.0, 0.0, 0.12])[2]
    assert shown["tip_height_m"] == pytest.approx(height, abs=1e-14)
    assert shown["spin_rad_per_s"] == pytest.approx(tool.rotation[:, 2] @ motion[:3], abs=1e-13)
    hanging = Simulation(sim.scene)
    hanging.set_state(np.array([0.0, -math.pi / 2, 0.0]), np.zeros(3))
    assert hanging.sensors["swing_rad"] == pytest.approx(0.0, abs=1e-15)
    assert hanging.sensors["tip_height_m"] == pytest.approx(-0.24, abs=1e-15)


def test_the_caster_of_the_cart_goes_sideways_only_where_nothing_keeps_it():
    sim = simulation("shopping_cart")
    sim.switch("caster sticks", False)
    sim.set_state(np.array([0.0, 0.0, 0.0, 0.4]), np.zeros(3))
    sim.apply(force=[10.0, 3.0, 0.0])
    sim.step(100)
    assert abs(sim.sensors["caster_sideways_m_per_s"]) < 1e-12 and sim.state.u[0] > 0.01
    assert sim.sensors["caster_rad"] == sim.state.q[3] != 0.4
    sim.switch("caster rolls", False)
    sim.step(100)
    caster = sim.assembly.equations.partial_velocities("caster", sim.state.q) @ sim.state.u
    side = sim.body_pose("fork").rotation[:, 1]
    assert sim.sensors["caster_sideways_m_per_s"] == pytest.approx(side @ caster[3:], abs=1e-13)
    assert abs(side @ caster[3:]) > 1e-3


# -- who is told -------------------------------------------------------------------------------------------


def test_a_subscriber_hears_what_the_simulation_says(tmp_path):
    sim = simulation("shopping_cart")
    sim.switch("caster sticks", False)
    sim.set_state(np.array([0.0, 0.0, 0.0, 0.4]), np.zeros(3))
    sim.apply(force=[10.0, 3.0, 0.0])
    sim.step(50)
    said = sim.sensors
    sim.step()  # its row has q and u of its start
    describer, endpoint = Describer(sim.assembly), f"ipc://{tmp_path}/publish"
    told = describer.state(row_of(sim))
    assert told["sensors"] == sim.assembly.equations.sensors(told["q"], told["u"])
    assert told["sensors"] == pytest.approx(said, abs=1e-13)  # projected since
    heard = {}
    topics = ("scene", "state")
    with Publisher(endpoint) as publisher, Subscriber(endpoint, topics=topics) as subscriber:
        until = time.monotonic() + 10.0
        while len(heard) < 2 and time.monotonic() < until:
            publisher.offer("scene", describer.scene(0.0, 0.1))
            publisher.offer("state", told)
            time.sleep(0.01)
            while (message := subscriber.receive()) is not None:
                heard[message.topic] = message.payload["sensors"]
    assert heard == {"scene": ["caster_rad", "caster_sideways_m_per_s"], "state": told["sensors"]}
    assert 1e-4 < abs(said["caster_rad"] - 0.4)


def test_a_sensor_without_a_finite_value_is_told_as_nil(tmp_path):
    text = BEAD.replace('"height_m": ', '"pitch_m_per_rad": along / turn, "height_m": ')
    (tmp_path / "bead.py").write_text(text)
    (tmp_path / "bead.yaml").write_text("name: bead\nrobot: {mechanism: {path: bead.py}}\n")
    sim = Simulation(load(tmp_path / "bead.yaml"))
    assert math.isnan(sim.sensors["pitch_m_per_rad"])
    sim.step()  # its row has q and u of its start: at rest
    told = Describer(sim.assembly).state(row_of(sim))["sensors"]
    assert told == {"pitch_m_per_rad": None, "height_m": 0.0, "sliding_m_per_s": 0.0, "spring_N": 0.0}


def test_a_recording_shows_sensors_though_its_rows_hold_none(tmp_path):
    sim = simulation("rolling_disk")
    rows, shown = [], []
    for _ in range(50):
        shown.append(sim.sensors)
        sim.step()
        rows.append(row_of(sim))
    assert not any(name in column for name in sim.sensors for column in sim.columns)
    with RecordingWriter(tmp_path / "r.mcap", sim.columns, sim.scene.source, {"path": sim.scene.path}) as out:
        out.append(np.array(rows))
    animation = Animation(tmp_path / "r.mcap", lambda text: None)
    assert [animation.state(row[0])["sensors"] for row in rows] == shown
    assert animation.scene["sensors"] == list(shown[0])


def test_a_run_in_virtual_time_ends_with_its_sensors():
    sim = simulation("rolling_disk")
    sim.step(300)
    *_, q, turned, rolled, slip = _end_of(np.array([row_of(sim)]), sim).splitlines()
    assert q.startswith("q = ")
    assert turned == f"turned_rad = {sim.state.q[1]:.6g}" and rolled.startswith("rolled_m = -0.0")
    assert slip.startswith("slip_m_per_s = ")
