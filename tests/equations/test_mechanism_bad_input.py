# ruff: noqa: E501
"""Mechanism files that cannot be used: one sentence each, with the place and the remedy."""

from __future__ import annotations

import importlib.util
import sys

import pytest

import hapticsim
from hapticsim import ConfigError, load_mechanism

GOOD = """
import sympy as sp
from sympy.physics.mechanics import Particle, Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia
from hapticsim import Friction, Mechanism, Switchable


def mechanism(mass_kg=1.0):
    m, l, k = sp.symbols("m l k")
    q1, q2, w = dynamicsymbols("q1 q2 w")
    u1, u2 = dynamicsymbols("u1 u2")
    t = dynamicsymbols._t
    N, O, B = ReferenceFrame("N"), Point("O"), ReferenceFrame("B")
    O.set_vel(N, 0)
    B.orient_axis(N, N.y, q1)
    B.set_ang_vel(N, u1 * N.y)
    P = O.locatenew("P", (l + q2) * B.x)
    P.set_vel(N, u2 * B.x - (l + q2) * u1 * B.z)
    ball = Particle("ball", P, m)
    return Mechanism(
        name="bob",
        frame=N,
        origin=O,
        coordinates=[q1, q2],
        speeds=[u1, u2],
        kinematics=[q1.diff() - u1, q2.diff() - u2],
        bodies=[ball],
        frames={"arm": (O, B)},
        forces=[(P, -k * q2 * B.x)],
        gravity=-9.81 * N.z,
        constraints=[Switchable("locked", configuration=[q2])],
        parameters={m: mass_kg, l: 0.5, k: 40.0},
        initial={q1: 0.2},
        handle=("ball", None),
    )
"""

CASES = [
    ("import sympy as sp", "import sympy as sp\nraise OSError('no  disk')", "{file}: raises OSError in line 3 (no disk): correct the file."),
    ("    t = dynamicsymbols._t", "    t = 1 / 0", "{file}: raises ZeroDivisionError in line 11 (division by zero): correct the file."),
    ("    t = dynamicsymbols._t", "    raise SystemExit(3)", "{file}: raises SystemExit in line 11 (3): correct the file."),
    ("def mechanism(", "def mechanism((", "{file}: is not Python (line 7: "),
    ("def mechanism(", "def mechanisms(", "{file}: has no function mechanism() (did you mean 'mechanisms'?): define it, returning a Mechanism."),
    ("return Mechanism(", "return dict(", "{file}: mechanism() returns dict: return a hapticsim.Mechanism."),
    ("kinematics=[q1.diff() - u1, q2.diff() - u2]", "kinematics=[q1.diff() - u1]", "{file}: kinematics has 1 equations for 2 coordinates (q1, q2): give one for each."),
    ("q2.diff() - u2]", "q1.diff() - u2]", "{file}: kinematics does not determine the rate of q2: every rate must follow from u."),
    ("q1.diff() - u1, q2.diff() - u2]", "u1, q1.diff() + q2.diff() - u2]", "{file}: kinematics[0] has no rate of a coordinate in it: every equation needs one."),
    ("q2.diff() - u2]", "q2.diff()**2 - u2]", "{file}: kinematics[1] is not affine in rates and speeds: kinematical equations must be."),
    ("[q1.diff() - u1, q2.diff() - u2]", "[q1.diff() + q2.diff() - u1, 2*q1.diff() + 2*q2.diff() - u2]", "{file}: kinematics does not determine the rate of q1, q2: every rate must follow from u."),
    ("configuration=[q2]", "motion=[u1 * u2]", "{file}: constraints['locked'] is not affine in the speeds (u1(t)*u2(t)): motion constraints must be A u = b (3)."),
    ("configuration=[q2]", "motion=[q1.diff()**2 - 1]", "{file}: constraints['locked'] is not affine in the speeds (Derivative(q1(t), t)**2 - 1): motion constraints must be A u = b (3)."),
    ("configuration=[q2]", "configuration=[q2 + u1]", "{file}: constraints['locked'] has speeds in a configuration constraint: write it under motion."),
    ("configuration=[q2]", "", "{file}: constraints['locked'] has no rows: give configuration or motion expressions."),
    ("configuration=[q2]", "configuration=[B.x]", "{file}: constraints['locked'] = B.x is not an expression: give one of SymPy's."),
    ("configuration=[q2])", "configuration=[q2], friction=Friction(0.2, 0.3, 1.0))", "{file}: constraints['locked'].friction = 0.2, 0.3 is not usable: static >= kinetic >= 0."),
    ("configuration=[q2])", "configuration=[q2], friction=Friction(0.3, 0.2, 'floor'))", "{file}: constraints['locked'].friction.normal = 'floor' is no other constraint of one row: they are none."),
    ("configuration=[q2])", "configuration=[q2]), Switchable('locked', motion=[u1])", "{file}: constraints has 'locked' twice: names must be unique."),
    ('"locked", ', "3, ", "{file}: constraints[0].name = 3 is not usable: write a word of 1 to 64 printable characters."),
    ('"locked", ', "None, ", "{file}: constraints[0].name = None is not usable: write a word of 1 to 64 printable characters."),
    ('"locked", ', "'', ", "{file}: constraints[0].name = '' is not usable: write a word of 1 to 64 printable characters."),
    ('"locked", ', "'a\\nb', ", "{file}: constraints[0].name = 'a\\nb' is not usable: write a word of 1 to 64 printable characters."),
    ('"locked", ', "65 * 'n', ", f"{{file}}: constraints[0].name = '{65 * 'n'}' is not usable: write a word of 1 to 64 printable characters."),
    ("configuration=[q2])", "configuration=[q2], held='no')", "{file}: constraints['locked'].held = 'no' is not usable: write True or False."),
    ("l: 0.5, ", "", "{file}: bodies['ball'] contains l, which has no value: give it one in parameters."),
    ("k: 40.0", "k: float('nan')", "{file}: parameters[k] = nan is not usable: it must be a finite number."),
    ("-k * q2 * B.x", "-k * sp.exp(q2) * B.x", "{file}: forces[0] contains exp(q[1]), for which there is no code: there are sums, products, whole and half powers, sin, cos, tan and sqrt."),
    ("-k * q2 * B.x", "-k * q2**sp.Rational(1, 3) * B.x", "{file}: forces[0] contains q[1]**(1/3), for which there is no code: there are sums, products, whole and half powers, sin, cos, tan and sqrt."),
    ("-k * q2 * B.x", "-k * sp.sin(3 * t) * B.x", "{file}: forces[0] depends on time explicitly: make it a coordinate, or prescribe it by a constraint."),
    ("-k * q2 * B.x", "-k * w * B.x", "{file}: forces[0] contains w(t), which is no coordinate and no speed: add it to one of the two lists."),
    ("-k * q2 * B.x", "-k * u2.diff() * B.x", "{file}: forces[0] contains Derivative(u2(t), t): only rates of coordinates may stand here, once differentiated."),
    ("(P, -k * q2 * B.x)", "(Point('Z'), -k * q2 * B.x)", "{file}: forces[0] has the point Z without a velocity: set_vel, v2pt_theory or v1pt_theory give one."),
    ("(P, -k * q2 * B.x)", "(P, -k * q2)", "{file}: forces[0] = -k*q2(t) is not a vector: give one of sympy.physics.vector."),
    ("(O, B)", "(O, ReferenceFrame('Z'))", "{file}: frames['arm'] has the frame Z, which is not connected to N: orient it."),
    ('"arm": (O, B)', '"ball": (O, B)', "{file}: frames['ball'] = 'ball' is taken: names of bodies and frames must be unique."),
    ("u2 * B.x - (l", "u2 * B.x + (l", "{file}: 'ball' moves with another velocity than its pose says: make set_vel, set_ang_vel and the kinematical equations agree."),
    ("P.set_vel(N, u2 * B.x", "P.set_vel(N, u2**2 * B.x", "{file}: bodies['ball'] is not affine in the speeds: velocities must be, so define it anew."),
    ("Particle(\"ball\", P, m)", "Particle(\"ball\", O, m)", "{file}: speeds u1 and u2 is felt by no body (the mass matrix is singular): give what it moves mass or inertia, or remove it."),
    ("mass_kg=1.0", "mass_kg=-1.0", "{file}: bodies['ball'].mass = -1 is not usable: it must be finite and at least 0."),
    ("ball = Particle(\"ball\", P, m)", "ball = RigidBody('ball', P, B, m, (inertia(B, 1, -1, 1), P))", "{file}: bodies['ball'].inertia has a negative principal moment: check signs and values."),
    ("gravity=-9.81 * N.z", "gravity=-9.81 * B.z", "{file}: gravity changes in axes of N: give a vector fixed there."),
    ("initial={q1: 0.2}", "initial={w: 0.2}", "{file}: initial[w] is no coordinate or speed: they are 'q1', 'q2', 'u1', 'u2'."),
    ('("ball", None)', '("bal", None)', "{file}: handle = 'bal' is no place (did you mean 'ball'?): they are 'arm', 'ball'."),
    ('("ball", None)', '("arm", q2 * B.x)', "{file}: handle moves in B: give a vector fixed there."),
    ("speeds=[u1, u2]", "speeds=[u1, u2, w]", "{file}: speeds has 3 for 2 coordinates: give at most as many."),
    ("speeds=[u1, u2]", "speeds=[u1, k]", "{file}: speeds contains k: write dynamicsymbols of SymPy."),
    ("speeds=[u1, u2]", "speeds=[u1, q1]", "{file}: coordinates and speeds has 'q1' twice: names must be unique."),
    ("bodies=[ball]", "bodies=[]", "{file}: bodies is empty: a mechanism needs at least one RigidBody or Particle."),
    *(('("ball", None)', f'("ball", None), sensors={given}', f"{{file}}: {sentence}") for given, sentence in [
        ("{'pull_N': P.vel(N)}", "sensors['pull_N'] = u2(t)*B.x - (l + q2(t))*u1(t)*B.z is a vector: take a component, as with .dot(frame.x)."),
        ("{'pull_N': k * m * sp.Symbol('d')}", "sensors['pull_N'] contains d, which has no value: give it one in parameters."),
        ("{'turn_rad_per_s2': u1.diff()}", "sensors['turn_rad_per_s2'] contains Derivative(u1(t), t): only rates of coordinates may stand here, once differentiated."),
        ("{'turn_rad_per_s2': q1.diff(t, 2)}", "sensors['turn_rad_per_s2'] contains Derivative(q1(t), (t, 2)): only rates of coordinates may stand here, once differentiated."),
        ("{'w_m': w + q2}", "sensors['w_m'] contains w(t), which is no coordinate and no speed: add it to one of the two lists."),
        ("{'wave': sp.sin(t)}", "sensors['wave'] depends on time explicitly: make it a coordinate, or prescribe it by a constraint."),
        ("{'lean_rad': sp.acos(q1)}", "sensors['lean_rad'] contains acos(q[0]), for which there is no code: there are sums, products, whole and half powers, sin, cos, tan and sqrt."),
        ("{'lean_rad': None}", "sensors['lean_rad'] = None is not a scalar expression: give a component of it."),
        ("{'share': q2 / (l - 0.5)}", "sensors['share'] = q2(t)/(l - 0.5) has no value with these parameters: check what it divides by and the roots."),
        ("{'root_m': sp.sqrt(-l) * q2}", "sensors['root_m'] = sqrt(-l)*q2(t) has no value with these parameters: check what it divides by and the roots."),
        ("{'lean angle': q1}", "sensors['lean angle'] is not usable as a name: write letters, digits and underscores, the unit last, as in 'lean_rad'."),
        ("{q1: q1}", "sensors[q1(t)] is not usable as a name: write letters, digits and underscores, the unit last, as in 'lean_rad'."),
        ("{'q2': q1}", "sensors['q2'] has the name of a coordinate or speed: give it one of its own."),
        ("[q1]", "sensors is a list: give a mapping, {{'name_unit': expression}}."),
    ]),
    ("bodies=[ball]", "bodies=['ball']", "{file}: makes a Mechanism that cannot be used (AttributeError: "),
]  # fmt: skip


def write(tmp_path, text):
    path = tmp_path / "bob.py"
    path.write_text(text)
    return path


def test_the_file_of_these_tests_is_good(tmp_path):
    assert load_mechanism(write(tmp_path, GOOD)).nq == 2


@pytest.mark.parametrize("old, new, sentence", CASES, ids=[f"{i}" for i in range(len(CASES))])
def test_a_mechanism_that_cannot_be_used_is_refused_in_one_sentence(tmp_path, old, new, sentence):
    assert GOOD.count(old) == 1
    path = write(tmp_path, GOOD.replace(old, new))
    with pytest.raises(ConfigError) as caught:
        load_mechanism(path)
    found, wanted = str(caught.value), sentence.format(file=path)
    assert found.startswith(wanted) if sentence.endswith((": ", "(line 7: ")) else found == wanted
    assert "\n" not in found


def test_a_speed_that_moves_nothing_is_named(tmp_path):
    text = GOOD.replace("speeds=[u1, u2]", "speeds=[u1, u2, w]")
    text = text.replace("coordinates=[q1, q2]", "coordinates=[q1, q2, dynamicsymbols('q3')]")
    text = text.replace("q2.diff() - u2]", "q2.diff() - u2, dynamicsymbols('q3').diff() - w]")
    with pytest.raises(ConfigError, match="speeds w is felt by no body"):
        load_mechanism(write(tmp_path, text))


def test_a_handle_that_cannot_move_is_refused(tmp_path):
    text = GOOD.replace('"arm": (O, B)', '"hinge": (O, N)').replace('("ball", None)', '("hinge", None)')
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_mechanism(path)
    assert str(caught.value) == (f"{path}: handle = 'hinge' is fixed to the world: hold a place that moves.")


def test_gravity_beside_a_mechanism_is_noted_and_not_used(tmp_path):
    write(tmp_path, GOOD)
    path = tmp_path / "bob.yaml"
    note = "gravity_m_per_s2 is not used: the file of a mechanism says its gravity."
    path.write_text(SCENE)
    assert note not in hapticsim.load(path).notes
    path.write_text(SCENE + "gravity_m_per_s2: [0, 0, 0]\n")
    assert note in hapticsim.load(path).notes


def test_unknown_parameters_are_refused_with_the_nearest_name(tmp_path):
    path = write(tmp_path, GOOD)
    with pytest.raises(ConfigError) as caught:
        load_mechanism(path, {"mass": 2.0})
    assert str(caught.value) == (
        f"{path}: mechanism() takes no parameter 'mass' (did you mean 'mass_kg'?): it takes 'mass_kg'."
    )


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"cannot be read .No such file or directory.: check the path"):
        load_mechanism(tmp_path / "none.py")


def test_without_sympy_the_refusal_says_what_to_install(tmp_path, monkeypatch):
    found = importlib.util.find_spec
    for name in ("sympy", "hapticsim.equations.kane.mechanism"):
        monkeypatch.setitem(sys.modules, name, None)  # importing it fails
    monkeypatch.setattr(importlib.util, "find_spec", lambda n, *a: None if n == "sympy" else found(n, *a))
    path = write(tmp_path, GOOD + "\n# not in the cache\n")
    with pytest.raises(ConfigError) as caught:
        load_mechanism(path)
    assert str(caught.value) == (
        f"{path}: needs SymPy, which is not installed: pip install 'hapticsim[mechanisms]'."
    )


SCENE = "name: bob\nrobot: {mechanism: {path: bob.py}}\n"

SCENES = [
    ("path: bob.py}", "path: bob.py, parameters: {mass_kg: [1]}}", "robot.mechanism.parameters.mass_kg = [1] is not usable: write a number, a word, true or false."),
    ("path: bob.py}", "path: bob.py, parameters: {mass_kg: .nan}}", "robot.mechanism.parameters.mass_kg = nan is not usable: write a number, a word, true or false."),
    ("{mechanism", "{urdf: {package: panda}, mechanism", "robot.mechanism stands beside urdf: give one of the two."),
    ("name: bob\n", "name: bob\ninitial: {q_rad: {q3: 1}}\n", "initial.q_rad.q3 names no coordinate (did you mean 'q2'?): they are 'q1', 'q2'."),
    ("name: bob\n", "name: bob\ninitial: {q_rad: {q2: 1}}\n", "initial.q_rad.q2 is a coordinate in m: write it under q_m."),
    ("name: bob\n", "name: bob\ninitial: {u_m_per_s: {u1: 1}}\n", "initial.u_m_per_s.u1 is a speed in rad: write it under u_rad_per_s."),
    ("name: bob\n", "name: bob\ninitial: {ball: {q1: {}}}\n", "initial.ball.q1 is a coordinate in rad: write it under q_rad."),
]  # fmt: skip


@pytest.mark.parametrize("old, new, sentence", SCENES, ids=[f"{i}" for i in range(len(SCENES))])
def test_a_scene_with_a_mechanism_is_refused_in_one_sentence(tmp_path, old, new, sentence):
    write(tmp_path, GOOD)
    path = tmp_path / "bob.yaml"
    path.write_text(SCENE.replace(old, new))
    with pytest.raises(ConfigError) as caught:
        hapticsim.load(path)
    assert str(caught.value) == f"{path}: {sentence}"


def test_a_scene_starts_where_the_mechanism_says_unless_the_config_says_otherwise(tmp_path):
    write(tmp_path, GOOD)
    path = tmp_path / "bob.yaml"
    path.write_text(SCENE)
    assert hapticsim.load(path).q0.tolist() == [0.2, 0.0]
    path.write_text(SCENE + "initial: {q_m: {q2: 0.1}, u_rad_per_s: {u1: -1.0}}\n")
    scene = hapticsim.load(path)
    assert scene.q0.tolist() == [0.2, 0.1]
    assert scene.u0.tolist() == [-1.0, 0.0]
