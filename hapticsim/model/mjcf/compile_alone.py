"""Compile an MJCF file in a process of its own: ``python compile_alone.py IN.xml OUT.mjb``.

MuJoCo's compiler takes all memory and ends its process where a file asks for a field of 1e10 points.  The
last line that is printed is JSON: ``error``, or ``warnings``.  Nothing of hapticsim is imported here.
"""

from __future__ import annotations

import json
import sys

import mujoco

MOST_MEMORY = 4 << 30  # bytes of addresses
MOST_PARTS = 2000  # of a kind, as of a URDF
KINDS = ("bodies", "joints", "geoms", "sites", "equalities", "tendons", "keys", "meshes")


def main() -> None:
    """Compile the file named first into the one named second."""
    _bound_memory()
    source, target = sys.argv[1:]
    warnings: list[str] = []
    mujoco.set_mju_user_warning(warnings.append)  # instead of a file MUJOCO_LOG.TXT
    answer: dict[str, object] = {"warnings": warnings}
    try:
        spec = mujoco.MjSpec.from_file(source)
        found = {kind: len(getattr(spec, kind)) for kind in KINDS}
        if too_many := [kind for kind in KINDS if found[kind] > MOST_PARTS]:
            kind = too_many[0]
            answer = {"error": f"it has {found[kind]} {kind} and may have {MOST_PARTS}"}
        else:
            model = spec.compile()
            if model.nkey > MOST_PARTS:
                answer = {"error": f"it has {model.nkey} keyframes and may have {MOST_PARTS}"}
            else:
                mujoco.mj_saveModel(model, target)
    except (ValueError, RuntimeError, MemoryError, mujoco.FatalError) as error:
        answer = {"error": str(error) or type(error).__name__}
    print(f"\n{json.dumps(answer)}")


def _bound_memory() -> None:
    try:
        import resource
    except ImportError:  # not on every system
        return
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


if __name__ == "__main__":
    main()
