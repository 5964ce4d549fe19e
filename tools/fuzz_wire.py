"""Feed damaged device messages to the decoder and count what becomes of them.

    python tools/fuzz_wire.py --count 1000000 --seed 1

Each message starts as a valid one of a random kind.  Its bytes are flipped, cut, padded or joined with
another's, or one of its values is replaced by something odd.  Fails if anything but a message or a counted
refusal comes out, or if memory grows.  Prints messages per second and resident memory before and after.
"""

from __future__ import annotations

import argparse
import math
import random
import resource
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import msgpack

from hapticsim.wire.device.inbox import Inbox
from hapticsim.wire.messages.codec import encode
from hapticsim.wire.messages.device import (
    FROM_DEVICE,
    Arm,
    Bye,
    Disarm,
    Force,
    Hello,
    Message,
    Reject,
    State,
    Welcome,
)

SESSION = 7
PORTION = 2000  # messages made at a time, so that taking them is timed apart from damaging them
WARM_UP = 10  # portions before memory is measured
GROWTH_LIMIT_MiB = 4.0
ZERO = (0.0, 0.0, 0.0)
SEEDS: list[Message] = [
    Hello("bench", "scripted", "omega_3", 12.0, 5000.0, 30.0, 0.075, 0.2, 1e-5, 1000.0, 3, 3, True),
    State(ZERO, (1.0, 0.0, 0.0, 0.0), ZERO, ZERO, 1, ZERO, 1, ZERO),
    Force(ZERO, ZERO, 2, 0),
    Welcome(1000.0, 0.01, 8.0, 2000.0),
    Arm(),
    Disarm(),
    Bye("the device left."),
    Reject("no."),
]
ODD: list[Any] = [
    None,
    True,
    -1,
    0,
    2**31,
    2**63,
    2**64 - 1,
    math.nan,
    math.inf,
    -math.inf,
    1e308,
    5e-324,
    "",
    "\x1b]0;x\x07",
    "x" * 400,
    b"\xff\xfe",
    [],
    [math.nan] * 3,
    [1.0, 0.0, 0.0],
    [0.5] * 4,
    [[[1]]],
    {},
    {"v": 1},
    msgpack.ExtType(3, b"abc"),
    msgpack.Timestamp(1),
]


def damaged(rng: random.Random, number: int, session: int = SESSION) -> bytes:
    """Return the bytes of one message, damaged in one of several ways (now and then not at all)."""
    message = rng.choice(SEEDS)
    message.session, message.number = session, number
    data = bytearray(encode(message))
    way = rng.choice((0, 1, 2, 3, 4, 4, 4, 4, 5, 6))
    if way == 0:
        for _ in range(rng.choice((1, 2, 8))):
            data[rng.randrange(len(data))] = rng.randrange(256)
    elif way == 1:
        del data[rng.randrange(len(data)) :]
    elif way == 2:
        at = rng.randrange(len(data))
        data[at:at] = rng.randbytes(rng.choice((1, 4, 64)))
    elif way == 3:
        data += encode(rng.choice(SEEDS))
    elif way == 4:
        content = msgpack.unpackb(bytes(data))
        content[rng.choice(list(content))] = rng.choice(ODD)
        return msgpack.packb(content)
    elif way == 5:
        return rng.randbytes(rng.randrange(300))
    return bytes(data)


def resident_MiB(process: int | str = "self") -> float:
    """Return the resident memory of a process [MiB]."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def main() -> int:
    """Run the fuzz; 0 if the decoder stayed total and memory flat."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1_000_000, help="messages (default 1000000)")
    parser.add_argument("--seed", type=int, default=1, help="of the random generator (default 1)")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    taken, dropped, taking_s = 0, Counter[str](), 0.0
    portions = max(WARM_UP + 1, math.ceil(options.count / PORTION))
    before = math.nan
    for portion in range(portions):
        if portion == WARM_UP:
            before = resident_MiB()
        inbox = Inbox(SESSION, FROM_DEVICE)  # afresh: one damaged number can make all that follow it stale
        frames = [damaged(rng, number) for number in range(PORTION)]
        started = time.perf_counter()
        for data in frames:
            inbox.take(data)
        taking_s += time.perf_counter() - started
        taken += inbox.taken
        dropped += inbox.dropped
    after, fed = resident_MiB(), portions * PORTION
    print(f"fed {fed}, taken {taken}, dropped {dict(sorted(dropped.items()))}")
    print(f"{fed / taking_s:,.0f} messages/s")
    print(f"resident memory {before:.1f} MiB before, {after:.1f} MiB after")
    if taken + sum(dropped.values()) != fed or after - before > GROWTH_LIMIT_MiB:
        print("FAILED: a message was not counted, or memory grew", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
