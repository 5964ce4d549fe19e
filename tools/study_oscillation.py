"""How soon a device that swings by itself loses its force, and how often a hand that shakes one does.

    PYTHONPATH=. python tools/study_oscillation.py [--trials 200]

Through the whole tick in virtual time.  Swings: every device of the table let go, with 1.5 to 4 times the
derived stiffness, 0.3 to 1 times the damping and 1 to 4 ms more delay.  Hands: random ones with damping
ratios of 0.2 to 0.7 that shake a random handle (0.1 kg to one that does not move) at 1 to 8 Hz
and up to 0.5 m/s; and hands at 0.5 m/s with stalls of 12 to 50 ms, through the state machine alone.
"""

from __future__ import annotations

import argparse

import numpy as np
from hapticsim_devices.limits import device_table

from hapticsim.codes import Fault
from hapticsim.kernels.haptics.oscillation import FADING
from hapticsim.kernels.memory.sample import PLACE
from tests.kernels.test_oscillation import FORCE, derived, let_go, shaken, shaken_and_interrupted

NAMES = sorted(device_table())


def swings(trials: int) -> None:
    """Print how many let-go devices still swing at the end, and how long the others swung at full force."""
    rng, times, ends = (
        np.random.default_rng(0),
        [],
        {"oscillation": 0, "other fault": 0, "rests": 0, "swings": 0},
    )
    for i in range(trials):
        name = NAMES[i % len(NAMES)]
        K, B = derived(name)
        rows = let_go(name, rng.uniform(1.5, 4.0) * K, rng.uniform(0.3, 1.0) * B, int(rng.integers(1, 5)))
        fault, force = int(rows[-1, PLACE["fault"]]), np.linalg.norm(rows[:, FORCE], axis=1)
        limit = device_table()[name].max_force_N
        if fault:
            ends["oscillation" if fault == Fault.OSCILLATION else "other fault"] += 1
            strong = np.flatnonzero(force > 0.9 * limit)
            off = int(np.flatnonzero(rows[:, PLACE["fault"]])[0])
            times.append(off - int(strong[0]) if strong.size else 0)
        else:
            ends["swings" if force[-500:].max() > 0.25 * limit else "rests"] += 1
    after = f"{np.median(times):.0f} (median), {np.max(times)} ms (longest)" if times else "-"
    print(f"let go, forced gains, {trials} trials: {ends}; force gone after {after} of strong force")


def hands(trials: int) -> None:
    """Print how many hands that shake a device lose the force."""
    found = [
        int(shaken(NAMES[i % len(NAMES)], np.random.default_rng(1000 + i))[-1, PLACE["fault"]])
        for i in range(trials)
    ]
    false, other = (
        sum(f == Fault.OSCILLATION for f in found),
        sum(f not in (0, Fault.OSCILLATION) for f in found),
    )
    print(
        f"hands that shake, {trials} trials: {false} lost the force by oscillation, {other} by another fault"
    )


def interrupted_hands(trials: int) -> None:
    """Print how many hands that shake lose the force on a computer that stands still now and then."""
    rng, lost = np.random.default_rng(2), 0
    for _ in range(trials):
        hertz = float(rng.uniform(1.0, 8.0))
        machine, _ = shaken_and_interrupted(rng, int(rng.integers(12, 51)), int(rng.integers(50, 300)), hertz)
        lost += bool(machine.fault & Fault.OSCILLATION) or machine.state.swing[FADING] != 0.0
    print(
        f"hands that shake, interrupted up to 20 times a second, {trials} trials: {lost} lost it by a swing"
    )


def main() -> None:
    """Print three lines."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--trials", type=int, default=200)
    trials = parser.parse_args().trials
    swings(trials)
    hands(trials)
    interrupted_hands(trials)


if __name__ == "__main__":
    main()
