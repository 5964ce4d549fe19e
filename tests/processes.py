"""Whole programs under test: started in a place of their own, listened to, ended."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import yaml

from hapticsim.process.child import PYTHON

ROOT = Path(__file__).parents[1]
CONFIGS = ROOT / "configs"
START_S = 240.0  # a first start compiles; everything after it is bounded by `SOON_S`
SOON_S = 20.0
DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")

# Down into the table at once and on it for good: 12 N of a 300 N/m hand from 40 mm below the top.
PUSH = {
    "waypoints": [
        {"time_s": 0.9, "position_m": [0.0, 0.0, 0.0]},
        {"time_s": 1.8, "position_m": [0.0, 0.0, -0.11]},
    ],
    "presses": [{"time_s": 0.2, "button": "engage"}],
    "repeat": False,
}
# The same by a hand that clicks again after half a second where there is no force: on a machine that stood
# still for 10 ms it was taken away, rightly, and that must not be what a test is about.
PATIENT = {**PUSH, "presses": [{"time_s": 0.2 + 0.5 * n, "button": "engage"} for n in range(120)]}


class Place:
    """A folder with sockets, scenes and recordings that no other run sees."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {k: v for k, v in os.environ.items() if k not in DISPLAYS}
        self.environment |= {"XDG_RUNTIME_DIR": str(folder), "PYTHONUNBUFFERED": "1"}
        self._programs: list[Program] = []

    def scene(self, base: str = "wam_table", **changes: object) -> Path:
        """A scene file that extends one of ``configs/``."""
        path = self.folder / "scene.yaml"
        path.write_text(yaml.safe_dump({"extends": str(CONFIGS / f"{base}.yaml"), **changes}))
        return path

    def pushing(self, script: dict[str, object] = PATIENT, **changes: object) -> Path:
        """The arm, and a scripted hand that leans on the table from 1.8 s on."""
        return self.scene(device={"driver": "scripted", "options": script}, **changes)

    def start(self, *arguments: object, longest_file: int | None = None) -> Program:
        """Start ``hapticsim`` with arguments; ``longest_file`` [bytes] is all that its files may grow to."""
        return self.start_module("hapticsim", *arguments, longest_file=longest_file)

    def start_module(self, module: str, *arguments: object, longest_file: int | None = None) -> Program:
        """Start a module as a program."""
        program = Program(self, [*PYTHON, "-m", module, *map(str, arguments)], longest_file)
        self._programs.append(program)
        return program

    def run(self, *arguments: object, within_s: float = START_S) -> Program:
        """Run ``hapticsim`` to its end."""
        program = self.start(*arguments)
        program.wait(within_s)
        return program

    def end_all(self) -> None:
        """Kill whatever still runs."""
        for program in self._programs:
            program.kill()


class Program:
    """A process; what it prints goes to files, so that it can never be held up by a reader."""

    def __init__(self, place: Place, command: list[str], longest_file: int | None) -> None:
        number = len(place._programs)
        self._out, self._err = place.folder / f"{number}.out", place.folder / f"{number}.err"
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                command,
                cwd=place.folder,
                env=place.environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
                preexec_fn=None if longest_file is None else _limiter(longest_file),
            )

    @property
    def printed(self) -> str:
        return self._out.read_text()

    @property
    def said(self) -> str:
        return self._err.read_text()

    def hears(self, sentence: str, within_s: float = SOON_S, times: int = 1) -> None:
        """Wait until it has said a sentence, ``times`` times."""
        give_up = time.monotonic() + within_s
        while self.said.count(sentence) < times:
            ended = self.process.poll() is not None and self.said.count(sentence) < times
            assert not ended and time.monotonic() < give_up, f"never said {sentence!r}, but:\n{self.said}"
            time.sleep(0.02)

    def send(self, what: signal.Signals) -> None:
        """Send a signal to this process alone."""
        self.process.send_signal(what)

    def wait(self, within_s: float = SOON_S) -> int:
        """Wait for its end; a traceback is a defect whatever the test is about."""
        status = self.process.wait(within_s)
        assert "Traceback" not in self.said, self.said
        return status

    def stop(self, how: signal.Signals = signal.SIGINT) -> int:
        """End it as a user does."""
        self.send(how)
        return self.wait()

    def children(self) -> dict[int, str]:
        """Process id and command line of the processes it started."""
        found: dict[int, str] = {}
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            for pid in map(int, (task / "children").read_text().split()):
                found[pid] = Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
        return found

    def child(self, word: str) -> int:
        """Process id of the child whose command line holds a word."""
        matching = [pid for pid, line in self.children().items() if word in line]
        assert len(matching) == 1, self.children()
        return matching[0]

    def kill(self) -> None:
        """End it and all it started, at once."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()


def _limiter(longest_file: int) -> Callable[[], None]:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (longest_file, longest_file))

    return limit


def is_alive(pid: int) -> bool:
    """Whether a process runs (a zombie does not)."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False


def eventually(claim: Callable[[], object], within_s: float = SOON_S) -> None:
    """Wait until a claim holds."""
    give_up = time.monotonic() + within_s
    while not claim():
        assert time.monotonic() < give_up, "it never happened"
        time.sleep(0.01)


def resident_MiB(pid: int) -> float:
    """Memory of a process that is in the computer's [MiB]."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
