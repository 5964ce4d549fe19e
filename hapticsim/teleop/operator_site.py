"""The operator's side of a link, without threads or sockets: ticks taken, commands out, telemetry in.

Every telemetry says what the remote site's state was before a tick, and that is compared with what was
predicted for that tick.  They are equal to the bit with a perfect model; where they differ, the commands
since are re-run from it and the outcome is taken over by the loop at its present tick.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from hapticsim.assemble.assembly import Assembly
from hapticsim.codes import Safety
from hapticsim.kernels.memory.arrays import State
from hapticsim.kernels.memory.pack import place_of
from hapticsim.kernels.memory.sample import PLACE, WIDTH
from hapticsim.model.settings import LinkSettings
from hapticsim.teleop.command_log import CommandLog, history_ticks
from hapticsim.teleop.hearing import Hearing
from hapticsim.teleop.messages import Commands, Telemetry, read_telemetry, write_commands
from hapticsim.teleop.predictor import Prediction, Predictor, path_of
from hapticsim.teleop.state_check import StateCheck

CORRECT_ABOVE = 1e-9  # [rad, m] the local mechanism is corrected when the remote one differs by more
ON = (int(Safety.ARMING), int(Safety.ARMED))


class Local(Protocol):
    """A loop that runs the predicted mechanism (``RealTimeLoop``)."""

    def take_whole(self, packed: np.ndarray) -> bool: ...
    def catch_up(self, state: State) -> bool: ...
    def watch_link(self, until_s: float) -> None: ...


class OperatorSite:
    """Command one remote site.

    Parameters
    ----------
    assembly : what runs on both sides, as far as it is known here.
    link : the scene's.
    loop : runs the prediction.
    disarm : called when the remote site has no force while there is some here.
    corrected : called with the coordinates (nq,) before and after a correction, of the same tick.
    say : receives a sentence for the user.

    Public attributes: ``ready`` (the loop has the remote site's state and may start), ``synced`` (it agrees
    with the remote site), ``corrections`` (how often it had to be corrected since), ``error_m`` and
    ``error_q`` (of the newest prediction that could be compared), ``worst_m``, ``worst_step_m`` (that a
    correction moved the handle by), ``confirmed`` (newest packed state of the remote site), ``age_s`` (how
    long ago its next command was taken), ``refused`` (why telemetry was not usable, a few words), ``losses``
    (how often the sequence of commands was begun anew) and ``malformed``.

    ``send`` may be called from one thread and ``hear`` from another.
    """

    def __init__(
        self,
        assembly: Assembly,
        link: LinkSettings,
        loop: Local,
        disarm: Callable[[], Any] = lambda: None,
        corrected: Callable[[np.ndarray, np.ndarray], Any] = lambda before, after: None,
        say: Callable[[str], Any] = lambda line: None,
        progress: Callable[[str], Any] | None = None,
    ) -> None:
        rate_Hz, n = assembly.scene.rate_Hz, assembly.equations
        self._assembly, self._loop, self._disarm, self._say = assembly, loop, disarm, say
        self._corrected = corrected
        self._tick_s = assembly.scene.tick_s
        kept = history_ticks(link, rate_Hz)
        self.log = CommandLog(kept, n.nq + n.nu + 3, rate_Hz)
        self.hearing = Hearing(link)
        self._safety = np.full(kept, int(Safety.DISARMED))
        self._safety_place = place_of(assembly.new_state(), "safety")
        self._tick_place = place_of(assembly.new_state(), "tick")
        self._columns = np.r_[WIDTH : WIDTH + n.nq + n.nu, PLACE["handle_x_m"] : PLACE["handle_x_m"] + 3]
        self._check = StateCheck(assembly)
        self.predictor = Predictor(assembly, progress)
        self._lock = threading.Lock()
        self._unknown = (0, 0)  # ticks whose prediction was replaced without being kept
        self._refused_at = -1  # tick from which a remote site without force was answered by disarming here
        self.ready = self.synced = False
        self.corrections = self.malformed = self.waited = self.losses = 0
        self.confirmed = np.zeros(self._check.size)
        self.error_m = self.error_q = self.worst_m = self.worst_step_m = 0.0
        self.age_s, self.replay_s, self.refused = float("nan"), 0.0, ""

    # -- up --------------------------------------------------------------------------------------------------

    def knock(self) -> dict[str, Any]:
        """Payload that asks the remote site for its state, before the loop runs."""
        hearing = self.hearing
        return write_commands(Commands(hearing.session, True, hearing.first, np.zeros((0, 1))))

    def send(self, rows: np.ndarray, now_s: float) -> dict[str, Any]:
        """Take the rows (n, columns) of finished ticks; return the payload to be sent for them."""
        with self._lock:
            whole = self.log.append(rows, rows[:, self._columns], now_s)
            ticks = rows[:, 1].astype(np.int64)
            self._safety[ticks % self._safety.size] = rows[:, PLACE["safety"]]
            hearing = self.hearing
            if not whole:
                self._lose("commands were lost on this computer before they could be sent")
            first = hearing.first if hearing.first >= 0 else 0
            batch = self.log.batch(first, now_s)
            return write_commands(Commands(hearing.session, not hearing.confirmed, hearing.first, batch))

    def link_age_s(self, now_s: float) -> float:
        """How old what the remote site said last is now [s]; from ``hearing.allowed_s`` on, no force."""
        return now_s - self.hearing.until_s + self.hearing.allowed_s

    def statistics(self, now_s: float) -> dict[str, Any]:
        """What topic ``stats`` says of the link."""
        return {
            "age_s": self.link_age_s(now_s) if self.ready else 0.0,
            "allowed_s": self.hearing.allowed_s,
            "corrections": self.corrections,
            "largest_step_m": self.worst_step_m,
            "lost": self.losses,
        }

    # -- down ------------------------------------------------------------------------------------------------

    def hear(self, payload: dict[str, Any], now_s: float) -> Prediction | None:
        """Take telemetry; return what is predicted from it, None when it is old, foreign or unusable."""
        heard = read_telemetry(payload)
        if heard is None:
            self.malformed += 1
            return None
        trouble = self._check.trouble(heard.state)
        if not trouble and heard.state[self._tick_place] != heard.tick:
            trouble = "its tick is not that of the message"
        if trouble:
            self.malformed += 1
            if trouble != self.refused:
                self._say(f"telemetry is not usable: {trouble}. Do both sites run the same scene?")
            self.refused = trouble
            return None
        with self._lock:
            what = self.hearing.take(heard)
            if what == "lost":
                self._lose("the remote site started anew, or follows another operator")
            if what not in ("opened", "news"):
                return None
        self.refused, self.waited, self.confirmed = "", heard.waited, heard.state
        if not self.ready:
            self.ready = self.synced = self._loop.take_whole(heard.state)
            self.hearing.first = heard.tick
            self._loop.watch_link(self.hearing.counts(now_s))
            return None
        return self._confirm(heard, now_s)

    def _confirm(self, heard: Telemetry, now_s: float) -> Prediction | None:
        """Compare, correct where needed, and say until when the remote site counts as heard."""
        tick = heard.tick
        with self._lock:
            self.log.missed(heard.missing)
            newest = self.log.newest
            motion = self.log.motion(tick, newest) if tick <= newest else np.zeros((0, 0))
            commands = self.log.commands(tick, newest) if tick <= newest else None
            taken_at_s = self.log.taken_at_s(tick) if tick <= newest else now_s
            if motion is None or taken_at_s is None:
                self._lose("the remote site is further behind than commands are kept")
                return None
            safety = int(self._safety[tick % self._safety.size]) if tick <= newest else int(Safety.DISARMED)
        self.age_s = max(now_s - taken_at_s, 0.0)
        wrong = self._measure(heard, motion) if len(motion) else False
        if commands is not None and (wrong or not self.synced):
            prediction = self._correct(heard, commands)
        else:
            prediction = self._as_it_is(heard, motion, newest)
        if self.synced:
            self._loop.watch_link(self.hearing.counts(taken_at_s))
        self._follow_safety(int(heard.state[self._safety_place]), safety, tick)
        return prediction

    def _measure(self, heard: Telemetry, motion: np.ndarray) -> bool:
        """How far the prediction of the telemetry's own tick was off; whether that is too much."""
        if self.synced and self._unknown[0] <= heard.tick < self._unknown[1]:
            return False
        nq = self._assembly.equations.nq
        q = heard.state[:nq]
        self.error_q = float(np.max(np.abs(q - motion[0, :nq]), initial=0.0))
        if self._assembly.scene.handle:
            there = self._assembly.handle_position(q)
            self.error_m = float(np.linalg.norm(there - motion[0, -3:]))
            if self.synced:
                self.worst_m = max(self.worst_m, self.error_m)
        return not self.error_q <= CORRECT_ABOVE

    def _correct(self, heard: Telemetry, commands: np.ndarray) -> Prediction:
        """Re-run the commands since, and have the loop take over what comes out, at its present tick."""
        start = time.perf_counter()
        prediction = self.predictor.predict(heard.tick, heard.state, commands)
        motion = self.predictor.motion
        if self._loop.catch_up(self.predictor.state):
            until = int(self.predictor.state.tick[0])
            with self._lock:
                before = self.log.motion(prediction.tick - 1, prediction.tick - 1)
                self.log.correct(heard.tick, motion)
                self._unknown = (prediction.tick, until)
            if self.synced and before is not None:
                step = float(np.linalg.norm(motion[-1, -3:] - before[0, -3:]))
                self.worst_step_m = max(self.worst_step_m, step)
                nq = self._assembly.equations.nq
                self._corrected(before[0, :nq], motion[-1, :nq])
            self.corrections += self.synced
            self.synced = True
        self.replay_s = time.perf_counter() - start
        return prediction

    def _as_it_is(self, heard: Telemetry, motion: np.ndarray, newest: int) -> Prediction:
        """The loop's own mechanism is the prediction: telemetry agrees with it."""
        n = self._assembly.equations
        if not len(motion):
            q, u = heard.state[: n.nq].copy(), heard.state[n.nq : n.nq + n.nu].copy()
            return Prediction(heard.tick, heard.tick, q, u, np.zeros((0, 3)))
        q, u = motion[-1, : n.nq].copy(), motion[-1, n.nq : n.nq + n.nu].copy()
        return Prediction(newest, heard.tick, q, u, path_of(motion))

    def _follow_safety(self, remote: int, here: int, tick: int) -> None:
        """A remote without force means no force here: the operator must not feel what does not happen."""
        if here in ON and remote not in ON and tick > self._refused_at:
            self._refused_at = self.log.newest
            self._say("the remote site has no force: engage again.")
            self._disarm()

    def _lose(self, why: str) -> None:
        """The sequence of commands is broken: no force, and another session from the next tick on."""
        self.synced, self.losses = False, self.losses + 1
        self._loop.watch_link(0.0)
        self.hearing.begin_again(self.log.newest + 1)
        self._unknown = (0, 0)
        self._say(f"the link is begun anew, without force: {why}.")
