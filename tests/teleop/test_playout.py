"""Commands at the remote site: given once, in order, and what is missing is told."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.assemble.assembly import assemble
from hapticsim.kernels.memory.pack import state_size
from hapticsim.model.settings import LinkSettings
from hapticsim.teleop.command_log import CommandLog
from hapticsim.teleop.messages import COLUMNS, Commands, write_commands
from hapticsim.teleop.playout import Playout
from hapticsim.teleop.remote_site import RemoteSite
from tests.command_rows import commands

CONFIGS = Path(__file__).parents[2] / "configs"


def test_whatever_the_order_every_command_is_given_once_in_order():
    rng = np.random.default_rng(3)
    for _ in range(50):
        playout = Playout(1000.0, 0.0, 4096, 4096)
        playout.open(9, 100, 0.0)
        rows, given = commands(range(100, 600)), []
        for _ in range(400):
            first = int(rng.integers(0, 500))
            playout.take(rows[first : first + int(rng.integers(1, 40))], 0.0)
            given += playout.give(100 + len(given))
        playout.take(rows, 0.0)
        given += playout.give(100 + len(given))
        assert [tick for tick, _ in given] == list(range(100, 600))
        assert np.array_equal([c for _, c in given], rows[:, 1:])


def test_the_first_command_waits_until_the_margin_is_there():
    playout = Playout(1000.0, 0.02, 4096, 4096)
    playout.open(9, 0, 0.0)
    playout.take(commands(range(69)), 0.0)
    assert playout.give(0) == []
    playout.take(commands(range(69, 70)), 0.0)
    assert len(playout.give(0)) == 70


def test_what_is_missing_is_told_in_ranges_and_sent_again_until_it_came():
    playout, log = Playout(1000.0, 0.0, 4096, 4096), CommandLog(5000, 3, 1000.0)
    playout.open(9, 0, 0.0)
    rows = np.zeros((1000, 60))
    rows[:, 1] = np.arange(1000)
    assert log.append(rows, np.zeros((1000, 3)), 0.0)
    log.batch(0, 0.0)
    playout.take(commands(range(0, 100)), 0.0)
    playout.take(commands(range(200, 300)), 0.0)
    playout.take(commands(range(350, 1000)), 0.0)
    assert playout.missing() == [(100, 199), (300, 349)]
    log.missed(playout.missing())
    again = log.batch(0, 1.0)
    assert set(range(100, 200)) | set(range(300, 350)) <= set(again[:, 0].astype(int))
    assert 150 < len(again) < 400
    assert not set(range(100, 200)) & set(log.batch(0, 1.05)[:, 0].astype(int))  # not at once again
    assert set(range(100, 200)) <= set(log.batch(0, 1.2)[:, 0].astype(int))


def test_a_hole_in_the_rows_ends_the_sequence():
    log = CommandLog(1000, 3, 1000.0)
    rows = np.zeros((10, 60))
    rows[:, 1] = np.arange(10)
    assert log.append(rows, np.zeros((10, 3)), 0.0)
    rows[:, 1] = np.arange(11, 21)
    assert not log.append(rows, np.zeros((10, 3)), 0.0)


def test_a_command_for_a_tick_far_ahead_is_not_kept():
    playout = Playout(1000.0, 0.0, 4096, 4096)
    playout.open(9, 0, 0.0)
    rows = commands(range(3))
    rows[:, 0] = [0, 1, 1e15]
    playout.take(rows, 0.0)
    assert playout.missing() == [] and playout.missing_from == 2


def test_an_operator_that_sends_without_end_fills_what_there_is_room_for_and_nothing_is_lost_or_taken_twice():
    playout = Playout(1000.0, 0.0, 100, 500)
    playout.open(9, 0, 0.0)
    rows, given = commands(range(3000)), []
    while len(given) < 3000:
        for first in range(0, 3000, 1000):
            playout.take(rows[first : first + 1000], 0.0)
        assert playout.missing_from <= len(given) + 500
        given += playout.give(len(given))
    assert [tick for tick, _ in given] == list(range(3000))
    assert np.array_equal([c for _, c in given], rows[:, 1:])


@pytest.mark.long
def test_the_remote_site_holds_64_MiB_at_most_of_what_is_sent_to_it_without_end():
    assembly = assemble(hs.load(CONFIGS / "teleop_1s.yaml"))
    packed = np.zeros(state_size(assembly.new_state()))

    class Standing:
        """A loop that takes no tick."""

        read_state = staticmethod(lambda: packed)
        clear_schedule = staticmethod(lambda: True)
        take_whole = staticmethod(lambda packed: True)
        schedule = trim = staticmethod(lambda *_: None)
        waited = staticmethod(lambda: 0)

    link = LinkSettings(delay_up_s=10.0, delay_down_s=10.0)
    site = RemoteSite(assembly, link, Standing())
    tracemalloc.start()
    try:
        for n in range(400):
            rows = commands(range(4000 * n, 4000 * n + 4000))
            payload = write_commands(Commands(5, True, 0, rows)) | {"more": bytes(100_000)}
            payload |= {"rows": rows.tobytes(), "vary": list(range(COLUMNS))}
            site.receive(payload, 0.0 if n < 200 else 0.01 * n)
            if n >= 200:
                site.step(10.0 + 0.01 * n)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert site.malformed == 0
    assert held < 64 << 20


def test_the_pace_brings_the_margin_back_and_no_tick_is_twice_as_fast():
    playout = Playout(1000.0, 0.0, 4096, 4096)
    playout.open(9, 0, 0.0)
    playout.take(commands(range(4000)), 0.0)
    playout.give(0)
    assert playout.pace(0, 0.0) == 2.0  # 4 s have gathered
    for n in range(1, 6):
        pace = playout.pace(4000 - 50, 1.0 * n)
    assert pace == 1.0
    for n in range(6, 12):
        pace = playout.pace(4000, 1.0 * n)
    assert 0.98 <= pace < 1.0
