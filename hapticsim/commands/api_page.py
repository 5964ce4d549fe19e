"""The page of the Python interface, printed from its docstrings: ``python -m hapticsim.commands.api_page``.

``docs/api.md`` is this text; a test compares the two, and runs the examples.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import re
import textwrap
from functools import cached_property
from typing import Any

HEAD = """# The Python interface

Printed from the docstrings by `python -m hapticsim.commands.api_page > docs/api.md`. `import hapticsim as hs`
loads nothing but names; what stands here under `hs.` is loaded when it is first used. SI units; world axes
have z up; W, D, B name the axes of the world, of the device, of a body ([notation](notation.md)). nq
coordinates q, nu generalized speeds u.

Every argument is checked before anything changes. What cannot be used raises an error of the family
`hs.HapticsimError` with one sentence: which argument, what was found, what is allowed. Text that looks like
a number is none, and neither is True. The examples run as they stand, in the project's folder.
"""

# Of each part: its title, an example, and what is described; "module:name", or only a name of ``hapticsim``.
PARTS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "Scenes and robots",
        """
        import hapticsim as hs

        scene = hs.load("wam_table")
        print(scene.name, scene.model.nq, [shape.name for shape in scene.shapes])
        try:
            hs.load("wam_tabel")
        except hs.ConfigError as refused:
            print(refused)  # ... neither a file here nor a scene ... (did you mean 'wam_table'?)
        """,
        ("load", "load_variants", "load_urdf", "load_mjcf", "model_to_yaml", "Scene", "Model"),
    ),
    (
        "Simulation",
        """
        import hapticsim as hs

        sim = hs.Simulation(hs.load("wam_table"))
        sim.apply(force=[0.0, 0.0, -3.0])  # N at the handle
        for _ in range(2000):
            sim.step()
            for event in sim.events:
                print(f"{event.time:.3f} s: {event.text}")
        print(sim.state.contacts, sim.gaps, sum(sim.energy()))

        fork = sim.fork()  # everything, inputs too
        sim.step(500)
        first = sim.state.q
        sim.restore(fork)
        sim.step(500)
        assert first.tobytes() == sim.state.q.tobytes()
        """,
        (
            "Simulation",
            "hapticsim.simulate.snapshot:Snapshot",
            "hapticsim.simulate.snapshot:Contact",
            "hapticsim.simulate.snapshot:StopForce",
            "hapticsim.simulate.snapshot:Certificate",
            "hapticsim.simulate.snapshot:TickEvent",
            "hapticsim.simulate.fork:Fork",
            "hapticsim.haptics.coupler:DeviceLimits",
        ),
    ),
    (
        "Equations of motion",
        """
        import numpy as np
        import hapticsim as hs

        arm = hs.compile_equations(hs.load("wam_table").model)
        q, u, tau = np.array([0.0, 0.6, 0.0, 1.8]), np.zeros(4), np.zeros(4)
        udot = arm.forward_dynamics(q, u, tau)
        assert np.allclose(arm.mass_matrix(q) @ udot + arm.bias(q, u), tau)
        many = arm.batch("forward_dynamics", np.tile(q, (100, 1)), np.zeros((100, 4)), np.zeros((100, 4)))
        """,
        ("compile_equations", "Equations", "hapticsim.equations.algorithms:Algorithm"),
    ),
    (
        "Mechanisms by Kane's method",
        """
        import hapticsim as hs

        wrist = hs.compile_mechanism(hs.load_mechanism("configs/mechanisms/wrist.py"))
        print(wrist.nq, wrist.nu, wrist.joint_names)
        """,
        ("load_mechanism", "compile_mechanism", "Mechanism", "Switchable", "Friction"),
    ),
    (
        "A mechanism alone, and many runs",
        """
        import hapticsim as hs
        from hapticsim.offline.run import simulate_offline

        arm = hs.compile_equations(hs.load("wam_table").model)
        run = simulate_offline(arm, [0.0, 0.6, 0.0, 1.8], [0.0] * 4, 0.5, integrator="rk4", step_s=1e-3)
        print(run.time[-1], run.q[-1], run.ending.sentence)
        """,
        (
            "hapticsim.offline.run:simulate_offline",
            "hapticsim.offline.run:OfflineRun",
            "run_sweep",
            "SweepError",
        ),
    ),
    (
        "Recordings",
        """
        from pathlib import Path
        from tempfile import TemporaryDirectory

        import hapticsim as hs
        from hapticsim.drivers.classes import driver_class
        from hapticsim.simulate.virtual import simulate

        with TemporaryDirectory() as folder, driver_class("scripted")() as hand:
            simulate(hs.load("puck_and_wall"), hand, 2.0, Path(folder) / "visit.mcap")
            visit = hs.read_recording(Path(folder) / "visit.mcap")
        print(visit["u[puck_motion].vx"].max(), visit.unit("u[puck_motion].vx"))
        print([event["text"] for event in visit.events])
        """,
        ("read_recording", "Recording"),
    ),
    (
        "A server that runs",
        """
        import hapticsim as hs

        with hs.Subscriber(topics=("state",)) as server:  # of 'hapticsim run' on this computer
            state = server.latest("state", timeout_s=2.0)
            print(state["q"], server.age_s("state"))
        with hs.Switches() as switches:
            for constraint in switches.constraints():
                print(constraint["name"], switches.switch(constraint["name"], held=True))
        """,
        ("Subscriber", "hapticsim.wire.messages.topics:Published", "Switches"),
    ),
    (
        "Errors",
        """
        import hapticsim as hs

        sim = hs.Simulation(hs.load("wam_table"))
        try:
            sim.apply(torque={"J22": 1.0})
        except hs.ConfigError as refused:
            print(refused)  # apply: torque['J22'] is not a joint with one degree of freedom (did you mean ...
            print(refused.file, refused.key)  # apply torque['J22']
        """,
        (
            "HapticsimError",
            "ConfigError",
            "hapticsim.errors:WireError",
            "hapticsim.errors:DeviceError",
            "hapticsim.offline.sweeps.attempt:SweepError",
        ),
    ),
)
INNER = {"run_with"}  # public for other modules, not for users
ITEM = re.compile(r"^(\S[^:]*?) : (.*)$")


def reference() -> str:
    """Return the page."""
    pieces = [HEAD]
    for title, example, described in PARTS:
        pieces.append(f"## {title}\n\n```python\n{textwrap.dedent(example).strip()}\n```\n")
        pieces.extend(_described(name) for name in described)
    return "\n".join(pieces).rstrip() + "\n"


def example_of(title: str) -> str:
    """Return the example of a part."""
    return next(textwrap.dedent(example).strip() + "\n" for part, example, _ in PARTS if part == title)


def _described(where: str) -> str:
    module, _, name = where.rpartition(":")
    thing = getattr(importlib.import_module(module or "hapticsim"), name)
    shown = name if module else f"hs.{name}"
    if not inspect.isclass(thing):
        return f"### `{shown}{_signature(thing)}`\n\n{_markdown(thing)}\n"
    made = "" if issubclass(thing, Exception) or dataclasses.is_dataclass(thing) else _signature(thing)
    lines = [f"### `{shown}{made}`\n", _markdown(thing), ""]
    lines += _fields(thing)
    for key, member in vars(thing).items():
        if key.startswith("_") or key in INNER:
            continue
        if isinstance(member, property | cached_property) and member.__doc__:
            lines += [f"#### `{key}`\n", _markdown(member), ""]
        elif inspect.isfunction(member) and member.__doc__:
            lines += [f"#### `{key}{_signature(member)}`\n", _markdown(member), ""]
    return "\n".join(lines)


def _signature(function: Any) -> str:
    """The arguments with their defaults, without types, as they are written in a call."""
    signature = inspect.signature(function)
    kept = [
        p.replace(annotation=inspect.Parameter.empty) for n, p in signature.parameters.items() if n != "self"
    ]
    words = str(signature.replace(parameters=kept, return_annotation=inspect.Signature.empty))
    words = re.sub(r"<(\w+\.\w+): \w+>", r"\1", words)
    return re.sub(r"array\(([^()]*)\)", lambda m: " ".join(m.group(1).split()), words)


def _markdown(thing: Any) -> str:
    """A docstring in Markdown: its sections with a list of what they name."""
    lines, out, listing = inspect.getdoc(thing).splitlines(), [], False  # type: ignore[union-attr]
    for i, line in enumerate(lines):
        if set(line) == {"-"} and line:
            continue
        if i + 1 < len(lines) and lines[i + 1] and set(lines[i + 1]) == {"-"}:
            out.append(f"**{line}**\n")
            listing = True
        elif found := ITEM.match(line):
            if not listing and out and out[-1].strip() and not out[-1].startswith("- "):
                out.append("")
            listing = True
            out.append(f"- `{found[1]}`: {found[2]}")
        elif listing and line.startswith(" "):
            out.append(f"  {line.strip()}")
        else:
            listing = listing and not line
            out.append(line)
    return "\n".join(out).replace("``", "`").replace("<argument>", "`<argument>`")


def _fields(thing: type) -> list[str]:
    """A table of the fields of a dataclass, with the comments that stand beside them."""
    if not dataclasses.is_dataclass(thing):
        return []
    source = textwrap.dedent(inspect.getsource(thing))
    comments = dict(re.findall(r"^    (\w+): .*?  # (.*)$", source, re.MULTILINE))
    (body,) = ast.parse(source).body
    assert isinstance(body, ast.ClassDef)
    rows = [
        f"| `{item.target.id}` | `{_kind(item.annotation)}` | {comments.get(item.target.id, '')} |"
        for item in body.body
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
    ]
    return ["| field | type | |", "|---|---|---|", *rows, ""] if any(comments) else []


def _kind(annotation: ast.expr) -> str:
    return ast.unparse(annotation).replace(" | ", " or ")


if __name__ == "__main__":
    print(reference(), end="")
