"""With a perfect model the prediction is the remote's later state to the bit, free and in contact."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hapticsim_devices.scripted import Scripted

import hapticsim as hs
from hapticsim.kernels.memory.command import command_of
from hapticsim.kernels.memory.pack import pack_state, state_size, unpack_state
from hapticsim.simulate.virtual import simulate
from hapticsim.teleop.link import DelayLine
from hapticsim.teleop.predictor import Predictor

CONFIG = Path(__file__).parents[2] / "configs" / "wam_table.yaml"
UP = DOWN = 1000  # ticks: 1 s each way


@pytest.fixture(scope="module")
def operator_rows() -> np.ndarray:
    """Eight seconds of a scripted hand that visits the table: one row per operator tick."""
    with Scripted({"emulate": "omega_3"}) as hand:
        return simulate(hs.load(CONFIG), hand, 8.0)


def remote_run(rows: np.ndarray) -> tuple[list[np.ndarray], hs.Simulation]:
    """The remote takes the same commands: its packed state before each tick."""
    remote = hs.Simulation(hs.load(CONFIG))
    packed = []
    for command in rows:
        state = np.zeros(state_size(remote._state))
        pack_state(remote._state, state)
        packed.append(state)
        remote.take_inputs(command)
        remote.step()
    return packed, remote


def test_prediction_two_seconds_ahead_equals_the_remote_later_to_the_bit(operator_rows: np.ndarray) -> None:
    packed, remote = remote_run(operator_rows)
    predictor = Predictor(remote.assembly)
    down: DelayLine[tuple[int, np.ndarray]] = DelayLine(DOWN * 1e-3)
    compared = in_contact = 0
    for k in range(len(operator_rows)):
        now = k * 1e-3
        if k >= UP and k % 100 == 0:  # the remote is UP ticks behind
            down.put(now, (k - UP, packed[k - UP]))
        for tick, state in down.due(now):
            prediction = predictor.predict(tick, state, command_of(operator_rows[tick : k + 1]))
            assert prediction.tick - tick >= UP + DOWN
            if prediction.tick < len(packed):
                predicted = np.concatenate([prediction.q, prediction.u])
                np.testing.assert_array_equal(predicted, packed[prediction.tick][: predicted.size])
                compared += 1
                in_contact += bool(predictor.state.mode[0])
    assert compared > 40
    assert 10 < in_contact < compared


def test_a_packed_state_comes_back_whole(operator_rows: np.ndarray) -> None:
    _, remote = remote_run(operator_rows[:5000:10])
    original = remote.fork().state
    packed = np.zeros(state_size(original))
    pack_state(original, packed)
    copy = remote.assembly.new_state()
    unpack_state(packed, copy)
    for name, array in original.items():
        np.testing.assert_array_equal(array, getattr(copy, name), err_msg=name)


def test_a_delay_line_delays_reorders_and_loses_as_told() -> None:
    line: DelayLine[int] = DelayLine(1.0, jitter_s=0.5, loss=0.2, seed=3)
    for n in range(2000):
        line.put(n * 1e-3, n)
    assert line.due(0.999) == []
    arrived = line.due(10.0)
    assert 0.15 < line.lost / 2000 < 0.25
    assert len(arrived) + line.lost == 2000
    assert arrived != sorted(arrived)
    again: DelayLine[int] = DelayLine(1.0, jitter_s=0.5, loss=0.2, seed=3)
    for n in range(2000):
        again.put(n * 1e-3, n)
    assert again.due(10.0) == arrived
