"""How often and how finely to draw, from how long drawing takes."""

from __future__ import annotations

_FRAME_S = 1.0 / 60.0
_SHARE = 1.5  # begin of a frame to begin of the next, over the time it took: a third is left for input
# Detail 1 costs two thirds of detail 2: these are far enough apart not to swing between them.
_SLOW_S, _FAST_S = 0.020, 0.009
_MEMORY = 0.05  # weight of the newest frame: one slow frame changes nothing, twenty do


class Pace:
    """Keeps to 60 frames a second, then gives up smoothness of edges, then frames.

    ``detail`` is the number of canvas pixels per screen pixel, 2 or 1.
    """

    def __init__(self) -> None:
        self.detail = 2
        self.usual_s = 0.5 * (_SLOW_S + _FAST_S)  # smoothed duration of a frame
        self.next_s = 0.0  # monotonic time when the next frame is due

    def drawn(self, began_s: float, ended_s: float) -> None:
        """Take note of a frame drawn between two monotonic times [s]."""
        took_s = ended_s - began_s
        self.usual_s += _MEMORY * (took_s - self.usual_s)
        if self.usual_s > _SLOW_S:
            self.detail = 1
        elif self.usual_s < _FAST_S:
            self.detail = 2
        self.next_s = began_s + max(_FRAME_S, _SHARE * took_s)
