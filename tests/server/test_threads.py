"""The threads of a server: one that dies is told, one that does not end keeps what it uses."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest

from hapticsim.commands import supervisor
from hapticsim.server import server as servers
from hapticsim.server.outlet import Outlet
from hapticsim.server.server import ENDING_PRIORITY, PYTHON_PRIORITY, Server
from hapticsim.wire.sockets.door import Door
from tests.processes import eventually


class Closable:
    def __init__(self) -> None:
        self.closed = 0
        self.refused: Counter[str] = Counter()

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def server(monkeypatch) -> Server:
    """The threads of a server without its parts."""
    monkeypatch.setattr(servers, "JOIN_S", 0.1)
    made: Any = Server.__new__(Server)
    made.realtime, made.say, made._died = False, lambda line: made.said.append(line), ""
    made.said, made._threads, made._stop, made._told = [], [], threading.Event(), set()
    made.loop = SimpleNamespace(running=True, stop=lambda: None, statistics=dict)
    made.port, made.control, made.publisher, made.recorder = (Closable() for _ in range(4))
    made.host = None
    return made


@pytest.mark.parametrize(
    ("was_on", "asked", "told"),
    [
        (False, 0.0, "ticks\nforce was never on: no hand engaged"),
        (False, 2.0, "ticks\nforce was never on: a hand engaged, and was refused or had not enough time"),
        (True, 1.0, "ticks"),
    ],
)
def test_the_report_tells_when_force_was_never_on(server, monkeypatch, was_on, asked, told):
    monkeypatch.setattr(servers, "report", lambda *_: "ticks")
    monkeypatch.setattr(Server, "statistics", lambda _: {})
    server.session, server.scene = SimpleNamespace(gains=None), SimpleNamespace(rate_Hz=1000.0)
    server.outlet = Outlet.__new__(Outlet)
    server.outlet._was_on, server.outlet._asked = was_on, asked
    assert server.report() == told


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_dies_is_the_end_of_a_run_that_says_why(server):
    server.add_thread("outlet", server._stop.wait)
    assert server.trouble == ""
    server.add_thread("wire", lambda: 1 / 0)
    eventually(lambda: server.trouble)
    assert server.trouble == "the wire thread ended by itself (ZeroDivisionError: division by zero)"
    server.stop()


def test_a_thread_that_ends_before_it_is_asked_to_is_the_end_of_a_run(server):
    server.add_thread("outlet", lambda: None)
    eventually(lambda: server.trouble)
    assert server.trouble == "the outlet thread ended by itself"
    server.stop()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("fails", (True, False))
def test_a_thread_that_fails_as_the_run_ends_is_told_too(server, monkeypatch, fails):
    said: list[str] = []
    monkeypatch.setattr(supervisor.voice, "say", lambda line, descriptor=2: said.append(line))
    monkeypatch.setattr(Server, "is_ready", True)
    for name in ("start", "release", "adopt_threads"):
        monkeypatch.setattr(Server, name, lambda self: None)
    monkeypatch.setattr(Server, "report", lambda self: "report")
    server.add_thread("outlet", lambda: server._stop.wait() and 1 / (0 if fails else 1))
    assert supervisor.watch(server, 0.1, quiet=True) is not fails
    why = "the outlet thread ended by itself (ZeroDivisionError: division by zero): the run ends."
    assert said == ([why] if fails else [])


def test_a_watch_over_a_server_in_trouble_ends_and_says_so(monkeypatch):
    said: list[str] = []
    monkeypatch.setattr(supervisor.voice, "say", lambda line, descriptor=2: said.append(line))
    quiet = SimpleNamespace(
        trouble="the wire thread ended by itself", is_ready=True, release=lambda: None,
        start=lambda: None, stop=lambda: None, adopt_threads=lambda: None,
        live_line=lambda: "", report=lambda: "report",
    )  # fmt: skip
    assert supervisor.watch(quiet, 60.0) is False
    assert said == ["the wire thread ended by itself: the run ends.", "report"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_of_any_part_that_dies_is_the_end_of_a_run_that_says_why(monkeypatch, tmp_path):
    """The door of a path lets nobody in any more: a device that joins anew would wait for ever."""
    said: list[str] = []
    monkeypatch.setattr(supervisor.voice, "say", lambda line, descriptor=2: said.append(line))
    monkeypatch.setattr(Door, "_accept", lambda self: 1 / 0)
    path = str(tmp_path / "door")
    door = Door(path, "ROUTER", frozenset({"DEALER"}), 64, 0, lambda peer: None)
    link = socket.socket(socket.AF_UNIX)
    well = SimpleNamespace(
        trouble="", is_ready=True, release=lambda: None, start=lambda: link.connect(path),
        stop=door.close, adopt_threads=lambda: None, live_line=lambda: "", report=lambda: "report",
    )  # fmt: skip
    before = threading.excepthook
    assert supervisor.watch(well, 60.0, quiet=True) is False
    link.close()
    assert said == ["the door thread ended by itself (ZeroDivisionError: division by zero): the run ends."]
    assert threading.excepthook == before


@pytest.mark.parametrize(("name", "left"), [("wire", {"port"}), ("outlet", {"control", "publisher"})])
def test_what_a_thread_still_uses_is_not_closed_under_it(server, name, left):
    go_on = threading.Event()
    server.add_thread(name, go_on.wait)
    server.stop()
    closed = {part for part in ("port", "control", "publisher", "recorder") if getattr(server, part).closed}
    assert closed == {"port", "control", "publisher", "recorder"} - left
    assert server.said == [f"hapticsim-{name} did not end in 0.1 s; what it uses is left to it."]
    go_on.set()


def test_statistics_may_be_asked_for_while_another_thread_counts(server):
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    port = SimpleNamespace(
        dropped=Counter({n: 1 for n in range(2000)}), round_trip=(), received=0, floods=0, refused={}
    )
    server.port, server.recorder, stop = port, None, threading.Event()

    def count() -> None:
        n = 0
        while not stop.is_set():
            n += 1
            port.dropped[-n] += 1
            if n % 500 == 0:
                for key in range(n - 499, n + 1):
                    del port.dropped[-key]

    counting = threading.Thread(target=count, daemon=True)
    counting.start()
    try:
        until = time.monotonic() + 1.0
        while time.monotonic() < until:
            assert server.statistics()["dropped"]["7"] == 1
    finally:
        stop.set()
        counting.join()
        sys.setswitchinterval(before)


def test_every_thread_that_runs_python_gets_a_priority_and_the_one_that_ends_a_run_the_highest(server):
    me = threading.get_native_id()
    before = os.sched_getscheduler(me), os.sched_getparam(me)
    try:
        os.sched_setscheduler(me, os.SCHED_FIFO, os.sched_param(PYTHON_PRIORITY))
        os.sched_setscheduler(me, *before)
    except PermissionError:
        pytest.skip("this computer does not permit SCHED_FIFO")
    stop = threading.Event()
    strange = threading.Thread(target=stop.wait, daemon=True)
    strange.start()
    try:
        assert strange.native_id is not None
        assert os.sched_getscheduler(strange.native_id) == before[0] != os.SCHED_FIFO
        server.realtime = True
        server.adopt_threads()
        assert os.sched_getscheduler(strange.native_id) == os.SCHED_FIFO
        assert os.sched_getparam(strange.native_id).sched_priority == PYTHON_PRIORITY
        assert os.sched_getparam(me).sched_priority == ENDING_PRIORITY > PYTHON_PRIORITY
    finally:
        stop.set()
        for thread in threading.enumerate():
            if thread.native_id:
                with suppress(ProcessLookupError):  # it has ended meanwhile
                    os.sched_setscheduler(thread.native_id, *before)


def test_who_was_disconnected_is_told_once_for_each_reason(server):
    for _ in range(3):
        server.publisher.refused["it has a socket of another type"] += 1
        server.port.refused["it does not speak ZMTP 3"] += 1
        server.tell_refused()
    assert server.said == [
        "a peer of the device road was disconnected: it does not speak ZMTP 3.",
        "a peer of the observer road was disconnected: it has a socket of another type.",
    ]
