"""Contacts whose surfaces yield, against closed forms, published figures and an independent integration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import hapticsim as hs
from hapticsim.codes import Event, Fault
from hapticsim.haptics.coupler import DeviceLimits
from hapticsim.kernels.memory.arrays import Workspace
from hapticsim.kernels.motion.stiffness import RUNGE_KUTTA
from tests.places import CONFIGS
from tests.yielding import Law, any_scene, ball, body, box_on_slope, energy

DEVICE = DeviceLimits(
    max_force_N=12.0, max_stiffness_N_per_m=5000.0, max_damping_Ns_per_m=30.0, apparent_mass_kg=0.2
)
SOFT: Law = {"kind": "kelvin_voigt", "stiffness_N_per_m": 1e6, "damping_Ns_per_m": 100.0}
HARD: Law = {"kind": "kelvin_voigt", "stiffness_N_per_m": 1e8, "damping_Ns_per_m": 1e3}
HUNT: Law = {"kind": "hunt_crossley", "stiffness_N_per_m1_5": 1e7, "loss_s_per_m": 0.3}
AZAD: Law = {"kind": "azad_featherstone", "stiffness_N_per_m1_5": 1e6, "damping_Ns_per_m1_5": 1e3}
NUMBERS = {  # K, n, D, p
    "kelvin_voigt": (1e6, 1.0, 100.0, 0.0),
    "hunt_crossley": (1e7, 1.5, 3e6, 1.5),
    "azad_featherstone": (1e6, 1.5, 1e3, 0.5),
}
SEEDS = [*range(40), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(40, 300))]


def after(scene: dict, ticks: int) -> hs.Simulation:
    sim = hs.Simulation(hs.load(scene))
    sim.step(ticks)
    assert sim.state.fault == Fault.NONE
    return sim


def world_velocity(sim: hs.Simulation) -> tuple[np.ndarray, np.ndarray]:
    """Angular and linear velocity of a free ball in world axes."""
    w, x, y, z = sim.state.q[3:7]
    R = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    return R @ sim.state.u[:3], R @ sim.state.u[3:6]


@pytest.mark.parametrize(("speed", "published"), [(0.1, 0.837), (0.3, 0.803), (1.0, 0.759), (3.0, 0.713)])
def test_restitution_falls_with_speed_as_published(speed: float, published: float):
    """Azad and Featherstone's model with K = 1e6, D = 1e3 and 1 kg."""
    sim = after(ball(AZAD, 3e-4, velocity=(0.0, 0.0, -speed)), 80)
    assert sim.state.u[5] / speed == pytest.approx(published, abs=1e-3)


@pytest.mark.parametrize(("law", "within"), [(SOFT, 2e-4), (HARD, 2e-3)], ids=["1e6", "1e8"])
def test_a_spring_and_a_damper_throw_back_as_in_closed_form(law: Law, within: float):
    """Schwager and Poeschel, Granular Matter 9 (2007): a contact ends where its force is zero."""
    w = math.sqrt(law["stiffness_N_per_m"])
    zeta = 0.5 * law["damping_Ns_per_m"] / w
    root = math.sqrt(1.0 - zeta**2)
    lasts = (math.pi - math.atan(2.0 * zeta * root / (1.0 - 2.0 * zeta**2))) / (w * root)
    rebound = math.exp(-zeta * w * lasts)
    depth = (
        rebound * math.sin(w * root * lasts) / (w * root)
    )  # where it leaves, with a ground that lags behind
    for height in (0.0, 1e-4, 3.7e-4, 7.77e-4):
        sim = after(ball(law, height), 12)
        assert sim.state.u[5] == pytest.approx(rebound, rel=within)
        flies = (sim.gaps[0] + depth) / sim.state.u[5]
        assert 0.012 - flies == pytest.approx(height + lasts, abs=0.01 / w)


def test_what_is_pressed_in_follows_the_law_to_the_tick():
    w, zeta = 1e3, 0.05
    wd = w * math.sqrt(1.0 - zeta**2)
    sim = hs.Simulation(hs.load(ball(SOFT)))
    for tick in range(1, 3):
        sim.step()
        t = 1e-3 * tick
        depth = math.exp(-zeta * w * t) * math.sin(wd * t) / wd
        assert -sim.gaps[0] == pytest.approx(depth, rel=1e-6)


def thrown(
    kind: str, friction: float, velocity: tuple[float, float], height: float, seconds: float
) -> np.ndarray:
    """Velocity along z and x and spin about y of the ball of ``ball``, by SciPy: a naive twin in a plane."""
    K, n, D, p = NUMBERS[kind]
    r, inertia = 0.05, 0.4 * 0.05**2

    def rates(_t: float, s: np.ndarray) -> list[float]:
        z, vz, _x, vx, spin, y = s
        if z >= 0.0:
            return [vz, 0.0, vx, 0.0, 0.0, -y * K / D if p == n - 1.0 else -1e6 * y]
        push = max(K * (-z) ** n - D * (-z) ** p * vz, 0.0)
        slip, weight, damping = vx - spin * r, (-z) ** (n - 1.0), D * (-z) ** p
        T = -K * y - damping * slip
        if abs(T) <= friction * push:
            y_dot = weight * slip + (y * (n - 1.0) * vz / z if vz > 0.0 else 0.0)
        else:
            T = math.copysign(friction * push, T)
            y_dot = (-T / K - y) / max(damping / (K * weight), 1e-6)
        return [vz, push, vx, T, -r * T / inertia, y_dot]

    start = [height, velocity[1], 0.0, velocity[0], 0.0, 0.0]
    end = solve_ivp(rates, (0.0, seconds), start, rtol=1e-8, atol=1e-12, max_step=2e-5).y[:, -1]
    return end[[1, 3, 4]]


@pytest.mark.parametrize("friction", [0.3, 1.0])
@pytest.mark.parametrize("law", [SOFT, HUNT, AZAD], ids=lambda law: law["kind"])
def test_a_ball_thrown_along_the_ground_beside_an_independent_integration(law: Law, friction: float):
    sim = after(ball(law, 3.7e-4, friction, (0.4, 0.0, -1.0)), 25)
    spin, velocity = world_velocity(sim)
    expected = thrown(law["kind"], friction, (0.4, -1.0), 3.7e-4, 0.025)
    np.testing.assert_allclose(
        [velocity[2], velocity[0], 0.05 * spin[1]], expected * [1.0, 1.0, 0.05], atol=1e-3
    )


@pytest.mark.parametrize("law", [SOFT, HARD, AZAD], ids=["1e6", "1e8", "hertz"])
def test_a_box_on_a_slope_truly_sticks_and_slides_as_coulomb_says(law: Law):
    slope = math.radians(20.0)
    stuck = after(box_on_slope(law, 0.5, slope), 3000)
    before = stuck.state.q
    stuck.step(2000)
    np.testing.assert_allclose(stuck.state.q, before, rtol=0.0, atol=1e-15)
    contacts = stuck.state.contacts
    assert sum(c.force for c in contacts) == pytest.approx(9.81 * math.cos(slope), rel=1e-9)
    assert np.linalg.norm(sum(c.friction for c in contacts)) == pytest.approx(
        9.81 * math.sin(slope), rel=1e-9
    )
    sliding = after(box_on_slope(law, 0.2, slope), 3000)
    start = np.linalg.norm(sliding.state.u[3:])
    sliding.step(500)
    gained = np.linalg.norm(sliding.state.u[3:]) - start
    assert gained / 0.5 == pytest.approx(9.81 * (math.sin(slope) - 0.2 * math.cos(slope)), rel=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_energy_with_what_is_stored_never_rises_and_forces_keep_their_cones(seed: int):
    """Steps across kinks of the laws are off: by 1e-3 of the energy in a tick, in an implicit one by 2e-2."""
    scene = any_scene(seed)
    try:
        sim = hs.Simulation(hs.load(scene))
    except hs.ConfigError as error:
        assert "so stiff, or damped so much" in str(error)
        return
    friction = {frozenset(c["between"]): c["friction"] for c in scene["contacts"]}
    before = energy(sim)
    scale = sim.assembly.plan.energy_scale + abs(before)
    for _ in range(int(0.8 * scene["rate_Hz"])):
        sim.step()
        now = energy(sim)
        assert math.isfinite(now)
        assert now - before < (1e-3 if sim._workspace.method[0] == RUNGE_KUTTA else 2e-2) * scale
        before = now
        for c in sim.state.contacts:
            assert c.force > 0.0
            most = friction[frozenset((c.a, c.b))] * c.force
            assert np.linalg.norm(c.friction) <= most * (1.0 + 1e-9)
            assert abs(c.friction @ c.normal) < 1e-9 * (1.0 + c.force)
        assert not {e.kind for e in sim.events} & {
            Event.ENERGY,
            Event.NOT_FINITE,
            Event.OVERFLOW,
            Event.HALTED,
        }
    assert sim.state.fault == Fault.NONE


@pytest.mark.parametrize(
    "damping", [0.0, 20.0, 2000.0], ids=["classical", "stiff damper", "very stiff damper"]
)
def test_an_arm_presses_as_deep_in_implicit_ticks_as_in_others(damping: float):
    """A slide with its damper, which makes ticks implicit, lowered onto a pad by its weight."""
    scene = {
        "name": "Press",
        "robot": {
            "bodies": [body("tip", 0.2, [1e-4] * 3)],
            "joints": [
                {
                    "name": "z", "type": "prismatic", "parent": "world", "child": "tip", "axis": [0, 0, 1],
                    "damping_Ns_per_m": damping,
                }
            ],
        },
        "shapes": [
            {"name": "ball", "kind": "sphere", "radius_m": 0.01, "body": "tip"},
            {"name": "pad", "kind": "plane"},
        ],
        "contacts": [
            {"between": ["ball", "pad"], "compliance": {**SOFT, "stiffness_N_per_m": 1e4}, "friction": 0.5}
        ],
        "initial": {"q_m": {"z": 0.01}},
    }  # fmt: skip
    sim = after(scene, 4000 if damping < 100.0 else 20000)
    assert -sim.gaps[0] == pytest.approx(0.2 * 9.81 / 1e4, rel=1e-6)
    (contact,) = sim.state.contacts
    assert contact.force == pytest.approx(0.2 * 9.81, rel=1e-6)
    assert abs(sim.state.u[0]) < 1e-9


def test_touch_and_leave_are_told_and_the_sample_agrees_with_a_look():
    sim = hs.Simulation(hs.load(ball(SOFT, 1e-3, velocity=(0.3, 0.0, -1.0), friction=0.5)))
    told = []
    for _ in range(12):
        looked = sim.state.contacts
        sim.step()
        told += [(e.kind, e.subject) for e in sim.events]
        sampled = float(sim._output.force[0])
        assert sampled == pytest.approx(looked[0].force if looked else 0.0, rel=1e-12)
        if looked:
            np.testing.assert_allclose(sim._output.friction_W[0], looked[0].friction, rtol=1e-12)
    assert told == [(Event.TOUCH, "sphere on floor"), (Event.LEAVE, "sphere on floor")]


def test_a_look_changes_nothing():
    watched, alone = (hs.Simulation(hs.load(any_scene(3))) for _ in range(2))
    for _ in range(400):
        watched.step()
        _ = watched.state, watched.gaps
        alone.step()
    np.testing.assert_array_equal(watched.state.q, alone.state.q)
    np.testing.assert_array_equal(watched._state.deformation, alone._state.deformation)


def test_a_constraint_may_hold_beside_a_compliant_contact_that_rubs():
    scene = box_on_slope(SOFT, 0.5, 0.0)
    scene["constraints"] = [
        {"name": "mast", "kind": "point", "bodies": ["cube", "world"], "point_b_m": [0.0, 0.0, 0.051]}
    ]
    sim = after(scene, 200)
    assert sim.state.contacts == ()
    sim.switch("mast", False)
    sim.step(2000)
    assert sum(c.force for c in sim.state.contacts) == pytest.approx(9.81, rel=1e-6)


@pytest.mark.parametrize("seed", [None, 1, 2, 5, 8, 13])
def test_a_tick_needs_nothing_that_the_one_before_left_in_the_workspace(seed: int | None):
    """It is the same to the bit where the workspace holds NaN, and ones for integers."""
    scene = hs.load(CONFIGS / "soft_surfaces.yaml" if seed is None else any_scene(seed))
    used, fresh = hs.Simulation(scene), hs.Simulation(scene)
    for tick in range(400):
        fresh.restore(used.fork())
        for sim in (used, fresh):
            sim.step()
        for (name, a), (_, b) in zip(used.fork().items(), fresh.fork().items(), strict=True):
            np.testing.assert_array_equal(a, b, err_msg=f"{name}, tick {tick}")
        for name in Workspace.__annotations__:
            array = getattr(fresh._workspace, name)
            array.fill(np.nan if array.dtype.kind == "f" else 1)
        for name in ("M", "V", "A", "row_low", "row_high"):  # these say what is zero, always
            getattr(fresh._workspace, name).fill(0)


def test_the_pads_are_as_soft_as_they_say_and_the_tip_is_held_by_friction():
    """Pressed down and then aside: rubber gives way by less than gel, and the tip sticks to both."""
    for x, least, most in ((-0.06, 1e-4, 1e-3), (0.18, 2e-3, 2e-2)):
        sim = hs.Simulation(hs.load(CONFIGS / "soft_surfaces.yaml", {"initial.q_m.x": x}))
        sim.couple(DEVICE)
        sim.set_device(np.zeros(3), np.zeros(3), 0.0005)
        sim.arm()
        sim.step(300)
        for tick in range(3000):  # the hand goes down by 12 mm, which are 36 mm here, and 0.3 mm aside
            down = np.array([0.0, 0.0, -0.012 * min(tick / 1500.0, 1.0)])
            aside = np.array([1e-4 * max(tick / 1500.0 - 1.0, 0.0), 0.0, 0.0])
            sim.set_device(down + aside, np.zeros(3), 0.0005)
            sim.step()
        (contact,) = (c for c in sim.state.contacts if c.a == "tip")
        depth = -min(sim.gaps[k] for k, c in enumerate(sim.assembly.candidates) if c.a == "tip")
        assert least < depth < most
        assert 0.3 < contact.force
        assert 0.0 < np.linalg.norm(contact.friction) < 0.3 * contact.force
        assert abs(sim.state.u[:3]).max() < 1e-3
        assert sim.state.fault == Fault.NONE
