"""hapticsim: feel a simulated mechanism.

The map, in the order data flows::

    config      YAML or URDF -> Scene, refusals in one sentence
    mechanism   or a mechanism in SymPy's words
    model       bodies, joints, shapes
    equations   recursions over any scalar -> straight-line code for one robot -> compiled
    control     controllers of a robot, called once per servo cycle
    kernels     the tick: contacts, constraints, embedding, impulses, coupling; arrays in, arrays out
    assemble    a scene -> the arrays of a run
    simulate    the tick in virtual time
    offline     the mechanism alone, by any algorithm and integrator
    haptics     coupler gains from the device and the rate
    realtime    the tick against the clock
    wire        ZeroMQ and msgpack, and nobody else
    teleop      delay, and looking ahead of it
    describe    what a run tells its observers
    recording   MCAP files
    playback    a recording -> replay, picture, plot, page
    display     the window
    server      where everything is put together
    commands    the command line

Public names are loaded when first used, so that a device driver that needs only ``hapticsim.wire`` does not
pay for the compiler.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "load": "hapticsim.config.load",
    "load_variants": "hapticsim.config.variants",
    "load_urdf": "hapticsim.model.robot_file.urdf",
    "load_mjcf": "hapticsim.model.mjcf.read",
    "compile_equations": "hapticsim.equations.compiled",
    "Equations": "hapticsim.equations.base",
    "Simulation": "hapticsim.simulate.simulation",
    "read_recording": "hapticsim.recording.reader",
    "Recording": "hapticsim.recording.reader",
    "Subscriber": "hapticsim.wire.subscriber",
    "Friction": "hapticsim.mechanism",
    "Mechanism": "hapticsim.mechanism",
    "Switchable": "hapticsim.mechanism",
    "Switches": "hapticsim.wire.switches",
    "run_sweep": "hapticsim.offline.sweeps.sweep",
    "SweepError": "hapticsim.offline.sweeps.attempt",
    "compile_mechanism": "hapticsim.equations.kane.compiled",
    "model_to_yaml": "hapticsim.model.write",
    "load_mechanism": "hapticsim.equations.kane.source",
    "Model": "hapticsim.model.multibody.tree",
    "Scene": "hapticsim.model.scene",
    "HapticsimError": "hapticsim.errors",
    "ConfigError": "hapticsim.errors",
}

__all__ = [
    "ConfigError",
    "Equations",
    "Friction",
    "HapticsimError",
    "Mechanism",
    "Model",
    "Recording",
    "Scene",
    "Simulation",
    "Subscriber",
    "SweepError",
    "Switchable",
    "Switches",
    "__version__",
    "compile_equations",
    "compile_mechanism",
    "load",
    "load_mechanism",
    "load_mjcf",
    "load_urdf",
    "load_variants",
    "model_to_yaml",
    "read_recording",
    "run_sweep",
]

if TYPE_CHECKING:
    from hapticsim.config.load import load
    from hapticsim.config.variants import load_variants
    from hapticsim.equations.base import Equations
    from hapticsim.equations.compiled import compile_equations
    from hapticsim.equations.kane.compiled import compile_mechanism
    from hapticsim.equations.kane.source import load_mechanism
    from hapticsim.errors import ConfigError, HapticsimError
    from hapticsim.mechanism import Friction, Mechanism, Switchable
    from hapticsim.model.mjcf.read import load_mjcf
    from hapticsim.model.multibody.tree import Model
    from hapticsim.model.robot_file.urdf import load_urdf
    from hapticsim.model.scene import Scene
    from hapticsim.model.write import model_to_yaml
    from hapticsim.offline.sweeps.attempt import SweepError
    from hapticsim.offline.sweeps.sweep import run_sweep
    from hapticsim.recording.reader import Recording, read_recording
    from hapticsim.simulate.simulation import Simulation
    from hapticsim.wire.subscriber import Subscriber
    from hapticsim.wire.switches import Switches


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'hapticsim' has no attribute {name!r}")
