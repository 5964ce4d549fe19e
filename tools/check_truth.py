"""Simulate scenes whose motion is known in closed form, at 1 ms ticks; print each number beside the truth.

    python tools/check_truth.py                 all scenes
    python tools/check_truth.py ball rocking    those whose name has one of the words

A quantity is met where it is off by at most 1e-6 of the true value, an instant where it is off by 1 us, but
for the rest of the bouncing ball: 10 us, because bounces lower than 0.1 nm are not told apart.  Of each scene
the worst certificate of its ticks is printed, and how many ticks were time steps.  Ends with status 1 where
anything is not met.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from reporting import Found, machine, machine_line, parser_of, report, show_targets, target
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import track
from rich.table import Table
from truth import impacts, oscillators, rolling, rubbing
from truth.bench import Truth

TRUTHS = [*impacts.TRUTHS, *oscillators.TRUTHS, *rolling.TRUTHS, *rubbing.TRUTHS]
RESIDUAL = 1e-8  # of certificates: [m], [N], [m/s], [J]


def measured(one: Truth) -> Found:
    """Run a scene; return its quantities and what its ticks certify."""
    bench, quantities = one.measure()
    return {
        "source": one.source,
        "quantities": [
            {
                "name": q.name,
                "measured": float(q.measured),
                "true": float(q.true),
                "unit": q.unit,
                "off": float(q.off),
                "allowed": q.allowed,
            }
            for q in quantities
        ],
        "residual": float(bench.worst.max()),
        "stepped": bench.stepped,
    }


def measure(words: Sequence[str]) -> Found:
    """Run the scenes whose names have one of the words, or all."""
    chosen = [one for one in TRUTHS if not words or any(word in one.name for word in words)]
    if not chosen:
        names = ", ".join(one.name for one in TRUTHS)
        sys.exit(f"no scene has {' or '.join(words)} in its name: the names are {names}.")
    scenes = {
        one.name: measured(one) for one in track(chosen, description="scenes", console=Console(stderr=True))
    }
    share = max(q["off"] / q["allowed"] for scene in scenes.values() for q in scene["quantities"])
    return {
        "machine": machine(),
        "scenes": scenes,
        "targets": {
            "largest error, as a part of what is allowed": target(share, 1.0),
            "largest residual of a certificate": target(
                max(s["residual"] for s in scenes.values()), RESIDUAL
            ),
        },
    }


def show(console: Console, found: Found, before: Found | None) -> None:
    """Print every number, and the targets."""
    for name, scene in found["scenes"].items():
        table = Table(box=SIMPLE, title=f"{name}: {scene['source']}", title_justify="left", min_width=96)
        for column in ("", "measured", "true", "off", ""):
            table.add_column(column, justify="right" if column else "left", no_wrap=True)
        for q in scene["quantities"]:
            table.add_row(
                q["name"],
                f"{q['measured']:.12g} {q['unit']}",
                f"{q['true']:.12g} {q['unit']}",
                f"{q['off']:.1e}",
                "met" if q["off"] <= q["allowed"] else "NOT MET",
            )
        console.print(table)
        console.print(f"  residual {scene['residual']:.1e}, {scene['stepped']} ticks were time steps")
    show_targets(console, found)
    console.print(machine_line(found))


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("words", nargs="*", help="of the names of scenes (all)")
    options = parser.parse_args()
    kept: list[Found] = []

    def measure_once() -> Found:
        kept.append(measure(options.words))
        return kept[0]

    report(options, measure_once, show)
    sys.exit(int(not all(t["met"] for t in kept[0]["targets"].values())))


if __name__ == "__main__":
    main()
