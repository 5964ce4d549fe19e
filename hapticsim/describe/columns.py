"""What the numbers of a recording say, in words: name, unit, sign and frame of each (docs/recordings.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hapticsim.assemble.assembly import Assembly
from hapticsim.describe.constraints import is_angular
from hapticsim.kernels.memory.sample import FIXED
from hapticsim.model.constraints import Row
from hapticsim.model.multibody.columns import Column
from hapticsim.model.protocol import SceneModel
from hapticsim.model.scene import Scene
from hapticsim.recording.quantities import Quantity

DEVICE_AXES, WORLD_AXES = "device axes", "world axes"

# what begins a column's name: unit, words
_VECTORS = {
    "device_{}_m": ("m", f"position of the device, {DEVICE_AXES}"),
    "device_v{}_m_per_s": ("m/s", f"velocity of the device, {DEVICE_AXES}"),
    "hand_force_{}_N": ("N", f"force that the device applies to the hand, {DEVICE_AXES}"),
    "coupler_{}_N": ("N", f"force of the coupler on the handle, {WORLD_AXES}"),
    "anchor_{}_m": ("m", f"where the device wants the handle, {WORLD_AXES}"),
    "handle_{}_m": ("m", f"where the handle is, {WORLD_AXES}"),
    "device_w{}_rad_per_s": ("rad/s", f"angular velocity of the device's handle, {DEVICE_AXES}"),
    "hand_torque_{}_Nm": ("N m", f"torque that the device applies to the hand, {DEVICE_AXES}"),
    "coupler_torque_{}_Nm": ("N m", f"torque of the coupler on the handle's body, {WORLD_AXES}"),
}
_QUATERNIONS = {
    "device_q{}": "orientation of the device's handle, quaternion w, x, y, z to device axes",
    "turn_offset_q{}": "the handle's body seen from the device's handle when armed, quaternion w, x, y, z",
}
_SINGLE = {
    "time_s": ("s", "time at the start of the tick, from the first tick on"),
    "tick": ("", "number of the tick, from 0"),
    "device_age_s": ("s", "age of the device's sample when the tick took it; infinite: there was none yet"),
    "device_present": ("", "1 while a device is there"),
    "arm_requests": ("", "requests for force so far"),
    "disarm_requests": ("", "requests to take the force away so far"),
    "coupler_stiffness_N_per_m": ("N/m", f"stiffness of the coupler, {WORLD_AXES}"),
    "coupler_damping_Ns_per_m": ("N s/m", f"damping of the coupler, {WORLD_AXES}"),
    "force_limit_N": ("N", "largest force on the hand"),
    "safety": ("", "state of the force: 0 disarmed, 1 arming, 2 armed, 3 fault, 4 interrupted"),
    "fault": ("", "why there is no force: a sum of the bits of codes.Fault"),
    "gain": ("", "coupling, from 0 to 1"),
    "lateness_us": ("us", "start of the tick after its deadline; 0 in virtual time"),
    "execution_us": ("us", "how long the tick took; 0 in virtual time"),
    "coupler_stiffness_Nm_per_rad": ("N m/rad", "turning stiffness of the coupler"),
    "coupler_damping_Nms_per_rad": ("N m s/rad", "turning damping of the coupler"),
    "torque_limit_Nm": ("N m", "largest torque on the hand"),
    "link_late_s": ("s", "by how much the remote site's last word is older than its link allows"),
    "device_flags": ("", "what the device says of itself: a sum of the bits of codes.DeviceFlag"),
    "tick_gap_s": ("s", "time since the tick before"),
    "suspended_s": ("s", "how long the computer was suspended since the tick before"),
    "interruptions": ("", "silences of the device that ended by themselves, so far"),
    "longest_interruption_s": ("s", "the longest of them"),
}
FIXED_WORDS: dict[str, tuple[str, str]] = {
    **_SINGLE,
    **{key.format(a): about for key, about in _VECTORS.items() for a in "xyz"},
    **{key.format(a): ("", words) for key, words in _QUATERNIONS.items() for a in "wxyz"},
}


CERTIFICATE_WORDS = {
    "certificate_depth_m": ("m", "how deep what pushes is inside as the tick begins"),
    "certificate_cone_N": ("N", "by how much forces leave their cones; a pull counts"),
    "certificate_normal_m_per_s": ("m/s", "how far rates along normals are from what contacts allow"),
    "certificate_friction_m_per_s": ("m/s", "how far friction is from against the slip"),
    "certificate_gain_J": (
        "J", "energy gained beyond the work put in, below 0 where friction, damping and impacts took some; "
        "of scenes whose balance is kept",
    ),
}  # fmt: skip


def tick_quantities(assembly: Assembly) -> list[Quantity]:
    """Return what the columns of a run of ticks are, in their order (kernels/memory/sample.py)."""
    scene = assembly.scene
    held = [c.name for c in scene.constraints]
    rows = [row for c in scene.constraints for row in c.rows]
    return [
        *(Quantity(name, *FIXED_WORDS[name], (name,)) for name in FIXED),
        *coordinates(scene.model),
        *speeds(scene.model),
        *_contacts(assembly),
        Quantity("rank", "", "rank of the imposed rows", ("rank",)),
        Quantity("rows", "", "number of the imposed rows", ("rows",)),
        Quantity("dependent", "", "the dependent speeds: a sum of 2^r", ("dependent",)),
        *(
            _plain(f"switch[{c}]", "", "twice the requests to switch it, and 1 where the last is to hold")
            for c in held
        ),
        *(_plain(f"hold[{c}]", "", "0 free, 1 holds, 2 slips forward, 3 slips backward") for c in held),
        *(
            _plain(f"row_gap[{name}]", _row_units(row, scene)[0], "gap before projection; 0 while it is free")
            for name, row in zip(assembly.row_names, rows, strict=True)
        ),
        *(
            _plain(f"row_force[{name}]", _row_units(row, scene)[1], "force of the row, or of its friction")
            for name, row in zip(assembly.row_names, rows, strict=True)
        ),
        *_friction(assembly),
        *(_plain(name, *CERTIFICATE_WORDS[name]) for name in assembly.certificate),
    ]


def offline_quantities(model: SceneModel) -> list[Quantity]:
    """Return what the columns of a run of the mechanism alone are, in their order (experiment.py)."""
    rate = [
        Quantity(q.name.replace("u[", "udot[", 1), f"{q.unit}^2", f"rate of {q.name}", (f"udot{r}",))
        for r, q in enumerate(speeds(model))
    ]
    words = "relative difference of the other algorithm in udot; NaN: none was compared"
    return [
        _plain("time_s", "s", "time since the start"),
        *coordinates(model),
        *speeds(model),
        *rate,
        _plain("kinetic_J", "J", "kinetic energy"),
        _plain("potential_J", "J", "potential energy; of a mass m at p it is -m g . p"),
        _plain("evaluations", "", "evaluations of the forward dynamics so far"),
        _plain("condition_number", "", "condition number of the mass matrix; NaN: it was not asked for"),
        *(
            Quantity(q.name.replace("u[", "difference[", 1), "", words, (f"difference{r}",))
            for r, q in enumerate(speeds(model))
        ),
    ]


def coordinates(model: SceneModel) -> list[Quantity]:
    """Return the generalized coordinates, in the order of q."""
    return _of_model("q", model.coordinate_columns)


def speeds(model: SceneModel) -> list[Quantity]:
    """Return the generalized speeds, in the order of u."""
    return _of_model("u", model.speed_columns)


def _of_model(letter: str, columns: Iterable[Column]) -> list[Quantity]:
    return [
        Quantity(f"{letter}{c.label}", c.unit, c.meaning, (f"{letter}{i}",)) for i, c in enumerate(columns)
    ]


def contact_groups(assembly: Assembly) -> dict[tuple[str, str], list[int]]:
    """Return the numbers of the candidates of each pair of shapes, named as in the first of them."""
    groups: dict[frozenset[str], list[int]] = {}
    for k, c in enumerate(assembly.candidates):
        groups.setdefault(frozenset((c.a, c.b)), []).append(k)
    first = assembly.candidates
    return {(first[ks[0]].a, first[ks[0]].b): ks for ks in groups.values()}


def _contacts(assembly: Assembly) -> Iterator[Quantity]:
    """The gap of each candidate, then the force of each pair of shapes."""
    names = assembly.contact_names
    for name, c in zip(names, assembly.candidates, strict=True):
        unit, words = "m", f"gap of {c.a} on {c.b} along the normal, negative: inside"
        if c.stop is not None:
            unit, words = c.stop.unit, f"way of {c.a} to its {c.stop.side} stop, negative: beyond"
        yield _plain(f"gap_{unit}[{name}]", unit, words)
    for (a, b), ks in contact_groups(assembly).items():
        candidate = assembly.candidates[ks[0]]
        if candidate.stop is not None:
            column, unit = (f"force_Nm[{a}-{b}]", "N m") if candidate.turns else (f"force_N[{a}-{b}]", "N")
            yield _plain(column, unit, f"of the {candidate.stop.side} stop on {a}, never negative")
            continue
        several = f", the sum of {len(ks)} points" if len(ks) > 1 else ""
        words = f"normal force between {a} and {b}{several}, never negative; impacts are in the events"
        yield Quantity(f"force_N[{a}-{b}]", "N", words, tuple(f"force_N[{names[k]}]" for k in ks))


def _friction(assembly: Assembly) -> Iterator[Quantity]:
    """The friction of each candidate along x, y and z, where contacts rub."""
    if assembly.scene.has_friction:
        for name, c in zip(assembly.contact_names, assembly.candidates, strict=True):
            for axis in "xyz":
                yield _plain(f"friction_{axis}_N[{name}]", "N", f"friction on {c.a} by {c.b}, {WORLD_AXES}")


def _row_units(row: Row, scene: Scene) -> tuple[str, str]:
    """Units of a row's gap and of its force."""
    return ("rad", "N m") if is_angular(row, scene.model) else ("m", "N")


def _plain(name: str, unit: str, words: str) -> Quantity:
    """A column under its own name."""
    return Quantity(name, unit, words, (name,))
