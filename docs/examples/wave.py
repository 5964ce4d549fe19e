"""A driver in one file: a hand that moves a handle up and down in waves, and gives way to the force."""

import math

from hapticsim_devices.base import ENGAGE, READY, ZERO, DeviceInfo, DeviceSample, Driver
from hapticsim_devices.limits import DeviceLimits
from hapticsim_devices.options import Options

STIFFNESS_N_PER_M, DAMPING_NS_PER_M = 300.0, 30.0  # of the hand
LIMITS = DeviceLimits("wave", 12.0, 2000.0, 20.0, 0.1, 0.2, 0.0, 1e-5)


class Wave(Driver):
    name = "wave"

    def __init__(self, options=None):
        o = Options(options)
        self.amplitude_m = o.number("amplitude_m", 0.08, above=0.0, at_most=0.1)
        self.period_s = o.number("period_s", 4.0, at_least=1.0)
        o.finish()  # refuses keys that nobody asked for
        self.force, self.z, self.start_s, self.last_s = ZERO, 0.0, None, 0.0

    @property
    def info(self):
        return DeviceInfo("wave", "wave", LIMITS, dof_in=3, dof_out=3, rate_Hz=1000.0, emulated=True)

    def open(self):
        self.force = ZERO

    def read(self, now_s):
        if self.start_s is None:
            self.start_s = self.last_s = now_s
        t, elapsed_s, self.last_s = now_s - self.start_s, now_s - self.last_s, now_s
        target = -self.amplitude_m * math.sin(2.0 * math.pi * t / self.period_s)
        rest, rate = target + self.force[2] / STIFFNESS_N_PER_M, STIFFNESS_N_PER_M / DAMPING_NS_PER_M
        self.z = rest + (self.z - rest) * math.exp(-rate * elapsed_s)
        v = rate * (rest - self.z)
        buttons = ENGAGE if t % 0.5 > 0.4 else 0  # a click every half second
        return DeviceSample(
            now_s, (0.0, 0.0, self.z), (0.0, 0.0, v), buttons=buttons, force_N=self.force, flags=READY
        )

    def write(self, force_N):
        self.force = force_N
        return force_N

    def close(self):
        self.force = ZERO
