"""docs/devices.md: its example is a driver that keeps the contract, and its tables name every field."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields, replace

import pytest
from hapticsim_devices.base import DeviceInfo, DeviceSample, Driver
from hapticsim_devices.conformance import CHECKS, failure
from hapticsim_devices.limits import DeviceLimits, Heating, TurningLimits
from hapticsim_devices.ranges import OR_ZERO, RANGES, allowed

from hapticsim.drivers.classes import driver_class
from hapticsim.wire.messages.codec import LAYOUTS
from hapticsim.wire.messages.fields import Refused
from hapticsim.wire.messages.measurement import MASKS, QUATERNION, VECTORS
from tests.processes import ROOT

PAGE = (ROOT / "docs" / "devices.md").read_text()
WAVE = ROOT / "docs" / "examples" / "wave.py"


def column(heading: str, number: int = 1) -> list[str]:
    """The cells of a column of the first table after a heading."""
    lines = PAGE.split(heading, 1)[1].splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("|---"))
    rows = []
    for line in lines[first + 1 :]:
        if not line.startswith("|"):
            break
        rows.append(line.split("|")[number].strip())
    return rows


def page_driver(folder) -> type[Driver]:
    (text,) = re.findall(r"```python\n(\"\"\"A driver in one file.*?)```", PAGE, re.DOTALL)
    assert text == WAVE.read_text()
    (folder / "wave.py").write_text(text)
    return driver_class(f"{folder}/wave.py:Wave")


@pytest.mark.parametrize(
    "check", [name for name in CHECKS if name not in ("rate", "read", "write", "bridge")]
)
def test_the_driver_of_the_page_keeps_the_contract(check, tmp_path):
    assert failure(check, page_driver(tmp_path)) is None


def test_the_driver_of_the_page_simulates(place):
    page_driver(place.folder)
    scene = place.scene("puck_and_wall", device={"driver": "wave", "options": {"period_s": 2}})
    done = place.run("simulate", scene, "--seconds", "0.2", "--driver", "wave.py:Wave")
    assert done.process.returncode == 0, done.said
    assert "ticks, 0.2 s simulated" in done.printed


@pytest.mark.parametrize("kind", [DeviceSample, DeviceInfo, DeviceLimits, TurningLimits, Heating])
def test_the_tables_name_every_field(kind):
    heading = f"`{kind.__name__}`, of" if kind in (TurningLimits, Heating) else f"### {kind.__name__}\n"
    assert column(heading) == [f"`{f.name}`" for f in fields(kind)]
    if kind is not DeviceSample:
        numbers = [f for f in fields(kind) if f.name in RANGES]
        said = dict(zip(column(heading), column(heading, 3), strict=True))
        assert {f.name: said[f"`{f.name}`"] for f in numbers} == {
            f.name: allowed(f.name, str(f.type)) for f in numbers
        }


def test_the_table_names_every_method():
    methods = {
        n for n, v in vars(Driver).items() if inspect.isfunction(v) or isinstance(v, (property, classmethod))
    }
    named = {re.split(r"[`(]", cell)[1] for cell in column("### Methods")}
    assert named == methods - {"__enter__", "__exit__"}


def test_every_field_of_a_sample_is_checked():
    assert {f.name for f in fields(DeviceSample)} == {*VECTORS, QUATERNION, *MASKS, "time_s"}


def wave_info(**changes: object) -> DeviceInfo:
    limits = DeviceLimits("d", 12.0, 2000.0, 20.0, 0.1, 0.2, 0.0, 1e-5, turning=TurningLimits(0.2, 1.0, 0.07))
    info = DeviceInfo("d", "d", limits, 3, 3, 1000.0, True)
    for name, value in changes.items():
        if name in {f.name for f in fields(TurningLimits)}:
            turning = replace(limits.turning, **{name: value})  # type: ignore[type-var]
            info = replace(info, limits=replace(limits, turning=turning))
        elif name in {f.name for f in fields(DeviceLimits)}:
            info = replace(info, limits=replace(limits, **{name: value}))
        else:
            info = replace(info, **{name: value})
    return info


@pytest.mark.parametrize("name", sorted(set(RANGES) & set(LAYOUTS["hello"].keys)))
def test_what_a_driver_may_say_of_itself_is_what_a_server_takes(name):
    check = LAYOUTS["hello"].keys[name].check
    for bound in {*RANGES[name], *([0.0] if name in OR_ZERO else [])}:
        hello = wave_info(**{name: bound}).hello()
        assert check(getattr(hello, name)) == bound
    low, high = RANGES[name]
    for beyond in (
        low - max(1e-12, abs(low) * 0.01) - (name in ("dof_in", "dof_out")),
        high * 1.01 + (high == 7),
    ):
        value = int(beyond) if name in ("dof_in", "dof_out") else beyond
        if name in OR_ZERO and value == 0:
            continue
        with pytest.raises(Refused):
            check(value)
        with pytest.raises(
            ValueError, match=rf"{name} = .* is not usable: give (0, or )?a (finite|whole) number"
        ):
            wave_info(**{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [("name", ""), ("model", "a\nb"), ("name", None), ("emulated", 1), ("dof_in", 3.5), ("limits", None),
     ("rate_Hz", None), ("rate_Hz", "1000"), ("rate_Hz", True), ("rate_Hz", float("nan")), ("turning", 3),
     ("heating", 4.0), ("max_force_N", [12.0]), ("max_force_N", 10**400)],
)  # fmt: skip
def test_a_field_of_another_kind_is_refused(name, value):
    with pytest.raises(ValueError, match=rf"(DeviceInfo|DeviceLimits)\.{name} = .* is not usable: give "):
        wave_info(**{name: value})
