"""A kernel compiled in a second process: waited for, ended with this process, and never needed."""

from __future__ import annotations

import pytest

from hapticsim.kernels.machine_code import beside
from hapticsim.kernels.machine_code.beside import Beside


@pytest.mark.parametrize(("call", "status"), [("kernel_folder", 0), ("no_such_function", 1)])
def test_it_is_waited_for_and_may_fail(call: str, status: int) -> None:
    other = Beside(call)
    other.begin()
    assert other._process is not None
    first = other._process
    other.begin()
    assert other._process is first  # at most one
    other.wait()
    assert first.returncode == status
    other.end()


def test_what_nobody_waited_for_ends_with_this_process() -> None:
    other = Beside("step_address")
    other.begin()
    other.end()
    assert other._process is not None and other._process.returncode is not None


def test_on_one_processor_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "processors", lambda: 1)
    other = Beside("kernel_folder")
    other.begin()
    other.wait()
    assert other._process is None


def test_where_no_process_may_be_started_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise BlockingIOError("Resource temporarily unavailable")

    monkeypatch.setattr(beside.subprocess, "Popen", refuse)
    other = Beside("kernel_folder")
    other.begin()
    other.wait()
    assert other._process is None
