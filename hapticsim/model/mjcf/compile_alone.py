"""Compile an MJCF file in a process of its own: ``python -m ...compile_alone IN.xml OUT.mjb``.

MuJoCo's compiler takes all memory and ends its process where a file asks for a field of 1e10 points.  The
last line that is printed is JSON: ``error``, or ``warnings``.
"""

from __future__ import annotations

import json
import sys

MOST_MEMORY = 8 << 30  # bytes of addresses
MOST_PARTS = 2000  # as of a URDF


def main() -> None:
    """Compile the file named first into the one named second."""
    import mujoco

    _bound_memory()
    source, target = sys.argv[1:]
    warnings: list[str] = []
    mujoco.set_mju_user_warning(warnings.append)  # instead of a file MUJOCO_LOG.TXT
    answer: dict[str, object] = {"warnings": warnings}
    try:
        spec = mujoco.MjSpec.from_file(source)
        parts = {"bodies": len(spec.bodies), "joints": len(spec.joints), "geoms": len(spec.geoms)}
        too_many = {what: found for what, found in parts.items() if found > MOST_PARTS}
        for what, found in too_many.items():
            answer = {"error": f"it has {found} {what} and may have {MOST_PARTS}"}
        if not too_many:
            mujoco.mj_saveModel(spec.compile(), target)
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        answer = {"error": str(error)}
    print(f"\n{json.dumps(answer)}")


def _bound_memory() -> None:
    try:
        import resource
    except ImportError:  # not on every system
        return
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


if __name__ == "__main__":
    main()
