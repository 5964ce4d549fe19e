"""What is installed from a wheel, without the repository."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = {"hapticsim": "hapticsim", "devices": "hapticsim_devices", "configs": "hapticsim/scenes"}


TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder that holds an sdist, and a wheel made of that sdist alone."""
    folder = tmp_path_factory.mktemp("build")
    source, dist = folder / "source", folder / "dist"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for name in SOURCES:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(dist), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return dist


def test_metadata_are_those_of_an_index(built):
    files = [str(file) for file in built.iterdir()]
    assert len(files) == 2
    done = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", *files], capture_output=True, text=True
    )
    assert done.returncode == 0 and done.stdout.count("PASSED") == 2, done.stdout


def test_a_wheel_holds_every_module_and_scene_and_no_other_top_level_package(built):
    (wheel,) = built.glob("*.whl")
    inside = {n for n in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in n}
    wanted = {
        f"{package}/{file.relative_to(ROOT / name)}"
        for name, package in SOURCES.items()
        for file in (ROOT / name).rglob("*")
        if file.suffix in (".py", ".yaml", ".csv", ".ply", ".xml")
    }
    assert inside == wanted


def test_an_sdist_holds_what_a_wheel_is_made_of(built):
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "README.md", "pyproject.toml", "devices/limits.csv", "configs/wrist.yaml"} <= names


class Installed:
    """A venv that holds the wheel, and an empty folder to work in."""

    def __init__(self, folder: Path, wheel: Path, extras: str) -> None:
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
        self.bin, self.work = folder / "venv" / "bin", folder / "work"
        self.work.mkdir()
        # an empty home: no machine code of the checkout
        self.environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "DISPLAY")}
        self.environment["HOME"] = str(folder)
        self.add(wheel, extras)

    def add(self, wheel: Path, extras: str) -> None:
        pip = [str(self.bin / "python"), "-m", "pip", "install", "--quiet", f"{wheel}{extras}"]
        subprocess.run(pip, check=True, capture_output=True)

    def __call__(self, *arguments: str, program: str = "hapticsim") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.bin / program), *arguments],
            cwd=self.work,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=900,
        )


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    (wheel,) = built.glob("*.whl")
    return Installed(tmp_path_factory.mktemp("installed"), wheel, "")


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_the_base_install_runs_in_an_empty_folder(installed):
    run = installed("run", "--seconds", "5", "--no-window")
    assert run.returncode == 0, run.stderr
    assert int(re.search(r"^(\d+) ticks", run.stdout, re.MULTILINE)[1]) >= 4000
    assert len(list((installed.work / "recordings").glob("wam-over-a-table-*.mcap"))) == 1
    assert "Traceback" not in run.stderr


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_a_scene_that_needs_an_extra_names_it(installed):
    scenes = installed("scenes")
    assert scenes.returncode == 0 and "[needs: pip install 'hapticsim[robots]']" in scenes.stdout
    for scene, extra in (("panda_table", "robots"), ("wrist", "mechanisms")):
        run = installed("run", scene)
        assert run.returncode == 2 and run.stderr.strip().endswith(f"pip install 'hapticsim[{extra}]'.")
        assert len(run.stderr.strip().splitlines()) == 1


def steps() -> list[tuple[str, str]]:
    """What the tutorial has its reader do, in order: a file to save or a line to type, and its text."""
    found = []
    step = re.compile(r"^```\w+\n(.*?)^```|^ {4}(hapticsim [^\n]*)$", re.DOTALL | re.MULTILINE)
    for block, line in step.findall(TUTORIAL):
        if line:
            found.append(("type", line.split("  ")[0]))
        else:
            found.append((block.partition("\n")[0].removeprefix("# "), block))
    return found


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_the_tutorial_runs_from_top_to_bottom(installed, built):
    """All but the lines that open a window for a person."""
    (wheel,) = built.glob("*.whl")
    installed.add(wheel, "[window,studies]")
    alone = {"hapticsim run arm.yaml"}
    done = []
    for name, text in steps():
        if name == "type":
            if text not in alone:
                done.append(installed(*shlex.split(text)[1:]))
        else:
            (installed.work / name).write_text(text)
            if name in ("read.py", "push.py"):
                done.append(installed(name, program="python"))
        assert not done or done[-1].returncode == 0, f"{text}\n{done[-1].stderr}"
        assert not done or "Traceback" not in done[-1].stderr
    told = "\n".join(d.stdout for d in done)
    felt = [float(f) for d in done for f in re.findall(r"largest force ([\d.]+) N", d.stderr)]
    assert len(felt) == 2 and min(felt) > 0.2  # live, of the circle and of the script
    assert "pressed with up to" in told and len(re.findall("kg: touches after", told)) == 3
    for made in ("visit.mcap", "visit.png", "frame.png", "visit.gif", "live.mcap"):
        assert (installed.work / made).stat().st_size > 1000, made
    command = [
        str(installed.bin / "hapticsim"),
        *"run arm.yaml --device scripted --seconds 8 --no-window".split(),
    ]
    folder = {"cwd": installed.work, "env": installed.environment}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **folder) as run:
        heard = installed("listen.py", program="python")
        run.wait(60.0)
    assert heard.returncode == 0 and "'q'" in heard.stdout, heard.stderr
