"""What a device is welcomed with: the smaller of both limits, and nothing that it would not take."""

from __future__ import annotations

from dataclasses import replace

import pytest

import hapticsim as hs
from hapticsim.wire.device.link import DeviceLink
from hapticsim.wire.device.port import DevicePort, Terms
from tests.raw_device import HELLO, TERMS, join


@pytest.mark.parametrize(
    ("scene", "device", "force_N", "torque_Nm"),
    [
        ((1000.0, 100.0), (12.0, 0.2), 12.0, 0.2),
        ((8.0, 0.1), (12.0, 0.2), 8.0, 0.1),
        ((8.0, 0.0), (0.0, 0.2), 0.0, 0.0),
    ],
)
def test_a_welcome_promises_the_smaller_of_the_scenes_limits_and_the_devices(
    tmp_path, scene, device, force_N, torque_Nm
):
    terms = replace(TERMS, force_limit_N=scene[0], torque_limit_Nm=scene[1], resume_within_s=0.1)
    hello = replace(HELLO, max_force_N=device[0], max_torque_Nm=device[1])
    with DevicePort(f"ipc://{tmp_path}/other.sock", terms) as port, DeviceLink(port.endpoint, hello) as link:
        welcome = join(link, port)
    said = welcome.force_limit_N, welcome.torque_limit_Nm, welcome.resume_within_s
    assert said == (force_N, torque_Nm, 0.1)


@pytest.mark.parametrize(
    "safety",
    [
        {"timeout_s": 0.001, "slew_limit_N_per_s": 1e-6},
        {"timeout_s": 0.01, "slew_limit_N_per_s": 1e7, "force_limit_N": 1e9},
    ],
)
def test_a_device_takes_the_terms_of_every_scene_that_loads(tmp_path, safety):
    taken = hs.load("wam_table", {"safety": safety}).safety
    terms = Terms(1000.0, taken.timeout_s, taken.force_limit_N or 8.0, taken.slew_limit_N_per_s)
    with DevicePort(f"ipc://{tmp_path}/device.sock", terms) as port:
        with DeviceLink(port.endpoint, replace(HELLO), retry_s=0.05) as link:
            join(link, port)
            assert link.dropped == {}


@pytest.mark.parametrize("beyond", [{"timeout_s": 0.0005}, {"slew_limit_N_per_s": 2e7}])
def test_terms_that_no_device_takes_are_refused_in_the_scene(beyond):
    with pytest.raises(hs.ConfigError, match=f"safety.{next(iter(beyond))} = .* is not usable"):
        hs.load("wam_table", {"safety": beyond})
