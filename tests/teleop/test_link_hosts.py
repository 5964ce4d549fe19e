"""Teleoperation between two computers: two network namespaces, a cable between them, CURVE keys."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from hapticsim.kernels.memory.sample import PLACE
from hapticsim.process.child import PYTHON
from hapticsim.recording.reader import read_recording
from hapticsim.wire.sockets.curve_security import create_keys
from tests.processes import PATIENT, START_S, Place, Program, eventually

REMOTE, OPERATOR = "10.213.7.1", "10.213.7.2"
ENDPOINTS = ("--telemetry", f"tcp://{REMOTE}:7411", "--commands", f"tcp://{OPERATOR}:7412")
CLOCKED = ["lateness_us", "execution_us"]


def ip(*arguments: str) -> None:
    """Run iproute2; the test is skipped with its words where it may not."""
    if shutil.which("ip") is None:
        pytest.skip("needs iproute2: apt-get install iproute2")
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"needs the right to make network namespaces (root): {done.stderr.strip()}")


@pytest.fixture
def hosts() -> Iterator[tuple[str, str]]:
    """Names of two namespaces with a cable between them: the remote site's and the operator's."""
    there, here = f"hs-there-{os.getpid()}", f"hs-here-{os.getpid()}"
    try:
        for name in (there, here):
            ip("netns", "add", name)
        ip("-n", there, "link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", here)
        for name, address in ((there, REMOTE), (here, OPERATOR)):
            ip("-n", name, "address", "add", f"{address}/24", "dev", "eth0")
            ip("-n", name, "link", "set", "eth0", "up")
            ip("-n", name, "link", "set", "lo", "up")
        yield there, here
    finally:
        for name in (there, here):
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)


def start(place: Place, host: str, *arguments: object) -> Program:
    """Start ``hapticsim`` on one of the hosts, with a folder for sockets of that host."""
    sockets = place.folder / host[:8]
    sockets.mkdir(mode=0o700, exist_ok=True)
    inside = ["ip", "netns", "exec", host, "env", f"XDG_RUNTIME_DIR={sockets}"]
    program = Program(place, [*inside, *PYTHON, "-m", "hapticsim", *map(str, arguments)], None)
    place._programs.append(program)
    return program


def befriend(one: Path, other: Path) -> None:
    """Let each end's key stand in the other's lists of the link."""
    for own, peer in ((one, other), (other, one)):
        for road in ("link", "server"):
            shutil.copy(peer / "own.key", own / "peers" / road / "other.key")


@pytest.mark.long
@pytest.mark.clock
@pytest.mark.timeout(600)
def test_two_hosts_with_keys_are_equal_to_the_bit_and_a_stranger_is_not_heard(
    place: Place, hosts: tuple[str, str]
) -> None:
    there, here = hosts
    keys = {name: place.folder / f"keys-{name}" for name in ("there", "here", "stranger")}
    for folder in keys.values():
        create_keys(folder)
    befriend(keys["there"], keys["here"])
    shutil.copytree(
        keys["there"] / "peers" / "server", keys["stranger"] / "peers" / "link", dirs_exist_ok=True
    )
    shutil.copy(keys["there"] / "own.key", keys["stranger"] / "peers" / "server" / "other.key")
    scene = place.scene("wam_table", link={"silence_s": 0.5})

    remote = start(
        place, there, "serve", scene, "--keys", keys["there"], *ENDPOINTS, "--record", "there.mcap"
    )
    remote.hears("remote site: no operator yet", START_S)

    stranger = start(place, here, "operator", scene, "--keys", keys["stranger"], *ENDPOINTS)
    stranger.hears("waiting for the remote site, 3 s", START_S)
    assert "an operator is there" not in remote.said
    stranger.stop()

    operator = start(
        place, here, "operator", scene, "--keys", keys["here"], *ENDPOINTS, "--record", "here.mcap"
    )
    remote.hears("an operator is there: no force until it engages.", START_S)
    device = start(place, here, "device", "scripted", "--options", json.dumps(PATIENT), "--realtime")
    operator.hears("fingertip on table", START_S)
    eventually(lambda: "fingertip on table" in remote.said, START_S)
    assert operator.stop() == 0
    assert device.stop() == 0
    assert remote.stop() == 0
    assert " 0 corrections" in operator.printed and "anew 0 times" in operator.printed

    felt = read_recording(place.folder / "here.mcap").data
    recorded = read_recording(place.folder / "there.mcap")
    done = recorded.data
    kept = np.delete(np.arange(felt.shape[1]), [PLACE[name] for name in CLOCKED])
    assert len(done) > 1000 and np.array_equal(done[:, 1], np.arange(len(done)))
    assert felt[: len(done), kept].tobytes() == done[:, kept].tobytes()
    assert recorded.column("force_N[fingertip-table]").max() > 1.0  # the table pushed, on both hosts


def test_an_endpoint_beyond_this_computer_needs_keys(place: Place) -> None:
    scene = place.scene("wam_table", link={})
    for side in ("serve", "operator"):
        program = place.run(side, scene, *ENDPOINTS)
        assert program.process.returncode == 2
        assert "keys" in program.said and "tcp://" in program.said


def test_a_scene_without_a_link_has_no_such_endpoints(place: Place) -> None:
    program = place.run("serve", place.scene("wam_table"), *ENDPOINTS)
    assert program.process.returncode == 2 and "--telemetry, --commands are for a link" in program.said
