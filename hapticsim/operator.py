"""The operator's side of a delayed link: feels the predicted mechanism now, corrected by every telemetry.

A ``Server`` of its own runs the predicted mechanism with the device at no delay.  Every command it takes is
sent to the remote, which takes the same command at its tick k + D.  Telemetry comes back with the state at a
known operator tick; the commands since are re-run from it, compared with what was predicted, and adopted when
they differ.
"""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np

from hapticsim.codes import Safety
from hapticsim.errors import ConfigError
from hapticsim.kernels.pack import place_of, state_size
from hapticsim.kernels.row import PLACE, WIDTH
from hapticsim.model.scene import Scene
from hapticsim.published import Describer
from hapticsim.server import Server
from hapticsim.teleop.predictor import Prediction, Predictor, command_of
from hapticsim.wire.endpoints import default_endpoint
from hapticsim.wire.publisher import Publisher
from hapticsim.wire.subscriber import Subscriber

REPEATED = 50  # commands sent again with every batch, so that a lost batch costs nothing
HISTORY = 32768  # ticks of own motion kept for comparison
WAIT_S = 20.0  # for the remote to compile and start
CORRECT_ABOVE = 1e-9  # [rad, m] the local mechanism is corrected when the re-run differs by more


class Operator(Server):
    """Server of the predicted mechanism, with the link to the remote.

    Parameters as ``Server``; ``telemetry_endpoint`` and ``commands_endpoint`` default to private ones.

    Raises
    ------
    ConfigError : the scene has no link.
    """

    def __init__(
        self,
        scene: Scene,
        *,
        telemetry_endpoint: str | None = None,
        commands_endpoint: str | None = None,
        **options: Any,
    ) -> None:
        if scene.link is None:
            raise ConfigError(
                scene.path,
                "link",
                "is missing: an operator side needs link.delay_up_s and link.delay_down_s.",
            )
        super().__init__(scene, role="operator", **options)
        try:
            self._commands = Publisher(commands_endpoint or default_endpoint("commands"))
        except Exception:
            self.stop()
            raise
        self._telemetry_endpoint = telemetry_endpoint or default_endpoint("telemetry")
        self._words = Describer(self.assembly, "operator")  # of the telemetry thread
        self._predictor = Predictor(self.assembly, HISTORY, options.get("progress"))
        n = self.assembly.equations
        self._motion = slice(WIDTH, WIDTH + n.nq + n.nu)
        self._log = np.zeros((HISTORY, n.nq + n.nu + 3))
        self._log_safety = np.zeros(HISTORY, np.int64)
        self._safety_place = place_of(self.loop.state, "safety")
        self._log_ticks = np.full(HISTORY, -1, np.int64)
        self._lock = threading.Lock()
        self._tail = np.zeros((0, 1 + command_of(np.zeros(WIDTH)).size))
        self._one_way_s = max(scene.link.delay_up_s, scene.link.delay_down_s) + scene.link.jitter_s
        self._refused_at = -1  # operator tick from which a disarmed remote was answered by disarming here
        self.corrections = 0
        self.error_m, self.error_q, self.worst_m = 0.0, 0.0, 0.0
        self.age_s = float("nan")
        self.replay_s = 0.0
        self.outlet.on_rows = self._send

    def start(self) -> None:
        """Wait for the remote to be heard, so that it takes every command from the first on; then start."""
        self.say("waiting for telemetry of the remote site ...")
        with Subscriber(self._telemetry_endpoint, topics=("telemetry",)) as telemetry:
            heard = telemetry.receive(WAIT_S + 2.0 * self._one_way_s)
        if heard is None:
            self.say("no telemetry yet: start the remote site with 'hapticsim serve' and the same file.")
        super().start()
        self.add_thread("telemetry", self._listen)

    def stop(self) -> None:
        super().stop()
        if hasattr(self, "_commands"):
            self._commands.close()

    # -- up --------------------------------------------------------------------------------------------------

    def _send(self, rows: np.ndarray) -> None:
        """Outlet thread: remember what was commanded and moved, and send it."""
        handle = PLACE["handle_x_m"]
        with self._lock:
            for row in rows:
                tick = int(row[1])
                self._predictor.remember(tick, command_of(row))
                i = tick % HISTORY
                self._log[i, :-3], self._log[i, -3:] = row[self._motion], row[handle : handle + 3]
                self._log_safety[i], self._log_ticks[i] = row[PLACE["safety"]], tick
        batch = np.column_stack([rows[:, 1], command_of(rows)])
        self._tail = np.vstack([self._tail[-REPEATED:], batch])
        self._commands.offer("commands", {"rows": self._tail.tobytes(), "columns": self._tail.shape[1]})

    # -- down ------------------------------------------------------------------------------------------------

    def _listen(self) -> None:
        """Telemetry thread: predict from the newest telemetry, measure, correct, publish."""
        size = state_size(self.assembly.new_state())
        with Subscriber(self._telemetry_endpoint, topics=("telemetry",)) as telemetry:
            while not self._stop.is_set():
                message = telemetry.receive(0.05)
                while (newer := telemetry.receive()) is not None:
                    message = newer
                if message is None:
                    continue
                payload = message.payload
                packed = np.frombuffer(payload.get("state", b""), float).copy()
                tick = payload.get("operator_tick")
                if not isinstance(tick, int) or tick < 0 or packed.size != size:
                    continue
                with self._lock:
                    start = time.perf_counter()
                    prediction = self._predictor.predict(tick, packed)
                    self.replay_s = time.perf_counter() - start
                    if prediction is not None:
                        self._measure(prediction, packed)
                if prediction is not None:
                    self.outlet.extra = (
                        "predicted",
                        self._words.predicted(prediction, packed, self.age_s, self.error_m, self.error_q),
                    )

    def _measure(self, prediction: Prediction, packed: np.ndarray) -> None:
        """How far the prediction of the telemetry's own tick was off; correct the mechanism if so."""
        tick = self.scene.tick_s
        self.age_s = (prediction.tick - prediction.telemetry_tick) * tick
        i = prediction.telemetry_tick % HISTORY
        nq = prediction.q.size
        if self._log_ticks[i] == prediction.telemetry_tick:
            self.error_q = float(np.max(np.abs(packed[:nq] - self._log[i, :nq])))
            if self.scene.handle:
                there = self.assembly.handle_position(packed[:nq])
                self.error_m = float(np.linalg.norm(there - self._log[i, -3:]))
                self.worst_m = max(self.worst_m, self.error_m)
            self._follow_safety(int(packed[self._safety_place]), i)
        i = (prediction.tick - 1) % HISTORY
        if self.error_q > CORRECT_ABOVE and self._log_ticks[i] == prediction.tick - 1:
            self.corrections += 1
            self.loop.adopt(self._predictor.state)

    def _follow_safety(self, remote: int, i: int) -> None:
        """A remote without force means no force here: the operator must not feel what does not happen."""
        here = int(self._log_safety[i])
        on = (int(Safety.ARMING), int(Safety.ARMED))
        if here in on and remote not in on and int(self._log_ticks[i]) > self._refused_at:
            self._refused_at = self._predictor.newest
            self.say("the remote site has no force: engage again.")
            if self.session:
                self.session.disarm()

    # -- words -----------------------------------------------------------------------------------------------

    def live_line(self) -> str:
        """The server's line, with what the prediction is worth."""
        return (
            f"{super().live_line()}  |  prediction {self.age_s:.2f} s ahead of telemetry, "
            f"error {self.error_m * 1e3:.4f} mm"
        )

    def report(self) -> str:
        """The server's report, with what the prediction was worth."""
        return (
            f"{super().report()}\nprediction {self.age_s:.3f} s ahead of telemetry; error at the handle last "
            f"{self.error_m:.3g} m, worst {self.worst_m:.3g} m; {self.corrections} corrections; "
            f"last re-run {self.replay_s * 1e3:.1f} ms"
        )
