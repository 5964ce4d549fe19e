"""Wrong calls of the public functions: each is one sentence of ours, and changes nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.control.hybrid import HybridController, HybridSettings
from hapticsim.errors import HapticsimError
from hapticsim.offline.run import simulate_offline
from hapticsim.offline.sweeps.sweep import run_sweep
from tests.places import CONFIGS, WAM
from tests.public_calls import (
    BAR,
    HUGE,
    LIMITS,
    NOWHERE,
    Z3,
    Z4,
    Unprintable,
    arm,
    bar,
    bits,
    observer,
    puck,
    rods,
    switches,
)

# A call, and its sentence to the letter.
WRONG: list[tuple[Callable[[], Any], str]] = [
    # Simulation
    (
        lambda: hs.Simulation("arm.yaml"),
        "Simulation: scene = 'arm.yaml' is no scene: give hs.Simulation(hs.load('arm.yaml')).",
    ),
    (
        lambda: hs.Simulation(Path("arm.yaml")),
        "Simulation: scene = 'arm.yaml' is no scene: give hs.Simulation(hs.load('arm.yaml')).",
    ),
    (
        lambda: hs.Simulation(None),
        "Simulation: scene = None is no scene: give what hs.load returns.",
    ),
    (
        lambda: hs.Simulation(arm()),
        "Simulation: scene = <Simulation> is no scene: give what hs.load returns.",
    ),
    (
        lambda: hs.Simulation(arm().scene.model),
        "Simulation: scene is a model, which has no rate, shapes or handle: write hs.model_to_yaml(model) to "
        "a scene file and give hs.Simulation(hs.load(path)).",
    ),
    (
        lambda: hs.Simulation(arm().scene, progress=True),
        "Simulation: progress = True is not usable: it must be a function, or None.",
    ),
    (
        lambda: hs.Simulation(replace(arm().scene, q0=Z3)),
        "Simulation: scene.q0 has shape (3,): it must be (4,).",
    ),
    (
        lambda: hs.Simulation(replace(arm().scene, rate_Hz=math.nan)),
        "Simulation: scene.rate_Hz = nan is not usable: it must be a number from 1 to 100000.",
    ),
    (
        lambda: hs.Simulation(replace(arm().scene, model=None)),
        "Simulation: scene.model = None is not usable: it must be a model.",
    ),
    # step
    (
        lambda: arm().step("3"),
        "step: n = '3' is not usable: it must be a whole number from 1 to 1000000000.",
    ),
    (
        lambda: arm().step(1.5),
        "step: n = 1.5 is not usable: it must be a whole number from 1 to 1000000000.",
    ),
    (
        lambda: arm().step(True),
        "step: n = True is not usable: it must be a whole number from 1 to 1000000000.",
    ),
    (
        lambda: arm().step(None),
        "step: n = None is not usable: it must be a whole number from 1 to 1000000000.",
    ),
    (
        lambda: arm().step(0),
        "step: n = 0 is not usable: it must be a whole number from 1 to 1000000000.",
    ),
    (
        lambda: arm().step(-1),
        "step: n = -1 is not usable: it must be a whole number from 1 to 1000000000.",
    ),
    (
        lambda: arm().step(HUGE),
        "step: n = a whole number of 1329 bits is not usable: it must be a whole number from 1 to "
        "1000000000.",
    ),
    (
        lambda: arm().step(np.float64(2.0)),
        "step: n = np.float64(2.0) is not usable: it must be a whole number from 1 to 1000000000.",
    ),
    # apply
    (
        lambda: arm().apply(force="abc"),
        "apply: force = 'abc' is not usable: it must be 3 numbers.",
    ),
    (
        lambda: arm().apply(force=["1", "2", "3"]),
        "apply: force = ['1', '2', '3'] is not usable: it must be 3 numbers.",
    ),
    (
        lambda: arm().apply(force=[1.0, 2.0]),
        "apply: force has shape (2,): it must be (3,).",
    ),
    (
        lambda: arm().apply(force=[0.0, math.nan, 0.0]),
        "apply: force holds NaN or infinity: every number must be finite.",
    ),
    (
        lambda: arm().apply(force=[1j, 0, 0]),
        "apply: force = [1j, 0, 0] is not usable: it must be 3 numbers.",
    ),
    (
        lambda: arm().apply(force=[True, False, True]),
        "apply: force = [True, False, True] is not usable: it must be 3 numbers.",
    ),
    (
        lambda: arm().apply(force=[HUGE, 0, 0]),
        "apply: force = [10000000000000000000000000000000000000000000000000000000000... is not "
        "usable: it must be 3 numbers.",
    ),
    (
        lambda: arm().apply(torque={"J1": "5"}),
        "apply: torque['J1'] = '5' is not usable: it must be one number.",
    ),
    (
        lambda: arm().apply(torque={"J1": True}),
        "apply: torque['J1'] = True is not usable: it must be one number.",
    ),
    (
        lambda: arm().apply(torque={"J1": [1.0, 2.0]}),
        "apply: torque['J1'] has shape (2,): it must be one number.",
    ),
    (
        lambda: arm().apply(torque={"J9": 1.0}),
        "apply: torque['J9'] is not a joint with one degree of freedom (did you mean 'J4'?): allowed "
        "are 'J1', 'J2', 'J3', 'J4'.",
    ),
    (
        lambda: arm().apply(torque={1: 1.0}),
        "apply: torque[1] is not a joint with one degree of freedom: allowed are 'J1', 'J2', 'J3', 'J4'.",
    ),
    (
        lambda: arm().apply(torque=Z3),
        "apply: torque has shape (3,): it must be (4,).",
    ),
    (
        lambda: arm().apply(torque=5.0),
        "apply: torque has shape (): it must be (4,).",
    ),
    (
        lambda: arm().apply(torque=[[1.0], [1.0, 2.0]]),
        "apply: torque = [[1.0], [1.0, 2.0]] is not usable: it must be 4 numbers.",
    ),
    (
        lambda: arm().apply(torque=[1.0, 0.0, 0.0, 0.0], force="x"),
        "apply: force = 'x' is not usable: it must be 3 numbers.",
    ),
    (
        lambda: bar().apply(force=Unprintable()),
        "apply: force = <Unprintable> is not usable: it must be 3 numbers.",
    ),
    # set_device
    (
        lambda: arm().set_device(Z3, None),
        "set_device: velocity = None is not usable: it must be 3 numbers.",
    ),
    (
        lambda: arm().set_device(Z4, Z3),
        "set_device: position has shape (4,): it must be (3,).",
    ),
    (
        lambda: arm().set_device(Z3, Z3, age=math.nan),
        "set_device: age = nan is not usable: it must be a finite number of 0 or more.",
    ),
    (
        lambda: arm().set_device(Z3, Z3, age=-1.0),
        "set_device: age = -1.0 is not usable: it must be a finite number of 0 or more.",
    ),
    (
        lambda: arm().set_device(Z3, Z3, age="0"),
        "set_device: age = '0' is not usable: it must be a finite number of 0 or more.",
    ),
    (
        lambda: arm().set_device(Z3, Z3, quaternion=Z4),
        "set_device: quaternion has not the length 1: divide it by its length.",
    ),
    (
        lambda: arm().set_device(Z3, Z3, quaternion=Z3),
        "set_device: quaternion has shape (3,): it must be (4,).",
    ),
    (
        lambda: arm().set_device(Z3, Z3, angular_velocity=[math.inf, 0, 0]),
        "set_device: angular_velocity holds NaN or infinity: every number must be finite.",
    ),
    (
        lambda: arm().set_device(Z3, Z3, flags=1.0),
        "set_device: flags = 1.0 is not usable: it must be a whole number from 0 to 63.",
    ),
    (
        lambda: arm().set_device(Z3, Z3, flags=1 << 40),
        "set_device: flags = 1099511627776 is not usable: it must be a whole number from 0 to 63.",
    ),
    # couple
    (
        lambda: arm().couple(None),
        "couple: limits = None is not usable: it must be hapticsim.haptics.coupler.DeviceLimits(...).",
    ),
    (
        lambda: arm().couple(replace(LIMITS, max_force_N=math.nan)),
        "couple: limits.max_force_N = nan is not usable: it must be a number from 0 to 1e+09.",
    ),
    (
        lambda: arm().couple(replace(LIMITS, apparent_mass_kg=-1.0)),
        "couple: limits.apparent_mass_kg = -1.0 is not usable: it must be a number from 0 to 1e+09.",
    ),
    # switch and constraints
    (
        lambda: bar().switch("lop", True),
        f"{BAR}: constraint 'lop' is not there (did you mean 'loop'?): they are 'loop'.",
    ),
    (
        lambda: bar().switch(None, True),
        f"{BAR}: constraint = None is not usable: it must be one of 'loop'.",
    ),
    (
        lambda: bar().switch("loop", "on"),
        "switch: held = 'on' is not usable: it must be True or False.",
    ),
    (
        lambda: bar().switch("loop", 1),
        "switch: held = 1 is not usable: it must be True or False.",
    ),
    (
        lambda: arm().switch("brake", True),
        f"{WAM}: constraint 'brake' is not there: this scene has none.",
    ),
    (
        lambda: bar().constraint_force(["loop"]),
        f"{BAR}: constraint = ['loop'] is not usable: it must be one of 'loop'.",
    ),
    (
        lambda: bar().constraint_gap("Loop"),
        f"{BAR}: constraint 'Loop' is not there (did you mean 'loop'?): they are 'loop'.",
    ),
    (
        lambda: arm().body_pose("forarm"),
        "WAM over a table has no body 'forarm' (did you mean 'forearm'?); it has 'forearm', "
        "'shoulder_pitch', 'shoulder_yaw', 'upper_arm'.",
    ),
    (
        lambda: arm().body_pose(None),
        "WAM over a table has no body None; it has 'forearm', 'shoulder_pitch', 'shoulder_yaw', 'upper_arm'.",
    ),
    # fork, restore, set_state, rows
    (
        lambda: arm().restore(None),
        "restore: fork is a NoneType: give what fork() of a simulation returned.",
    ),
    (
        lambda: arm().restore(arm().fork().state),
        "restore: fork is a State: give what fork() of a simulation returned.",
    ),
    (
        lambda: arm().restore(bar().fork()),
        "restore: fork is of the scene 'Four-bar', and this is 'WAM over a table': restore it in a "
        "simulation of its own scene.",
    ),
    (
        lambda: arm().set_state(Z3, Z4),
        "set_state: q has shape (3,): it must be (4,).",
    ),
    (
        lambda: arm().set_state(Z4, [math.inf] * 4),
        "set_state: u holds NaN or infinity: every number must be finite.",
    ),
    (
        lambda: arm().set_state(None, None),
        "set_state: q = None is not usable: it must be 4 numbers.",
    ),
    (
        lambda: arm().set_state([0, 1e308, 0, 0], Z4),
        "set_state: q, u has a coordinate of 1e+308 m or rad: at most 1e+09 is allowed.",
    ),
    (
        lambda: arm().set_state(Z4, [0, 1e308, 0, 0]),
        "set_state: q, u gives 'J2' a speed of 1e+308 (SI): at most 1e+06 is allowed.",
    ),
    (
        lambda: puck().set_state(np.zeros(7), np.zeros(6)),
        "set_state: q[3:7] is a quaternion of the length 0: divide it by its length.",
    ),
    (
        lambda: arm().set_state([0.0, 1.2, 0.0, 2.0], Z4),
        "set_state: q puts 'fingertip' 75.3 mm into 'table': start with at most 1 mm; move the robot,"
        " or the shape.",
    ),
    (
        lambda: arm().read_row(Z3),
        "read_row: row is float64 (3,): it must be a C-contiguous float64 array; make it with "
        "numpy.zeros(76).",
    ),
    (
        lambda: arm().read_row(None),
        "read_row: row is NoneType: it must be a C-contiguous float64 array; make it with numpy.zeros(76).",
    ),
    (
        lambda: arm().take_inputs([0.0]),
        "take_inputs: row is list: it must be a C-contiguous float64 array; make it with numpy.zeros(76).",
    ),
    (
        lambda: arm().take_inputs(np.full(len(arm().columns), math.nan)),
        "take_inputs: row holds requests or flags that are no counts: read it again.",
    ),
    # equations
    (
        lambda: hs.compile_equations(arm().scene),
        "compile_equations: model is a Scene and no model of a robot: give its model, scene.model.",
    ),
    (
        lambda: hs.compile_equations("arm.urdf"),
        "compile_equations: model is a str and no model of a robot: give hs.load_urdf('arm.urdf').",
    ),
    (
        lambda: hs.compile_equations(None),
        "compile_equations: model is a NoneType and no model of a robot: give what hs.load_urdf "
        "returns, or scene.model.",
    ),
    (
        lambda: hs.compile_equations(arm().scene.model, frames="forearm"),
        "compile_equations: frames = 'forearm' is one string: put it into a list, ['forearm'].",
    ),
    (
        lambda: hs.compile_equations(arm().scene.model, frames=[1]),
        "compile_equations: frames[0] = 1 is not usable: it must be one of the names of bodies, as text.",
    ),
    (
        lambda: hs.compile_equations(arm().scene.model, frames=["hand"]),
        "WAM over a table has no body 'hand'; it has 'forearm', 'shoulder_pitch', 'shoulder_yaw', "
        "'upper_arm'.",
    ),
    (
        lambda: hs.compile_equations(arm().scene.model, aligned=1),
        "compile_equations: aligned = 1 is not usable: it must be True or False.",
    ),
    (
        lambda: hs.compile_equations(arm().scene.model, progress="yes"),
        "compile_equations: progress = 'yes' is not usable: it must be a function, or None.",
    ),
    (
        lambda: rods().forward_dynamics([0, 0], [0, 0], ["1", "2"]),
        "tau of planar arm over a floor must be 2 numbers, got ['1', '2'].",
    ),
    (
        lambda: rods().forward_dynamics([0, 0], [0], [0, 0]),
        "u of planar arm over a floor must have shape (2,), got (1,): one entry per speed of "
        "shoulder, elbow.",
    ),
    (
        lambda: rods().mass_matrix([True, False]),
        "q of planar arm over a floor must be 2 numbers, got [True, False].",
    ),
    (
        lambda: rods().bias([0, math.nan], [0, 0]),
        "q[1] of planar arm over a floor is not finite: give a number.",
    ),
    (
        lambda: rods().energy(1j, [0, 0]),
        "q of planar arm over a floor must be 2 numbers, got 1j.",
    ),
    (
        lambda: rods().body_pose(3, [0, 0]),
        "planar arm over a floor has no body 3; it has 'fore', 'upper'.",
    ),
    (
        lambda: rods().partial_velocities("hand", [0, 0]),
        "planar arm over a floor has no body 'hand'; it has 'fore', 'upper'.",
    ),
    (
        lambda: rods().algorithm("amb"),
        "forward dynamics of planar arm over a floor has no algorithm 'amb' (did you mean 'abm'?); "
        "there are 'abm', 'abm_bad', 'abm_exact', 'abm_modified', 'abm_refined', "
        "'conjugate_gradient', 'crbm_cholesky', 'crbm_gauss_jordan', 'crbm_ldl', 'crbm_lu', "
        "'crbm_svd'.",
    ),
    (
        lambda: rods().algorithm([1]),
        "forward dynamics of planar arm over a floor has no algorithm [1]; there are 'abm', "
        "'abm_bad', 'abm_exact', 'abm_modified', 'abm_refined', 'conjugate_gradient', "
        "'crbm_cholesky', 'crbm_gauss_jordan', 'crbm_ldl', 'crbm_lu', 'crbm_svd'.",
    ),
    (
        lambda: rods().algorithm("abm", precision=64),
        "equations have no precision 64; there are 'float32', 'float64'.",
    ),
    (
        lambda: rods().batch("bios", [[0, 0]], [[0, 0]]),
        "planar arm over a floor has no function 'bios' (did you mean 'bias'?); there are 'bias', "
        "'displace', 'energy', 'forward_dynamics', 'gravity_force', 'inverse_dynamics', 'kane', "
        "'kinematics', 'mass_matrix', 'normalise', 'poses', 'response', 'response_factor'.",
    ),
    (
        lambda: rods().batch("bias", [[0, 0]]),
        "bias of planar arm over a floor takes q, u, got 1 arrays: give one for each.",
    ),
    (
        lambda: rods().batch("bias", [[0, 0]], [[0, "1"]]),
        "u of bias of planar arm over a floor must be numbers in 2 columns, one row per state.",
    ),
    (
        lambda: rods().batch("bias", [[0, 0]], [[0, 0]], threads=1.5),
        "bias of planar arm over a floor cannot run on 1.5 threads: give a whole number from 1 to 1024.",
    ),
    (
        lambda: rods().address("kain"),
        "planar arm over a floor has no function 'kain' (did you mean 'kane'?); there are 'bias', "
        "'displace', 'energy', 'forward_dynamics', 'gravity_force', 'inverse_dynamics', 'kane', "
        "'kinematics', 'mass_matrix', 'normalise', 'poses', 'response', 'response_factor'.",
    ),
    (
        lambda: arm().scene.model.q_slice("J9"),
        "WAM over a table has no joint 'J9' (did you mean 'J4'?); it has 'J1', 'J2', 'J3', 'J4'.",
    ),
    (
        lambda: arm().scene.model.u_slice(None),
        "WAM over a table has no joint None; it has 'J1', 'J2', 'J3', 'J4'.",
    ),
    (
        lambda: hs.compile_mechanism(arm().scene),
        "compile_mechanism: mechanism is a Scene: give an hs.Mechanism, or what hs.load_mechanism returns.",
    ),
    (
        lambda: hs.load_mechanism(None),
        "load_mechanism: path = None is not usable: it must be the path of a mechanism file, as text "
        "or a pathlib.Path.",
    ),
    (
        lambda: hs.load_mechanism(CONFIGS / "mechanisms" / "wrist.py", parameters=[1]),
        "load_mechanism: parameters = [1] is not usable: it must be a dict of names and values.",
    ),
    (
        lambda: hs.load_mechanism(CONFIGS / "mechanisms" / "wrist.py", parameters={"a": None}),
        "load_mechanism: parameters['a'] = None is not usable: it must be a finite number, True, "
        "False or text.",
    ),
    (
        lambda: hs.load_urdf(None),
        "load_urdf: path = None is not usable: it must be the path of a URDF file, as text or a "
        "pathlib.Path.",
    ),
    (
        lambda: hs.load_urdf(""),
        "load_urdf: path = '' is not usable: it must be the path of a URDF file, as text or a pathlib.Path.",
    ),
    (
        lambda: hs.load_urdf("a.urdf", fixed_base="no"),
        "load_urdf: fixed_base = 'no' is not usable: it must be True or False.",
    ),
    (
        lambda: hs.load_urdf("a.urdf", notes=()),
        "load_urdf: notes = () is not usable: it must be a list, to which notes are appended, or None.",
    ),
    (
        lambda: hs.load_urdf("a.urdf", locked="J1"),
        "load_urdf: locked = 'J1' is one string: put it into a list, ['J1'].",
    ),
    (
        lambda: hs.load_urdf("a\0b.urdf"),
        "load_urdf: path = 'a\\x00b.urdf' is not usable: it must be a path without the character 0.",
    ),
    # observing and switching a server
    (
        lambda: hs.Subscriber(3),
        "Subscriber: endpoint = 3 is not usable: it must be text such as "
        "'ipc:///run/user/1000/hapticsim/publish.sock', or None.",
    ),
    (
        lambda: hs.Subscriber("localhost:5555"),
        "localhost:5555: is no endpoint: write ipc:///absolute/path or tcp://HOST:PORT.",
    ),
    (
        lambda: hs.Subscriber(NOWHERE, topics="state"),
        "topics = 'state' is not usable: give a list of names, such as ('state',).",
    ),
    (
        lambda: hs.Subscriber(NOWHERE, topics=[1]),
        "Subscriber: topics[0] = 1 is not usable: it must be one of the names of topics, as text.",
    ),
    (
        lambda: hs.Subscriber(NOWHERE, topics=["stäte"]),
        "Subscriber: topics[0] = 'stäte' is not usable: it must be a name of printable ASCII characters.",
    ),
    (
        lambda: hs.Subscriber(NOWHERE, context=1),
        "Subscriber: context = 1 is not usable: it must be a zmq.Context, or None.",
    ),
    (
        lambda: hs.Subscriber(NOWHERE, curve="keys"),
        "Subscriber: curve = 'keys' is not usable: it must be a Curve "
        "(hapticsim.wire.sockets.curve_security), or None.",
    ),
    (
        lambda: observer().latest("scene"),
        "topic 'scene' is not subscribed to: name it in topics=('state',).",
    ),
    (
        lambda: observer().latest("state", timeout_s=math.nan),
        "latest: timeout_s = nan is not usable: it must be a number from 0 to 1e+06.",
    ),
    (
        lambda: observer().latest("state", timeout_s="2"),
        "latest: timeout_s = '2' is not usable: it must be a number from 0 to 1e+06.",
    ),
    (
        lambda: observer().receive(timeout_s=-1.0),
        "receive: timeout_s = -1.0 is not usable: it must be a number from 0 to 1e+06.",
    ),
    (
        lambda: observer().receive(timeout_s=math.inf),
        "receive: timeout_s = inf is not usable: it must be a number from 0 to 1e+06.",
    ),
    (
        lambda: observer().age_s("scene"),
        "topic 'scene' is not subscribed to: name it in topics=('state',).",
    ),
    (
        lambda: hs.Switches(NOWHERE, timeout_s=None),
        "Switches: timeout_s = None is not usable: it must be a number from 0 to 1e+06.",
    ),
    (
        lambda: switches().switch(None, True),
        "constraint None: is not usable: a name has 1 to 64 printable characters.",
    ),
    (
        lambda: switches().switch("brake", "off"),
        "switch: held = 'off' is not usable: it must be True or False.",
    ),
    (
        lambda: switches().offer("", True),
        "constraint '': is not usable: a name has 1 to 64 printable characters.",
    ),
    # a controller
    (
        lambda: HybridController(arm(), None),
        "hybrid controller: equations = <Simulation> is not usable: it must be what "
        "hs.compile_equations returns.",
    ),
    (
        lambda: HybridController(rods(), HybridSettings("fore", Z3, ["1", "2"], [0.0, 0.0])),
        "hybrid controller: stiffness = ['1', '2'] is not usable: it must be 2 numbers, one for each speed.",
    ),
    (
        lambda: HybridController(rods(), HybridSettings("fore", Z3, [1, 1], [1, 1], period_s="1")),
        "hybrid controller: period_s = '1' is not usable: it must be finite and above 0.",
    ),
    # off-line
    (
        lambda: simulate_offline(arm(), Z4, Z4, 1.0),
        "simulate_offline: equations = <Simulation> is not usable: it must be what "
        "hs.compile_equations returns.",
    ),
    (
        lambda: simulate_offline(rods(), [0, 0], [0, 0], "1"),
        "simulate_offline: seconds = '1' is not usable: it must be finite and above 0.",
    ),
    (
        lambda: simulate_offline(rods(), ["0", "0"], [0, 0], 1.0),
        "simulate_offline: q0 = ['0', '0'] is not usable: it must be 2 numbers.",
    ),
    (
        lambda: simulate_offline(rods(), [0, 0], [0, 0], 1.0, max_steps=1.5),
        "simulate_offline: max_steps = 1.5 is not usable: it must be a whole number from 1 to 2147483648.",
    ),
    (
        lambda: run_sweep(None, [1]),
        "run_sweep: function = None is not usable: it must be a function of one set of parameters.",
    ),
    (
        lambda: run_sweep(math.sqrt, "123"),
        "run_sweep: parameters = '123' is not usable: it must be a list with one set of parameters per run.",
    ),
    (
        lambda: run_sweep(math.sqrt, [1.0], workers=True),
        "run_sweep: workers = True is not usable: it must be a whole number from 1 to 1024.",
    ),
]


@pytest.mark.parametrize(("call", "sentence"), WRONG, ids=[str(i) for i in range(len(WRONG))])
def test_a_wrong_call_is_one_sentence_and_changes_nothing(call: Callable[[], Any], sentence: str):
    before = [bits(sim()) for sim in (arm, bar, puck)]
    with pytest.raises(HapticsimError) as refused:
        call()
    assert str(refused.value) == sentence
    assert [bits(sim()) for sim in (arm, bar, puck)] == before
