"""The server: builds every part from one scene, owns their lifetimes.

Three threads.  The loop (compiled, never holds the GIL) ticks.  The wire thread (``device_session``) talks to
the device.  The outlet takes the rows of finished ticks to the recorder and to the observers, and requests
from the control port to the loop.  The loop never waits for the other two.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import hapticsim
from hapticsim.assemble.features import features_of
from hapticsim.assemble.initial_check import assemble_start
from hapticsim.describe.columns import tick_quantities
from hapticsim.describe.drawing import of_ticks
from hapticsim.describe.recorded_scene import about_files
from hapticsim.describe.runs import live_line, report
from hapticsim.describe.topics import Describer
from hapticsim.haptics.delay import device_rate_Hz
from hapticsim.kernels.entry import begin_compiling
from hapticsim.kernels.memory.pack import place_of
from hapticsim.model.scene import Scene
from hapticsim.realtime.catch_up import CATCH_UP
from hapticsim.realtime.clock import request_priority
from hapticsim.realtime.loop import LOOP, RealTimeLoop
from hapticsim.recording.background import BackgroundRecorder
from hapticsim.recording.writer import RecordingWriter, check_can_record
from hapticsim.server.constraint_requests import Switchboard
from hapticsim.server.device_session import DeviceSession
from hapticsim.server.host_watch import HostWatch
from hapticsim.server.outlet import Outlet
from hapticsim.teleop.look_ahead import LookAhead
from hapticsim.teleop.predictor import RERUN
from hapticsim.wire.control import ControlPort
from hapticsim.wire.device.port import DevicePort, Terms
from hapticsim.wire.messages.device import FORCE_LIMIT_N, TORQUE_LIMIT_Nm
from hapticsim.wire.publisher import Publisher
from hapticsim.wire.sockets.curve_security import Curve
from hapticsim.wire.sockets.endpoints import control_beside, default_endpoint
from hapticsim.wire.sockets.io_priority import raise_io_priority

IO_PRIORITY = 72  # SCHED_FIFO: above the wire thread, which waits for what these bring
# Whoever runs Python may hold the interpreter's lock.  At ordinary priority such a thread can be put aside by
# any busy program while the wire thread waits for the lock: with two of them on two processors 34 silences in
# 12 s, round trip p99 11.5 ms; with this and IO_PRIORITY none, and 2.2 ms.
PYTHON_PRIORITY = 20
# The main thread hears signals and takes the force away when a run ends: it waits for no other of them.
ENDING_PRIORITY = 30
REAL_TIME = [getattr(os, name) for name in ("SCHED_FIFO", "SCHED_RR") if hasattr(os, name)]
# How long a Python thread may keep the GIL from the wire thread, which needs it twice per state.  With two
# busy ones the round trip takes 1.7 to 1.9 ms at p99, 2.1 if this is 0.2 ms and 3.1 if it is 0.5 ms.
SWITCH_INTERVAL_S = 0.0001
JOIN_S = 2.0  # that a thread gets to end

RELEASE_S, RELEASE_AT_LEAST_S = 0.1, 0.01  # at the end of a run, for the force to go


class Server:
    """Run one scene for one device and any number of observers.

    Parameters
    ----------
    scene : from ``hapticsim.load``.
    device_endpoint, publish_endpoint : None takes the scene's, or the private default.
    control_endpoint : None takes the one beside the publish endpoint (``wire.endpoints``).
    record : file to record to, or None.
    realtime : ask for SCHED_FIFO and locked memory.
    role : ``server``, ``operator`` or ``remote``, told to observers.
    scheduled : commands come by tick (``remote.Remote``); no device is served.
    keys : folder of CURVE keys (``wire.curve``); needed for endpoints that leave this machine.
    probe : watch the host too, and say of each late tick whether it stood still then.
    say : receives one line at a time for the user.

    Raises
    ------
    WireError : an endpoint is in use.  ConfigError : the recording cannot be made.
    """

    def __init__(
        self,
        scene: Scene,
        *,
        device_endpoint: str | None = None,
        publish_endpoint: str | None = None,
        control_endpoint: str | None = None,
        record: Path | None = None,
        realtime: bool = True,
        role: str = "server",
        scheduled: bool = False,
        keys: Path | None = None,
        probe: bool = False,
        say: Callable[[str], Any] = lambda line: None,
        progress: Callable[[str], Any] | None = None,
    ) -> None:
        self.scene, self.say, self.realtime = scene, say, realtime
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._died = ""
        self._told: set[tuple[str, str]] = set()  # who was disconnected, and why
        self.recorder: BackgroundRecorder | None = None
        self.port: DevicePort | None = None  # a scheduled loop takes its commands from elsewhere
        self.control: ControlPort | None = None  # across a link, constraints are switched at the remote site
        # what may be taken already is asked for first: it is told before anything is compiled
        if record:
            check_can_record(record)
        if realtime:
            raise_io_priority(IO_PRIORITY)
        curve = Curve(keys) if keys else None
        for note in curve.notes if curve else ():
            say(note)
        self.publisher = Publisher(
            publish_endpoint or scene.publish_endpoint or default_endpoint("publish"), curve=curve
        )
        try:
            if not scheduled:
                endpoint = device_endpoint or scene.device_endpoint or default_endpoint("device")
                self.port = DevicePort(endpoint, terms_of(scene), curve=curve)
            if role != "operator":
                beside = (
                    default_endpoint("control")
                    if role == "remote"
                    else control_beside(self.publisher.endpoint)
                )
                self.control = ControlPort(control_endpoint or beside, curve=curve)
            loops = [LOOP, RERUN, *([CATCH_UP] if role == "operator" else [])]
            begin_compiling(features_of(scene), *loops)
            self.assembly = assemble_start(scene, progress)
            scene = self.assembly.scene
            self.loop = RealTimeLoop(self.assembly, scheduled, role == "operator", progress)
            self.describer = Describer(self.assembly, role)
            if record:
                about = {"hapticsim": hapticsim.__version__, "kind": "run", "scene": scene.name}
                about |= {"path": scene.path, **about_files(scene)}
                writer = RecordingWriter(
                    record,
                    self.loop.columns,
                    scene.source,
                    about,
                    quantities=tick_quantities(self.assembly),
                    drawing=of_ticks(self.assembly),
                )
                self.recorder = BackgroundRecorder(writer)
            self._join_parts(role, probe, progress)
        except BaseException:
            self._close()
            raise

    def _join_parts(self, role: str, probe: bool, progress: Callable[[str], Any] | None) -> None:
        """What stands between the loop and those outside."""
        scene, say = self.assembly.scene, self.say
        self.session = DeviceSession(scene, self.loop, self.port, say) if self.port else None
        ghost = role == "server" and scene.look_ahead_s > 0.0 and scene.handle is not None
        look_ahead = LookAhead(self.assembly, scene.look_ahead_s, progress) if ghost else None
        constraints = self.describer.constraints
        presses = self.session.presses if self.session else None
        board = Switchboard(constraints, self.loop, self.control, presses, say) if self.control else None
        self.outlet = Outlet(
            scene, self.loop, self.describer, self.publisher, self.recorder, self.session, look_ahead, board,
            self.statistics, say,
        )  # fmt: skip
        self.host = HostWatch(scene.tick_s, self.newest_tick, say, progress) if probe else None
        if self.host:
            self.outlet.watch = self.host.take

    @property
    def device_endpoint(self) -> str:
        """Where devices connect; empty when commands come from elsewhere."""
        return self.port.endpoint if self.port else ""

    # -- life ------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start ticking, listening and publishing."""
        sys.setswitchinterval(SWITCH_INTERVAL_S)
        if self.host:
            self.host.probe.start()
        self.loop.start(self.realtime)
        self.add_thread("outlet", self.outlet.run, self._stop)
        if self.session:
            self.add_thread("wire", self.session.run, self._stop, self.realtime)

    @property
    def is_ready(self) -> bool:
        """Whether what start began has come about."""
        return True

    def release(self) -> None:
        """Take the force away for good and wait until it is gone: the first thing to do when a run ends."""
        if not self.session or not self.loop.running:
            return
        self.session.close()
        place, until_s = place_of(self.loop.state, "hand_force_D"), time.monotonic() + RELEASE_S
        time.sleep(RELEASE_AT_LEAST_S)
        while np.any(self.loop.read_state()[place : place + 3]) and time.monotonic() < until_s:
            time.sleep(0.001)

    def add_thread(self, name: str, body: Callable[..., None], *arguments: Any) -> None:
        """Start a thread that ends when the server is stopped."""

        def run() -> None:
            self.adopt_thread()
            try:
                body(*arguments)
            except BaseException as error:
                self._died = f"the {name} thread ended by itself ({type(error).__name__}: {error})"
                raise

        thread = threading.Thread(target=run, name=f"hapticsim-{name}", daemon=True)
        thread.start()
        self._threads.append(thread)

    def adopt_thread(self) -> None:
        """Give the calling thread the priority of those that run Python beside the wire thread."""
        if self.realtime:
            request_priority(PYTHON_PRIORITY)

    def adopt_threads(self) -> None:
        """Give that priority to every Python thread that has none, the main thread a higher one.

        One that is put aside while it holds the interpreter's lock stops the wire thread as well.
        """
        if not self.realtime or not hasattr(os, "sched_setscheduler"):
            return
        for thread in threading.enumerate():
            priority = ENDING_PRIORITY if thread is threading.main_thread() else PYTHON_PRIORITY
            try:
                if thread.native_id and os.sched_getscheduler(thread.native_id) not in REAL_TIME:
                    os.sched_setscheduler(thread.native_id, os.SCHED_FIFO, os.sched_param(priority))
            except OSError:  # it ended meanwhile, or this is not permitted
                continue

    @property
    def trouble(self) -> str:
        """Why the run should end, empty while all is well: the loop or a thread ended by itself, a defect."""
        if self._died or self._stop.is_set():  # all others end when they are asked to
            return self._died
        ended = [t.name.removeprefix("hapticsim-") for t in self._threads if not t.is_alive()]
        if ended:
            return f"the {ended[0]} thread ended by itself"
        return "" if self.loop.running or not self.is_ready else "the loop ended by itself"

    def stop(self) -> None:
        """Stop everything; the device is told, the recording closed.  Safe to call twice."""
        self._stop.set()
        self.loop.stop()
        for thread in self._threads:
            thread.join(JOIN_S)
        if self.host:
            self.host.probe.stop()
        self._close()

    def outlives(self, name: str) -> bool:
        """Whether a thread is still at work: what it uses must be left to it, the process ends anyway."""
        return any(t.name == f"hapticsim-{name}" and t.is_alive() for t in self._threads)

    def _close(self) -> None:
        if self.port and not self.outlives("wire"):
            self.port.close()
        if not self.outlives("outlet"):
            if self.control:
                self.control.close()
            self.publisher.close()
        if self.recorder:
            self.recorder.close()
        for thread in self._threads:
            if thread.is_alive():
                self.say(f"{thread.name} did not end in {JOIN_S:g} s; what it uses is left to it.")

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def newest_tick(self) -> tuple[int, float]:
        """A tick that was taken, and when it started [s]."""
        _, _, _, tick, at_s, _ = self.loop.read_force()
        return tick, at_s

    # -- words and numbers -----------------------------------------------------------------------------------

    def statistics(self) -> dict[str, Any]:
        """Payload of topic ``stats``."""
        self.tell_refused()
        stats = self.loop.statistics()
        port = self.port
        trip = port.round_trip if port and len(port.round_trip) else None
        stats["round_trip_us"] = {f"p{p}": trip.percentile_us(p) if trip else 0.0 for p in (50, 99)}
        stats["received"] = port.received if port else 0
        dropped = dict(port.dropped) if port else {}  # a copy in one step: the wire thread adds to it
        stats["dropped"] = {str(k): int(v) for k, v in dropped.items()}
        stats["floods"] = port.floods if port else 0
        stats["recorder"] = (
            "off"
            if self.recorder is None
            else self.recorder.failure or f"{self.recorder.written_rows} ticks in {self.recorder.path.name}"
        )
        if self.host:
            stats["host"] = self.host.statistics()
        return stats

    def tell_refused(self) -> None:
        """Say, once for each reason, who was disconnected from a road."""
        for road, part in (("device", self.port), ("control", self.control), ("observer", self.publisher)):
            for why in list(part.refused) if part else ():
                if (road, why) not in self._told:
                    self._told.add((road, why))
                    self.say(f"a peer of the {road} road was disconnected: {why}.")

    def live_line(self) -> str:
        """One line that says how it goes."""
        turns = self.scene.coupler.rotation != "none"
        return live_line(self.loop.statistics(), self.outlet.state, turns)

    def report(self) -> str:
        """What a run was, in a few lines."""
        gains = self.session.gains if self.session else None
        coupler = gains.sentence() if gains else ""
        words = report(self.statistics(), self.scene.rate_Hz, coupler, self.recorder is not None)
        never = self.outlet.never_on if self.session else ""
        return f"{words}\n{never}" if never else words


def terms_of(scene: Scene) -> Terms:
    """What a device is welcomed with."""
    safety, torque = scene.safety, scene.coupler.torque_limit_Nm
    return Terms(
        device_rate_Hz(scene),
        safety.timeout_s,
        FORCE_LIMIT_N if safety.force_limit_N is None else safety.force_limit_N,
        safety.slew_limit_N_per_s,
        torque_limit_Nm=0.0 if scene.coupler.rotation == "none" else torque or TORQUE_LIMIT_Nm,
        resume_within_s=safety.resume_within_s,
    )
