"""Virtual time in one compiled loop against the device in Python, its twin: equal to the bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hapticsim_devices.scripted import Scripted

import hapticsim as hs
from hapticsim.drivers.registry import options_for
from hapticsim.recording.reader import read_recording
from hapticsim.simulate.virtual import simulate
from tests.places import CONFIGS


def both(scene: hs.Scene, options: dict[str, object], seconds: float) -> tuple[list, list]:
    """Rows of the compiled loop and of the other, and where their drivers end, the same two."""
    found, ends = [], []
    for tick_by_tick in (False, True):
        with Scripted(options) as hand:
            sim = hs.Simulation(scene)
            found.append(simulate(scene, hand, seconds, simulation=sim, tick_by_tick=tick_by_tick))
            device, wrist = hand.device, hand.wrist
            ends.append(
                [device._x, device._v, device._target, device._force, device._steps_done]
                + [list(device._history), list(device._pending), device._saturated, hand._start_s]
                + ([wrist._angle, wrist._rate, wrist._torque, list(wrist._history)] if wrist else [])
            )
    return found, ends


def random_options(rng: np.random.Generator, turning: bool) -> dict[str, object]:
    """A device, a hand and a script nobody thought of."""
    times = np.cumsum(rng.uniform(0.2, 0.8, 6))
    waypoints = [{"time_s": float(t), "position_m": rng.uniform(-0.05, 0.05, 3).tolist()} for t in times]
    waypoints.append({"time_s": float(times[-1] + 0.7), "position_m": waypoints[0]["position_m"]})
    presses = [
        {"time_s": float(t), "button": str(rng.choice(["engage", "engage", "disengage", "first", "second"]))}
        for t in np.sort(rng.uniform(0.0, 3.0, 6))
    ]
    return {
        "emulate": str(rng.choice(["omega_3", "touch", "delta_3", "sigma_7", "falcon"])),
        "waypoints": waypoints,
        "presses": [{"time_s": 0.1, "button": "engage"}, *presses],
        "repeat": bool(rng.integers(2)),
        "hand_speed_m_per_s": 3.0,
        "hand_mass_kg": float(rng.uniform(0.1, 0.8)),
        "hand_stiffness_N_per_m": float(rng.uniform(0.0, 900.0)),
        "hand_damping_Ns_per_m": float(rng.uniform(0.0, 15.0)),
        "coulomb_friction_N": float(rng.choice([0.0, 0.1, 2.0])),
        "workspace_radius_m": float(rng.choice([0.03, 0.1])),
        "velocity_window_s": float(rng.choice([0.001, 0.0104, 0.02])),
        "delay_samples": int(rng.integers(3)),
        **({"turning": True, "turns": [{"time_s": 0.5, "angle_rad": 0.4}, {"time_s": 1.5, "angle_rad": -0.4}]}
           if turning else {}),
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("config", ["wam_table", "shopping_cart"])
def test_the_compiled_loop_has_the_bits_of_the_python_device(config: str, seed: int) -> None:
    scene = hs.load(CONFIGS / f"{config}.yaml")
    rng = np.random.default_rng(seed)
    options = random_options(rng, config == "shopping_cart")
    if config == "shopping_cart" and options["repeat"]:
        options["repeat"] = False
    (fast, slow), (end, other_end) = both(scene, options, 2.5)
    assert fast.tobytes() == slow.tobytes()
    assert end == other_end


def test_buttons_that_switch_constraints_do_so_in_both() -> None:
    scene = hs.load(CONFIGS / "curve_guide.yaml")
    options = options_for("scripted", scene.device)
    presses = [{"time_s": 0.2, "button": "engage"}]
    presses += [
        {"time_s": 0.5 + 0.3 * i, "button": b, "hold_s": 0.1} for i, b in enumerate(("first", "second") * 3)
    ]
    options |= {"presses": presses}
    (fast, slow), _ = both(scene, options, 3.0)
    assert fast.tobytes() == slow.tobytes()


def test_recordings_and_a_second_run_of_the_same_driver_are_the_same(tmp_path: Path) -> None:
    scene = hs.load(CONFIGS / "wam_table.yaml")
    files, rows = [], []
    for tick_by_tick in (False, True):
        files.append(tmp_path / f"{tick_by_tick}.mcap")
        with Scripted({}) as hand:
            simulate(scene, hand, 2.345, files[-1], tick_by_tick=tick_by_tick)
            rows.append(simulate(scene, hand, 0.5, tick_by_tick=True))  # goes on where it was
    a, b = (read_recording(f) for f in files)
    assert a.data.tobytes() == b.data.tobytes() and len(a.data) == 2345
    assert rows[0].tobytes() == rows[1].tobytes()
    assert [e["tick"] for e in a.events] == [e["tick"] for e in b.events] and len(a.events) > 0
