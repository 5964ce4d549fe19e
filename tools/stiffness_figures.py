"""The figures of the study of formulation stiffness, by matplotlib."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure
from reporting import Found
from stiffness_runs import ABM, BAD, CRBM, FIGURE_5_6, FIGURE_5_9, TABLE_1, swept


def draw(folder: Path, found: Found) -> None:
    """Write the figures as PNG."""
    folder.mkdir(parents=True, exist_ok=True)
    counts = Figure(figsize=(12, 4), layout="constrained")
    for axes, (table, published, label) in zip(
        counts.subplots(1, 3),
        (
            ("table_1", TABLE_1, "base / total length, float32 (table 1)"),
            ("figure_5_6", FIGURE_5_6, "base / total length, float64 (figure 5.6)"),
            ("figure_5_9", FIGURE_5_9, "links (figure 5.9)"),
        ),
        strict=True,
    ):
        for k, (algorithm, colour) in enumerate(((ABM, "C0"), (CRBM, "C3"))):
            name = ("ABM", "CRBM")[k]
            ours = {
                r: b[algorithm]["evaluations"]
                for r, b in found[table].items()
                if b[algorithm]["ending"] == "DONE"
            }
            theirs = {r: p[k] for r, p in published.items() if p[k]}
            axes.plot(list(ours), list(ours.values()), f"{colour}o-", label=name)
            axes.plot(list(theirs), list(theirs.values()), f"{colour}x", label=f"{name}, printed")
        axes.set(xlabel=label, ylabel="evaluations", yscale="log" if table != "figure_5_9" else "linear")
        if table != "figure_5_9":
            axes.set_xscale("log")
            axes.invert_xaxis()
        axes.legend()
    counts.savefig(folder / "evaluations.png", dpi=120)

    sweeps = Figure(figsize=(12, 8), layout="constrained")
    top, bottom = sweeps.subplots(2, 3)
    at_100 = swept(1e2)
    top[0].semilogy(at_100.values, at_100.condition, label="cond(M)")
    top[0].semilogy(at_100.values, at_100.difference(ABM, CRBM)[:, 0] + 1e-18, label="relative difference")
    top[0].set(title="figure 5.3: l2 = m2 = 100", xlabel="joint 2 [rad]")
    lengths = [float(x) for x in found["sweep"]]
    for key, label in (("condition", "cond(M)"), ("difference", "relative difference")):
        top[1].loglog(lengths, [s[key] for s in found["sweep"].values()], "o-", label=label)
    top[1].set(title="figure 5.4: medians over the sweep", xlabel="l2 [m] = m2 [kg]")
    for axes, distal, other, number in (
        (top[2], 1e5, BAD, "5.7"),
        (bottom[0], 4e4, CRBM, "5.5 a"),
        (bottom[1], 5e4, CRBM, "5.5 b"),
        (bottom[2], 1e5, CRBM, "5.5 c"),
    ):
        s = swept(distal)
        for algorithm, width in ((other, 0.6), (ABM, 1.5)):
            axes.plot(s.values, s.udot[algorithm][:, 0] + 9.8, lw=width, label=algorithm)
        axes.set(title=f"figure {number}: l2 = m2 = {distal:.0e}", xlabel="joint 2 [rad]")
        axes.set_ylabel("base acceleration + 9.8 [rad/s^2]")
    for axes in (*top, *bottom):
        axes.legend()
    sweeps.savefig(folder / "sweeps.png", dpi=120)
