"""``python -m hapticsim`` and the command ``hapticsim``: Ctrl-C ends it while it is loaded, too."""

from __future__ import annotations

from hapticsim.process.interruption import catch_signals, leave


def main() -> None:
    """Entry point."""
    catch_signals(leave)
    from hapticsim.commands.command_line import run

    run()


if __name__ == "__main__":
    main()
