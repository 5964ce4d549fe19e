"""``python -m hapticsim`` and the command ``hapticsim``: Ctrl-C ends it while it is loaded, too."""

from __future__ import annotations

import sys

from hapticsim.interruption import INTERRUPTED, catch_signals


def main() -> None:
    """Entry point."""
    catch_signals()
    try:
        from hapticsim.command_line import run
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    run()


if __name__ == "__main__":
    main()
