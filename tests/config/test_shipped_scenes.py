"""Scenes by name, from any folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import hapticsim as hs
from hapticsim.commands.command_line import app
from hapticsim.config import shipped_scenes
from hapticsim.config.shipped_scenes import DEFAULT, about, listing, scene_path
from hapticsim.config.shipped_scenes import shipped_scenes as all_scenes
from hapticsim.errors import ConfigError

CONFIGS = Path(__file__).parents[2] / "configs"


def test_every_file_of_configs_is_a_scene_with_a_name_and_a_sentence():
    assert all_scenes() == {f.stem: f for f in sorted(CONFIGS.glob("*.yaml"))}
    assert DEFAULT in all_scenes()
    for name, file in all_scenes().items():
        assert about(file).endswith(".") and len(about(file)) < 130, name


def test_a_name_is_the_scene_of_that_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert hs.load("puck_and_wall").name == hs.load(CONFIGS / "puck_and_wall.yaml").name


def test_a_file_here_comes_before_a_scene_of_that_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrist").write_text("robot: {}")
    assert scene_path("wrist") == Path("wrist")
    (tmp_path / "wrist").unlink()
    (tmp_path / "wrist").symlink_to("nowhere")
    assert scene_path("wrist") == CONFIGS / "wrist.yaml"


@pytest.mark.parametrize(
    "given", ["wrist.yaml", "./wrist", "a/wrist", "", ".", "..", "/", "wrist/", "wri\0st"]
)
def test_what_is_a_path_stays_a_path(given):
    assert scene_path(given) == Path(given)


def test_a_name_that_nothing_has_is_refused_with_the_nearest():
    with pytest.raises(ConfigError) as refusal:
        hs.load("pandatable")
    names = ", ".join(f"'{name}'" for name in all_scenes())
    assert str(refusal.value) == (
        "pandatable: is neither a file here nor a scene that comes with hapticsim "
        f"(did you mean 'panda_table'?): give a scene file, or one of {names}."
    )


def test_the_list_says_what_a_scene_needs(monkeypatch):
    assert "pip install" not in listing()
    monkeypatch.setattr("hapticsim.model.robot_file.library.library_models", dict)
    monkeypatch.setattr(shipped_scenes, "find_spec", lambda name: None)
    needs = {line.split()[0]: line.partition("[needs: ")[2] for line in listing().splitlines()}
    assert needs.pop("panda_table") == "pip install 'hapticsim[robots]']"
    assert needs.pop("push_parts") == "pip install 'hapticsim[robots,meshes]']"
    assert needs.pop("touch_panda") == "pip install 'hapticsim[robots,meshes]']"
    assert needs.pop("crawler") == "pip install 'hapticsim[mjcf]']"
    assert needs.pop("explore_part") == "pip install 'hapticsim[meshes]']"
    mechanisms = {name for name, need in needs.items() if need == "pip install 'hapticsim[mechanisms]']"}
    assert mechanisms == {"rolling_disk", "shopping_cart", "wrist"}
    assert not any(need for name, need in needs.items() if name not in mechanisms)


def test_the_command_lists_them():
    result = CliRunner().invoke(app, ["scenes"])
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.output.splitlines()] == list(all_scenes())
