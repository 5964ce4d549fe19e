"""Names, units and words of what a recording holds, from its own table or from the names of its columns."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.errors import HapticsimError
from hapticsim.recording.quantities import Quantity, Table
from hapticsim.recording.writer import RecordingWriter
from tests.recordings import refusal

COLUMNS = ["time_s", "q0", "force_N[box-table.0]", "force_N[box-table.1]", "coupler_damping_Ns_per_m"]
QUANTITIES = [
    Quantity("time_s", "s", "time", ("time_s",)),
    Quantity("q[shoulder]", "rad", "revolute joint: angle", ("q0",)),
    Quantity("force_N[box-table]", "N", "the sum of 2 points", tuple(COLUMNS[2:4])),
    Quantity("coupler_damping_Ns_per_m", "N s/m", "damping", ("coupler_damping_Ns_per_m",)),
]
ROWS = np.array([[0.0, 1.0, 2.0, 3.0, 4.0], [0.1, 5.0, np.nan, 7.0, 8.0]])


def recorded(path, quantities=(), columns=COLUMNS, rows=ROWS):
    with RecordingWriter(path, columns, quantities=quantities) as writer:
        writer.append(rows)
    return hs.read_recording(path)


def test_a_quantity_is_found_by_its_name_and_by_that_of_its_column(tmp_path):
    recording = recorded(tmp_path / "a.mcap", QUANTITIES)
    assert recording.names == ("time_s", "q[shoulder]", "force_N[box-table]", "coupler_damping_Ns_per_m")
    assert recording["q[shoulder]"].tolist() == recording["q0"].tolist() == [1.0, 5.0]
    np.testing.assert_array_equal(recording["force_N[box-table]"], [5.0, np.nan])
    assert recording["force_N[box-table.1]"].tolist() == [3.0, 7.0]
    assert recording.unit("q[shoulder]") == recording.unit("q0") == "rad"
    assert recording.words("force_N[box-table]") == "the sum of 2 points"
    assert {name: values.shape for name, values in recording.to_numpy().items()} == dict.fromkeys(
        recording.names, (2,)
    )


def test_a_file_without_a_table_gives_what_the_names_of_its_columns_tell(tmp_path):
    recording = recorded(tmp_path / "a.mcap")
    assert recording.names == ("time_s", "q0", "force_N[box-table]", "coupler_damping_Ns_per_m")
    np.testing.assert_array_equal(recording["force_N[box-table]"], [5.0, np.nan])
    assert [recording.unit(name) for name in recording.names] == ["s", "", "N", "N s/m"]
    assert recording.words("q0") == ""


def test_an_unknown_name_is_answered_with_the_nearest(tmp_path):
    recording = recorded(tmp_path / "a.mcap", QUANTITIES)
    sentence = (
        f"{tmp_path}/a.mcap: has no quantity 'q[sholder]' (did you mean 'q[shoulder]'?): "
        "'recording.names' and 'hapticsim export FILE' list what it has."
    )
    for asked in (recording.__getitem__, recording.unit, recording.words):
        assert refusal(asked, "q[sholder]") == sentence
    assert refusal(recording.__getitem__, 3).startswith(f"{tmp_path}/a.mcap: has no quantity 3: ")


def test_the_table_of_pandas_has_the_time_as_its_index_and_knows_units(tmp_path):
    frame = recorded(tmp_path / "a.mcap", QUANTITIES).to_pandas()
    assert frame.index.name == "time_s" and frame.index.tolist() == [0.0, 0.1]
    assert list(frame.columns) == ["q[shoulder]", "force_N[box-table]", "coupler_damping_Ns_per_m"]
    assert frame["q[shoulder]"].tolist() == [1.0, 5.0]
    assert frame.attrs["units"]["coupler_damping_Ns_per_m"] == "N s/m"


def test_without_pandas_one_sentence_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(HapticsimError) as refused:
        recorded(tmp_path / "a.mcap").to_pandas()
    assert str(refused.value) == (
        f"{tmp_path}/a.mcap: a table needs the package 'pandas': pip install 'hapticsim[tables]'."
    )


def test_names_that_clash_leave_each_column_under_its_own():
    columns = ["time_s", "a", "b", "c"]
    given = [
        Quantity("time_s", "s", "", ("time_s",)),
        Quantity("b", "m", "a sum under the name of a column", ("a", "b")),
        Quantity("twice", "N", "the first", ("c",)),
        Quantity("twice", "N", "the second", ("a",)),
    ]
    table, data = Table(columns, given), np.array([[0.0, 1.0, 2.0, 3.0]])
    assert [q.name for q in table.quantities] == ["time_s", "a", "b", "twice"]
    for name, value in {"a": 1.0, "b": 2.0, "c": 3.0, "twice": 3.0}.items():
        assert table.values(table.find(name, ""), data) == value


@pytest.mark.parametrize(
    "name", ["Schulter π", "a'b\"c", "arm/left/../x", "a.b].x", "n" * 5000, "\\u0000", ""]
)
def test_odd_names_come_back_as_they_were(tmp_path, name):
    quantities = [QUANTITIES[0], Quantity(f"q[{name}]", "rad", "angle", ("q0",)), *QUANTITIES[2:]]
    recording = recorded(tmp_path / "a.mcap", quantities)
    assert recording[f"q[{name}]"].tolist() == [1.0, 5.0]
    assert refusal(recording.__getitem__, f"q[{name}]!").startswith(f"{tmp_path}/a.mcap: has no quantity ")


@pytest.mark.parametrize(
    "text",
    ["{}x", "3", '[["q","rad","",["gone"]]]', '[["q","rad","",[]]]', '[["q"]]', "[" * 100_000, "[[1,2,3,4]]"],
)
def test_a_table_that_somebody_made_up_leaves_the_names_of_the_columns(tmp_path, monkeypatch, text):
    monkeypatch.setattr(Table, "to_text", lambda table: text)
    recording = recorded(tmp_path / "a.mcap", QUANTITIES)
    assert recording.names == ("time_s", "q0", "force_N[box-table]", "coupler_damping_Ns_per_m")
    assert np.array_equal(recording.data, ROWS, equal_nan=True) and recording.complete


def test_a_recording_of_one_row_and_one_of_none(tmp_path):
    for n in (1, 0):
        recording = recorded(tmp_path / f"{n}.mcap", QUANTITIES, rows=ROWS[:n])
        assert recording["force_N[box-table]"].shape == (n,) and recording.to_pandas().shape == (n, 3)
