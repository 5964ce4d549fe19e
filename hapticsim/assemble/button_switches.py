"""Buttons of the device that switch constraints: what a scene says of them, and which were pressed."""

from __future__ import annotations

from hapticsim.model.scene import Scene
from hapticsim.wire.messages.device import FREE_BUTTONS


class ButtonSwitches:
    """Finds presses in the buttons that a device reports again and again.

    A button that is down when it is first seen was not pressed here: a device that joins with a thumb on it
    switches nothing.
    """

    def __init__(self, scene: Scene) -> None:
        names = [c.name for c in scene.constraints]
        self._wired = [(FREE_BUTTONS[b], names.index(name)) for name, b in scene.switch_on_button.items()]
        self._down = -1  # bits of the newest report; all before the first

    def forget(self) -> None:
        """Another device, or the same one anew."""
        self._down = -1

    def pressed(self, buttons: int) -> list[int]:
        """Numbers of the constraints whose button went down with this report."""
        rising = buttons & ~self._down
        self._down = buttons
        return [c for bit, c in self._wired if rising & bit]
