"""Make docs/images/window.png: the arm pressed on the table by a real pointer, on a screen nobody sees.

    python tools/window_picture.py [--out docs/images/window.png] [--seconds 4]

Needs Xvfb and xdotool.  The tests move the same pointer (tests/runs/test_window.py).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

import hapticsim as hs
from hapticsim.codes import Safety
from hapticsim.process.child import PYTHON

ROOT = Path(__file__).resolve().parents[1]
SIZE = (1100, 720)  # [px] of the window
PIXELS_PER_M = 900.0  # about what the first view shows; too much would overshoot
LOOK_S = 0.12  # a window publishes the pointer at 120 Hz, the server its state at 200 Hz
CLOSE_ENOUGH_M = 0.002


def missing_programs() -> list[str]:
    """What this needs and cannot find."""
    return [name for name in ("Xvfb", "xdotool") if shutil.which(name) is None]


class Screen:
    """An X server without hardware, on the first display that is free."""

    def __enter__(self) -> Self:
        readable, writable = os.pipe()
        geometry = f"{SIZE[0]}x{SIZE[1]}x24"
        command = ["Xvfb", "-displayfd", str(writable), "-screen", "0", geometry, "-nolisten", "tcp"]
        self._process = subprocess.Popen(command, pass_fds=(writable,), stderr=subprocess.DEVNULL)
        os.close(writable)
        with os.fdopen(readable) as answer:
            self.display = f":{answer.readline().strip()}"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.wait()

    def xdotool(self, *words: object) -> None:
        """Send real input events."""
        environment = {**os.environ, "DISPLAY": self.display}
        subprocess.run(["xdotool", *map(str, words)], env=environment, check=True)


class PointerHand:
    """Leads the hand's target through the window with the pointer, looking at what the server publishes."""

    def __init__(self, screen: Screen, server: hs.Subscriber) -> None:
        self._screen, self._server = screen, server
        self._at = np.array([0.38 * SIZE[0], 0.45 * SIZE[1]])

    def state(self) -> dict[str, Any]:
        """The newest state."""
        newest: dict[str, Any] | None = self._server.latest("state", 5.0)
        assert newest is not None
        return newest

    def force_N(self) -> float:
        """Size of the force on the hand."""
        return float(np.linalg.norm(self.state()["device"]["force_N"]))

    def goal_m(self) -> np.ndarray:
        """(3,) where the hand wants to be, in the device frame."""
        return np.array(self.state()["device"]["target"])

    def move(self, x_px: float, z_px: float) -> None:
        """Move the pointer by so many pixels right and up."""
        self._at = np.clip(self._at + np.array([x_px, -z_px]), 5.0, [SIZE[0] - 300.0, SIZE[1] - 5.0])
        self._screen.xdotool("mousemove", *map(round, self._at))

    def lead(self, x_m: float, z_m: float, within_s: float = 20.0) -> None:
        """Move the pointer until the hand wants to be at (x, z) of the device frame."""

        def near() -> bool:
            off = np.array([x_m, z_m]) - self.goal_m()[[0, 2]]
            if np.max(np.abs(off)) < CLOSE_ENOUGH_M:
                return True
            self.move(*(np.clip(0.7 * PIXELS_PER_M * off, -25.0, 25.0)))
            return False

        self.wait_for(near, within_s)

    def engage(self) -> None:
        """Lead the target to the centre, from where no force jumps, click, and wait for the force."""
        self.lead(0.02, 0.01)  # it stands at the centre before the window is open, too: this proves it is
        self.lead(0.0, 0.0)
        self._screen.xdotool("click", 1)
        self.wait_for(lambda: self.state()["mode"] == Safety.ARMED)

    def disengage(self) -> None:
        """Click the other button."""
        self._screen.xdotool("click", 3)

    def wait_for(self, claim: Callable[[], bool], within_s: float = 10.0) -> None:
        """Wait until a claim about the server holds.  Raises TimeoutError."""
        give_up = time.monotonic() + within_s
        while not claim():
            if time.monotonic() > give_up:
                raise TimeoutError(f"it never happened; the newest state is {self.state()}")
            time.sleep(LOOK_S)


def take_picture(config: Path, out: Path, seconds: float) -> None:
    """Run a scene, press on what is below the handle, and save what the window shows."""
    with tempfile.TemporaryDirectory(prefix="hs-") as name, Screen() as screen:
        folder = Path(name)
        environment = {**os.environ, "DISPLAY": screen.display, "XDG_RUNTIME_DIR": name}
        command = [*PYTHON, "-m", "hapticsim", "run", str(config.resolve()), "--device", "mouse"]
        run = subprocess.Popen([*command, "--no-record"], cwd=folder, env=environment)
        try:
            with hs.Subscriber(f"ipc://{folder}/hapticsim/publish.sock") as server:
                server.latest("state", 240.0)  # a first start compiles
                hand = PointerHand(screen, server)
                hand.wait_for(lambda: hand.state()["device"]["connected"])
                hand.engage()
                hand.lead(0.0, -0.055)
                hand.lead(0.02, -0.085)
                time.sleep(seconds)
                screen.xdotool("key", "s")
                hand.wait_for(lambda: any(folder.glob("hapticsim-*.png")))
                time.sleep(0.5)
                (picture,) = folder.glob("hapticsim-*.png")
                out.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(picture, out)
        finally:
            run.terminate()
            run.wait()


def main() -> int:
    """Make the picture; 2 when something is missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--config", type=Path, default=ROOT / "configs" / "wam_table.yaml")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "images" / "window.png")
    parser.add_argument("--seconds", type=float, default=4.0, help="how long to press before the picture")
    given = parser.parse_args()
    if missing := missing_programs():
        print(f"{', '.join(missing)}: not found: install them (Debian: xvfb xdotool).", file=sys.stderr)
        return 2
    take_picture(given.config, given.out, given.seconds)
    print(f"{given.out}: {given.out.stat().st_size / 1024:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
