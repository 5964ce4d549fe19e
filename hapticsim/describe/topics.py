"""What a run tells its observers: the payloads of the topics, from rows of numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hapticsim.assemble.assembly import Assembly
from hapticsim.assemble.speed_choice import SpeedChoice
from hapticsim.codes import Event
from hapticsim.describe.constraints import ConstraintDescriber
from hapticsim.describe.coupler import CouplerDescriber
from hapticsim.describe.events import event_words, subject_of
from hapticsim.describe.shapes import published_shapes
from hapticsim.kernels.entry import locate_kernel
from hapticsim.kernels.memory.sample import CERTIFICATE, PLACE, WIDTH
from hapticsim.model.multibody.joint import WORLD
from hapticsim.model.multibody.rotation import quaternion_of
from hapticsim.teleop.predictor import Prediction


class Describer:
    """Turns rows of an assembly into payloads (plain lists and numbers; keys in docs/protocol.md).

    Use it from one thread: it has scratch of its own.
    """

    def __init__(self, assembly: Assembly, role: str = "server") -> None:
        self.assembly, self.role = assembly, role
        self.constraints = ConstraintDescriber(assembly)
        eq = assembly.equations
        self._nq, self._nu, self._nk = eq.nq, eq.nu, len(assembly.candidates)
        self._certified = len(assembly.certificate)
        self._poses = np.zeros((len(eq.model.bodies), 12))
        self._energy, self._sensors = np.zeros(2), np.zeros(len(eq.sensor_names))
        self._state, self._input = assembly.new_state(), assembly.new_input()
        self._output, self._workspace = assembly.new_output(), assembly.new_workspace()
        self.coupler = CouplerDescriber(assembly, self._state.origin_W)
        self._locate = locate_kernel()
        self._index = {name: i for i, name in enumerate(assembly.scene.model.body_names)} | {WORLD: -1}
        self._shapes = published_shapes(assembly.scene, self._index)
        self.bodies(assembly.scene.q0)
        eq.kernels.energy(self._state.q, self._state.u, self._energy)
        self.sensors(self._state.q, self._state.u)

    def scene(
        self, force_limit_N: float, workspace_radius_m: float, torque_limit_Nm: float = 0.0
    ) -> dict[str, Any]:
        """Payload of topic ``scene``: what does not change.  A limit of 0 is one that is not known."""
        scene = self.assembly.scene
        index = self._index
        return {
            "name": scene.name,
            "role": self.role,
            "bodies": list(scene.model.body_names),
            "links": [[index[link.parent], index[link.child]] for link in scene.model.links],
            "shapes": self._shapes,
            **self.coupler.scene(force_limit_N, torque_limit_Nm, workspace_radius_m),
            "rate_Hz": scene.rate_Hz,
            **self.constraints.scene(),
            "sensors": list(self.assembly.equations.sensor_names),
        }

    def bodies(self, q: np.ndarray) -> list[float]:
        """Position and quaternion (w, x, y, z) of every body, flat."""
        self.assembly.equations.kernels.poses(np.ascontiguousarray(q), self._poses)
        flat: list[float] = []
        for row in self._poses:
            flat += row[9:].tolist()
            flat += quaternion_of(row[:9].reshape(3, 3)).tolist()
        return flat

    def sensors(self, q: np.ndarray, u: np.ndarray) -> dict[str, float | None]:
        """What every sensor shows by name, None where that is not finite.  q (nq,), u (nu,), contiguous."""
        eq = self.assembly.equations
        if not eq.sensor_names:
            return {}
        eq.kernels.sensors(q, u, self._sensors)
        shown = zip(eq.sensor_names, self._sensors.tolist(), strict=True)
        return {name: value if math.isfinite(value) else None for name, value in shown}

    def state(self, row: np.ndarray, target: Any = None, connected: bool | None = None) -> dict[str, Any]:
        """Payload of topic ``state`` for one row."""
        nq, nu, nk = self._nq, self._nu, self._nk
        q, u = row[WIDTH : WIDTH + nq], row[WIDTH + nq : WIDTH + nq + nu]
        force = row[WIDTH + nq + nu + nk : WIDTH + nq + nu + 2 * nk]
        self._state.q[:], self._state.u[:] = q, u
        self.assembly.equations.kernels.energy(self._state.q, self._state.u, self._energy)
        friction = None
        if self.assembly.scene.has_friction:
            friction = row[-3 * nk - self._certified : -self._certified].reshape(nk, 3)
        contacts, stops = [], []
        if np.any(force > 0.0):
            self._locate(self.assembly.plan, self._state, self._input, self._output, self._workspace)
            for k in np.flatnonzero(force > 0.0):
                c = self.assembly.candidates[k]
                if c.stop is not None:
                    stops.append(
                        {
                            "joint": c.stop.joint,
                            "side": c.stop.side,
                            "force": float(force[k]),
                            "unit": "N m" if c.turns else "N",
                        }
                    )
                    continue
                contacts.append(
                    {
                        "a": c.a,
                        "b": c.b,
                        "point": self._output.point_W[k].tolist(),
                        "normal": self._output.normal_W[k].tolist(),
                        "force_N": float(force[k]),
                        "friction_N": [0.0, 0.0, 0.0] if friction is None else friction[k].tolist(),
                        "gap_m": float(row[WIDTH + nq + nu + k]),
                    }
                )
        bodies = self.bodies(self._state.q)
        return {
            "tick": int(row[1]),
            "time_s": float(row[0]),
            "mode": int(row[PLACE["safety"]]),
            "fault": int(row[PLACE["fault"]]),
            "interruptions": int(row[PLACE["interruptions"]]),
            "longest_interruption_s": float(row[PLACE["longest_interruption_s"]]),
            "q": q.tolist(),
            "u": u.tolist(),
            "bodies": bodies,
            "contacts": contacts,
            "stops": stops,
            **self.coupler.state(row, bodies, target, connected),
            "energy_J": self._energy.tolist(),
            **self.constraints.state(row),
            "certificate": self._certificate(row),
            "sensors": self.sensors(self._state.q, self._state.u),
        }

    def predicted(
        self, prediction: Prediction, packed: np.ndarray, age_s: float, error_m: float, error_q: float = 0.0
    ) -> dict[str, Any]:
        """Payload of topic ``predicted``; ``packed`` is the state the prediction started from."""
        tick_s = self.assembly.scene.tick_s
        return {
            "time_s": prediction.tick * tick_s,
            "age_s": age_s,
            "error_m": error_m,
            "error_q": error_q,
            "q": prediction.q.tolist(),
            "u": prediction.u.tolist(),
            "bodies": self.bodies(prediction.q),
            "path": prediction.path.tolist(),
            "confirmed": {
                "time_s": prediction.telemetry_tick * tick_s,
                "bodies": self.bodies(packed[: self._nq]),
            },
        }

    def event(
        self,
        tick: int,
        kind: Event,
        contact: int,
        value: float,
        at_s: float,
        choice: SpeedChoice | None = None,
    ) -> dict[str, Any]:
        """Payload of topic ``events``; with the record of a choice of speeds it says what was chosen."""
        payload: dict[str, Any] = {
            "tick": tick,
            "time_s": tick * self.assembly.scene.tick_s + at_s,
            "kind": kind.name.lower(),
            "text": event_words(kind, self._subject(contact), value),
            "value": value if math.isfinite(value) else None,
        }
        if contact >= len(self.assembly.candidates):
            payload["constraint"] = self.constraints.names[contact - len(self.assembly.candidates)]
        if choice is not None:
            payload |= choice.told(self.constraints.speeds)
            payload["text"] += choice.words(self.constraints.speeds)
        return payload

    def _subject(self, contact: int) -> str:
        return subject_of(self.assembly.candidates, self.constraints.names, contact)

    def _certificate(self, row: np.ndarray) -> dict[str, float | None]:
        """The certificate of the tick of a row; None where there is no number, or it is not finite."""
        values = dict(zip(CERTIFICATE, row[-self._certified :].tolist(), strict=False))
        numbers = {name: values.get(name, math.nan) for name in CERTIFICATE}
        return {
            name.removeprefix("certificate_"): value if math.isfinite(value) else None
            for name, value in numbers.items()
        }
