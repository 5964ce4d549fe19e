"""A scene in virtual time: the same tick that the real-time loop takes, without a clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hapticsim.assembly import Assembly, apply_gains
from hapticsim.codes import DeviceFlag, Event, Fault, Hold, Safety
from hapticsim.errors import ConfigError, listed, nearest
from hapticsim.haptics.coupler import DeviceLimits, Gains
from hapticsim.haptics.joining import scene_gains
from hapticsim.kernels.arrays import Output, State
from hapticsim.kernels.entry import observe_kernel, run_kernel, step_address
from hapticsim.kernels.row import PLACE, fill_row
from hapticsim.model.scene import Scene
from hapticsim.model.tree import Placement
from hapticsim.speed_choice import SpeedChoice
from hapticsim.start import assemble_start, check_place, refuse_beyond

UPRIGHT, STILL = np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3)


@dataclass(frozen=True)
class Contact:
    """One imposed contact."""

    a: str  # shape with the sphere or corner
    b: str  # shape with the surface
    point: np.ndarray  # (3,) [m] world
    normal: np.ndarray  # (3,) world, from b to a
    force: float  # [N] along the normal, on a


@dataclass(frozen=True)
class Snapshot:
    """State of a simulation after its last tick; arrays are copies."""

    time: float  # [s]
    tick: int
    q: np.ndarray  # (nq,)
    u: np.ndarray  # (nu,)
    contacts: tuple[Contact, ...]
    safety: Safety
    fault: Fault
    hand_force: np.ndarray  # (3,) [N] device axes, on the hand
    coupler_force: np.ndarray  # (3,) [N] world axes, on the handle
    hand_torque: np.ndarray  # (3,) [N m] device axes, on the hand
    coupler_torque: np.ndarray  # (3,) [N m] world axes, on the handle's body


@dataclass(frozen=True)
class TickEvent:
    """Something that happened inside the last tick."""

    kind: Event
    contact: int  # index into ``Simulation.assembly.candidates`` or -1
    value: float
    time: float  # [s]


class Simulation:
    """Step a scene.

    Parameters
    ----------
    scene : from ``hapticsim.load``.
    progress : called with a line per function compiled.

    Everything is checked here, at the door; a step is one compiled call.
    """

    def __init__(self, scene: Scene, progress: Callable[[str], None] | None = None) -> None:
        self.assembly: Assembly = assemble_start(scene, progress)
        self.scene = self.assembly.scene
        self.plan = self.assembly.plan
        self._step, self._run, self._observe = step_address(progress), run_kernel(), observe_kernel(progress)
        self._state = self.assembly.new_state()
        self._input = self.assembly.new_input()
        self._output = self.assembly.new_output()
        self._view = self.assembly.new_output()  # what holds after the tick; the output is of its start
        self._workspace = self.assembly.new_workspace()

    # -- time ------------------------------------------------------------------------------------------------

    def step(self, n: int = 1) -> None:
        """Take n ticks of ``scene.tick_s`` with the present input."""
        if n < 1:
            raise ConfigError("step", "n", f"= {n!r} is not usable: it must be 1 or more.")
        self._run(self._step, self.plan, self._state, self._input, self._output, self._workspace, n)

    def run_with(self, loop: Any, *others: Any) -> int:
        """Call a compiled loop that takes ticks by itself (kernels/lockstep.py); return what it returns."""
        arrays = self.plan, self._state, self._input, self._output, self._workspace
        return int(loop(self._step, *arrays, *others))

    @property
    def time(self) -> float:
        """[s] since the start."""
        return int(self._state.tick[0]) * self.scene.tick_s

    # -- input -----------------------------------------------------------------------------------------------

    def apply(
        self, torque: dict[str, float] | np.ndarray | None = None, force: np.ndarray | None = None
    ) -> None:
        """Hold generalized forces, and a force at the handle, from the next tick on.

        Parameters
        ----------
        torque : (nu,) or by joint name (1-dof joints) [N m] or [N]; None leaves it as it is.
        force : (3,) [N] at the handle, world axes; None leaves it as it is.

        Raises
        ------
        ConfigError : unknown joint, wrong shape, not finite, or no handle to push.
        """
        if isinstance(torque, dict):
            model = self.scene.model
            names = [j.name for j in model.moving_joints if j.nu == 1]
            for name, number in torque.items():
                if name not in names:
                    raise ConfigError(
                        "apply",
                        f"torque[{name!r}]",
                        f"is not a joint with one degree of freedom{nearest(name, names)}: "
                        f"allowed are {listed(names)}.",
                    )
                self._input.torque[model.u_slice(name)] = _finite(number, (), f"torque[{name!r}]")
        elif torque is not None:
            self._input.torque[:] = _finite(torque, self._input.torque.shape, "torque")
        if force is not None:
            value = _finite(force, (3,), "force")
            if self.plan.handle_frame < 0:
                raise ConfigError("apply", "force", "has no handle to act on: give the scene a 'handle'.")
            self._input.force_W[:] = value

    def set_device(
        self,
        position: np.ndarray,
        velocity: np.ndarray,
        age: float = 0.0,
        quaternion: np.ndarray = UPRIGHT,
        angular_velocity: np.ndarray = STILL,
        flags: int = DeviceFlag.READY,
    ) -> None:
        """Sample of the device for the next ticks: (3,) [m], (3,) [m/s], device axes, and its age [s].

        quaternion (4,) w, x, y, z of its handle, unit; angular_velocity (3,) [rad/s], device axes.
        flags : bits of ``codes.DeviceFlag``.
        """
        turn = _finite(quaternion, (4,), "quaternion")
        if not abs(float(np.linalg.norm(turn)) - 1.0) < 1e-3:
            raise ConfigError("<argument>", "quaternion", "has not the length 1: divide it by its length.")
        self._input.turn[:4] = turn
        self._input.turn[4:] = _finite(angular_velocity, (3,), "angular_velocity")
        self._input.device[:3] = _finite(position, (3,), "position")
        self._input.device[3:6] = _finite(velocity, (3,), "velocity")
        self._input.device[6] = age
        self._input.device[7] = 1.0
        self._input.flags[0] = flags

    def remove_device(self) -> None:
        """No device any more; an armed run goes to the fault state at the next tick."""
        self._input.device[7] = 0.0

    def couple(self, limits: DeviceLimits) -> Gains:
        """Set the coupler's gains for a device, as a server would on its wire, and return them."""
        gains = scene_gains(limits, self.scene)
        apply_gains(self._input, gains)
        return gains

    def arm(self) -> None:
        """Ask for force; granted at the next tick when a fresh device is there."""
        self._input.requests[0] += 1

    def disarm(self) -> None:
        """Take the force away at the next tick."""
        self._input.requests[1] += 1

    def switch(self, name: str, held: bool) -> None:
        """Ask a constraint to hold, or to let go, at the next tick.

        Raises
        ------
        ConfigError : there is no constraint of this name.
        """
        c = self.assembly.constraint_index(name)
        self._input.switch[c] = 2 * (self._input.switch[c] // 2 + 1) + int(held)

    # -- output ----------------------------------------------------------------------------------------------

    @property
    def state(self) -> Snapshot:
        """What there is now."""
        s, out = self._state, self._look()
        contacts = tuple(
            Contact(c.a, c.b, out.point_W[k].copy(), out.normal_W[k].copy(), float(out.contact_force[k]))
            for k, c in enumerate(self.assembly.candidates)
            if s.active[k]
        )
        return Snapshot(
            time=self.time,
            tick=int(s.tick[0]),
            q=s.q.copy(),
            u=s.u.copy(),
            contacts=contacts,
            safety=Safety(int(s.safety[0])),
            fault=Fault(int(s.safety[1])),
            hand_force=self._output.hand_force_D.copy(),
            coupler_force=self._output.coupler_W.copy(),
            hand_torque=self._output.hand_torque_D.copy(),
            coupler_torque=self._output.coupler_torque_W.copy(),
        )

    @property
    def events(self) -> tuple[TickEvent, ...]:
        """What happened in the last tick."""
        start = max(0, int(self._state.tick[0]) - 1) * self.scene.tick_s
        n = min(int(self._output.counts[0]), len(self._output.events))
        return tuple(
            TickEvent(Event(int(k)), int(i), float(v), start + float(t))
            for k, i, v, t in self._output.events[:n]
        )

    @property
    def gaps(self) -> np.ndarray:
        """(nk,) [m] gap of every contact candidate."""
        return self._look().gap.copy()

    @property
    def sensors(self) -> dict[str, float]:
        """What the sensors of a mechanism show, by name; empty where there are none."""
        return self.assembly.equations.sensors(self._state.q, self._state.u)

    def _look(self) -> Output:
        self._observe(self.plan, self._state, self._input, self._view, self._workspace)
        return self._view

    @property
    def held(self) -> dict[str, Hold]:
        """What every constraint does."""
        names = [c.name for c in self.scene.constraints]
        return {name: Hold(int(h)) for name, h in zip(names, self._state.hold, strict=True)}

    def constraint_force(self, name: str) -> np.ndarray:
        """(rows,) [N] or [N m] force of each row of a constraint, or of its friction; 0 while it is free."""
        return self._look().row_force[self.assembly.rows_of(name)].copy()

    def constraint_gap(self, name: str) -> np.ndarray:
        """(rows,) [m] or [rad] gap of each row of a constraint that holds; 0 while it is free."""
        return self._look().row_gap[self.assembly.rows_of(name)].copy()

    @property
    def rank(self) -> tuple[int, int]:
        """Rank of the imposed rows, and their number."""
        return int(self._state.rank[0]), int(self._state.rank[1])

    @property
    def dependent_speeds(self) -> tuple[int, ...]:
        """The generalized speeds that follow from the others, by number."""
        return tuple(sorted(int(r) for r in self._state.order[: self._state.rank[0]]))

    @property
    def choices(self) -> tuple[SpeedChoice, ...]:
        """Choices of independent speeds in the last tick, at most ``MAX_CHOICES`` (kernels/arrays.py)."""
        records = self._output.choices
        return tuple(SpeedChoice.read(r) for r in records[: min(int(self._output.counts[4]), len(records))])

    @property
    def drift(self) -> float:
        """[m] largest gap of an imposed contact that projection removed in the last tick."""
        return float(self._output.residual[0])

    def energy(self) -> tuple[float, float]:
        """Kinetic and potential energy [J]."""
        return self.assembly.equations.energy(self._state.q, self._state.u)

    def body_pose(self, name: str) -> Placement:
        """Pose of a body in the world."""
        return self.assembly.equations.body_pose(name, self._state.q)

    # -- rows ------------------------------------------------------------------------------------------------

    @property
    def columns(self) -> list[str]:
        """Names of the numbers ``read_row`` writes."""
        return self.assembly.columns

    def read_row(self, row: np.ndarray) -> int:
        """Write the sample of the last tick to row (columns,); return the safety state."""
        tick = int(self._state.tick[0]) - 1
        fill_row(self._state, self._input, self._output, row, tick * self.scene.tick_s, tick, 0, 0)
        return int(self._state.safety[0])

    def take_inputs(self, row: np.ndarray) -> None:
        """Use the recorded inputs of a row for the next tick."""
        i = PLACE["device_x_m"]
        self._input.device[:] = row[i : i + 8]
        i = PLACE["arm_requests"]
        self._input.requests[:] = row[i : i + 2]
        i = PLACE["coupler_stiffness_N_per_m"]
        self._input.coupler[:] = row[i : i + 3]
        i = PLACE["device_qw"]
        self._input.turn[:] = row[i : i + 7]
        self._input.turn_coupler[:] = row[i + 7 : i + 10]
        self._input.link[0] = row[PLACE["link_late_s"]]
        i = PLACE["device_flags"]
        self._input.flags[0], self._input.gap[:] = row[i], row[i + 1 : i + 3]
        if self._input.switch.size:
            i = self.assembly.first_switch
            self._input.switch[:] = row[i : i + self._input.switch.size]
        if hint := self._input.hint.size:
            self._input.hint[:] = row[-hint:].reshape(self._input.hint.shape)

    # -- saving and forking ----------------------------------------------------------------------------------

    def fork(self) -> State:
        """A copy of the whole state, to be given back to ``restore``."""
        return self._state.copy()

    def restore(self, state: State) -> None:
        """Go on from a forked state; what was asked for since then (switches, arming) is forgotten."""
        self._state.take(state)
        self._input.switch[:] = state.switched
        self._input.requests[:] = state.safety[2:4]

    def set_state(self, q: np.ndarray, u: np.ndarray) -> None:
        """Put the mechanism somewhere else; contacts are found anew at the next tick.

        q (nq,) with unit quaternions, u (nu,).  A constraint that holds and is off by more than a millimetre
        there is let go at that tick, with a fault (kernels/imposing.py).

        Raises
        ------
        ConfigError : wrong shape, not finite, beyond what a tick allows, or a shape more than a millimetre
            inside another; nothing has changed then.
        """
        state = self._state
        q, u = _finite(q, state.q.shape, "q"), _finite(u, state.u.shape, "u")
        refuse_beyond(self.assembly, q, u, "<argument>", "q, u")
        check_place(self.assembly, q, "q")
        state.q[:], state.u[:] = q, u
        state.active[:] = state.rank[:] = state.face[:] = 0
        state.depth[:] = 0.0
        state.energy[:] = 0.0


def _finite(value: object, shape: tuple[int, ...], name: str) -> np.ndarray:
    array = np.asarray(value, dtype=float)
    if array.shape != shape:
        raise ConfigError("<argument>", name, f"has shape {array.shape}: it must be {shape}.")
    if not np.all(np.isfinite(array)):
        raise ConfigError("<argument>", name, "holds NaN or infinity: every number must be finite.")
    return array
