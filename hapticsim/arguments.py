"""Arguments of public calls, checked once at the door: what is usable comes back, the rest is one sentence.

``where`` is the call as the user wrote it (``apply``), ``key`` its argument (``force``).  A truth value is no
number here, and neither is text that looks like one.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from hapticsim.errors import ConfigError, listed, nearest

if TYPE_CHECKING:
    import numpy as np

SHOWN = 60  # characters of a value in a sentence


def shown(value: object) -> str:
    """Return a value as it stands in a sentence: on one line, and not long."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**15:
        return f"a whole number of {value.bit_length()} bits"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # whatever a foreign repr raises, this sentence is about something else
        text = ""
    if not text or (text.startswith("<") and " at 0x" in text):
        text = f"<{type(value).__name__}>"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def unusable(where: str, key: str, value: object, allowed: str) -> ConfigError:
    """Return the refusal of a value; ``allowed`` ends the sentence "it must be ..."."""
    return ConfigError(where, key, f"= {shown(value)} is not usable: it must be {allowed}.")


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def number(
    where: str, key: str, value: object, least: float = -math.inf, most: float = math.inf, words: str = ""
) -> float:
    """Return a finite number from least to most.

    words : what is allowed, where "a finite number" and the bounds do not say it.

    Raises
    ------
    ConfigError : it is none.
    """
    if not words:
        words = "a finite number" if least == -math.inf else f"a finite number of {least:g} or more"
        if least > -math.inf and most < math.inf:
            words = f"a number from {least:g} to {most:g}"
    if not _is_number(value):
        raise unusable(where, key, value, words)
    try:
        found = float(value)  # type: ignore[arg-type]
    except (OverflowError, TypeError, ValueError):
        raise unusable(where, key, value, words) from None
    if not (math.isfinite(found) and least <= found <= most):
        raise unusable(where, key, value, words)
    return found


def whole(where: str, key: str, value: object, least: int, most: int) -> int:
    """Return a whole number from least to most.

    Raises
    ------
    ConfigError : it is none.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or not least <= int(value) <= most:
        raise unusable(where, key, value, f"a whole number from {least} to {most}")
    return int(value)


def truth(where: str, key: str, value: object) -> bool:
    """Return True or False, of Python or of NumPy.

    Raises
    ------
    ConfigError : it is neither.
    """
    if isinstance(value, bool):
        return value
    if type(value).__name__ in ("bool", "bool_") and type(value).__module__ == "numpy":
        return bool(value)
    raise unusable(where, key, value, "True or False")


def text(where: str, key: str, value: object, what: str) -> str:
    """Return a string that is not empty; ``what`` it is, such as "the name of a body".

    Raises
    ------
    ConfigError : it is none.
    """
    if not isinstance(value, str) or not value:
        raise unusable(where, key, value, what)
    return value


def one_of(where: str, key: str, value: object, valid: Iterable[str]) -> str:
    """Return one of some names.

    Raises
    ------
    ConfigError : it is none of them; names the nearest.
    """
    names = list(valid)
    if isinstance(value, str) and value in names:
        return value
    near = nearest(value, names) if isinstance(value, str) else ""
    raise ConfigError(where, key, f"= {shown(value)} is not known{near}: use one of {listed(names)}.")


def names(where: str, key: str, value: object, what: str) -> tuple[str, ...]:
    """Return a sequence of strings; ``what`` they are, such as "names of bodies".

    Raises
    ------
    ConfigError : it is none, or one string by itself.
    """
    if isinstance(value, str):
        raise ConfigError(
            where, key, f"= {shown(value)} is one string: put it into a list, [{shown(value)}]."
        )
    if isinstance(value, Mapping) or not isinstance(value, Iterable):
        raise unusable(where, key, value, f"a list of {what}")
    found = tuple(value)
    for i, name in enumerate(found):
        if not isinstance(name, str):
            raise unusable(where, f"{key}[{i}]", name, f"one of the {what}, as text")
    return found


def a_path(where: str, key: str, value: object, what: str) -> str | os.PathLike[str]:
    """Return a path: text, or what ``pathlib`` makes.

    Raises
    ------
    ConfigError : it is none, or holds what no path can.
    """
    if (
        not isinstance(value, str | os.PathLike)
        or not os.fspath(value)
        or isinstance(os.fspath(value), bytes)
    ):
        raise unusable(where, key, value, f"the path of {what}, as text or a pathlib.Path")
    if "\0" in os.fspath(value):
        raise unusable(where, key, value, "a path without the character 0")
    try:
        os.fsencode(value)
    except UnicodeEncodeError:
        raise unusable(where, key, value, "a path that this computer can write in bytes") from None
    return value


def a_function(where: str, key: str, value: Any) -> Callable[..., Any] | None:
    """Return a function, or None.

    Raises
    ------
    ConfigError : it cannot be called.
    """
    if value is None or callable(value):
        return value
    raise unusable(where, key, value, "a function, or None")


def numbers(where: str, key: str, value: object, shape: Sequence[int]) -> np.ndarray:
    """Return finite numbers of a shape as an array of float64; the argument itself where it is one.

    Raises
    ------
    ConfigError : other shape, not numbers (text and truth values are none), complex, or not finite.
    """
    import numpy as np

    array = (
        value if type(value) is np.ndarray and value.dtype == np.float64 else _array(where, key, value, shape)
    )
    if array.shape != tuple(shape):
        wanted = f"it must be {tuple(shape)}" if shape else "it must be one number"
        raise ConfigError(where, key, f"has shape {array.shape}: {wanted}.")
    if not np.isfinite(array).all():
        raise ConfigError(where, key, "holds NaN or infinity: every number must be finite.")
    return array


def _array(where: str, key: str, value: object, shape: Sequence[int]) -> np.ndarray:
    """Anything that holds real numbers as float64; refuse the rest."""
    import numpy as np

    wanted = f"{math.prod(shape)} numbers" if shape else "one number"
    if len(shape) > 1:
        wanted += f" in the shape {tuple(shape)}"
    try:
        with np.errstate(over="ignore"):
            return real_numbers(value).astype(np.float64)
    except ValueError:
        raise unusable(where, key, value, wanted) from None


def real_numbers(value: object) -> np.ndarray:
    """Return what holds real numbers as an array of NumPy's; text, truth values and complex ones are none.

    Raises
    ------
    ValueError : it holds anything else.
    """
    import numpy as np

    try:
        array = np.asarray(value)
        if array.dtype.kind == "O" and all(_is_number(x) for x in array.flat):
            array = array.astype(np.float64)
    except Exception:  # an object of another library may raise anything where it is asked for its numbers
        raise ValueError from None
    if array.dtype.kind not in "iuf":
        raise ValueError
    return array
