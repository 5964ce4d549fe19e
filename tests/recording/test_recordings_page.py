"""docs/recordings.md against the program: its tables of columns, its topics, its code."""

from __future__ import annotations

import re

import pytest

import hapticsim as hs
from hapticsim.commands.experiment import columns, run_experiment
from hapticsim.describe.columns import FIXED_WORDS, offline_quantities, tick_quantities
from hapticsim.describe.drawing import FORCES, STATE, of_ticks
from hapticsim.kernels.memory.sample import FIXED
from hapticsim.model.multibody.columns import COMPONENTS
from hapticsim.model.multibody.joint import JOINT_KINDS
from tests.drawn import assembled
from tests.processes import CONFIGS

PAGE = (CONFIGS.parent / "docs" / "recordings.md").read_text()
SCENES = [
    "wam_table", "puck_and_wall", "double_four_bar", "curve_guide", "rolling_disk", "wrist", "panda_table",
    "shopping_cart", "push_boxes",
]  # fmt: skip
STANDS_FOR = {
    **dict.fromkeys(("gap_m", "force_N", *(f"friction_{axis}_N" for axis in "xyz")), "<point>"),
    **dict.fromkeys(("switch", "hold"), "<constraint>"),
    **dict.fromkeys(("row_gap", "row_force"), "<row>"),
}


def table(begin: str) -> list[list[str]]:
    """The cells of the first table after a line of the page."""
    lines = PAGE.partition(f"\n{begin}")[2].splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("|"))
    last = next(i for i in range(first, len(lines) + 1) if not "".join(lines[i : i + 1]).startswith("|"))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[first + 2 : last]]


def listed(rows: list[list[str]]) -> dict[str, tuple[set[str], str]]:
    """Units and words of each column of a table."""
    return {
        name: (set(re.split(", | or ", row[2])), row[3])
        for row in rows
        for name in re.findall(r"`(.+?)`", row[0])
    }


def pattern(column: str) -> str:
    """A column as the page writes it."""
    stem, bracket, _ = column.partition("[")
    if bracket:
        return f"{stem}[{STANDS_FOR[stem]}]"
    return re.sub(r"^(q|u|udot|difference)\d+$", r"\1<i>", column)


@pytest.fixture(scope="module")
def assemblies():
    return [assembled(hs.load(CONFIGS / f"{name}.yaml")) for name in SCENES]


def compare(told, found_columns, quantities, seen):
    assert [c for q in quantities for c in q.columns] == list(found_columns), "every column, in its order"
    for q in quantities:
        assert q.words, q.name
        for column in q.columns:
            units, _ = told[pattern(column)]
            assert (q.unit or "-") in units, column
            seen.add(pattern(column))


def test_the_page_lists_the_columns_of_runs_with_their_units(assemblies):
    told, seen = listed(table("Of a run of ticks")), set()
    for assembly in assemblies:
        compare(told, assembly.columns, tick_quantities(assembly), seen)
    assert seen == set(told)
    assert set(FIXED_WORDS) == set(FIXED)
    assert {name: told[name][1] for name in FIXED} == {
        name: words for name, (_, words) in FIXED_WORDS.items()
    }


def test_the_page_lists_the_columns_of_off_line_runs(assemblies):
    told, seen = listed(table("Of an off-line run")), set()
    for assembly in assemblies:
        model = assembly.scene.model
        compare(told, columns(model), offline_quantities(model), seen)
    assert seen == set(told)


def test_the_page_lists_the_components_of_joints():
    told = {
        row[0]: tuple(tuple(re.findall(r"`(.+?)`", cell)) for cell in row[1:]) for row in table("Joints with")
    }
    assert told == COMPONENTS
    for kind, (q, u) in COMPONENTS.items():
        assert (len(q), len(u)) == (JOINT_KINDS[kind].nq, JOINT_KINDS[kind].nu)
    assert {kind for kind, about in JOINT_KINDS.items() if about.nq > 1} == set(COMPONENTS)


def test_the_page_lists_the_topics_and_their_schemas(assemblies):
    told = {row[0].strip("`"): row[1].strip("`") for row in table("**Foxglove**")}
    found = {c.topic: c.schema_name for a in assemblies for c in of_ticks(a).channels}
    assert found == told and {STATE, FORCES} < set(found)


def test_the_code_of_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run_experiment(hs.load(CONFIGS / "four_bar.yaml"), 0.1, tmp_path / "visit.mcap")
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(code, {})
    assert "q[ground] rad revolute joint: angle ('q0',)" in capsys.readouterr().out
