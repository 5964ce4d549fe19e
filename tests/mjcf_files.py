"""MJCF files for tests."""

from __future__ import annotations

from pathlib import Path

EVERY_JOINT = """
<mujoco model="every joint">
  <compiler angle="radian" autolimits="true"/>
  <option gravity="0.3 -0.2 -9.7"/>
  <worldbody>
    <geom name="ground" type="plane" size="0 0 1"/>
    <body name="ship" pos="1 2 3" euler="0.3 -0.4 0.5">
      <freejoint name="sail"/>
      <geom type="box" size="0.2 0.1 0.05" pos="0.01 0.02 0.03"/>
      <body name="crane" pos="0.1 0 0.2" quat="0.9 0.1 -0.3 0.2">
        <joint name="turn" axis="0 0 1" pos="0.05 0.02 0" ref="0.2" springref="0.5" stiffness="3"
               damping="0.4" armature="0.02" range="-1 2" frictionloss="0.1" actuatorfrcrange="-7 7"/>
        <joint name="luff" axis="0 1 1" pos="0.05 0.02 0.1" damping="0.3"/>
        <joint name="reach" type="slide" axis="1 0 0" range="-0.1 0.4" ref="0.1" armature="0.5"/>
        <geom type="capsule" size="0.03 0.2"/>
        <site name="hook" pos="0.3 0 0.1"/>
        <body name="load" pos="0.2 0.1 0">
          <joint name="swing" type="ball" pos="0 0 0.15" damping="0.05" armature="0.01"/>
          <geom type="sphere" size="0.06" pos="0.01 0 -0.1"/>
          <body pos="0 0 0.1"><geom size="0.02"/></body>
        </body>
      </body>
    </body>
    <body name="flag" pos="0 0 1">
      <joint axis="0 1 0" pos="0 0 0.1"/>
      <geom type="box" size="0.1 0.01 0.05"/>
    </body>
  </worldbody>
  <keyframe>
    <key name="storm" qpos="1 2 4 0.5 0.5 0.5 0.5 0.3 0.1 0.2 0 1 0 0 0.7"
         qvel="1 2 3 0.1 0.2 0.3 1 2 3 0.4 0.5 0.6 7"/>
  </keyframe>
</mujoco>
"""
FOUR_BAR = """
<mujoco>
  <option gravity="0 0 -9.81"/>
  <worldbody>
    <body name="crank"><joint name="a" axis="0 1 0"/>
      <geom type="capsule" size="0.01" fromto="0 0 0 0 0 0.3" density="2000"/>
      <body name="coupler" pos="0 0 0.3"><joint name="b" axis="0 1 0"/>
        <geom type="capsule" size="0.01" fromto="0 0 0 0.5 0 0" density="2000"/></body>
    </body>
    <body name="rocker" pos="0.5 0 0"><joint name="c" axis="0 1 0"/>
      <geom type="capsule" size="0.01" fromto="0 0 0 0 0 0.3" density="2000"/></body>
  </worldbody>
  <equality><connect name="pin" body1="coupler" body2="rocker" anchor="0.5 0 0"/></equality>
</mujoco>
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "robot.xml"
    path.write_text(text, encoding="utf-8")
    return path
