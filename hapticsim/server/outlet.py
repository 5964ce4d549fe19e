"""The outlet thread: every row of the loop to the recorder, the newest to the observers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from hapticsim.assemble.speed_choice import SpeedChoice
from hapticsim.codes import Event, Fault, Safety
from hapticsim.describe.forces import never_on_words, off_words, refused_engages, refused_event
from hapticsim.describe.topics import Describer
from hapticsim.kernels.memory.pack import place_of
from hapticsim.kernels.memory.sample import PLACE
from hapticsim.model.scene import Scene
from hapticsim.realtime.loop import RealTimeLoop
from hapticsim.recording.background import SLOW_S, BackgroundRecorder
from hapticsim.server.constraint_requests import Switchboard
from hapticsim.server.device_session import DeviceSession
from hapticsim.teleop.look_ahead import LookAhead
from hapticsim.wire.publisher import Publisher

SCENE_EVERY_S, STATS_EVERY_S = 1.0, 0.25
LOOK_EVERY_S = 1.0 / 30.0
LEAST_REST_S = 0.001  # between two rounds, where one took long: others need the interpreter too


class Outlet:
    """Take finished ticks out of a loop.

    Parameters
    ----------
    session : of the device, or None; its target and limits are published.
    look_ahead : ghost to publish, or None.
    switchboard : requests of others to serve between two messages, or None.
    statistics : payload of topic ``stats``, asked for a few times a second.

    Public attributes: ``state`` (newest payload of topic ``state``, None before the first), ``on_rows``
    (called with every batch of rows before anything else, if set), ``watch`` (the same, after all else),
    ``dress`` (called with the payload of topic ``state`` before it is told, which it may change, if set),
    ``extra`` (topic and payload to publish next, if set).
    """

    def __init__(
        self,
        scene: Scene,
        loop: RealTimeLoop,
        describer: Describer,
        publisher: Publisher,
        recorder: BackgroundRecorder | None,
        session: DeviceSession | None,
        look_ahead: LookAhead | None,
        switchboard: Switchboard | None,
        statistics: Callable[[], dict[str, Any]],
        say: Callable[[str], Any],
    ) -> None:
        self.state: dict[str, Any] | None = None
        self.on_rows: Callable[[np.ndarray], None] | None = None
        self.watch: Callable[[np.ndarray], None] | None = None
        self.dress: Callable[[dict[str, Any]], None] | None = None
        self.extra: tuple[str, dict[str, Any]] | None = None
        self._scene, self._loop, self._describer, self._publisher = scene, loop, describer, publisher
        self._recorder, self._session, self._look_ahead = recorder, session, look_ahead
        self._switchboard, self._statistics, self._say = switchboard, statistics, say
        self._newest: np.ndarray | None = None  # row of the newest tick
        self._asked = 0.0  # for force, until then
        self._events: list[tuple[int, Event, int, float, float]] = []  # of ticks whose row is still to come
        self._choices: list[tuple[int, SpeedChoice]] = []  # of these ticks
        self._tick_place = place_of(loop.state, "tick")
        self._next_scene = self._next_stats = self._next_look = 0.0
        self._failure_told = self._slow_told = self._note_told = False
        self._origin_told_W = describer.coupler.origin_W  # the same array until arming moves it
        self._was_on = False
        self._told_on = False  # said that there is force, and it did not go for good since

    @property
    def never_on(self) -> str:
        """Why nobody felt anything so far, in words; empty once force was on."""
        return "" if self._was_on else never_on_words(self._asked)

    def run(self, stop: threading.Event) -> None:
        """Publish and record until stopped, then once more for what is left."""
        period_s = 1.0 / self._scene.publish_Hz
        next_s = time.monotonic()
        while True:
            last = stop.is_set()
            rows, before = self._loop.drain(), self._newest
            if len(rows):
                self._take(rows)
            extra, self.extra = self.extra, None
            if extra:
                self._publisher.offer(*extra)
            self._take_events(last)
            if self._switchboard:
                self._switchboard.serve(before)  # all events up to this tick have come
            self._now_and_then()
            if last:
                return
            # to an absolute time: what a round takes, and a wake that is late, do not lower the rate
            now_s = time.monotonic()
            next_s = max(next_s + period_s, now_s)
            stop.wait(max(next_s - now_s, LEAST_REST_S))

    def _take(self, rows: np.ndarray) -> None:
        if self.on_rows:
            self.on_rows(rows)  # before the disk: commands to a remote cannot wait
        if self._recorder:
            self._recorder.append(rows)
        self._take_refused(rows)
        self._newest = rows[-1].copy()
        target = self._session.target if self._session else None
        state = self._describer.state(rows[-1], target)
        if self.dress:
            self.dress(state)
        self.state = state
        self._publisher.offer("state", self.state)
        if self._describer.coupler.origin_W is not self._origin_told_W:
            self._next_scene = 0.0  # arming moved it: who steers by it must not wait
        if self._look_ahead:
            self._look_ahead.measure(rows)
            if time.monotonic() >= self._next_look:
                self._next_look = time.monotonic() + LOOK_EVERY_S
                self.extra = ("predicted", self._ghost(self._look_ahead, rows[-1]))
        if self.watch:
            self.watch(rows)

    def _take_events(self, last: bool) -> None:
        """Tell events once the row of their tick was told, with the choices of speeds they are about."""
        self._events += self._loop.drain_events()
        self._choices += [
            (int(record[0]), SpeedChoice.read(record[1:])) for record in self._loop.drain_choices()
        ]
        newest = -1 if self._newest is None else int(self._newest[1])
        waiting = [] if last else [e for e in self._events if e[0] > newest]
        for event in self._events[: len(self._events) - len(waiting)]:
            self._tell(event)
        self._events = waiting
        self._choices = [c for c in self._choices if c[0] > newest]

    def _take_refused(self, rows: np.ndarray) -> None:
        """Tell, as an event and in a sentence, of each request for force that was refused, and why."""
        for k, fault in refused_engages(rows, self._asked):
            payload = refused_event(rows[k], fault)
            self._publisher.offer("events", payload)
            if self._recorder:
                self._recorder.append_event(payload)
            if Fault.STOPPED not in fault:  # of which the session has told
                self._say(f"{payload['text']}; engage again when it is safe.")
        self._asked = max(self._asked, float(rows[-1, PLACE["arm_requests"]]))

    def _choice_of(self, event: tuple[int, Event, int, float, float]) -> SpeedChoice | None:
        """The choice that an event of its tick and time is about."""
        tick, kind, _, value, at_s = event
        for its_tick, choice in self._choices:
            told = choice.condition if kind == Event.SELECT else choice.rank
            if kind in (Event.SELECT, Event.RANK) and (its_tick, choice.time_s, told) == (tick, at_s, value):
                return choice
        return None

    def _tell(self, event: tuple[int, Event, int, float, float]) -> None:
        payload = self._describer.event(*event, self._choice_of(event))
        self._publisher.offer("events", payload)
        if self._recorder:
            self._recorder.append_event(payload)
        if event[1] == Event.SAFETY:
            self._tell_safety(Safety(int(event[3])))
        constraint = event[2] - len(self._describer.assembly.candidates)
        if self._switchboard and constraint >= 0:
            self._switchboard.note(event[1], constraint, payload["text"])

    def _now_and_then(self) -> None:
        now = time.monotonic()
        if now >= self._next_scene:
            self._next_scene = now + SCENE_EVERY_S
            self._origin_told_W = self._describer.coupler.origin_W
            s = self._session
            limits = (s.force_limit_N, s.workspace_radius_m, s.torque_limit_Nm) if s else (0.0, 0.0)
            self._publisher.offer("scene", self._describer.scene(*limits))
        if now >= self._next_stats:
            self._next_stats = now + STATS_EVERY_S
            self._publisher.offer("stats", self._statistics())
        if self._recorder:
            self._tell_recorder(self._recorder)

    def _tell_recorder(self, recorder: BackgroundRecorder) -> None:
        if recorder.failure and not self._failure_told:
            self._failure_told = True
            self._say(f"recording stopped, haptics go on: {recorder.failure}")
        elif recorder.note and not self._note_told:
            self._note_told = True
            self._say(recorder.note)
        elif recorder.waits_s > SLOW_S and not self._slow_told:
            self._slow_told = True
            self._say(f"{recorder.path}: the disk hangs: haptics go on, the recording waits for it.")

    def _ghost(self, look_ahead: LookAhead, row: np.ndarray) -> dict[str, Any]:
        """Payload of topic ``predicted`` without a link: a moment ahead, the hand staying where it is."""
        packed = self._loop.read_state()
        tick = int(packed[self._tick_place])
        prediction = look_ahead.predict(packed, tick, row)
        return self._describer.predicted(prediction, packed, 0.0, look_ahead.error_m)

    def _tell_safety(self, safety: Safety) -> None:
        """Say when the force comes and goes; interruptions are counted, and shown in the live line."""
        if safety == Safety.FAULT:
            fault = self._loop.read_force()[2]
            self._say(f"{off_words(safety, fault)}; engage again when it is safe.")
        elif safety == Safety.DISARMED and self._told_on:
            self._say(f"{off_words(safety, Fault.NONE)}.")
        elif safety == Safety.ARMED and not self._told_on:
            self._say("force is on.")
            self._was_on = True
        if safety in (Safety.FAULT, Safety.DISARMED, Safety.ARMED):
            self._told_on = safety == Safety.ARMED
