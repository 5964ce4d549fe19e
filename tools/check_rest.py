"""Let robots of MJCF files come to rest on a floor, and compare the poses with those of MuJoCo's rest.

    python tools/check_rest.py                       the models of gymnasium
    python tools/check_rest.py FOLDER robot.xml      all MJCF files in a folder, and one more

The floor lies 5 cm below the robot as the file draws it, and its geoms touch nothing else.  There is no
friction, and neither actuators nor limits of joints act.  Both lose their speeds every 0.2 s, so that each
settles where its potential energy has a minimum.  A robot may have several of these, and a small difference
decides which it falls into: each library then begins where the other one rests, and has to stay.  Compared
are the heights of the centres of mass of all bodies and the distances between them, which a turn or a shift
along the floor leaves.  An error is relative to the largest of these distances and heights.  Ends with
status 1 where one is above 1e-3.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np
from check_mjcf import files_in, gymnasium_models, worst
from mjcf_peer import TOUCHES, MjcfPeer
from reporting import Found, machine, machine_line, parser_of, report, show_targets, target
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import track
from rich.table import Table

import hapticsim as hs
from hapticsim.config.load import loads
from hapticsim.errors import ConfigError, HapticsimError

LIMIT = 1e-3
FAR = 100.0  # [m] below: where the floor is first, to see how far down the robot reaches
BELOW = 0.05  # [m] the robot the floor is then
ASKEW = 0.01  # [m, rad] by which each coordinate is off in the start
WINDOW_s = 0.2  # after which speeds are taken away
WINDOWS = 400  # at most
AT_REST = 1e-5  # of the size; how far bodies come in a window, at most
CORNERS = 64  # of hulls
STIFF = 0.004  # [s] time constant of MuJoCo's contacts


class Robot:
    """A robot over a floor, in both.

    Raises HapticsimError where it cannot be built, or reaches no floor.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.peer = MjcfPeer(path)
        if self.peer.model.nu == 0:
            raise HapticsimError("nothing moves.")
        scene = self._scene(-FAR, [])
        groups = self.peer.model.rigid_groups()
        moving = [s.name for s in scene.shapes if groups[s.body] != groups["world"]]
        if not moving:
            raise HapticsimError("none of its geoms collide.")
        sim = hs.Simulation(self._scene(-FAR, moving))
        sim.step(1)
        self.height = float(min(sim.gaps)) - FAR - BELOW
        self.sim, self.touching = hs.Simulation(self._scene(self.height, moving)), 0
        self.peer.mj = self._over_floor()
        self.peer.only_what_is_taken()
        self.peer.mj.opt.disableflags = TOUCHES
        self.peer.data = mujoco.MjData(self.peer.mj)

    def _scene(self, height: float, touching: list[str]) -> hs.Scene:
        regime = "exact" if self.peer.robot.constraints else "time_stepping"
        contacts = ", ".join(f"{{between: ['{name}', rest_floor]}}" for name in touching)
        return loads(
            f"name: rest\n"
            f"robot: {{mjcf: {{path: '{self.path.resolve()}', collision: true, corners: {CORNERS}}}}}\n"
            f"shapes: [{{name: rest_floor, kind: plane, origin: {{xyz_m: [0, 0, {height!r}]}}}}]\n"
            f"contacts: [{contacts}]\ncontact_regime: {regime}\n",
            self.path.resolve().with_name("rest.yaml"),
        )

    def _over_floor(self) -> mujoco.MjModel:
        """Return MuJoCo's model with the same floor, which geoms that collide touch, and nothing else."""
        spec = mujoco.MjSpec.from_file(str(self.path))
        for geom in spec.geoms:
            collides = (geom.contype or geom.conaffinity) and geom.parent.name != "world"
            geom.contype, geom.conaffinity = int(bool(collides)), 0
        plane = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], name="rest_floor")
        plane.pos, plane.contype, plane.conaffinity = [0.0, 0.0, self.height], 0, 1
        mj = spec.compile()
        if mj.npair > 0:
            raise HapticsimError("it has pairs of geoms of its own.")
        mj.geom_condim[:] = 1
        mj.geom_margin[:] = mj.geom_gap[:] = 0.0
        mj.geom_solref[:] = (STIFF, 1.0)
        mj.geom_solimp[:] = (0.95, 0.99, 0.001, 0.5, 2.0)
        mj.opt.timestep = 0.001
        mj.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        return mj

    def start(self) -> np.ndarray:
        """Return q (nq,) a little off where the file draws the robot, which may be balanced there.

        It is just there where a constraint has to hold.
        """
        if self.peer.robot.constraints:
            return self.sim.scene.q0.copy()
        return self.peer.beside(self.sim.scene.q0, ASKEW)

    def signature(self, q: np.ndarray) -> np.ndarray:
        """Return heights over the floor [m] of the centres of mass, and the distances [m] between them."""
        self.peer.place(q, np.zeros(self.peer.model.nu))
        centres = self.peer.data.xipos[1:]
        apart = np.linalg.norm(centres[:, None] - centres[None, :], axis=2)
        return np.concatenate([centres[:, 2] - self.height, apart[np.triu_indices(len(centres), 1)]])

    def settle_ours(self, q: np.ndarray) -> tuple[np.ndarray, bool]:
        """Return where our robot rests that begins at q, and whether it came to rest."""
        self.sim.set_state(q, np.zeros(self.peer.model.nu))
        return self._settle(self._window_of_ours)

    def settle_theirs(self, q: np.ndarray) -> tuple[np.ndarray, bool]:
        """The same of MuJoCo's."""
        self.peer.place(q, np.zeros(self.peer.model.nu))
        return self._settle(self._window_of_theirs)

    def _window_of_ours(self) -> np.ndarray:
        self.sim.step(round(WINDOW_s / self.sim.scene.tick_s))
        q, self.touching = self.sim.state.q.copy(), len(self.sim.state.contacts)
        try:
            self.sim.set_state(q, np.zeros(self.peer.model.nu))
        except ConfigError:  # it strikes just now, and is a millimetre inside
            pass
        return q

    def _window_of_theirs(self) -> np.ndarray:
        for _ in range(round(WINDOW_s / self.peer.mj.opt.timestep)):
            mujoco.mj_step(self.peer.mj, self.peer.data)
        self.peer.data.qvel[:] = 0.0
        return self.peer.ours()[0]

    def _settle(self, window: Callable[[], np.ndarray]) -> tuple[np.ndarray, bool]:
        before, still = None, 0
        for _ in range(WINDOWS):
            q = window()
            kept = self.peer.data.qpos.copy(), self.peer.data.qvel.copy()
            now = self.signature(q)
            self.peer.data.qpos[:], self.peer.data.qvel[:] = kept
            if before is not None:
                still = still + 1 if np.abs(now - before).max() <= AT_REST * np.abs(now).max() else 0
            if still == 3:
                return q, True
            before = now
        return q, False


def check(path: Path) -> Found:
    """Return how far the rests of a file are apart, or why they are not compared."""
    try:
        robot = Robot(path)
        ours, we_rest = robot.settle_ours(robot.start())
        touching = robot.touching
        if not we_rest:
            return {"refused": "it did not come to rest."}
        if touching == 0:
            return {"refused": "it does not reach the floor."}
        theirs, they_stay = robot.settle_theirs(ours)
        from_ours = difference(robot, ours, theirs)
        theirs, they_rest = robot.settle_theirs(robot.start())
        back, we_stay = robot.settle_ours(theirs)
    except HapticsimError as error:
        return {"refused": str(error).split(": ", 1)[-1]}
    return {
        "nu": robot.peer.model.nu,
        "contacts": touching,
        "from_ours": from_ours if they_stay else float("inf"),
        "from_theirs": difference(robot, theirs, back) if they_rest and we_stay else float("inf"),
    }


def difference(robot: Robot, a: np.ndarray, b: np.ndarray) -> float:
    """Return the largest difference of two poses by the largest height or distance; infinite of no number."""
    one, other = robot.signature(a), robot.signature(b)
    return worst(0.0, float(np.abs(one - other).max() / np.abs(one).max()))


def measure(paths: list[Path]) -> Found:
    """Return everything this tool compares."""
    console = Console(stderr=True)
    robots = {str(p): check(p) for p in track(files_in(paths), "models", console=console)}
    compared = [r for r in robots.values() if "nu" in r]
    if not compared:
        reasons = "; ".join(f"{name}: {r['refused']}" for name, r in robots.items())
        raise SystemExit(f"none of these files holds a robot that comes to rest on a floor. {reasons}")
    targets = {
        f"where {who} rest, {other} stay: largest relative difference": target(
            max(r[key] for r in compared), LIMIT
        )
        for who, other, key in (("we", "they", "from_ours"), ("they", "we", "from_theirs"))
    }
    return {"machine": machine("mujoco"), "robots": robots, "targets": targets}


def show(console: Console, found: Found, before: Found | None) -> None:
    """Print the table and the targets."""
    table = Table(
        box=SIMPLE, title="where robots rest on a floor, beside MuJoCo: largest relative difference"
    )
    for column in ("robot", "speeds", "contacts", "they stay", "we stay"):
        table.add_column(column, justify="left" if column == "robot" else "right")
    for name, r in found["robots"].items():
        if "refused" in r:
            console.print(f"{name}: not compared: {r['refused']}", markup=False)
        else:
            table.add_row(
                name, str(r["nu"]), str(r["contacts"]), f"{r['from_ours']:.0e}", f"{r['from_theirs']:.0e}"
            )
    console.print(table)
    console.print(f"{sum('nu' in r for r in found['robots'].values())} models compared")
    show_targets(console, found)
    console.print(machine_line(found))


def main() -> int:
    """Take the options, run, and return the exit status."""
    parser = parser_of(__doc__)
    parser.add_argument("paths", type=Path, nargs="*", metavar="PATH", help="MJCF files, or folders of them")
    options = parser.parse_args()
    outcome: list[Found] = []

    def measured() -> Found:
        outcome.append(measure(options.paths or [gymnasium_models()]))
        return outcome[0]

    report(options, measured, show)
    return int(not all(one["met"] for one in outcome[0]["targets"].values()))


if __name__ == "__main__":
    sys.exit(main())
