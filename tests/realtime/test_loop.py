"""The real-time loop and its hand-over: punctual whatever Python does, never torn, never blocked."""

from __future__ import annotations

import ctypes
import dataclasses
import threading
import time

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.assemble.assembly import assemble
from hapticsim.codes import Event, Fault, Safety
from hapticsim.kernels.memory.command import COMMAND
from hapticsim.kernels.memory.pack import place_of, unpack_state
from hapticsim.kernels.memory.sample import PLACE, WIDTH
from hapticsim.realtime.clock import deadline_after, suspended_ns
from hapticsim.realtime.correction import EASE_S, ease
from hapticsim.realtime.loop import RealTimeLoop
from hapticsim.simulate.simulation import Simulation
from tests.processes import CONFIGS

TICK_S = 0.001
START_HEIGHT_m = 0.02  # of the puck
SLIDES_BY = 4  # the speed along y, where no wall is


@pytest.fixture(scope="module")
def assembly():
    return assemble(hs.load(CONFIGS / "puck_and_wall.yaml"))


@pytest.fixture
def loop(assembly):
    loop = RealTimeLoop(assembly)
    try:
        yield loop
    finally:
        loop.stop()


def ticks(loop: RealTimeLoop) -> int:
    return int(loop.statistics()["ticks"])


def rows_for(loop: RealTimeLoop, seconds: float) -> np.ndarray:
    """Rows (n, columns) that come while waiting."""
    parts, until = [], time.monotonic() + seconds
    while time.monotonic() < until:
        parts.append(loop.drain().copy())
        time.sleep(0.01)
    return np.concatenate(parts)


# --------------------------------------------------------------------------------------------------- the loop


def test_a_second_is_a_thousand_ticks(loop):
    loop.start()
    before_first, first, after_first = time.monotonic(), ticks(loop), time.monotonic()
    time.sleep(1.0)
    before_last, last, after_last = time.monotonic(), loop.statistics(), time.monotonic()
    due = last["ticks"] + last["missed"] - first  # a grid: late ticks do not move it
    assert (before_last - after_first) / TICK_S - 3 <= due <= (after_last - before_first) / TICK_S + 3


def test_the_loop_ticks_while_another_thread_holds_the_interpreter(loop):
    loop.start()
    time.sleep(0.2)
    before = loop.statistics()
    ctypes.PyDLL(None).usleep(400_000)  # a call through PyDLL keeps the GIL
    after = loop.statistics()
    taken = after["ticks"] - before["ticks"]
    assert taken + after["missed"] - before["missed"] >= 395
    assert after["missed"] - before["missed"] < 40


def test_every_tick_gives_one_row_in_order(loop):
    loop.start()
    rows = rows_for(loop, 0.5)
    assert len(rows) > 300
    assert np.array_equal(rows[:, 1], np.arange(len(rows)))
    assert rows[:, 0] == pytest.approx(TICK_S * rows[:, 1])
    assert loop.statistics()["rows_lost"] == 0


def test_rows_nobody_takes_are_dropped_and_counted_and_the_loop_goes_on(assembly):
    loop = RealTimeLoop(assembly)
    places = loop._io.ring_places
    places[1] = -(len(loop._io.ring) - 50)  # as if all but fifty places were taken already
    loop.start()
    time.sleep(0.4)
    loop.stop()
    statistics = loop.statistics()
    assert statistics["rows_lost"] == statistics["ticks"] - 50 > 100


def test_stop_ends_the_thread_within_a_tick_and_twice_is_once(loop):
    loop.start()
    time.sleep(0.05)
    assert loop.running
    started = time.monotonic()
    loop.stop()
    assert not loop.running and time.monotonic() - started < 0.1
    loop.stop()


def test_a_device_that_was_never_heard_gives_no_force_and_a_reason(loop):
    loop.start()
    loop.write_gains(np.array([1000.0, 2.0, 12.0]))
    loop.write_device(
        (0.01, 0.0, 0.0), (0.0, 0.0, 0.0), 0, True, 1, 0, 0.0
    )  # stamped long ago, asks for force
    time.sleep(0.05)
    force, safety, fault, *_ = loop.read_force()
    assert np.all(force == 0.0) and safety == Safety.DISARMED and fault == Fault.DEVICE_SILENT


def test_silence_after_arming_interrupts_in_the_tick_that_finds_the_sample_too_old_and_ends_in_a_fault(loop):
    loop.start()
    loop.write_gains(np.array([1000.0, 2.0, 12.0]))
    for n in range(1000):  # half a second of ramp, and more
        loop.write_device((0.01, 0.0, 0.0), (0.0, 0.0, 0.0), time.monotonic_ns(), True, int(n > 5), 0, 0.0)
        time.sleep(0.001)
        if loop.read_force()[1] == Safety.ARMED:
            break
    assert loop.read_force()[1] == Safety.ARMED
    time.sleep(0.2)
    rows = loop.drain()
    safety, age = rows[:, PLACE["safety"]], rows[:, PLACE["device_age_s"]]
    off = np.isin(safety, (Safety.INTERRUPTED, Safety.FAULT))
    first, fault = int(np.flatnonzero(off)[0]), int(np.flatnonzero(safety == Safety.FAULT)[0])
    assert np.all(safety[first:fault] == Safety.INTERRUPTED) and np.all(safety[fault:] == Safety.FAULT)
    assert np.all(age[first:fault] <= 0.1) and age[fault] > 0.1
    assert np.all(age[safety == Safety.ARMED] <= 0.009) and age[first] > 0.009  # a tick early
    hand = rows[:, PLACE["hand_force_x_N"] : PLACE["hand_force_x_N"] + 3]
    assert np.all(hand[first:] == 0.0)
    kinds = [(kind, value) for _, kind, _, value, _ in loop.drain_events()]
    assert (Event.SAFETY, float(Safety.FAULT)) in kinds


def test_a_state_is_adopted_whole_between_two_ticks(loop, assembly):
    loop.start()
    other = assembly.new_state()
    place = int(np.argmax(other.q == START_HEIGHT_m)) - 2  # x of the free joint
    other.q[place] += 0.05
    time.sleep(0.05)
    assert loop.adopt(other)
    time.sleep(0.05)
    rows = loop.drain()
    x = rows[:, loop.columns.index(f"q{place}")]
    (jump,) = np.flatnonzero(np.diff(x) > 0.01)
    assert np.allclose(x[jump + 1 :], other.q[place], atol=1e-6) and np.allclose(
        x[: jump + 1], x[0], atol=1e-6
    )


def test_a_state_that_was_not_taken_in_time_is_taken_back(loop, assembly):
    loop.start()
    other = assembly.new_state()
    place = int(np.argmax(other.q == START_HEIGHT_m)) - 2
    time.sleep(0.05)
    asked = 0.01 * np.arange(1, 101)
    taken = []
    for x in asked:
        other.q[place] = x
        if loop.adopt(other, timeout_s=0.0):  # gives up at once; now and then the loop is faster
            taken.append(x)
        time.sleep(0.0013)
    other.q[place] = 2.0
    assert loop.adopt(other)
    time.sleep(0.05)
    x = loop.drain()[:, loop.columns.index(f"q{place}")]
    seen = x[1:][np.abs(np.diff(x)) > 0.001]
    assert np.allclose(seen, [*taken, 2.0], atol=1e-6)


def test_a_state_of_some_ticks_ago_is_brought_to_the_present_and_taken_without_a_step(assembly):
    """What the loop takes over is what it had: its motion goes on to the bit."""
    sliding = assembly.scene.u0.copy()
    sliding[SLIDES_BY] = 0.05
    assembly = assemble(dataclasses.replace(assembly.scene, u0=sliding))
    loop, state, rows = RealTimeLoop(assembly), assembly.new_state(), []
    try:
        loop.start()
        time.sleep(0.1)
        for _ in range(5):
            unpack_state(loop.read_state(), state)
            rows.append(rows_for(loop, 0.03))
            assert loop.catch_up(state)
        rows = np.concatenate([*rows, rows_for(loop, 0.05)])
    finally:
        loop.stop()
    alone = Simulation(assembly.scene)
    row = np.zeros(len(loop.columns))
    motion = slice(WIDTH, WIDTH + state.q.size + state.u.size)
    assert np.array_equal(rows[:, 1], np.arange(len(rows))) and len(rows) > 150
    assert np.ptp(rows[:, motion], axis=0).max() > 0.005, "it slides"
    for recorded in rows:
        alone.take_inputs(recorded)
        alone.step()
        alone.read_row(row)
        assert np.array_equal(row[motion], recorded[motion])


def test_a_state_whose_rows_are_gone_is_not_brought_to_the_present(loop, assembly):
    loop.start()
    time.sleep(0.1)
    state = assembly.new_state()
    state.tick[0] = -5000
    assert not loop.catch_up(state)


def test_a_correction_leaves_no_step_in_the_force_and_no_force_where_there_is_none(assembly):
    loop = RealTimeLoop(assembly)
    io, out, inp, state, plan = loop._io, loop._output, loop._input, loop.state, assembly.plan
    inp.coupler[2] = 12.0
    io.link[0] = 1
    state.safety[0] = Safety.ARMED
    sent = []
    for n in range(400):
        out.hand_force_D[:] = (8.0, 0.0, 0.0) if n < 10 else (-8.0, 3.0, 0.0)
        ease(plan, state, inp, out, io, n == 10)
        sent.append(out.hand_force_D.copy())
    steps = np.linalg.norm(np.diff(sent, axis=0), axis=1)
    assert steps.max() == pytest.approx(12.0 / EASE_S * 1e-3) and np.allclose(sent[-1], (-8.0, 3.0, 0.0))
    out.hand_force_D[:] = 8.0, 0.0, 0.0
    ease(plan, state, inp, out, io, True)
    state.safety[0] = Safety.FAULT
    out.hand_force_D[:] = 0.0
    ease(plan, state, inp, out, io, False)
    assert not np.any(out.hand_force_D)
    state.safety[0] = Safety.ARMED
    ease(plan, state, inp, out, io, False)
    assert not np.any(out.hand_force_D)  # nothing was left to come back


def test_a_scheduled_loop_stands_still_where_a_command_has_not_come(assembly):
    loop = RealTimeLoop(assembly, scheduled=True)
    try:
        loop.start()
        time.sleep(0.05)
        assert loop.taken() == 0 and loop.waited() > 10
        for tick in (0, 1, 2, 4, 5):
            loop.schedule(tick, np.zeros(COMMAND))
        time.sleep(0.05)
        assert loop.drain()[:, 1].tolist() == [0, 1, 2]
        loop.schedule(3, np.zeros(COMMAND))
        time.sleep(0.05)
        assert loop.drain()[:, 1].tolist() == [3, 4, 5]
        loop.schedule(6, np.zeros(COMMAND))
        assert loop.clear_schedule()
        packed = loop.read_state()
        packed[place_of(loop.state, "tick")] = 900
        assert loop.take_whole(packed)
        loop.schedule(900, np.zeros(COMMAND))
        time.sleep(0.05)
        assert loop.drain()[-1, 1] == 900
    finally:
        loop.stop()


def test_a_link_that_was_not_heard_in_time_is_told_to_the_tick(loop):
    loop.start()
    loop.watch_link(time.monotonic() + 0.1)
    rows = rows_for(loop, 0.3)
    late = rows[:, PLACE["link_late_s"]]
    assert late[0] == 0.0 and late[-1] == pytest.approx(0.2, abs=0.1)


def test_deadlines_lie_halfway_between_multiples_of_the_period(loop):
    loop.start()
    rows = rows_for(loop, 0.1)
    _, _, _, tick, stamp_s, _ = loop.read_force()
    rows = np.concatenate([rows, rows_for(loop, 0.02)])
    (row,) = rows[rows[:, PLACE["tick"]] == tick]
    deadline_s = stamp_s - 1e-6 * row[PLACE["lateness_us"]]
    assert deadline_s % TICK_S == pytest.approx(TICK_S / 2, abs=1e-8)


@pytest.mark.parametrize("period_ns", [100_000, 333_333, 1_000_000, 2_000_000, 10_000_000])
def test_the_deadline_after_a_time_is_the_next_halfway_between_two_of_a_bridge(period_ns):
    for now in range(10**15, 10**15 + 3 * period_ns, period_ns // 7):
        deadline = deadline_after(now, period_ns)
        assert 0 < deadline - now <= period_ns and deadline % period_ns == min(period_ns, 1_000_000) // 2
        assert deadline_after(deadline, period_ns) == deadline + period_ns


def test_the_force_that_answers_a_sample_is_waited_for(loop):
    loop.start()
    time.sleep(0.05)
    for i in range(50):
        loop.write_device((0, 0, 0), (0, 0, 0), time.monotonic_ns(), True, 0, 0, 100.0 + i)
        began = time.monotonic()
        assert loop.await_force(100.0 + i, 0.1, 0.1)
        waited = time.monotonic() - began
        assert loop.read_force()[5] == 100.0 + i and waited < 0.05
        time.sleep(0.0007)


def test_a_force_that_does_not_come_is_not_waited_for(loop):
    loop.start()
    time.sleep(0.05)
    began = time.monotonic()
    assert not loop.await_force(7.0, 0.02, 0.02)
    assert 0.01 < time.monotonic() - began < 0.1
    began = time.monotonic()
    assert not loop.await_force(7.0, 0.0, 0.02)  # no tick is due at once
    assert time.monotonic() - began < 0.01


def test_statistics_can_be_started_anew(loop):
    loop.start()
    time.sleep(0.1)
    loop.reset_statistics()
    time.sleep(0.05)
    assert 20 < ticks(loop) < 80


def test_each_thread_that_reads_the_force_has_its_own_copy(loop):
    slot = loop._io.force_slot
    slot[0], slot[8] = 1.0, 0.1
    mine, my_torque = loop.read_force()[0], loop.torque
    slot[0], slot[8] = 2.0, 0.2
    seen: list[float] = []
    thread = threading.Thread(target=lambda: seen.extend((loop.read_force()[0][0], loop.torque[0])))
    thread.start()
    thread.join()
    assert seen == [2.0, 0.2] and mine[0] == 1.0 and my_torque[0] == 0.1


def test_a_suspension_is_seen_and_a_thread_that_is_stopped_between_two_clocks_is_not_taken_for_one():
    seen, asleep, found = np.zeros(1, np.int64), 5 * 10**9, 0
    rng = np.random.default_rng(3)
    for n in range(2000):
        boot = asleep + n * 10**6
        monotonic = n * 10**6 + int(rng.exponential(2e5))  # read a little later, now and then much later
        found = suspended_ns(seen, boot, monotonic)
        assert n == 0 or found < 3 * 10**6
    assert suspended_ns(seen, boot + 10**9, monotonic) > 10**9 - 3 * 10**6
