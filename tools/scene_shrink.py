"""Make a find smaller: leave parts of the trial out for as long as it fails in the same way."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml
from scene_maker import Trial

MOST_RUNS = 60
MARK = "# trial: "


def shrunk(trial: Trial, fails: Callable[[Trial], bool]) -> Trial:
    """Return a smaller trial that fails too; ``fails`` runs one and says whether it fails like the first."""
    runs, smaller = 0, True
    while smaller and runs < MOST_RUNS:
        smaller = False
        for candidate in _without_a_part(trial):
            runs += 1
            if runs > MOST_RUNS:
                break
            if fails(candidate):
                trial, smaller = candidate, True
                break
    return trial


def _without_a_part(trial: Trial) -> Iterator[Trial]:
    """Trials with one part less: the hand, an act, a constraint, a contact, a torque law, a restitution."""
    if trial.hand is not None:
        yield _changed(trial, hand=None, acts=[a for a in trial.acts if a["do"] not in ("arm", "disarm")])
    for i, act in enumerate(trial.acts):
        ends = act["do"] == "disarm" or act.get("held") is False or not any(act.get("values", [1.0]))
        if ends:  # the work that is put in
            continue
        yield _changed(trial, acts=trial.acts[:i] + trial.acts[i + 1 :])
    for key in ("constraints", "contacts", "torques"):
        entries = trial.scene.get(key, [])
        for i in range(len(entries)):
            smaller = _changed(trial)
            left = entries[:i] + entries[i + 1 :]
            if left:
                smaller.scene[key] = left
            else:
                del smaller.scene[key]
            named = {c["name"] for c in smaller.scene.get("constraints", [])}
            smaller.acts = [a for a in smaller.acts if a["do"] != "switch" or a["name"] in named]
            yield smaller
    for i, contact in enumerate(trial.scene.get("contacts", [])):
        if contact.get("restitution"):
            smaller = _changed(trial)
            del smaller.scene["contacts"][i]["restitution"]
            yield smaller


def _changed(trial: Trial, **changes: Any) -> Trial:
    return Trial(**{**copy.deepcopy(trial.as_dict()), **changes})


def keep(trial: Trial, what: str, folder: Path) -> Path:
    """Write a trial as a scene file that anyone can run; what is done to it stands in its first lines."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{what}_{trial.seed}.yaml"
    about = {key: value for key, value in trial.as_dict().items() if key != "scene"}
    path.write_text(f"{MARK}{json.dumps(about)}\n{yaml.safe_dump(trial.scene, sort_keys=False)}")
    return path


def kept(path: Path) -> Trial:
    """Read a trial that ``keep`` wrote."""
    first, text = path.read_text().split("\n", 1)
    return Trial(scene=yaml.safe_load(text), **json.loads(first.removeprefix(MARK)))
