"""A server with constraints, switched from another process."""

from __future__ import annotations

import time

import pytest

import hapticsim as hs
from hapticsim.wire.sockets.curve_security import create_keys
from tests.four_bar import FOUR_BAR
from tests.processes import START_S, Place
from tests.runs.test_visit import publish_endpoint

SENTENCE_OF_LOP = "constraint 'lop' is not there (did you mean 'loop'?): they are 'brake', 'loop', 'stop'."


def served(place: Place, *arguments: object):
    scene = place.folder / "four_bar.yaml"
    scene.write_text(FOUR_BAR)
    program = place.start("serve", scene, *arguments)
    program.hears("control endpoint", START_S)
    return program


def test_constraints_are_listed_switched_and_refused_from_another_process(place):
    server = served(place)
    with hs.Subscriber(publish_endpoint(place), ("state", "events")) as observer:
        assert observer.latest("state", START_S) is not None
        listed = place.run("switch")
        assert listed.printed.splitlines() == [
            "loop   held      3 rows", "brake  free      1 row", "stop   free      1 row",
        ]  # fmt: skip
        before = observer.latest("state")
        assert (before["rank"], before["rows"], before["constraints"][1]["hold"]) == (2, 3, "free")

        assert place.run("switch", "brake", "on").printed == "brake: held\n"
        time.sleep(0.05)
        after = observer.latest("state")
        assert (after["rank"], after["rows"], after["dependent"]) == (3, 4, ["crank", "coupler", "rocker"])
        assert after["constraints"][1]["hold"] == "held" and after["residual"] < 1e-9
        told = [m.payload for m in iter(observer.receive, None) if m.topic == "events"]
        assert [e["text"] for e in told if e["kind"] == "switch"] == ["'brake' holds"]

    for arguments, sentence in (
        (("lop", "on"), SENTENCE_OF_LOP),
        (("stop", "on"), "'stop' was not imposed: it is out of reach: bring the mechanism"),
        (("loop",), "hapticsim switch: Invalid value: on or off is missing after 'loop'"),
        (("loop", "maybe"), "hapticsim switch: Invalid value for"),
    ):
        refused = place.run("switch", *arguments)
        assert refused.process.returncode == 2 and refused.said.startswith(sentence), refused.said
        assert refused.said.count("\n") == 1 and refused.printed == ""
    assert place.run("switch", "brake", "off").printed == "brake: free\n"
    assert server.stop() == 0
    gone = place.run("switch")
    assert gone.process.returncode == 2 and "no server answered in 2 s" in gone.said


def test_another_server_on_its_own_endpoints_is_switched_there(place):
    control = f"ipc://{place.folder}/c.sock"
    publish = f"ipc://{place.folder}/p.sock"
    server = served(place, "--publish-endpoint", publish, "--control-endpoint", control)
    with hs.Switches(control, timeout_s=10.0) as switches:
        assert switches.switch("brake", True) == "held"
        with pytest.raises(hs.HapticsimError, match="is not there"):
            switches.switch("lop", True)
        assert [c["hold"] for c in switches.constraints()] == ["held", "held", "free"]
    assert place.run("switch", "brake", "off", "--at", control).printed == "brake: free\n"
    assert server.stop() == 0


def test_a_flood_of_switches_leaves_the_loop_and_the_others_alone(place):
    server = served(place)
    with hs.Subscriber(publish_endpoint(place), ("state",)) as observer:
        observer.latest("state", START_S)
        endpoint = f"ipc://{place.folder}/hapticsim/control.sock"
        with hs.Switches(endpoint) as flood, hs.Switches(endpoint, timeout_s=10.0) as other:
            assert flood.switch("brake", False) == "free"
            until = time.monotonic() + 3.0
            sent = done = 0
            while time.monotonic() < until:
                sent += flood.offer("brake", sent % 2 == 0)
                while flood.take():
                    pass
                if sent % 500 == 499:
                    assert {c["name"] for c in other.constraints()} == {"loop", "brake", "stop"}
                    done += 1
            state = observer.latest("state")
    assert sent > 1000 and done > 0
    assert state["fault"] == 0 and state["constraints"][0]["hold"] == "held" and state["residual"] < 1e-9
    assert server.stop() == 0


@pytest.mark.long
def test_beyond_this_machine_only_those_with_keys_may_switch(place):
    for end in ("server", "client"):
        create_keys(place.folder / end)
    for end, other, road in (("server", "client", "control"), ("client", "server", "server")):
        key = (place.folder / other / "own.key").read_text()
        (place.folder / end / "peers" / road / "other.key").write_text(key)
    endpoint = "tcp://127.0.0.1:*"
    server = served(place, "--control-endpoint", endpoint, "--keys", place.folder / "server")
    bound = server.said.split("control endpoint ")[1].split()[0]
    known = place.run("switch", "brake", "on", "--at", bound, "--keys", place.folder / "client")
    assert known.printed == "brake: held\n", known.said
    plain = place.run("switch", "brake", "off", "--at", bound)
    assert plain.process.returncode == 2 and "open to all users of this computer" in plain.said
    (place.folder / "server" / "peers" / "control" / "other.key").unlink()
    revoked = place.run("switch", "brake", "off", "--at", bound, "--keys", place.folder / "client")
    assert revoked.process.returncode == 2 and "no server answered" in revoked.said
    assert server.stop() == 0
    refused = place.run("serve", place.folder / "four_bar.yaml", "--control-endpoint", "tcp://0.0.0.0:5999")
    assert refused.process.returncode == 2 and "tcp://0.0.0.0:5999: would be open" in refused.said
