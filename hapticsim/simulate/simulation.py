"""A scene in virtual time: the same tick that the real-time loop takes, without a clock.

Every argument is checked before anything changes: a call that raises ``ConfigError`` has done nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from hapticsim.arguments import a_function, number, numbers, shown, truth, whole
from hapticsim.assemble.assembly import Assembly, apply_gains
from hapticsim.assemble.features import features_of
from hapticsim.assemble.initial_check import (
    assemble_start,
    check_place,
    check_quaternions,
    check_scene,
    refuse_beyond,
)
from hapticsim.assemble.speed_choice import SpeedChoice
from hapticsim.assemble.twisted_welds import refuse_twisted
from hapticsim.codes import DeviceFlag, Event, Fault, Grip, Mode, Safety
from hapticsim.describe.events import subject_of
from hapticsim.errors import ConfigError, listed, nearest
from hapticsim.haptics.coupler import DeviceLimits, Gains, check_limits
from hapticsim.haptics.joining import scene_gains
from hapticsim.kernels.entry import (
    OBSERVE,
    RUN,
    begin_compiling,
    compile_called,
    observe_address,
    step_address,
)
from hapticsim.kernels.memory.arrays import CHOICES, EVENTS, FAULTS, MODE, Output
from hapticsim.kernels.memory.sample import PLACE, fill_row
from hapticsim.model.multibody.joint import Placement
from hapticsim.model.scene import Scene
from hapticsim.simulate.fork import Fork, check_fork, copied, put_back, tick_function_of
from hapticsim.simulate.snapshot import Certificate, Contact, Snapshot, StopForce, TickEvent

MOST_COUNT = 2.0**62
MOST_TICKS = 10**9  # in one call, which nothing can interrupt: eleven days at 1 kHz
FLAGS = sum(DeviceFlag)
UPRIGHT, STILL = np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3)


class Simulation:
    """Step a scene.

    Parameters
    ----------
    scene : from ``hapticsim.load``.
    progress : called with a line of text per function compiled.

    The scene is checked here, at the door; a step is one compiled call.

    Raises
    ------
    ConfigError : not a scene, or one that cannot start as it is written: which shape is how deep in which,
        which constraint is open by how much.
    """

    def __init__(self, scene: Scene, progress: Callable[[str], None] | None = None) -> None:
        check_scene(scene)
        a_function("Simulation", "progress", progress)
        begin_compiling(features_of(scene), OBSERVE, RUN)
        self.assembly: Assembly = assemble_start(scene, progress)
        self.scene = self.assembly.scene
        self.plan = self.assembly.plan
        self._step, self._observe = step_address(progress), observe_address(progress)
        self._run = compile_called(RUN, progress)
        self._state = self.assembly.new_state()
        self._input = self.assembly.new_input()
        self._output = self.assembly.new_output()
        self._view = self.assembly.new_output()  # what holds after the tick; the output is of its start
        self._workspace = self.assembly.new_workspace()
        self._blocks = ("state", self._state), ("input", self._input), ("output", self._output)

    # -- time ------------------------------------------------------------------------------------------------

    def step(self, n: int = 1) -> None:
        """Take n ticks of ``scene.tick_s`` seconds with the present input; n is 1 to 10^9.

        Raises
        ------
        ConfigError : n is no whole number, or out of these bounds.
        """
        if type(n) is not int or not 1 <= n <= MOST_TICKS:
            n = whole("step", "n", n, 1, MOST_TICKS)
        self._call(self._step, self._output, n)

    def run_with(self, loop: Any, *others: Any) -> int:
        """Call a compiled loop that takes ticks by itself (`lockstep`); return what it returns."""
        arrays = self.plan, self._state, self._input, self._output, self._workspace
        return int(loop(self._step, *arrays, *others))

    def _call(self, function: int, out: Output, times: int) -> None:
        """Call what takes the arguments of a tick and is at an address."""
        state, inp, ws = self._state.address, self._input.address, self._workspace.address
        self._run(function, self.plan.address, state, inp, out.address, ws, times)

    @property
    def time(self) -> float:
        """[s] since the start."""
        return int(self._state.tick[0]) * self.scene.tick_s

    # -- input -----------------------------------------------------------------------------------------------

    def apply(
        self, torque: Mapping[str, float] | np.ndarray | None = None, force: np.ndarray | None = None
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
        if isinstance(torque, Mapping):
            torque = self._torque_by_name(torque)
        elif torque is not None:
            torque = numbers("apply", "torque", torque, self._input.torque.shape)
        if force is not None:
            force = numbers("apply", "force", force, (3,))
            if self.plan.handle_frame < 0:
                raise ConfigError("apply", "force", "has no handle to act on: give the scene a 'handle'.")
            self._input.force_W[:] = force
        if torque is not None:
            self._input.torque[:] = torque

    def _torque_by_name(self, torque: Mapping[str, float]) -> np.ndarray:
        """(nu,) the torque that there is, with those that are named."""
        model, found = self.scene.model, self._input.torque.copy()
        names = [j.name for j in model.moving_joints if j.nu == 1]
        for name, value in torque.items():
            key = f"torque[{shown(name)}]"
            if name not in names:
                raise ConfigError(
                    "apply",
                    key,
                    f"is not a joint with one degree of freedom{nearest(name, names)}: "
                    f"allowed are {listed(names)}.",
                )
            found[model.u_slice(name)] = numbers("apply", key, value, ())
        return found

    def set_device(
        self,
        position: np.ndarray,
        velocity: np.ndarray,
        age: float = 0.0,
        quaternion: np.ndarray = UPRIGHT,
        angular_velocity: np.ndarray = STILL,
        flags: int = DeviceFlag.READY,
    ) -> None:
        """Give the sample of the device for the next ticks.

        Parameters
        ----------
        position, velocity : (3,) [m] and (3,) [m/s], device axes.
        age : of the sample [s], 0 or more; beyond ``safety.timeout_s`` it gives no force.
        quaternion : (4,) w, x, y, z of its handle in device axes, of length 1.
        angular_velocity : (3,) [rad/s], device axes.
        flags : bits of ``codes.DeviceFlag``; READY is what a device without trouble says.

        Raises
        ------
        ConfigError : wrong shape, not finite, a quaternion of another length, unknown flags.
        """
        where = "set_device"
        turn = numbers(where, "quaternion", quaternion, (4,))
        if not abs(float(turn @ turn) - 1.0) < 2e-3:
            raise ConfigError(where, "quaternion", "has not the length 1: divide it by its length.")
        spin = numbers(where, "angular_velocity", angular_velocity, (3,))
        place = numbers(where, "position", position, (3,))
        rate = numbers(where, "velocity", velocity, (3,))
        age_s = number(where, "age", age, 0.0)
        bits = whole(where, "flags", flags, 0, FLAGS)
        given = self._input
        given.device_rotation[:4], given.device_rotation[4:] = turn, spin
        given.device[:3], given.device[3:6] = place, rate
        given.device[6], given.device[7] = age_s, 1.0
        given.flags[0] = bits

    def remove_device(self) -> None:
        """No device any more; an armed run goes to the fault state at the next tick."""
        self._input.device[7] = 0.0

    def couple(self, limits: DeviceLimits) -> Gains:
        """Set the coupler's gains for a device, as a server would on its wire, and return them.

        limits : ``haptics.coupler.DeviceLimits``, what a device says of itself.

        Raises
        ------
        ConfigError : they are no limits, or one of them is no usable number.
        """
        check_limits(limits)
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
        """Ask a constraint to hold, or to let go, at the next tick; ``events`` says then what came of it.

        name : of the scene's ``constraints``.
        held : True to hold, False to let go.

        Raises
        ------
        ConfigError : there is no constraint of this name, or ``held`` is neither True nor False.
        """
        c, hold = self.assembly.constraint_index(name), truth("switch", "held", held)
        self._input.switch[c] = 2 * (self._input.switch[c] // 2 + 1) + int(hold)

    # -- output ----------------------------------------------------------------------------------------------

    @property
    def state(self) -> Snapshot:
        """What there is now: time, q, u, contacts, safety and the forces of the last tick, as copies."""
        s, out = self._state, self._look()
        candidates = self.assembly.candidates
        yields = self.assembly.plan.compliant == 1
        held = np.flatnonzero(
            np.where(yields, out.force[: len(yields)] > 0.0, s.mode[: len(candidates)] == int(Mode.HELD))
        )
        contacts = tuple(
            Contact(
                candidates[k].a,
                candidates[k].b,
                out.point_W[k].copy(),
                out.normal_W[k].copy(),
                float(out.force[k]),
                out.friction_W[k].copy() if len(out.friction_W) else np.zeros(3),
            )
            for k in held
            if candidates[k].stop is None
        )
        stops = tuple(
            StopForce(stop.joint, stop.side, float(out.force[k]))
            for k in held
            if (stop := candidates[k].stop) is not None
        )
        return Snapshot(
            time=self.time,
            tick=int(s.tick[0]),
            q=s.q.copy(),
            u=s.u.copy(),
            contacts=contacts,
            safety=Safety(int(s.safety[MODE])),
            fault=Fault(int(s.safety[FAULTS])),
            hand_force=self._output.hand_force_D.copy(),
            coupler_force=self._output.coupler_W.copy(),
            hand_torque=self._output.hand_torque_D.copy(),
            coupler_torque=self._output.coupler_torque_W.copy(),
            stops=stops,
        )

    @property
    def events(self) -> tuple[TickEvent, ...]:
        """What happened in the last tick, in its order; ``event.text`` says it in words."""
        n = min(int(self._output.counts[EVENTS]), len(self._output.events))
        if n == 0:
            return ()
        start = max(0, int(self._state.tick[0]) - 1) * self.scene.tick_s
        candidates, constraints = self.assembly.candidates, [c.name for c in self.scene.constraints]
        found = []
        for code, about, value, at_s in self._output.events[:n].tolist():
            kind, subject = Event(int(code)), subject_of(candidates, constraints, int(about))
            chosen = self._chosen(kind, value, at_s)
            found.append(TickEvent(kind, int(about), value, start + at_s, subject, chosen))
        return tuple(found)

    def _chosen(self, kind: Event, value: float, at_s: float) -> str:
        """What the choice of speeds that an event is about adds to its sentence."""
        if kind not in (Event.SELECT, Event.RANK):
            return ""
        for choice in self.choices:
            told = choice.condition if kind == Event.SELECT else choice.rank
            if (choice.time_s, told) == (at_s, value):
                return choice.words(self.scene.model.speed_names)
        return ""

    @property
    def gaps(self) -> np.ndarray:
        """(nk,) [m] gap of every contact candidate, in the order of ``assembly.contact_names``.

        A pair of shapes has several candidates, as corners, ends and places for edges; it is as far apart as
        the least of them says; below 0 they are inside one another.  That of a place for edges is 1000 while
        no edges are near.
        """
        return self._look().gap[: len(self.assembly.candidates)].copy()

    @property
    def sensors(self) -> dict[str, float]:
        """What the sensors of a mechanism show, by name; empty where there are none."""
        return self.assembly.equations.sensors(self._state.q, self._state.u)

    def _look(self) -> Output:
        self._call(self._observe, self._view, 1)
        return self._view

    @property
    def held(self) -> dict[str, Mode]:
        """What every constraint does."""
        names = [c.name for c in self.scene.constraints]
        modes = self._state.mode[len(self.assembly.candidates) :]
        return {name: Mode(int(mode)) for name, mode in zip(names, modes, strict=True)}

    def constraint_force(self, name: str) -> np.ndarray:
        """(rows,) [N] or [N m] force of each row of a constraint, or of its friction; 0 while it is free.

        Raises
        ------
        ConfigError : there is no constraint of this name.
        """
        return self._look().force[self.assembly.rows_of(name)].copy()

    def constraint_gap(self, name: str) -> np.ndarray:
        """(rows,) [m] or [rad] gap of each row of a constraint that holds; 0 while it is free.

        Raises
        ------
        ConfigError : there is no constraint of this name.
        """
        return self._look().gap[self.assembly.rows_of(name)].copy()

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
        """Choices of independent speeds in the last tick, at most ``arrays.MAX_CHOICES``."""
        records = self._output.choices
        return tuple(
            SpeedChoice.read(r) for r in records[: min(int(self._output.counts[CHOICES]), len(records))]
        )

    @property
    def drift(self) -> float:
        """[m] largest gap of an imposed contact that projection removed in the last tick."""
        return float(self._output.residual[0])

    @property
    def certificate(self) -> Certificate:
        """How far the last tick was from the laws of contact."""
        return Certificate(*self._output.certificate.tolist())

    def energy(self) -> tuple[float, float]:
        """Kinetic and potential energy [J] of the mechanism; the potential of a mass m at p is -m g . p."""
        return self.assembly.equations.energy(self._state.q, self._state.u)

    def body_pose(self, name: str) -> Placement:
        """Pose of a body in the world: ``rotation`` (3, 3) R_WB and ``translation`` (3,) [m].

        Raises
        ------
        HapticsimError : there is no body of this name.
        """
        return self.assembly.equations.body_pose(name, self._state.q)

    # -- rows ------------------------------------------------------------------------------------------------

    @property
    def columns(self) -> list[str]:
        """Names of the numbers ``read_row`` writes."""
        return self.assembly.columns

    def read_row(self, row: np.ndarray) -> int:
        """Write the sample of the last tick to row (columns,); return the safety state.

        Raises
        ------
        ConfigError : ``row`` is no writeable C-contiguous array of float64 with an entry per column.
        """
        if not (isinstance(row, np.ndarray) and row.shape == self._row_shape and row.dtype == np.float64):
            raise self._row_refusal("read_row", row)
        if not (row.flags.writeable and row.flags.c_contiguous):
            raise self._row_refusal("read_row", row)
        tick = int(self._state.tick[0]) - 1
        fill_row(self._state, self._input, self._output, row, tick * self.scene.tick_s, tick, 0, 0)
        return int(self._state.safety[MODE])

    def take_inputs(self, row: np.ndarray) -> None:
        """Use the recorded inputs of a row (columns,), as ``read_row`` wrote it, for the next tick.

        Raises
        ------
        ConfigError : another shape, or a count (of requests, of flags) that is no number.
        """
        if not (isinstance(row, np.ndarray) and row.shape == self._row_shape and row.dtype == np.float64):
            raise self._row_refusal("take_inputs", row)
        first, flags, switches = PLACE["arm_requests"], PLACE["device_flags"], self._switches
        if not (np.abs(row[self._counts]) < MOST_COUNT).all():
            raise ConfigError(
                "take_inputs", "row", "holds requests or flags that are no counts: read it again."
            )
        i = PLACE["device_x_m"]
        self._input.device[:] = row[i : i + 8]
        self._input.requests[:] = row[first : first + 2]
        i = PLACE["coupler_stiffness_N_per_m"]
        self._input.coupler[:] = row[i : i + 3]
        i = PLACE["device_qw"]
        self._input.device_rotation[:] = row[i : i + 7]
        self._input.rotation_coupler[:] = row[i + 7 : i + 10]
        self._input.link[0] = row[PLACE["link_late_s"]]
        self._input.flags[0], self._input.gap[:] = row[flags], row[flags + 1 : flags + 3]
        self._input.switch[:] = row[switches]

    @cached_property
    def _row_shape(self) -> tuple[int]:
        return (len(self.assembly.columns),)

    @cached_property
    def _switches(self) -> slice:
        """Where the switch requests stand in a row."""
        return slice(self.assembly.first_switch, self.assembly.first_switch + self._input.switch.size)

    @cached_property
    def _counts(self) -> np.ndarray:
        """Where the whole numbers among the inputs stand in a row."""
        first, switches = PLACE["arm_requests"], self._switches
        return np.array([first, first + 1, PLACE["device_flags"], *range(switches.start, switches.stop)])

    def _row_refusal(self, where: str, row: object) -> ConfigError:
        found = f"{row.dtype} {row.shape}" if isinstance(row, np.ndarray) else type(row).__name__
        (n,) = self._row_shape
        return ConfigError(
            where,
            "row",
            f"is {found}: it must be a C-contiguous float64 array; make it with numpy.zeros({n}).",
        )

    # -- saving and forking ----------------------------------------------------------------------------------

    def fork(self) -> Fork:
        """Return a copy of the whole run, to be given back to ``restore``: state, inputs, last output."""
        return Fork(copied(self._blocks), self.scene.name, self._tick_function)

    def restore(self, fork: Fork) -> None:
        """Go on from a fork to the same bits as the run it was taken of; also of another simulation.

        Inputs come back with it: torques and force applied, device, gains, arming, switch requests.  What was
        asked for since then is forgotten.

        Raises
        ------
        ConfigError : it is no fork, or one of another scene, or of this one with other values.
        """
        fork = check_fork(fork, self.scene.name, self._tick_function)
        put_back(fork, self._blocks)

    @cached_property
    def _tick_function(self) -> str:
        return tick_function_of(self.assembly)

    def set_state(self, q: np.ndarray, u: np.ndarray) -> None:
        """Put the mechanism somewhere else; contacts are found anew at the next tick.

        q (nq,) [rad, m] with unit quaternions, u (nu,) [rad/s, m/s].  A constraint that holds and is off by
        more than a millimetre there is let go at that tick, with a fault (kernels/events/activation.py).

        Raises
        ------
        ConfigError : wrong shape, not finite, beyond what a tick allows, a shape more than a millimetre
            inside another, or a weld that holds with its frames turned; nothing has changed then.
        """
        state = self._state
        q = numbers("set_state", "q", q, state.q.shape)
        u = numbers("set_state", "u", u, state.u.shape)
        check_quaternions(self.scene.model, q, "set_state", "q")
        refuse_beyond(self.assembly, q, u, "set_state", "q, u")
        check_place(self.assembly, q, "set_state", "q")
        held = {name for name, mode in self.held.items() if mode == Mode.HELD}
        refuse_twisted(self.assembly, q, held, "set_state", "q")
        state.q[:], state.u[:] = q, u
        state.mode[: len(self.assembly.candidates)] = Mode.FREE  # the contacts
        state.rank[:] = state.face[:] = 0
        state.impulse[:] = 0.0
        state.friction_impulse_W[:] = 0.0
        state.grip[:], state.slide_W[:] = Grip.NONE, 0.0
        state.deformation[:] = state.yields[:] = 0
        state.still[:] = 0
        state.depth[:] = 0.0
        state.energy[:] = 0.0
