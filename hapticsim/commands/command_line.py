"""The command line.  Every refusal is one sentence on stderr and status 2."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from typing import Annotated, Any

import typer

import hapticsim
from hapticsim.arguments import shown
from hapticsim.commands import files, live, pages, upkeep
from hapticsim.commands.options import end_line
from hapticsim.errors import HapticsimError
from hapticsim.process.interruption import (
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

# What the parser says of a value, and what is said of it here.
PARSERS_WORDS = (
    (r"Input should be a valid number, unable to parse string as a number", "it must be a number"),
    (r"Input should be a valid integer, unable to parse string as an integer", "it must be a whole number"),
    (r"Input should be greater than or equal to (\S+)", r"it must be \1 or above"),
)

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

for group in (live, files, pages, upkeep):
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


def _found(error: Any) -> str:
    """The value that the parser refused, where it keeps it."""
    errors = getattr(error.__cause__, "errors", None)
    return f"{shown(errors()[0]['input'])} is not usable, " if callable(errors) else ""


def _misuse(error: Any) -> str:
    """One sentence for a wrong command line."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "hapticsim"
    words = error.format_message().rstrip(".").replace("Value error, ", "")
    for theirs, ours in PARSERS_WORDS:
        if match := re.search(theirs, words):
            words = words.replace(match[0], _found(error) + match.expand(ours))
    return f"{command}: {words}: see '{command} --help'."


def _printable(text: str) -> str:
    """One line without control characters, whatever a file or an argument is called."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _refuse(sentence: str) -> int:
    end_line()
    print(_printable(sentence), file=sys.stderr)
    return REFUSED


def _interrupted() -> int:
    let_go()  # an interrupt that was lost comes again a moment later: this is where it is told
    with suppress(OSError):  # the terminal may be gone: that is why it ends
        end_line()
        print("interrupted.", file=sys.stderr, flush=True)
    return INTERRUPTED


def status_of(arguments: list[str] | None = None) -> int:
    """Run a command, of this program's arguments if none are given; return its status, a refusal said."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        if any("\0" in word for word in given):
            return _refuse("hapticsim: an argument holds a NUL character: remove it.")
        status = app(args=given, prog_name="hapticsim", standalone_mode=False)
        sys.stdout.flush()
    except HapticsimError as refusal:
        return _refuse(str(refusal))
    except MISUSE as misuse:
        # empty when no command was given: the help has been shown instead
        return _refuse(_misuse(misuse)) if misuse.format_message() else REFUSED
    except typer.Exit as end:
        return end.exit_code
    except (typer.Abort, KeyboardInterrupt):
        return _interrupted()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # numba's RuntimeError, say: code was not handed over because a signal came
        if not is_interruption(error):
            end_line()
            raise
        return _interrupted()
    return status if isinstance(status, int) else 0  # typer returns the status of an Exit it caught


def run() -> None:
    """Run a command: a refusal is a sentence; Ctrl-C, SIGTERM and SIGHUP are an end."""
    catch_signals()
    keep_interrupts()
    try:
        status = status_of()
    except KeyboardInterrupt:  # it came again before it was told
        status = _interrupted()
    finally:
        let_go()
        ignore_signals()
    sys.exit(status)
