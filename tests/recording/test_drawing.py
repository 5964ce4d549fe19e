"""What Foxglove plots and draws: valid by its schemas, the poses of the simulation, whole after a kill."""

from __future__ import annotations

import importlib
import json
from dataclasses import replace

import jsonschema
import numpy as np
import pytest
from google.protobuf.json_format import ParseDict

import hapticsim as hs
from hapticsim.codes import Event
from hapticsim.commands.experiment import columns, run_experiment
from hapticsim.config.load import loads
from hapticsim.describe.drawing import TROUBLE, RATE_Hz, of_offline, of_ticks
from hapticsim.kernels.memory.sample import WIDTH
from hapticsim.model.multibody.rotation import quaternion_of, quaternions_of, rotation_of
from hapticsim.model.scene import Shape
from hapticsim.recording.drawing import Sampler
from hapticsim.recording.writer import RecordingWriter
from tests.drawn import assembled, messages_of, rows_of, topics_in, written
from tests.drawn_meshes import ball, shape_of, torus
from tests.models import at
from tests.places import WAM
from tests.processes import CONFIGS

EVENT = {"time_s": 0.25, "kind": "touch", "text": "tip on table touched, 3 mJ lost", "value": 0.003}
SCENES = ["wam_table", "puck_and_wall", "double_four_bar", "curve_guide", "rolling_disk", "wrist"]


@pytest.fixture(scope="module", params=SCENES)
def drawn(request, tmp_path_factory):
    """Assembly, rows and messages of a recording of half a second."""
    path = tmp_path_factory.mktemp("drawn") / "a.mcap"
    assembly = assembled(hs.load(CONFIGS / f"{request.param}.yaml"))
    rows = rows_of(assembly, 500)
    written(path, assembly, rows, [EVENT])
    return assembly, rows, messages_of(path)


def parsed(name, told):
    """A message of Foxglove's own package, times left out; an unknown field or a wrong type is refused."""
    module = importlib.import_module(f"foxglove_schemas_protobuf.{name}_pb2")

    def without_times(node):
        if isinstance(node, dict):
            return {k: without_times(v) for k, v in node.items() if k not in ("timestamp", "lifetime")}
        return [without_times(v) for v in node] if isinstance(node, list) else node

    return ParseDict(without_times(told), getattr(module, name)())


def test_every_message_is_valid_by_its_schema_and_by_foxgloves_own_package(drawn):
    _, _, messages = drawn
    assert {"/state", "/transforms", "/scene", "/log"} <= set(messages)
    for topic, told in messages.items():
        schema = told[0][0]
        assert schema.encoding == "jsonschema"
        validator = jsonschema.Draft7Validator(json.loads(schema.data))
        for _, _, message in told:
            validator.validate(message)
            if schema.name.startswith("foxglove."):
                parsed(schema.name.removeprefix("foxglove."), message)
        assert (schema.name.startswith("foxglove.")) == (topic in ("/transforms", "/scene", "/log"))


def test_foxgloves_package_refuses_what_is_not_its_own():
    with pytest.raises(Exception, match="no field named"):
        parsed("Log", {"level": 2, "text": "message is its name"})


def test_times_increase_by_the_period_of_the_drawing(drawn):
    _, _, messages = drawn
    for topic in ("/state", "/transforms"):
        times = [time for _, time, _ in messages[topic]]
        assert times == [20_000_000 * k for k in range(25)] and RATE_Hz == 50.0
    for _, time, message in messages["/transforms"]:
        for transform in message["transforms"]:
            stamp = transform["timestamp"]
            assert stamp["sec"] * 1_000_000_000 + stamp["nsec"] == time


def test_the_transforms_are_a_tree_rooted_at_world_and_the_poses_of_the_simulation(drawn):
    assembly, rows, messages = drawn
    bodies = set(assembly.scene.model.body_names)
    for _, time, message in messages["/transforms"]:
        parent = {t["child_frame_id"]: t["parent_frame_id"] for t in message["transforms"]}
        assert set(parent) == bodies and len(parent) == len(message["transforms"])
        for body in bodies:
            seen = set()
            while body != "world":
                assert body not in seen
                seen.add(body)
                body = parent[body]
        q = rows[round(time / 1_000_000), WIDTH : WIDTH + assembly.equations.nq]
        for t in message["transforms"]:
            quaternion = np.array([t["rotation"][a] for a in "wxyz"])
            assert abs(np.linalg.norm(quaternion) - 1.0) < 1e-12
            X = assembly.equations.body_pose(t["child_frame_id"], q)  # what Simulation.body_pose returns
            np.testing.assert_allclose(rotation_of(quaternion), X.rotation, rtol=0, atol=1e-12)
            np.testing.assert_allclose(
                [t["translation"][a] for a in "xyz"], X.translation, rtol=0, atol=1e-12
            )


def test_plots_hold_the_numbers_of_their_rows(drawn):
    assembly, rows, messages = drawn
    model = assembly.scene.model
    for _, time, message in messages["/state"]:
        row = rows[round(time / 1_000_000)]
        flat = [
            x for part in message["q"].values() for x in (part.values() if isinstance(part, dict) else [part])
        ]
        assert flat == row[WIDTH : WIDTH + model.nq].tolist()
    for _, time, message in messages.get("/forces", []):
        row = rows[round(time / 1_000_000)]
        if assembly.scene.handle:
            place = assembly.columns.index("hand_force_x_N")
            assert list(message["hand_N"].values()) == row[place : place + 3].tolist()
        else:
            assert "hand_N" not in message
        first = WIDTH + model.nq + model.nu + len(assembly.candidates)
        forces = row[first : first + len(assembly.candidates)]
        assert sum(message.get("contacts_N", {}).values()) == pytest.approx(forces.sum(), abs=1e-12)


def test_every_shape_is_drawn_in_the_frame_of_its_body(drawn):
    assembly, _, messages = drawn
    ((_, time, message),) = messages["/scene"]
    frames = {"world", *assembly.scene.model.body_names}
    assert time == 0 and all(e["frame_id"] in frames and e["frame_locked"] for e in message["entities"])
    if assembly.scene.shapes:
        shapes = {(s.name, s.body) for s in assembly.scene.shapes}
        assert {(e["id"], e["frame_id"]) for e in message["entities"]} == shapes
    assert all(e["cubes"] or e["spheres"] or e["cylinders"] for e in message["entities"])


def test_a_cone_is_a_cylinder_without_a_top_and_an_ellipsoid_a_sphere_with_three_sizes(tmp_path):
    scene = hs.load(CONFIGS / "puck_and_wall.yaml")
    shapes = (
        Shape("hat", "puck", "cone", (0.1, 0.3), at(0.1, 0.2, 0.3)),
        Shape("egg", "world", "ellipsoid", (0.1, 0.2, 0.3)),
    )
    assembly, path = assembled(replace(scene, shapes=shapes, contacts=())), tmp_path / "a.mcap"
    written(path, assembly, rows_of(assembly, 100))
    ((schema, _, message),) = messages_of(path)["/scene"]
    jsonschema.Draft7Validator(json.loads(schema.data)).validate(message)
    hat, egg = message["entities"]
    (cone,), (ball,) = hat["cylinders"], egg["spheres"]
    assert cone["size"] == {"x": 0.2, "y": 0.2, "z": 0.3}
    assert (cone["bottom_scale"], cone["top_scale"]) == (1.0, 0.0)
    assert ball["size"] == {"x": 0.2, "y": 0.4, "z": 0.6}


def test_a_mesh_is_drawn_as_few_triangles_that_foxglove_knows(tmp_path):
    scene = hs.load(CONFIGS / "puck_and_wall.yaml")
    fine, coarse = ball(0.05, 5), torus(0.1, 0.03, 20, 10)
    shapes = shape_of("fine", fine, "puck", at(0.1, 0.2, 0.3)), shape_of("coarse", coarse)
    assembly, path = assembled(replace(scene, shapes=shapes, contacts=())), tmp_path / "a.mcap"
    written(path, assembly, rows_of(assembly, 100))
    ((schema, _, message),) = messages_of(path)["/scene"]
    jsonschema.Draft7Validator(json.loads(schema.data)).validate(message)
    parsed("SceneUpdate", message)
    (carried,), (still,) = (entity["triangles"] for entity in message["entities"])
    assert carried["pose"]["position"] == {"x": 0.1, "y": 0.2, "z": 0.3}
    assert 600 < len(carried["indices"]) // 3 <= 3000 < len(fine.triangles)
    points = np.array([[p[a] for a in "xyz"] for p in still["points"]])
    assert np.array_equal(points, coarse.vertices) and still["indices"] == coarse.triangles.ravel().tolist()


def test_an_event_is_a_line_of_the_log(drawn):
    ((_, time, line),) = drawn[2]["/log"]
    assert (time, line["message"], line["name"], line["level"]) == (250_000_000, EVENT["text"], "touch", 2)
    assert {kind.name.lower() for kind in Event} > TROUBLE


def test_many_quaternions_are_those_of_single_rotations():
    rng = np.random.default_rng(4)
    some = rng.normal(size=(200, 4))
    half_turns = np.eye(4)[[1, 2, 3]]
    R = np.array([rotation_of(q / np.linalg.norm(q)) for q in [*some, *half_turns, np.eye(4)[0]]])
    np.testing.assert_allclose(quaternions_of(R), [quaternion_of(r) for r in R], rtol=0, atol=1e-15)


@pytest.mark.parametrize("seed", range(20))
def test_however_rows_come_in_batches_the_same_are_picked(seed):
    rng = np.random.default_rng(seed)
    time = np.cumsum(rng.exponential(0.02, size=200)) if seed % 2 else np.arange(400) * 0.001
    time[rng.integers(len(time), size=5)] = np.nan
    at_once = Sampler(50.0).pick(time)
    one_by_one = Sampler(50.0)
    ends = np.sort(rng.integers(len(time), size=10))
    batches = np.split(np.arange(len(time)), ends)
    assert [k for b in batches for k in b[one_by_one.pick(time[b])]] == at_once.tolist()
    assert np.all(np.isfinite(time[at_once])) and np.all(np.diff(np.floor(time[at_once] * 50.0 + 1e-6)) > 0)


def test_numbers_that_are_not_finite_are_left_out(tmp_path):
    assembly = assembled(hs.load(CONFIGS / "puck_and_wall.yaml"))
    rows = rows_of(assembly, 80)
    place = {name: i for i, name in enumerate(assembly.columns)}
    rows[20, place["q0"]], rows[20, place["hand_force_y_N"]] = np.nan, np.inf
    rows[40, place["u1"]] = -np.inf
    rows[60:, 0] = np.nan
    path = tmp_path / "a.mcap"
    written(path, assembly, rows)
    messages = messages_of(path)
    joint = assembly.scene.model.moving_joints[0].name
    states = [state for _, _, state in messages["/state"]]
    assert [len(s["q"][joint]) + len(s["u"][joint]) for s in states] == [13, 12, 12]
    assert "x" not in states[1]["q"][joint] and "wy" not in states[2]["u"][joint]
    assert set(messages["/forces"][1][2]["hand_N"]) == {"x", "z"}
    assert [time for _, time, _ in messages["/transforms"]] == [0, 40_000_000]
    assert hs.read_recording(path).data.tobytes() == rows.tobytes()


ODD = """
name: odd
robot:
  bodies:
    - {name: NAME, inertial: {mass_kg: 1.0, com_m: [0.1, 0, 0], inertia_kg_m2: {xx: 0.1, yy: 0.1, zz: 0.1}}}
  joints:
    - {name: NAME, type: revolute, parent: world, child: NAME, axis: [0, 1, 0]}
"""


@pytest.mark.parametrize("name", ["Schulter π", "a'b\"c", "/arm//../x", "x].q", "n" * 64, "required", "null"])
def test_odd_names_are_drawn_as_they_are(tmp_path, name):
    scene = loads(ODD.replace("NAME", json.dumps(name)), tmp_path / "odd.yaml")
    assembly, path = assembled(scene), tmp_path / "a.mcap"
    written(path, assembly, rows_of(assembly, 1))
    messages = messages_of(path)
    assert list(messages["/state"][0][2]["q"]) == [name] and "/forces" not in messages
    jsonschema.validate(messages["/state"][0][2], json.loads(messages["/state"][0][0].data))
    assert messages["/transforms"][0][2]["transforms"][0]["child_frame_id"] == name
    recording = hs.read_recording(path)
    assert recording[f"q[{name}]"].tolist() == recording["q0"].tolist()


def test_an_off_line_run_is_drawn_too(tmp_path):
    scene, path = hs.load(CONFIGS / "four_bar.yaml"), tmp_path / "a.mcap"
    run_experiment(scene, 0.2, path, integrator="rk4", step_s=0.005)
    messages, recording = messages_of(path), hs.read_recording(path)
    times = [time for _, time, _ in messages["/state"]]
    recorded = np.round(recording["time_s"] * 1e9).tolist()
    assert times == [min(t for t in recorded if t >= 20_000_000 * k) for k in range(11)]
    assert {"kinetic_J", "potential_J"} == set(messages["/state"][0][2]["energy"])
    assert len(messages["/transforms"]) == 11 and len(messages["/scene"]) == 1
    joint = scene.model.moving_joints[0].name
    assert messages["/state"][-1][2]["q"][joint] == recording[f"q[{joint}]"][-1]
    assert recording.unit(f"udot[{joint}]") == "rad/s^2" and recording.names[0] == "time_s"
    assert np.isnan(recording["condition_number"]).all() and recording.complete


def test_a_file_cut_anywhere_gives_whole_batches_and_what_was_drawn_of_them(tmp_path, monkeypatch):
    monkeypatch.setattr("hapticsim.recording.writer._BATCH_s", 0.0)
    assembly, path = assembled(hs.load(CONFIGS / "puck_and_wall.yaml")), tmp_path / "a.mcap"
    rows = rows_of(assembly, 1000)
    written(path, assembly, rows)
    whole, cut, found = path.read_bytes(), tmp_path / "cut.mcap", set()
    for size in range(len(whole) // 20, len(whole), len(whole) // 50):
        cut.write_bytes(whole[:size])
        recording = hs.read_recording(cut)
        n = len(recording.data)
        assert n % 100 == 0 and recording.data.tobytes() == rows[:n].tobytes() and not recording.complete
        assert recording.names[-1] == hs.read_recording(path).names[-1], "the table comes before the rows"
        drawn = topics_in(whole[:size])
        assert drawn["/transforms"] == drawn["/state"] == n // 20
        found.add(n)
    assert len(found) > 5


def test_the_packed_index_knows_the_channels_that_are_drawn(tmp_path, monkeypatch):
    """A server that records may not grow: some 12 bytes for each of two chunks a second."""
    monkeypatch.setattr("hapticsim.recording.writer._BATCH_s", 0.0)
    assembly = assembled(hs.load(CONFIGS / "puck_and_wall.yaml"))
    rows = rows_of(assembly, 6000)
    for name in ("packed", "library"):
        drawing = of_ticks(assembly)
        with RecordingWriter(tmp_path / name, assembly.columns, drawing=drawing) as writer:
            for first in range(0, 6000, 10):  # rows that are drawn in every second chunk
                writer.append(rows[first : first + 10])
            index = writer._writer._Writer__chunk_indices
            if name == "packed":
                assert len(index) == 600 and sum(map(len, index._packed)) <= 20 * 512
        monkeypatch.setattr("hapticsim.recording.writer.pack_index", lambda writer, channels: False)
    assert (tmp_path / "packed").read_bytes() == (tmp_path / "library").read_bytes()


def test_thousands_of_events_are_lines_of_the_log(tmp_path):
    assembly, path = assembled(hs.load(CONFIGS / "four_bar.yaml")), tmp_path / "a.mcap"
    events = [{"time_s": 0.001 * k, "kind": "conflict", "text": f"number {k}"} for k in range(5000)]
    written(path, assembly, rows_of(assembly, 1), [*events, {}, {"time_s": "odd", "text": None}])
    lines = messages_of(path)["/log"]
    assert sorted(line["message"] for _, _, line in lines if line["level"] == 3) == sorted(
        event["text"] for event in events
    )
    assert len(lines) == 5002 and len(hs.read_recording(path).events) == 5002


def test_a_defect_of_the_drawing_costs_no_row_and_is_told(tmp_path):
    assembly, path = assembled(hs.load(CONFIGS / "four_bar.yaml")), tmp_path / "a.mcap"
    drawing, rows = of_ticks(assembly), rows_of(assembly, 300)
    drawing._poses = lambda q, X: 1 / 0
    with RecordingWriter(path, assembly.columns, drawing=drawing) as writer:
        writer.append(rows)
        writer.append_event({"text": "goes on"})
    assert (
        writer.note == f"{path}: is not drawn any further (ZeroDivisionError: division by zero); rows go on."
    )
    recording = hs.read_recording(path)
    assert recording.complete and recording.data.tobytes() == rows.tobytes() and len(recording.events) == 1


def test_a_robot_without_shapes_is_drawn_as_sticks(tmp_path):
    scene = loads(ODD.replace("NAME", "arm"), tmp_path / "odd.yaml")
    names = columns(scene.model)
    drawing = of_offline(scene, assembled(scene).equations, names)
    ((_, _, data),) = drawing.begin()
    assert json.loads(data)["entities"]
    assert {c.topic for c in drawing.channels} == {"/transforms", "/scene", "/log", "/state"}


@pytest.mark.parametrize("load", [lambda: hs.load(WAM)])
def test_a_run_in_virtual_time_is_drawn_as_the_simulation_poses_it(tmp_path, load):
    from hapticsim_devices.scripted import Scripted

    from hapticsim.drivers.registry import options_for
    from hapticsim.simulate.virtual import simulate

    scene, path = load(), tmp_path / "a.mcap"
    sim = hs.Simulation(scene)
    with Scripted(options_for("scripted", scene.device)) as hand:
        simulate(scene, hand, 1.5, path, simulation=sim)
    messages, recording = messages_of(path), hs.read_recording(path)
    assert len(messages["/transforms"]) == len(messages["/forces"]) == 75
    _, time, message = messages["/transforms"][-1]
    row = recording.data[round(time / 1_000_000)]
    sim.set_state(row[WIDTH : WIDTH + scene.model.nq], row[WIDTH + scene.model.nq :][: scene.model.nu])
    for t in message["transforms"]:
        X = sim.body_pose(t["child_frame_id"])
        np.testing.assert_allclose([t["translation"][a] for a in "xyz"], X.translation, rtol=0, atol=1e-12)
        np.testing.assert_allclose(
            rotation_of(np.array([t["rotation"][a] for a in "wxyz"])), X.rotation, rtol=0, atol=1e-12
        )
    texts = [line["message"] for _, _, line in messages["/log"]]
    assert texts == [event["text"] for event in recording.events] and texts[0].startswith("force output is")
