"""Options of a driver: read once, checked once, every key known."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from hapticsim.errors import ConfigError, brief, listed, nearest

WHERE = "<device options>"
LARGEST = 1e300  # NaN, infinity and whole numbers that no float holds are beyond it


class Options:
    """A reader of driver options that remembers which keys were asked for.

    ``number``, ``flag``, ``text`` and ``items`` return the checked value or the default; ``finish`` refuses
    keys that nobody asked for.  All raise ConfigError.

    within : where these options stand among all of the driver, such as ``turns[0].``
    """

    def __init__(self, options: Mapping[str, Any] | None, within: str = "") -> None:
        self._within = within
        self._given = dict(options or {})
        self._known: set[str] = set()

    def number(
        self,
        key: str,
        default: float,
        *,
        above: float | None = None,
        at_least: float = -math.inf,
        at_most: float = math.inf,
    ) -> float:
        """A finite number, > ``above`` if given, within [``at_least``, ``at_most``]."""
        value = self._take(key, default)
        usable = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < LARGEST
        if not usable or (above is not None and value <= above) or not at_least <= value <= at_most:
            bounds = []
            if above is not None:
                bounds.append(f"above {above:g}")
            if at_least > -math.inf:
                bounds.append(f"at least {at_least:g}")
            if at_most < math.inf:
                bounds.append(f"at most {at_most:g}")
            raise self._refusal(
                key,
                f"= {brief(value)} is not usable: give a finite number"
                + "".join(f", {b}" for b in bounds)
                + ".",
            )
        return float(value)

    def count(self, key: str, default: int, *, at_most: int = 1000) -> int:
        """A whole number from 0 to ``at_most``."""
        value = self._take(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= at_most:
            raise self._refusal(
                key, f"= {brief(value)} is not usable: give a whole number from 0 to {at_most}."
            )
        return value

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self._take(key, default)
        if not isinstance(value, bool):
            raise self._refusal(key, f"= {brief(value)} is not usable: give true or false.")
        return value

    def text(self, key: str, default: str | None, *, choices: tuple[str, ...] = ()) -> str | None:
        """A word, one of ``choices`` if given."""
        value = self._take(key, default)
        if value is None:
            return None
        if not isinstance(value, str) or not value:
            raise self._refusal(key, f"= {brief(value)} is not usable: give a word.")
        if choices and value not in choices:
            raise self._refusal(
                key,
                f"= {brief(value)} is not known{nearest(value, choices)}: choose one of {listed(choices)}.",
            )
        return value

    def items(self, key: str) -> list[Any] | None:
        """A list, or None when it was not given."""
        value = self._take(key, None)
        if value is not None and not isinstance(value, (list, tuple)):
            raise self._refusal(key, f"= {brief(value)} is not usable: give a list.")
        return None if value is None else list(value)

    def finish(self) -> None:
        """Refuse keys that this driver does not know."""
        for key in self._given:
            if key not in self._known:
                raise self._refusal(
                    str(key),
                    f"is not known{nearest(str(key), self._known)}: choose among {listed(self._known)}.",
                )

    @staticmethod
    def refusal(key: str, problem: str) -> ConfigError:
        """The error for one option."""
        return ConfigError(WHERE, key, problem)

    def _refusal(self, key: str, problem: str) -> ConfigError:
        return self.refusal(f"{self._within}{key}", problem)

    def _take(self, key: str, default: Any) -> Any:
        self._known.add(key)
        value = self._given.get(key, default)
        return default if value is None else value
