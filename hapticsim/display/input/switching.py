"""The number keys: each switches the constraint of its number, through the wire like any other program."""

from __future__ import annotations

from pathlib import Path

from hapticsim.display.messages.constraints import FREE
from hapticsim.display.messages.scene import SceneMessage, StateMessage
from hapticsim.errors import WireError
from hapticsim.wire.sockets.curve_security import Curve
from hapticsim.wire.switches import Switches


class SwitchKeys:
    """A connection to the control endpoint of the server that is shown.

    Raises WireError when the endpoint cannot be used.
    """

    def __init__(self, endpoint: str, keys: Path | None = None) -> None:
        self._switches = Switches(endpoint, curve=Curve(keys) if keys else None)

    def press(self, number: int, scene: SceneMessage | None, state: StateMessage | None) -> str:
        """Ask the server to change constraint ``number`` (from 1); returns what to say meanwhile."""
        constraints = state.imposed.constraints if state is not None else ()
        if number > len(constraints):
            return f"There is no constraint {number}."
        if scene is not None and scene.role == "recording":
            return "A recording cannot be switched: it happened before."
        now = constraints[number - 1]
        held = now.hold == FREE
        try:
            is_sent = self._switches.offer(now.name, held)
        except WireError as error:  # another server may have names that no request can carry
            return str(error)
        if not is_sent:
            return f"Nobody takes switches at {self._switches.endpoint}: is the server running?"
        return f"{now.name}: asked to {'hold' if held else 'let go'} ..."

    def poll(self) -> str | None:
        """What the server answered, in words; None if nothing has come."""
        return self._switches.take()

    def close(self) -> None:
        """Close the socket."""
        self._switches.close()
