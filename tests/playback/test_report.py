"""The page about a run: well-formed, with the numbers of the recording, and safe whatever names say."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

from hapticsim.errors import ConfigError, HapticsimError
from hapticsim.playback.report import report
from hapticsim.recording.writer import RecordingWriter
from tests.pictured import write_press

VOID = {"meta", "img"}


class Page(HTMLParser):
    """Reads a page strictly: every tag is closed in its turn."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.words = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        assert not any(name.startswith("on") for name, _ in attrs)
        assert not any(str(value).startswith("http") for name, value in attrs if name in ("src", "href"))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words += data + " "


def page_of(recording: Path, **options: bool) -> Page:
    out = recording.with_suffix(".html")
    report(recording, out, lambda text: None, **options)
    return Page(out.read_text(encoding="utf-8"))


def test_the_page_holds_the_numbers_of_the_recording_and_nothing_that_names_could_smuggle_in(tmp_path):
    path = tmp_path / "r.mcap"
    write_press(path, config_text="name: [ # <script>alert(1)</script>\n", note="<img src=x onerror=y>")
    page = page_of(path)
    assert not page.tags & {"script", "b", "wall"}
    for words in (
        "puck & <wall>", "600, from 0 to 0.599 s", "8.000 N", "puck_box touches <b>table</b>.",
        "ticks later than 100 µs", "<script>alert(1)</script>", "never rose above 0.001 mJ",
    ):  # fmt: skip
        assert words in page.words, words
    assert "300" in page.words.partition("ticks later than 100 µs")[2][:10]
    assert "No picture:" in page.words and "svg" in page.tags


@pytest.mark.parametrize("ticks", [0, 1, 2])
def test_a_recording_of_hardly_any_rows_has_a_page(tmp_path: Path, ticks: int):
    write_press(tmp_path / "r.mcap", ticks=ticks, config_text="name: [")
    words = page_of(tmp_path / "r.mcap").words
    assert "Passivity" in words and "Punctuality" in words


def test_an_off_line_recording_has_a_page_without_a_hand(tmp_path: Path):
    with RecordingWriter(tmp_path / "r.mcap", ["time_s", "q0", "u0", "kinetic_J", "potential_J"]) as writer:
        writer.append([[0.1 * k, 0.0, float("nan"), 1.0, 2.0] for k in range(5)])
    words = page_of(tmp_path / "r.mcap").words
    assert "No hand was recorded" in words and "no clock to be late by" in words


def test_a_torn_recording_with_strange_numbers_has_a_page_that_says_so(tmp_path: Path):
    path = tmp_path / "r.mcap"
    write_press(path, config_text="name: [")
    whole = path.read_bytes()
    path.write_bytes(whole[: int(0.95 * len(whole))])
    assert "was not closed or is damaged" in page_of(path).words


@pytest.mark.parametrize(
    ("out", "sentence"),
    [("p.txt", "end its name in .html"), ("none/p.html", "make it first"), ("mine.html", "exists already")],
)
def test_a_page_that_cannot_be_made_is_refused_in_one_sentence(tmp_path: Path, out: str, sentence: str):
    (tmp_path / "mine.html").write_text("mine")
    write_press(tmp_path / "r.mcap", ticks=1, config_text="name: [")
    with pytest.raises(HapticsimError, match=sentence):
        report(tmp_path / "r.mcap", tmp_path / out, lambda text: None)
    assert (tmp_path / "mine.html").read_text() == "mine"


def test_what_is_no_recording_has_no_page(tmp_path: Path):
    (tmp_path / "r.mcap").write_bytes(b"nothing")
    with pytest.raises(ConfigError, match="is not an MCAP recording"):
        report(tmp_path / "r.mcap", tmp_path / "p.html", lambda text: None)


def test_the_energy_on_the_page_is_that_of_the_spring(tmp_path: Path):
    """40 mJ go in and four fifths come out."""
    write_press(tmp_path / "r.mcap", config_text="name: [")
    words = page_of(tmp_path / "r.mcap").words
    said = words.partition("energy the device gave to the hand, at the end")[2].split()[0]
    assert float(said) == pytest.approx(-8.0, abs=0.4)
