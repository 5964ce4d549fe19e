"""What the window says: the state of the force output, and what the person can do next."""

from __future__ import annotations

from hapticsim.codes import Fault, Safety
from hapticsim.display.palette import FAINT, GREEN, ORANGE, SKY, VERMILION, Color
from hapticsim.wire.messages.fault_words import fault_words

SILENCE_S = 1.0  # after which the window says that nothing arrives


def safety_words(mode: Safety, fault: Fault, connected: bool, steers: bool) -> tuple[str, str, Color]:
    """Headline, advice and colour of the state of the force output.

    steers : whether this window's pointer moves the hand, so that a click here can engage.
    """
    engage = "Click or press Space to engage." if steers else "Engage at the device."
    if not connected:
        return "NO DEVICE", "No device is connected: start one with `hapticsim device`.", FAINT
    if mode == Safety.DISARMED:
        return "DISENGAGED", f"No force. {engage}", SKY
    if mode == Safety.ARMING:
        return "ENGAGING", "The force rises from zero.", ORANGE
    if mode == Safety.ARMED:
        let_go = "Right click or Esc lets go." if steers else "Disengage at the device."
        return "ENGAGED", f"Full force. {let_go}", GREEN
    if mode == Safety.INTERRUPTED:
        return "INTERRUPTED", "No force: nothing was heard for a moment. It comes back by itself.", ORANGE
    why = fault_words(fault, advice=False) if fault else "unknown reason"
    advice = f"No force: {why}. "
    if Fault.STRETCH in fault and steers:
        return "STOPPED", advice + "Bring the cross to the ring, then click to engage.", VERMILION
    return "STOPPED", advice + engage, VERMILION


def silence_words(age_s: float | None, endpoint: str) -> str | None:
    """What to say when no state arrived ever (``None``) or for ``age_s``; None when all is well."""
    if age_s is None:
        return f"Waiting for a server at {endpoint}. Start one with `hapticsim serve`."
    if age_s > SILENCE_S:
        return f"The server has been silent for {age_s:.0f} s: what you see is old. Is it still running?"
    return None


HELP = (
    ("move", "the hand's target follows the pointer"),
    ("wheel, Shift + move", "nearer / farther"),
    ("left click, Space", "engage: the force rises"),
    ("right click, Esc", "disengage: no force"),
    (",  .  held", "turn the hand, where the handle turns"),
    ("1 to 9", "switch a constraint"),
    ("B, N", "first and second button of the device"),
    ("arrow keys, middle drag", "turn the view"),
    ("+  -", "zoom"),
    ("R", "target back to the middle depth"),
    ("V", "first view again"),
    ("S", "save a screenshot"),
    ("H", "show or hide this help"),
    ("Q, Esc twice", "close the window"),
)
