"""Robots rest on a floor where MuJoCo's rest, and a rest that is none is seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mujoco")

CRAWLER = """
<mujoco>
  <worldbody>
    <body name="torso" pos="0 0 0.5"><freejoint/>
      <geom type="box" size="0.1 0.08 0.05"/>
      <body name="leg" pos="0.1 0 0"><joint axis="0 1 0" damping="0.1" stiffness="{}"/>
        <geom type="capsule" size="0.02" fromto="0 0 0 0.2 0 0"/></body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.fixture(name="crawler")
def _crawler(tmp_path: Path) -> Path:
    path = tmp_path / "crawler.xml"
    path.write_text(CRAWLER.format(0.0))
    return path


def test_a_crawler_rests_where_it_rests_in_mujoco(tool: Any, crawler: Path) -> None:
    found = tool("check_rest").check(crawler)
    assert found["nu"] == 7
    assert found["contacts"] >= 3
    assert max(found["from_ours"], found["from_theirs"]) < tool("check_rest").LIMIT


def test_a_floor_that_is_elsewhere_in_mujoco_is_seen(tool: Any, crawler: Path) -> None:
    """By twice what is allowed."""
    check_rest = tool("check_rest")
    robot = check_rest.Robot(crawler)
    ours, rests = robot.settle_ours(robot.start())
    assert rests
    floor = robot.peer.mj.geom("rest_floor").id
    robot.peer.mj.geom_pos[floor, 2] -= 2.0 * check_rest.LIMIT * np.abs(robot.signature(ours)).max()
    theirs, rests = robot.settle_theirs(ours)
    assert rests
    assert check_rest.difference(robot, ours, theirs) > check_rest.LIMIT


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('<body><joint axis="0 1 0"/><geom size="0.1"/></body>', "does not reach the floor"),
        ('<body><joint axis="0 1 0"/><geom size="0.1" contype="0" conaffinity="0"/></body>', "geoms collide"),
        ("", "nothing moves"),
    ],
)
def test_what_cannot_be_compared_is_told(tool: Any, tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "other.xml"
    path.write_text(f"<mujoco><worldbody>{text}</worldbody></mujoco>")
    assert reason in tool("check_rest").check(path)["refused"]
