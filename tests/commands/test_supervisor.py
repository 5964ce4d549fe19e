"""How a run begins and ends: its parts wait for one another, and the force goes first."""

from __future__ import annotations

import time
from typing import Any

import pytest

from hapticsim.commands import supervisor
from hapticsim.commands.supervisor import watch


class Side:
    """A composition root that only remembers; ready after some looks."""

    trouble = ""

    def __init__(self, told: list[str], looks: int = 0) -> None:
        self.told, self.looks = told, looks

    @property
    def is_ready(self) -> bool:
        self.looks -= 1
        return self.looks < 0

    def __getattr__(self, name: str) -> Any:
        def note() -> str:
            self.told.append(name)
            return name

        return note


class Part:
    """A process of the run that lives for some looks."""

    def __init__(self, told: list[str], name: str, looks: int = 1000) -> None:
        self.told, self.name, self.looks = told, name, looks

    def look_after(self) -> bool:
        self.looks -= 1
        return self.looks >= 0

    def end(self) -> None:
        self.told.append(f"{self.name} ends")


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "begin_ending", lambda: None)


def test_the_force_goes_before_any_process_ends() -> None:
    told: list[str] = []
    parts = [Part(told, "device", looks=2), Part(told, "remote site")]
    assert watch(Side(told), None, parts, quiet=True)  # type: ignore[arg-type]
    assert [word for word in told if word != "adopt_threads"] == [
        "start",
        "release",
        "device ends",
        "remote site ends",
        "stop",
    ]


def test_the_time_of_a_run_counts_from_when_its_parts_have_found_one_another() -> None:
    began = time.monotonic()
    watch(Side([], looks=10), 0.2, [], quiet=True)  # type: ignore[arg-type]
    assert time.monotonic() - began > 0.2 + 9 * 0.05


def test_a_part_that_dies_ends_the_waiting() -> None:
    told: list[str] = []
    began = time.monotonic()
    watch(Side(told, looks=10**6), 60.0, [Part(told, "remote site", looks=3)], quiet=True)  # type: ignore[arg-type]
    assert time.monotonic() - began < 5.0 and "remote site ends" in told
