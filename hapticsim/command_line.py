"""The command line.  Every refusal is one sentence on stderr and status 2."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer

import hapticsim
from hapticsim.commands import files, live, upkeep
from hapticsim.errors import HapticsimError
from hapticsim.interruption import (
    INTERRUPTED,
    catch_signals,
    ignore_signals,
    is_interruption,
    keep_interrupts,
    let_go,
)

REFUSED = 2

# What a wrong command line raises.  Newer typers bring their own click, older ones import it: asked for by
# its name among the ancestors of a class that typer exports, it is found in both.
MISUSE: type[Any] = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

for group in (live, files, upkeep):
    app.add_typer(group.commands)


def _tell_version(wanted: bool) -> None:
    if wanted:
        print(f"hapticsim {hapticsim.__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="tell it and end")
    ] = False,
) -> None:
    """Feel a simulated mechanism: a real-time haptic simulation server."""


def _misuse(error: Any) -> str:
    """One sentence for a wrong command line."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "hapticsim"
    return f"{command}: {error.format_message().rstrip('.')}: see '{command} --help'."


def run() -> None:
    """Run a command: a refusal is a sentence; Ctrl-C, SIGTERM and SIGHUP are an end."""
    catch_signals()
    keep_interrupts()
    try:
        status = app(prog_name="hapticsim", standalone_mode=False)
        sys.stdout.flush()
    except HapticsimError as refusal:
        print(refusal, file=sys.stderr)
        sys.exit(REFUSED)
    except MISUSE as misuse:
        if misuse.format_message():  # empty when no command was given: the help has been shown instead
            print(_misuse(misuse), file=sys.stderr)
        sys.exit(REFUSED)
    except typer.Exit as end:
        sys.exit(end.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:  # numba's RuntimeError, say: code was not handed over because a signal came
        if not is_interruption(error):
            raise
        sys.exit(INTERRUPTED)
    finally:
        let_go()
        ignore_signals()
    sys.exit(status if isinstance(status, int) else 0)  # typer returns the status of an Exit it caught
