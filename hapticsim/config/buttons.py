"""The ``switch_on_button:`` section: constraints and the buttons of the device that switch them."""

from __future__ import annotations

from hapticsim.config.schema.scene import SceneFile
from hapticsim.errors import Refuse, listed, nearest
from hapticsim.model.constraints import Constraint, nearest_constraint
from hapticsim.wire.messages.device import FREE_BUTTONS

_FORCE = {"engage": "gives the force", "disengage": "takes the force away"}


def switch_on_button(
    entry: SceneFile, constraints: tuple[Constraint, ...], refuse: Refuse, notes: list[str]
) -> dict[str, str]:
    """Return the button of each constraint that has one; the mechanism's own constraints may have one too."""
    names, buttons = [c.name for c in constraints], listed(FREE_BUTTONS)
    for name, button in entry.switch_on_button.items():
        place = ("switch_on_button", name)
        if name not in names:
            raise refuse(place, f"is not a constraint{nearest_constraint(name, names)}")
        if button in _FORCE:
            raise refuse(place, f"= {button!r} {_FORCE[button]} and cannot switch: choose one of {buttons}.")
        if button not in FREE_BUTTONS:
            known = f"choose one of {buttons}"
            raise refuse(place, f"= {button!r} is not a button{nearest(button, FREE_BUTTONS)}: {known}.")
    if entry.switch_on_button and entry.link is not None:
        notes.append("switch_on_button: buttons do not switch across a link.")
    return dict(entry.switch_on_button)
