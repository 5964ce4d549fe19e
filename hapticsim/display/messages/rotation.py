"""The rotation of device and handle as published."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hapticsim.display.messages.orientation import orientation
from hapticsim.display.messages.reading import Payload, vector


@dataclass(frozen=True, eq=False)
class Turned:
    """How the device is turned, what it asks of the handle, and the torque between them."""

    R_DH: np.ndarray  # (3, 3) the device's handle in its base frame
    hand_torque_D: np.ndarray  # (3,) [N m] what the device applies to the hand
    wanted_W: np.ndarray | None  # (3, 3) what the device asks of the handle's body; None: nothing
    handle_W: np.ndarray | None  # (3, 3) the handle's body as it is

    @classmethod
    def read(cls, device: Payload, coupler: Payload) -> Turned:
        """From the maps of topic ``state``; a server that says nothing of rotation has none."""
        R_DH = orientation(device, "quaternion")
        return cls(
            R_DH=np.eye(3) if R_DH is None else R_DH,
            hand_torque_D=vector(device, "torque_Nm", default=np.zeros(3)),
            wanted_W=orientation(coupler, "anchor_quaternion_W"),
            handle_W=orientation(coupler, "handle_quaternion_W"),
        )

    def device_W(self, R_WD: np.ndarray) -> np.ndarray:
        """(3, 3) the device's handle in the world."""
        R: np.ndarray = R_WD @ self.R_DH
        return R

    def grip_W(self, R_WD: np.ndarray) -> np.ndarray | None:
        """(3, 3) where the mechanism holds the hand: equal to ``device_W`` when the coupler is not twisted.

        None while nothing is coupled.
        """
        if self.wanted_W is None or self.handle_W is None:
            return None
        R: np.ndarray = self.handle_W @ self.wanted_W.T @ self.device_W(R_WD)
        return R
