"""Off-line simulations from the command line, and films of recordings."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hapticsim_devices.scripted import Scripted

import hapticsim as hs
from hapticsim.commands.experiment import algorithm_notes, left_out, read_scene, run_experiment
from hapticsim.errors import ConfigError, HapticsimError
from hapticsim.model.skeleton import skeleton
from hapticsim.playback.animation import Animation, show
from hapticsim.playback.pictures import film
from hapticsim.process.child import PYTHON
from hapticsim.recording.reader import read_recording
from hapticsim.simulate.virtual import simulate
from tests.processes import CONFIGS

PENDULUM = """
name: pendulum
robot:
  bodies:
    - name: rod
      inertial: {mass_kg: 1.0, com_m: [0, 0, -0.5], inertia_kg_m2: {xx: 0.08, yy: 0.08, zz: 0.001}}
  joints: [{name: hinge, type: revolute, parent: world, child: rod, axis: [0, 1, 0]}]
"""
ROD = """
<robot name="rod">
  <link name="base"/>
  <link name="rod">
    <inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="j" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint>
</robot>
"""


@pytest.fixture
def pendulum(tmp_path: Path) -> Path:
    path = tmp_path / "pendulum.yaml"
    path.write_text(PENDULUM)
    return path


def run(path: Path, seconds: float = 1.0, out: Path | None = None, **options) -> str:
    return run_experiment(read_scene(path, []), seconds, out, **{"integrator": "cash_karp", **options})[0]


def test_a_recording_holds_the_motion_its_energy_and_what_it_cost(pendulum, tmp_path):
    out = tmp_path / "swing.mcap"
    said = run(pendulum, 2.0, out, initial=["hinge=1.0"], condition_number=True, compare_with="crbm_lu")
    recording = read_recording(out)
    t, q, u = (recording.column(name) for name in ("time_s", "q0", "u0"))
    assert t[0] == 0.0 and t[-1] == pytest.approx(2.0) and q[0] == 1.0 and u[0] == 0.0
    energy = recording.column("kinetic_J") + recording.column("potential_J")
    assert np.abs(energy - energy[0]).max() < 1e-4
    assert np.abs(q).max() < 1.0 + 1e-5 and q.min() < -0.9
    assert np.all(np.diff(recording.column("evaluations")) > 0)
    assert np.all(recording.column("condition_number") == 1.0)  # of one speed
    assert np.all(recording.column("difference0")[1:] < 1e-12)
    assert recording.metadata["kind"] == "offline" and "Reached the end." in said


def test_constant_torques_and_the_laws_of_the_scene_act(pendulum, tmp_path):
    law = "joint: hinge, law: pd, stiffness_Nm_per_rad: 20, damping_Nms_per_rad: 5, reference_rad: 0.4"
    pendulum.write_text(f"{PENDULUM}torques: [{{{law}, gravity_compensation: true}}]\n")
    out = tmp_path / "held.mcap"
    run(pendulum, 6.0, out, torques=["hinge=2.0"])
    assert read_recording(out).column("q0")[-1] == pytest.approx(0.5, abs=1e-6)  # 0.4 + 2 N m / 20 N m/rad


def test_a_urdf_is_simulated_too_and_its_recording_holds_it(tmp_path):
    path = tmp_path / "rod.urdf"
    path.write_text(ROD)
    out = tmp_path / "rod.mcap"
    run(path, 1.0, out, initial=["j=0.5"], integrator="rk4", step_s=0.002)
    recording = read_recording(out)
    assert recording.column("q0")[-1] < 0.0
    path.unlink()
    assert Animation(out, lambda text: None).scene["bodies"] == ["base", "rod"]


STIFF = ROD.replace("</joint>", '<dynamics damping="50"/></joint>')


def test_a_fixed_step_that_diverges_ends_with_a_sentence_and_status_1(tmp_path):
    """50 N m s/rad on 0.35 kg m^2 with steps of 0.05 s: c h / I = 7."""
    path = tmp_path / "stiff.urdf"
    path.write_text(STIFF)
    scene = read_scene(path, [])
    words, usable = run_experiment(scene, 30.0, None, integrator="rk4", step_s=0.05, initial=["j=0.5"])
    assert "went beyond 1e9 (SI): the step is too long" in words and not usable
    command = [*PYTHON, "-m", "hapticsim", "simulate", str(path), "--integrator", "rk4", "--step", "0.05"]
    done = subprocess.run([*command, "--initial", "j=0.5"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "the step is too long" in done.stdout
    words, usable = run_experiment(scene, 30.0, None, integrator="rk4", step_s=0.01, initial=["j=0.5"])
    assert usable and "warning" not in words


@pytest.mark.parametrize(
    ("step_s", "warns", "usable"), [(0.001, False, True), (0.1, True, True), (0.4, True, False)]
)
def test_energy_that_is_off_is_told(pendulum, step_s, warns, usable):
    scene = read_scene(pendulum, [])
    scene = dataclasses.replace(scene, torque_laws=())
    words, can_be_used = run_experiment(
        scene, 20.0, None, integrator="rk4", step_s=step_s, initial=["hinge=3.0"]
    )
    assert ("warning: the energy is off by" in words) is warns, words
    assert can_be_used is usable, words


def test_the_work_of_torques_and_dampers_is_accounted_for(pendulum):
    words = run(pendulum, 5.0, integrator="rk4", step_s=0.002, torques=["hinge=1.5"], initial=["hinge=1.0"])
    assert "warning" not in words


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"initial": ["hing=1"]},
            "--initial: hing=1 names no joint with one coordinate (did you mean 'hinge'?)",
        ),
        ({"torques": ["hinge=much"]}, "--torque: hinge=much is not usable: write NAME=NUMBER, in N m or N"),
        ({"integrator": "rk5"}, "(did you mean 'rk4'?)"),
        ({"algorithm": "abn"}, "(did you mean 'abm'?)"),
        ({"accuracy": 0.0}, "accuracy = 0.0 is not usable: it must be finite and above 0."),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(pendulum, options, sentence):
    with pytest.raises(Exception) as caught:
        run(pendulum, **options)
    assert sentence in str(caught.value) and "\n" not in str(caught.value)


def test_a_mechanism_by_kanes_method_is_not_run_as_a_tree():
    with pytest.raises(HapticsimError, match="no tree of joints: simulate it without --integrator"):
        run(CONFIGS / "rolling_disk.yaml", integrator="rk4")


def test_what_the_mechanism_alone_leaves_out_is_told(pendulum):
    assert left_out(read_scene(pendulum, [])) == []
    told = left_out(read_scene(CONFIGS / "four_bar.yaml", []))
    assert told == ["the mechanism moves alone, without constraint 'loop'."]
    (contact,) = hs.load(CONFIGS / "wam_table.yaml").contacts
    told = left_out(read_scene(CONFIGS / "wam_table.yaml", []))
    assert told == [f"the mechanism moves alone, without contact {contact.a!r} with {contact.b!r}."]


@pytest.mark.parametrize("suffix", [".gif", ".mp4"])
def test_a_film_has_a_picture_for_every_moment_and_they_differ(pendulum, tmp_path, suffix, monkeypatch):
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    recorded, out = tmp_path / "swing.mcap", tmp_path / f"swing{suffix}"
    run(pendulum, 1.0, recorded, initial=["hinge=1.0"])
    assert film(recorded, out, 1.0, 10.0, lambda text: None) == 11
    pictures = frames_of(out)
    assert len(pictures) == 11 and pictures[0].shape == (480, 720, 3)
    moved = np.abs(pictures[0].astype(int) - pictures[5].astype(int)).max(axis=2) > 40
    assert 0.001 < moved.mean() < 0.3  # the rod, and not the whole picture


@pytest.mark.long
def test_a_recording_in_the_window_ends_after_its_frames_and_leaves_a_picture(
    pendulum, tmp_path, monkeypatch
):
    pygame = pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    recorded, picture = tmp_path / "swing.mcap", tmp_path / "swing.png"
    run(pendulum, 1.0, recorded, initial=["hinge=1.0"])
    assert show(recorded, 1.0, lambda text: None, 60, picture) == 0
    view = pygame.surfarray.array3d(pygame.image.load(picture))[:810].astype(int)
    _, counts = np.unique(view.reshape(-1, 3), axis=0, return_counts=True)
    assert counts.max() < 0.5 * counts.sum()  # floor and sky: while it waits nearly all is of one colour
    with pytest.raises(ConfigError, match=r"x.png: is in a folder that does not exist: make it first\.$"):
        show(recorded, 1.0, lambda text: None, 3, tmp_path / "none" / "x.png")


def frames_of(path: Path) -> list[np.ndarray]:
    """The pictures of a film, as a player would show them."""
    if path.suffix == ".gif":
        image = pytest.importorskip("PIL.Image")
        with image.open(path) as film_:
            pictures = []
            for k in range(film_.n_frames):
                film_.seek(k)
                pictures.append(np.array(film_.convert("RGB")))
            return pictures
    reader = pytest.importorskip("imageio_ffmpeg").read_frames(str(path))
    width, height = next(reader)["size"]
    return [np.frombuffer(frame, np.uint8).reshape(height, width, 3) for frame in reader]


def test_a_recording_cut_off_in_the_middle_is_shown_as_far_as_it_goes(tmp_path, monkeypatch, capsys):
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    recorded, out = tmp_path / "visit.mcap", tmp_path / "visit.gif"
    scene = hs.load(CONFIGS / "wam_table.yaml")
    with Scripted() as driver:
        simulate(scene, driver, 8.0, recorded)
    whole = recorded.read_bytes()
    recorded.write_bytes(whole[: len(whole) * 2 // 3])
    count = film(recorded, out, 4.0, 10.0, lambda text: None)
    assert 2 <= count < 21 and "note: " in capsys.readouterr().err


def test_films_that_cannot_be_made_are_refused(pendulum, tmp_path):
    recorded = tmp_path / "swing.mcap"
    run(pendulum, 0.1, recorded)
    with pytest.raises(ConfigError, match=r"end its name in .gif or .mp4"):
        film(recorded, tmp_path / "swing.avi", 1.0, 10.0, lambda text: None)
    with pytest.raises(ConfigError, match="folder that does not exist"):
        film(recorded, tmp_path / "nowhere" / "swing.gif", 1.0, 10.0, lambda text: None)


def test_a_robot_without_shapes_is_drawn_as_sticks():
    model = read_scene(CONFIGS / "wam_table.yaml", []).model
    shapes = skeleton(model)
    assert {s.body for s in shapes} >= {"upper_arm", "forearm"}
    upper = next(s for s in shapes if s.body == "upper_arm")
    joint = next(j for j in model.joints if j.parent == "upper_arm")
    end = upper.X_BS @ type(upper.X_BS)(translation=np.array([0.0, 0.0, upper.size[1] / 2]))
    np.testing.assert_allclose(end.translation, joint.X_PJ.translation, atol=1e-12)


PUBLISHED = ROD.replace('izz="0.01"', 'izz="0.5"')  # more than the sum of the others: no body has it
GRIPPER = ROD.replace(
    "</robot>",
    """<link name="finger"><inertial><mass value="1"/><origin xyz="0 0 -0.5"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="f" type="continuous"><parent link="rod"/><child link="finger"/><axis xyz="0 1 0"/>
    <mimic joint="j"/></joint></robot>""",
)


def test_a_urdf_with_an_inertia_that_no_body_has_is_simulated_as_published_and_can_be_seen(tmp_path):
    path, out = tmp_path / "rod.urdf", tmp_path / "rod.mcap"
    path.write_text(PUBLISHED)
    assert "Reached the end." in run(path, 0.1, out)
    assert Animation(out, print).scene["name"] == "rod"


@pytest.mark.parametrize("name", ["cash_karp", "RK4", "dop853", "Radau", "bdf", "lsoda"])
def test_an_integrator_is_known_in_capitals_or_not(pendulum, name):
    assert "Reached the end." in run(pendulum, 0.05, integrator=name)


def test_a_robot_with_a_mimic_joint_gets_an_algorithm_that_takes_it_and_that_is_said(tmp_path):
    path = tmp_path / "gripper.urdf"
    path.write_text(GRIPPER)
    model = read_scene(path, []).model
    assert run(path, 0.05).startswith("crbm_ldl, cash_karp")
    assert algorithm_notes(model, None) == [
        "rod has joints that follow others, so crbm_ldl is used and not abm_exact."
    ]
    assert algorithm_notes(model, "crbm_lu") == []
