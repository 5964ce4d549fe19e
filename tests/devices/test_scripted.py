"""The scripted hand: the path it promises, its buttons, and its refusals."""

from __future__ import annotations

import itertools
import math

import pytest
from hapticsim_devices.base import DISENGAGE, ENGAGE, FIRST, SATURATED
from hapticsim_devices.held import HeldDriver
from hapticsim_devices.script import minimum_jerk
from hapticsim_devices.scripted import Scripted

from hapticsim.errors import ConfigError, DeviceError
from hapticsim.wire.messages.device import Button

H = 1e-3


def visit(options=None, table_m: float = 0.03, stiffness: float = 1000.0, seconds: float = 15.0):
    """Run the script against a plain wall ``table_m`` below the start; returns samples and forces."""
    samples, forces = [], []
    with Scripted(options) as device:
        for k in range(round(seconds / H)):
            sample = device.read(k * H)
            depth = -table_m - sample.position_m[2]
            push = max(stiffness * depth - 5.0 * sample.velocity_m_per_s[2], 0.0) if depth > 0.0 else 0.0
            samples.append(sample)
            forces.append(device.write((0.0, 0.0, push)))
    return samples, forces


@pytest.mark.parametrize("table_m", [0.02, 0.04, 0.055])
def test_the_default_visit_engages_explores_saturates_drags_and_returns(table_m):
    samples, forces = visit(table_m=table_m)
    x = [s.position_m[0] for s in samples]
    pressed = [k * H for k, s in enumerate(samples) if s.buttons & ENGAGE]
    assert pressed[0] == pytest.approx(0.3)
    assert max(x[:3500]) == pytest.approx(0.03, abs=0.003) and min(x[:3500]) == pytest.approx(
        -0.03, abs=0.003
    )
    assert sum(bool(s.flags & SATURATED) for s in samples) * H > 2.0
    in_contact = [k for k in range(8400, 10500) if forces[k][2] > 0.5]
    assert len(in_contact) > 2000 and x[in_contact[-1]] - x[in_contact[0]] == pytest.approx(0.04, abs=0.004)
    assert forces[12000] == (0.0, 0.0, 0.0)
    assert math.dist(samples[-1].position_m, (0.0, 0.0, 0.0)) < 1e-3


def test_the_same_visit_gives_the_same_bits():
    assert visit(seconds=6.0) == visit(seconds=6.0)


def test_a_small_device_gets_a_small_visit():
    reach = max(math.hypot(*w.position_m) for w in Scripted({"emulate": "falcon"}).waypoints)
    full = max(math.hypot(*w.position_m) for w in Scripted({"emulate": "omega_3"}).waypoints)
    assert reach == pytest.approx(full * 0.04 / 0.075)


def test_the_target_never_moves_faster_than_the_hand():
    device = Scripted()
    path = [device.target_at(k * H) for k in range(15000)]
    speeds = [math.dist(a, b) / H for a, b in itertools.pairwise(path)]
    assert max(speeds) < device.hand_speed_m_per_s
    assert max(abs(b - a) / H for a, b in itertools.pairwise(speeds)) < 5.0  # [m/s^2]


def test_minimum_jerk_rests_at_both_ends():
    e = 1e-4
    assert (minimum_jerk(0.0), minimum_jerk(0.5), minimum_jerk(1.0)) == (0.0, 0.5, 1.0)
    for end in (0.0, 1.0):
        inward = e if end == 0.0 else -e
        assert abs(minimum_jerk(end + inward) - minimum_jerk(end)) < 11.0 * e**3
    assert (minimum_jerk(0.5 + e) - minimum_jerk(0.5 - e)) / (2 * e) == pytest.approx(15.0 / 8.0, rel=1e-6)


def test_a_script_of_ones_own_holds_its_end_or_repeats():
    out = [{"time_s": 0.0, "position_m": [0, 0, 0]}, {"time_s": 1.0, "position_m": [0.05, 0, 0]}]
    back = [*out, {"time_s": 2.0, "position_m": [0, 0, 0]}]
    presses = [{"time_s": 0.5, "button": "disengage", "hold_s": 0.1}]
    held = Scripted({"waypoints": out, "presses": presses, "repeat": False})
    again = Scripted({"waypoints": back, "presses": presses})
    for t in (0.0, 0.55):
        last_held, last_again = held.read(t), again.read(t)
    assert last_held.buttons == last_again.buttons == DISENGAGE
    assert held.read(9.0).target_m == (0.05, 0.0, 0.0) and held.read(9.0).buttons == 0
    assert again.read(3.0).target_m == pytest.approx((0.05, 0.0, 0.0))
    assert again.read(4.55).buttons == DISENGAGE


@pytest.mark.parametrize("options", [{"hand_speed_m_per_s": 0.05}, {"hand_speed_rad_per_s": 0.5}])
def test_a_slow_hand_makes_the_default_visit_as_far_as_it_gets(options):
    slow, usual = Scripted({"turning": True, **options}), Scripted({"turning": True})
    path = [slow.target_at(k * H) for k in range(15000)]
    angles = [slow.angle_at(k * H) for k in range(15000)]
    speed = max(math.dist(a, b) / H for a, b in itertools.pairwise(path))
    turning = max(abs(b - a) / H for a, b in itertools.pairwise(angles))
    if "hand_speed_m_per_s" in options:
        assert speed == pytest.approx(0.05, rel=1e-4)
        assert [t.angle_rad for t in slow.turns] == [t.angle_rad for t in usual.turns]
    else:
        assert turning == pytest.approx(0.5, rel=1e-4)
        assert slow.waypoints == usual.waypoints


def test_presses_name_the_buttons_of_the_wire():
    presses = [{"time_s": 0.1 * n, "button": b, "hold_s": 0.05} for n, b in enumerate(("first", "fourth", 7))]
    device = Scripted({"presses": presses})
    assert [device.read(t).buttons for t in (0.0, 0.1, 0.2, 0.3)] == [FIRST, Button.FOURTH, 128, 0]


def test_the_default_visit_presses_engage_every_half_second_and_a_script_of_ones_own_does_not():
    def pressed(device):
        down = [device.read(0.01 * n).buttons == ENGAGE for n in range(1700)]
        return [0.01 * n for n in range(1, len(down)) if down[n] and not down[n - 1]]

    times = pressed(Scripted())
    assert times[0] == pytest.approx(0.3, abs=0.011)
    assert len(times) == 34 and all(0.4 < b - a < 0.6 for a, b in itertools.pairwise(times))
    assert pressed(Scripted({"waypoints": [waypoint(0, 0, 0, 0), waypoint(1, 0, 0, 0)]})) == []


def bend(time_s, angle_rad):
    return {"time_s": time_s, "angle_rad": angle_rad}


def waypoint(time_s, *position):
    return {"time_s": time_s, "position_m": list(position)}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"hand_stifness_N_per_m": 100},
            "<device options>: hand_stifness_N_per_m is not known (did you mean 'hand_stiffness_N_per_m'?)",
        ),
        (
            {"hand_mass_kg": -1},
            "<device options>: hand_mass_kg = -1 is not usable: give a finite number, at least 0.",
        ),
        (
            {"hand_mass_kg": float("nan")},
            "<device options>: hand_mass_kg = nan is not usable: give a finite number, at least 0.",
        ),
        (
            {"hand_mass_kg": 0, "apparent_mass_kg": 1e-4},
            "<device options>: hand_mass_kg = 0 leaves less than 0.01 kg at the handle: "
            "raise it or apparent_mass_kg.",
        ),
        ({"delay_samples": 1.5}, "<device options>: delay_samples = 1.5 is not usable: give a whole number"),
        ({"repeat": "yes"}, "<device options>: repeat = 'yes' is not usable: give true or false."),
        ({"waypoints": []}, "<device options>: waypoints is empty: give at least one {time_s, position_m}"),
        (
            {"waypoints": [[0, 0, 0, 0]]},
            "<device options>: waypoints[0] = [0, 0, 0, 0] is not usable: give {time_s",
        ),
        (
            {"waypoints": [waypoint(0, 0, 0, 0), waypoint(0, 0, 0, 0)]},
            "<device options>: waypoints[1].time_s = 0 is not after 0: sort the script by time.",
        ),
        (
            {"waypoints": [waypoint(0, 0, 0, 0), waypoint(0.1, 0.1, 0, 0)], "repeat": False},
            "<device options>: waypoints[1].time_s = 0.1 asks the hand for 1.88 m/s: "
            "allow more time, or raise hand_speed_m_per_s = 0.5.",
        ),
        (
            {"waypoints": [waypoint(0, 0, 0, 0), waypoint(1, 0.1, 0, 0)]},
            "<device options>: waypoints do not end where they begin: close the path, or give repeat: false.",
        ),
        (
            {"waypoints": [waypoint(0, 0, 0)]},
            "<device options>: waypoints[0].position_m = [0, 0] is not usable: give three finite numbers.",
        ),
        (
            {"presses": [{"time_s": 0, "button": "fire"}]},
            "<device options>: presses[0].button = 'fire' is not usable: "
            "give engage, disengage, first, second, third, fourth or a bit from 0 to 31.",
        ),
        (
            {"presses": [{"time_s": 0, "button": ["engage"]}]},
            "<device options>: presses[0].button = ['engage'] is not usable: ",
        ),
        (
            {"turns": [bend(0, 0), bend(1, 3)], "repeat": False},
            "<device options>: turns[1].time_s = 1 asks the hand for 5.62 rad/s: "
            "allow more time, or raise hand_speed_rad_per_s = 3.",
        ),
        (
            {"turns": [bend(0, 0), bend(1, 0.5)]},
            "<device options>: turns are at 0.5 rad when the script starts again after 15 s, and began at 0: "
            "turn back before, or give repeat: false.",
        ),
        (
            {"turns": [bend(0, 0), bend(14, 0.5), bend(16, 0)]},
            "<device options>: turns are at 0.25 rad when the script starts again after 15 s",
        ),
        (
            {"presses": [{"time_s": 1, "button": "first", "hold_s": 0}]},
            "<device options>: presses[0].hold_s = 0 is not usable: give a finite number, above 0.",
        ),
        (
            {"waypoints": [{"time_s": -1, "position_m": [0, 0, 0]}]},
            "<device options>: waypoints[0].time_s = -1 is not usable: give a finite number, at least 0.",
        ),
        (
            {"turns": [{"time_s": 1}]},
            "<device options>: turns[0] = {'time_s': 1} is not usable: give {time_s",
        ),
        (
            {"turns": [bend(1, 0), bend(1, 0)]},
            "<device options>: turns[1].time_s = 1 is not after 1: sort the turns by time.",
        ),
        (
            {"turns": [bend(1, 4)]},
            "<device options>: turns[0].angle_rad = 4 is not usable: give a finite number, "
            "at least -3.14159, at most 3.14159.",
        ),
    ],
)
def test_options_that_cannot_be_used_are_refused_in_a_sentence(options, sentence):
    with pytest.raises(ConfigError) as refusal:
        Scripted(options)
    assert str(refusal.value).startswith(sentence)
    assert str(refusal.value).endswith(".")


def test_a_driver_is_described_without_being_opened():
    info = Scripted.describe({"emulate": "touch", "max_force_N": 2.0})
    assert (info.name, info.model, info.emulated, info.dof_in, info.dof_out) == (
        "scripted",
        "touch",
        True,
        3,
        3,
    )
    assert info.limits.max_force_N == 2.0
    hello = info.hello()
    assert (hello.driver, hello.model, hello.max_force_N, hello.rate_Hz) == ("scripted", "touch", 2.0, 1000.0)


class Astray(HeldDriver):
    name = "astray"

    def _steer(self, time_s: float):
        return (math.nan, 0.0, 0.0), 0, 0


def test_a_target_that_is_no_place_is_told_as_the_target():
    """It was told as a NaN that something inside the emulated device cannot round."""
    with pytest.raises(DeviceError) as refused:
        Astray().read(0.0)
    assert str(refused.value) == (
        "driver 'astray': _steer() gave the target (nan, 0.0, 0.0): give 3 finite numbers [m]."
    )


class Timed(HeldDriver):
    """Notes the times that it is asked for."""

    name = "timed"

    def _steer(self, time_s):
        self.times = [*getattr(self, "times", []), time_s]
        return (0.0, 0.0, 0.0), 0, 0

    def _steer_rotation(self, time_s):
        self.turn_s = time_s
        return 0.0


@pytest.mark.parametrize("start_s", [0.0, 7402.368])
def test_the_time_of_a_held_hand_begins_with_its_first_read(start_s):
    """In virtual time it starts at 0; beside a server it is the computer's, whenever that was started."""
    with Timed({"turning": True}) as hand:
        for k in range(3):
            hand.read(start_s + k * H)
    assert hand.times == pytest.approx([0.0, H, 2 * H], abs=1e-9) and hand.turn_s == pytest.approx(2 * H)
