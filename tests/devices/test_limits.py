"""The device table: complete where it claims to be, honest where it is not."""

from __future__ import annotations

import math
from dataclasses import fields

import pytest
from hapticsim_devices.limits import DEFAULTS, VISCOUS_FRICTION_NS_PER_M, device_limits, device_table

from hapticsim.errors import DeviceError


def test_every_device_has_usable_numbers_and_a_note():
    assert len(device_table()) >= 9
    for name, row in device_table().items():
        assert row.device == name
        assert row.note
        for column in fields(row):
            value = getattr(row, column.name)
            if isinstance(value, float):
                assert math.isfinite(value) and value > 0.0, (name, column.name)


def test_a_number_nobody_published_is_a_stated_default_and_named_as_assumed():
    sigma = device_limits("sigma_7")
    assert sigma.apparent_mass_kg == DEFAULTS["apparent_mass_kg"]
    assert sigma.coulomb_friction_N == DEFAULTS["coulomb_friction_N"]
    assert set(sigma.assumed) == {"apparent_mass_kg", "coulomb_friction_N", "viscous_friction_Ns_per_m"}
    assert "apparent_mass_kg" not in device_limits("omega_3").assumed


def test_viscous_friction_is_always_an_assumption():
    for row in device_table().values():
        assert row.viscous_friction_Ns_per_m == VISCOUS_FRICTION_NS_PER_M
        assert "viscous_friction_Ns_per_m" in row.assumed


def test_an_unknown_device_is_refused_with_the_nearest_name_and_all_names():
    with pytest.raises(DeviceError) as refusal:
        device_limits("omega3")
    assert str(refusal.value) == (
        "there is no device 'omega3' (did you mean 'omega_3'?): "
        "choose one of 'delta_3', 'falcon', 'inverse3', 'omega_3', 'omni', 'premium_1.5', 'premium_3.0', "
        "'sigma_7', 'touch'."
    )
