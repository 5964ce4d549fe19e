"""A scene made for one driver and run with another: what it keeps, and what stays behind."""

from __future__ import annotations

import numpy as np
import pytest
from hapticsim_devices.base import Driver
from hapticsim_devices.gamepad import Gamepad
from hapticsim_devices.held import EMULATION, HeldDriver
from hapticsim_devices.mouse import Mouse
from hapticsim_devices.options import Options
from hapticsim_devices.scripted import Scripted

import hapticsim as hs
from hapticsim.commands.supervisor import choose_driver
from hapticsim.drivers.registry import options_for
from hapticsim.errors import ConfigError, DeviceError
from hapticsim.haptics.joining import limits_of
from hapticsim.kernels.memory.sample import PLACE, WIDTH
from hapticsim.model.scene import DeviceSettings
from hapticsim.simulate.virtual import simulate
from tests.processes import CONFIGS

CART = CONFIGS / "shopping_cart.yaml"
YAW = 2  # of the cart's coordinates (57)


def settings(driver: str, **options: object) -> DeviceSettings:
    return DeviceSettings(driver, "sigma_7", options)


def test_the_shared_options_are_those_that_every_emulated_device_reads():
    asked: list[set[str]] = []

    class Bare(HeldDriver):
        name = "bare"

        def _take_options(self, options: Options) -> None:
            asked.append(set(options._known))

        def _steer(self, time_s):
            raise AssertionError

    Bare()
    assert asked == [set(EMULATION)]
    assert Scripted.shared_options == Mouse.shared_options == Gamepad.shared_options == EMULATION
    assert Driver.shared_options == frozenset()


def test_what_shapes_the_emulated_device_travels_and_what_is_a_drivers_own_does_not():
    made = settings("mouse", turning=True, hand_mass_kg=0.7, max_force_N=5.0, reach=1.2)
    kept = {"emulate": "sigma_7", "turning": True, "hand_mass_kg": 0.7, "max_force_N": 5.0}
    assert options_for("mouse", made) == kept | {"reach": 1.2}
    assert options_for("scripted", made) == options_for("gamepad", made) == kept
    still = [{"time_s": 0, "position_m": [0, 0, 0]}]
    script = settings("scripted", repeat=False, turning=True, waypoints=still)
    assert options_for("mouse", script) == {"emulate": "sigma_7", "turning": True}
    for name, driver in (("scripted", Scripted), ("gamepad", Gamepad), ("mouse", Mouse)):
        for scene in (made, script):
            assert driver(options_for(name, scene)).info.dof_out == 4


def test_options_that_the_scenes_own_driver_refuses_are_refused_whoever_takes_its_place():
    with pytest.raises(ConfigError, match=r"turnin is not known \(did you mean 'turning'\?\)"):
        options_for("scripted", settings("mouse", turnin=True))


def test_a_driver_that_is_not_installed_can_be_replaced_and_its_options_stay_behind():
    assert options_for("scripted", settings("omega", turning=True)) == {"emulate": "sigma_7"}
    with pytest.raises(DeviceError, match="there is no device 'omega'"):
        options_for("omega", settings("omega"))


def test_a_driver_of_hardware_is_told_of_no_emulation(monkeypatch):
    class Omega(Driver):
        name = "omega"
        __init__ = info = open = read = write = close = lambda self, options=None: None

    class Found:
        name, value = "omega", "omega:Omega"

        def load(self):
            return Omega

    import hapticsim.drivers.classes as drivers

    real = drivers.entry_points
    monkeypatch.setattr(drivers, "entry_points", lambda group: [*real(group=group), Found()])
    assert options_for("omega", settings("mouse", turning=True, reach=1.2)) == {}
    assert options_for("omega", settings("omega", channel=2)) == {"channel": 2}
    monkeypatch.setattr(Omega, "describe", lambda options=None: None)
    assert options_for("mouse", settings("omega", turning=True, channel=2)) == {"emulate": "sigma_7"}


@pytest.mark.parametrize("device", ["scripted", "auto"])
def test_the_cart_is_turned_by_the_script_that_takes_the_place_of_its_mouse(device, monkeypatch):
    for key in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(key, raising=False)
    name, options, automatic = choose_driver(hs.load(CART), device)
    assert (name, options, automatic) == (
        "scripted",
        {"emulate": "sigma_7", "turning": True},
        device == "auto",
    )


def visit(options: dict[str, object]) -> tuple[hs.Simulation, np.ndarray]:
    scene = hs.load(CART)
    simulation = hs.Simulation(scene)
    with Scripted(options) as hand:
        return simulation, simulate(scene, hand, 4.0, simulation=simulation)


def test_in_virtual_time_the_cart_turns_with_the_hand_and_pushes_back():
    """The hand wants half a radian to either side; the caster gives way, and the cart follows."""
    _, rows = visit(choose_driver(hs.load(CART), "scripted")[1])
    yaw, torque = rows[:, WIDTH + YAW], rows[:, PLACE["hand_torque_x_Nm"] + 2]
    angle = 2.0 * np.arctan2(rows[:, PLACE["device_qz"]], rows[:, PLACE["device_qw"]])
    assert np.all(yaw[:1200] == 0.0)  # the caster sticks until the hand turns with enough torque
    assert 0.15 < yaw.max() < 0.2 and -0.35 < yaw.min() < -0.25  # [rad]
    assert 0.3 < angle.max() < 0.4 and -0.35 < angle.min() < -0.25  # the hand is held back
    assert np.abs(torque).max() == pytest.approx(0.2)  # [N m] of a sigma_7
    _, plain = visit({"emulate": "sigma_7"})
    assert np.all(plain[:, WIDTH + YAW] == 0.0)


def test_the_command_simulates_with_what_the_scene_says_of_its_device(place):
    done = place.run("simulate", CART, "--seconds", "4")
    assert done.process.returncode == 0, done.said
    (line,) = [line for line in done.printed.splitlines() if line.startswith("q = ")]
    yaw = float(line.split()[2 + YAW])
    simulation, _ = visit({"emulate": "sigma_7", "turning": True})
    assert yaw == pytest.approx(simulation.state.q[YAW], abs=1e-6) and abs(yaw) > 0.2


def test_the_coupler_knows_what_the_device_says_of_its_rotation():
    for options in ({}, {"turning": True}, {"turning": True, "max_torque_Nm": 0.1, "emulate": "omni"}):
        torque = options.get("max_torque_Nm", 0.2) if options else 0.0
        assert limits_of(Scripted(options).info.hello()).max_torque_Nm == torque
