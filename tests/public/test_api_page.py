"""docs/api.md is what the docstrings say, its examples run, and it leaves out nothing public."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import hapticsim as hs
from hapticsim.commands.api_page import PARTS, example_of, reference
from hapticsim.wire.control import ControlPort
from hapticsim.wire.messages.requests import ListRequest
from hapticsim.wire.publisher import Publisher
from hapticsim.wire.sockets.endpoints import default_endpoint
from tests.places import CONFIGS

ROOT = CONFIGS.parent
PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")


def test_the_page_is_current():
    assert reference() == PAGE, "print it with python -m hapticsim.commands.api_page > docs/api.md"


def test_every_public_name_is_on_the_page():
    described = {name for _, _, names in PARTS for name in names if ":" not in name}
    assert described == {name for name in hs.__all__ if name != "__version__"}


def test_every_public_method_says_what_it_does():
    for name in ("Simulation", "Equations", "Subscriber", "Switches", "Model", "Scene"):
        members = vars(getattr(hs, name)).items()
        silent = [k for k, m in members if not k.startswith("_") and callable(m) and not m.__doc__]
        assert silent == [], name


def test_headings_are_no_two_times_the_same_part():
    titles = re.findall(r"^## (.*)$", PAGE, re.MULTILINE)
    assert titles == [title for title, _, _ in PARTS]


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What the example meets of a server on the default endpoints: a state, and one constraint."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    ended = threading.Event()

    def serve() -> None:
        while not ended.wait(0.005):
            publisher.offer("state", {"q": [0.1, 0.2]})
            for asked in port.poll():
                if isinstance(asked.request, ListRequest):
                    port.answer(asked, "list", constraints=[{"name": "loop", "hold": "held", "rows": 2}])
                else:
                    port.answer(asked, "done", name=asked.request.name, hold="held")

    with (
        Publisher(default_endpoint("publish")) as publisher,
        ControlPort(default_endpoint("control")) as port,
    ):
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join(5.0)


@pytest.mark.parametrize("title", [title for title, _, _ in PARTS])
@pytest.mark.usefixtures("server")
def test_the_example_of_a_part_runs(
    title: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(ROOT)
    exec(compile(example_of(title), title, "exec"), {})
    printed = capsys.readouterr().out
    expected = {
        "Scenes and robots": "WAM over a table 4",
        "Simulation": "fingertip on table touched",
        "Mechanisms by Kane's method": "3 3",
        "A mechanism alone, and many runs": "0.5",
        "A server that runs": "[0.1, 0.2]",
        "Errors": "apply torque['J22']\n",
    }
    assert expected.get(title, "") in printed
    if title == "A server that runs":
        assert printed.endswith("loop held\n")
