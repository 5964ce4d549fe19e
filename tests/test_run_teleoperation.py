"""Both ends of a one-second link in their own processes, against the clock."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from hapticsim.child import PYTHON
from hapticsim.kernels.row import FIXED, PLACE, WIDTH
from hapticsim.recording.reader import read_recording

CONFIG = Path(__file__).parent.parent / "configs" / "teleop_1s.yaml"
INPUTS = slice(PLACE["device_x_m"], PLACE["force_limit_N"] + 1)


@pytest.mark.timeout(200)
def test_the_remote_does_what_the_operator_felt_one_delay_later_to_the_bit(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "sockets").mkdir(mode=0o700)
    record = tmp_path / "operator.mcap"
    arguments = [
        "run",
        str(CONFIG),
        "--device",
        "scripted",
        "--seconds",
        "9",
        "--no-window",
        "--record",
        str(record),
    ]
    done = subprocess.run(
        [*PYTHON, "-m", "hapticsim", *arguments],
        cwd=tmp_path / "run",
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path / "sockets")},
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    operator = read_recording(record).data
    remote = read_recording(tmp_path / "operator-remote.mcap").data
    commanded = np.flatnonzero(
        np.isfinite(remote[:, PLACE["device_age_s"]]) & (remote[:, PLACE["coupler_stiffness_N_per_m"]] >= 0.0)
    )
    first = next(i for i in commanded if np.array_equal(remote[i, INPUTS], operator[0, INPUTS]))
    assert first >= 1000  # a second up the link, and the playout margin
    n = min(len(operator), len(remote) - first)
    assert n > 6000
    same = np.all(remote[first : first + n, INPUTS] == operator[:n, INPUTS], axis=1)
    assert same.mean() > 0.99  # a busy computer may starve a tick of its command
    until = n if same.all() else int(np.argmin(same))  # and ends the exact part with it
    assert until > 1000
    difference = np.abs(remote[first : first + n, WIDTH:] - operator[:n, WIDTH:])
    nq = (difference.shape[1] - 2) // 2
    assert (
        difference[:until, : 2 * nq].max() < 1e-12
    )  # q and u; the remote rested for a while before command 0
    assert difference[:until].max() < 1e-9  # gap and force too
    assert difference[:, :nq].max() < 5e-3  # a starved tick is not the end of the world
    assert operator[:, -1].max() > 5.0, done.stderr  # through the whole contact, not only in free motion
    found = re.search(
        r"prediction (\S+) s ahead of telemetry; error at the handle last (\S+) m, worst (\S+) m", done.stdout
    )
    assert found, done.stdout
    assert 2.0 < float(found[1]) < 2.5
    assert float(found[3]) < (1e-9 if same.all() else 5e-3)
    assert len(FIXED) == WIDTH
