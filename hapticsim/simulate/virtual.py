"""A run in virtual time: hand, emulated device and simulation in lockstep, faster than the clock."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import hapticsim
from hapticsim.assemble.button_switches import ButtonSwitches
from hapticsim.codes import Event, Mode, Safety
from hapticsim.describe.columns import tick_quantities
from hapticsim.describe.drawing import of_ticks
from hapticsim.describe.forces import refused_engages, refused_event
from hapticsim.describe.recorded_scene import about_files
from hapticsim.describe.topics import Describer
from hapticsim.drivers.calls import called, info_of, wrong, zero
from hapticsim.errors import ConfigError, HapticsimError, brief
from hapticsim.haptics.delay import delay_in_ticks
from hapticsim.haptics.joining import check_gains, limits_of
from hapticsim.kernels.memory.command import COLUMNS
from hapticsim.kernels.memory.sample import PLACE, WIDTH
from hapticsim.model.scene import Scene
from hapticsim.recording.alongside import AlongsideWriter
from hapticsim.recording.reader import Recording
from hapticsim.recording.writer import RecordingWriter
from hapticsim.simulate.simulation import Simulation
from hapticsim.simulate.stretches import Stretches
from hapticsim.wire.messages.measurement import as_force, make_plain

ZERO = [0.0, 0.0, 0.0]
FELT = [  # columns of what the hand got, and why
    PLACE[name]
    for name in (
        "safety",
        "fault",
        "gain",
        *(f"hand_force_{a}_N" for a in "xyz"),
        *(f"hand_torque_{a}_Nm" for a in "xyz"),
    )
]
LARGEST = 1e15  # magnitude of what a run records, as of what a scene file may hold
SHARE_OF_MEMORY = 0.5  # of this computer, that the rows of a run may take
BATCH = 1000  # ticks between two writes to the recording and two lines of progress


def simulate(
    scene: Scene,
    driver: Any,
    seconds: float,
    record: Path | None = None,
    tell: Callable[[float, np.ndarray], Any] = lambda time_s, row: None,
    simulation: Simulation | None = None,
    tick_by_tick: bool = False,
) -> np.ndarray:
    """Run a scene with a driver that knows virtual time.

    A driver that can say beforehand what its hand will do (``in_numbers``: the scripted hand) runs with the
    tick in one compiled loop; the rows are the same to the bit.

    Parameters
    ----------
    driver : open driver (``hapticsim_devices.base.Driver``); its engage button arms, its disengage button
        disarms, the others switch what the scene says.
    seconds : [s] of simulated time.
    record : file to record to, or None.
    tell : called every ``BATCH`` ticks with the time and the newest row.
    tick_by_tick : never in a compiled loop.

    Returns rows (ticks, columns), columns as in ``Simulation.columns``.

    Raises
    ------
    ConfigError : a time that is negative, not finite, or more than the memory of this computer holds.
    HapticsimError : the recording cannot be written any further; what was written of it can be read.
    """
    sim = simulation or Simulation(scene)
    limits = limits_of(info_of(driver).hello())
    check_gains(limits, scene)
    sim.couple(limits)
    rows = _no_rows_yet(seconds, scene.rate_Hz, len(sim.columns))
    ticks = len(rows)
    writer = None
    if record is not None:
        metadata = {
            "hapticsim": hapticsim.__version__,
            "kind": "simulate",
            "scene": scene.name,
            "path": scene.path,
            **about_files(scene),
        }
        writer = AlongsideWriter(
            RecordingWriter(
                record,
                sim.columns,
                scene.source,
                metadata,
                quantities=tick_quantities(sim.assembly),
                drawing=of_ticks(sim.assembly),
            )
        )
    describer = Describer(sim.assembly)
    handed, told, asked = 0, 0, 0.0

    def settle() -> None:
        """Wait for what was handed over, and tell of it."""
        nonlocal told
        if writer and (failure := writer.wait()):
            raise HapticsimError(failure)
        if told < handed:
            told = handed
            tell(told * scene.tick_s, rows[told - 1])

    def done(taken: int) -> None:
        nonlocal handed, asked
        if taken == handed:
            return
        settle()
        new, handed = rows[handed:taken], taken
        if writer:
            writer.append(new)
            for k, fault in refused_engages(new, asked):
                writer.append_event(refused_event(new[k], fault))
            asked = max(asked, float(new[-1, PLACE["arm_requests"]]))

    def happened(tick: int, kind: int, contact: int, value: float, in_tick_s: float) -> None:
        if writer:
            writer.append_event(describer.event(tick, Event(kind), contact, value, in_tick_s))

    try:
        numbers = None
        if hasattr(driver, "in_numbers") and sim.time == 0.0 and not tick_by_tick:
            numbers = driver.in_numbers(np.arange(ticks) * scene.tick_s)
        if numbers is not None:
            _by_stretches(Stretches(sim, numbers), driver, rows, done, happened)
        else:
            _tick_by_tick(sim, driver, rows, done, happened)
        settle()
    finally:
        if writer:
            writer.close()
    settle()
    return rows


def _no_rows_yet(seconds: float, rate_Hz: float, columns: int) -> np.ndarray:
    """(ticks, columns) of zeros, for a run of so many seconds."""
    bytes_per_s = 8.0 * columns * rate_Hz
    longest_s = SHARE_OF_MEMORY * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / bytes_per_s
    if not 0.0 <= seconds <= longest_s:
        raise ConfigError(
            "simulate",
            "seconds",
            f"= {seconds:g} is not usable: all rows are kept in memory, and this computer holds "
            f"{longest_s:.0f} s of them; give 0 to {longest_s:.0f}.",
        )
    return np.zeros((round(seconds * rate_Hz), columns))


def _by_stretches(
    stretches: Stretches,
    driver: Any,
    rows: np.ndarray,
    done: Callable[[int], Any],
    happened: Callable[..., Any],
) -> None:
    """All ticks in compiled loops of ``BATCH``; done and happened as in _tick_by_tick."""
    k = 0
    try:
        while k < len(rows):
            batch = min(BATCH - k % BATCH, len(rows) - k)
            taken, events = stretches.advance(rows[k : k + batch], k)
            k += taken
            for tick, kind, contact, value, in_tick_s in events.tolist():
                happened(int(tick), int(kind), int(contact), value, in_tick_s)
            if k % BATCH == 0:
                done(k)
    finally:
        done(k)
    driver.continue_from(stretches.device)


def _tick_by_tick(
    sim: Simulation, driver: Any, rows: np.ndarray, done: Callable[[int], Any], happened: Callable[..., Any]
) -> None:
    """The same for any driver, in Python.

    done : called with the ticks taken, every ``BATCH`` and at the end, whoever ends it: a driver, Ctrl-C.
    happened : called for each event with tick, kind, contact, value and time in the tick [s].
    """
    scene, buttons, safety = sim.scene, 0, Safety.DISARMED
    switches, names = ButtonSwitches(scene), [c.name for c in scene.constraints]
    under_way = deque([(ZERO, ZERO)] * delay_in_ticks(scene))  # forces and torques, as late as on the wire
    taken = 0
    try:
        for k in range(len(rows)):
            sample = _measured(driver, k * scene.tick_s)
            rising = sample.buttons & ~buttons
            buttons = sample.buttons
            if rising & 1 and safety in (Safety.DISARMED, Safety.FAULT):
                sim.arm()
            if rising & 2:
                sim.disarm()
            for c in switches.pressed(buttons):
                sim.switch(names[c], sim.held[names[c]] == Mode.FREE)
            sim.set_device(
                np.array(sample.position_m),
                np.array(sample.velocity_m_per_s),
                quaternion=np.array(sample.quaternion_wxyz),
                angular_velocity=np.array(sample.angular_velocity_rad_per_s),
                flags=sample.flags,
            )
            sim.step()
            safety = Safety(sim.read_row(rows[k]))
            taken = k + 1
            for e in sim.events:
                happened(k, e.kind, e.contact, e.value, e.time - k * scene.tick_s)
            force = rows[k, PLACE["hand_force_x_N"] : PLACE["hand_force_x_N"] + 3]
            torque = rows[k, PLACE["hand_torque_x_Nm"] : PLACE["hand_torque_x_Nm"] + 3]
            under_way.append((force.tolist(), torque.tolist()))
            arrived_force, arrived_torque = under_way.popleft()
            _write(driver, "write", tuple(arrived_force))
            _write(driver, "write_torque", tuple(arrived_torque))
            if taken % BATCH == 0:
                done(taken)
    except BaseException:
        zero(driver)  # at once: what is recorded may take its time
        raise
    finally:
        done(taken)


def _measured(driver: Any, time_s: float) -> Any:
    """A measurement of a driver; refused where a wire would not take it."""
    sample = called(driver, "read", time_s)
    if problem := make_plain(sample):
        raise wrong(driver, f": read() {problem}")
    return sample


def _write(driver: Any, method: str, commanded: tuple[float, ...]) -> None:
    """Write a force or a torque; refused where the driver does not say what it sent."""
    sent = called(driver, method, commanded)
    if sent is not commanded and as_force(sent) is None:
        raise wrong(driver, f": {method}() returned {brief(sent)}: return the three numbers really sent")


def replay(
    recording: Recording,
    simulation: Simulation,
    tell: Callable[[int, np.ndarray], Any] = lambda done, row: None,
) -> float:
    """Feed the recorded inputs to the same tick; return the largest difference (0.0: to the bit).

    Compared are q, u, what the hand got, and the state of the force output.

    tell : called after every tick with the number of rows done and the row.

    Raises
    ------
    ConfigError : a number that no tick takes in or leaves behind: somebody edited it.
    """
    data = recording.data
    nq, nu = simulation.assembly.equations.nq, simulation.assembly.equations.nu
    row, given = np.zeros(len(simulation.columns)), np.zeros(len(simulation.columns))
    worst = 0.0
    compared = [*FELT, *range(WIDTH, WIDTH + nq + nu)]
    _check_numbers(recording, [*COLUMNS, *compared])
    for k in range(len(data)):
        given[: data.shape[1]] = data[k]  # of an earlier version it has fewer columns
        simulation.take_inputs(given)
        simulation.step()
        simulation.read_row(row)
        if not np.array_equal(row[compared], data[k, compared]):
            worst = max(worst, float(np.max(np.abs(row[compared] - data[k, compared]))))
        tell(k + 1, row)
    return worst


def _check_numbers(recording: Recording, columns: list[int]) -> None:
    """Refuse rows with what is not finite in these columns, or is too large for the whole numbers among them.

    A difference to NaN is neither small nor large, so a tick that was compared with it would count as equal.
    """
    numbers = recording.data[:, columns]
    age = numbers[:, columns.index(PLACE["device_age_s"])]
    age[np.isposinf(age)] = 0.0  # infinite while no device was there yet
    wrong = np.argwhere(~(np.abs(numbers) <= LARGEST))
    if len(wrong):
        k, j = wrong[0]
        raise ConfigError(
            recording.path,
            f"tick {recording.data[k, PLACE['tick']]:.0f}",
            f"has {recording.columns[columns[j]]} = {numbers[k, j]:g}, which no run records: "
            "the file was edited or damaged; give the original.",
        )
