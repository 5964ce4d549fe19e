"""Where mechanisms come from: a file that defines ``mechanism()``, or an object made in Python.

What a scene needs to know of a mechanism (names, masses, start) is kept beside the compiled equations, in a
folder named by the file's text, its parameters and everything that decides what is made of them.  A second
start therefore neither runs the file nor loads SymPy.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import json
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hapticsim.arguments import a_path, number, shown, text, unusable
from hapticsim.errors import ConfigError, HapticsimError, listed, nearest
from hapticsim.files.cache_folder import cache_folder
from hapticsim.files.shared_file import write_whole
from hapticsim.mechanism import Mechanism
from hapticsim.model.mechanism_model import MechanismModel, Rows, Variable
from hapticsim.model.multibody.joint import Body

if TYPE_CHECKING:
    from hapticsim.equations.kane.mechanism import System

FUNCTION = "mechanism"
DESCRIPTION = "mechanism.json"
Value = float | int | bool | str
KEPT = 4  # mechanisms whose expressions are kept between reading and compiling

MOST_BYTES = 1_000_000  # of a mechanism file

_formed: dict[str, Any] = {}  # digest -> System
_recorded: ContextVar[tuple[str | None, str]] = ContextVar("_recorded", default=(None, ""))


@dataclass(frozen=True)
class MechanismFile:
    """A mechanism that is made by running a text."""

    where: str
    text: str
    parameters: tuple[tuple[str, Value], ...] = ()
    refusal: str = field(default="", compare=False)  # why it is not run, the rest of a sentence; empty: it is

    @property
    def digest(self) -> str:
        words = f"{self.text}\0{self.parameters!r}\0{made_by()}"
        return hashlib.sha256(words.encode()).hexdigest()

    def mechanism(self) -> Mechanism:
        """Run the file and call its function; refuse what it raises, with the line."""
        if self.refusal:
            raise ConfigError(self.where, "", self.refusal)
        require_sympy(self.where)
        scope: dict[str, Any] = {"__name__": "hapticsim_mechanism", "__file__": self.where}
        try:
            exec(compile(self.text, self.where, "exec"), scope)
        except SyntaxError as error:
            problem = f"is not Python (line {error.lineno}: {error.msg}): correct it."
            raise ConfigError(self.where, "", problem) from None
        except (Exception, SystemExit) as error:
            raise self._raised(error) from error
        function = scope.get(FUNCTION)
        if not callable(function):
            named = nearest(FUNCTION, [k for k, v in scope.items() if inspect.isfunction(v)])
            raise ConfigError(
                self.where, "", f"has no function {FUNCTION}(){named}: define it, returning a Mechanism."
            )
        given = dict(self.parameters)
        takes = inspect.signature(function).parameters
        for name in given:
            if name not in takes and not any(p.kind is p.VAR_KEYWORD for p in takes.values()):
                raise ConfigError(
                    self.where,
                    f"{FUNCTION}()",
                    f"takes no parameter {name!r}{nearest(name, takes)}: it takes {listed(takes)}.",
                )
        try:
            made = function(**given)
        except HapticsimError:
            raise
        except (Exception, SystemExit) as error:
            raise self._raised(error) from error
        if not isinstance(made, Mechanism):
            raise ConfigError(
                self.where, f"{FUNCTION}()", f"returns {type(made).__name__}: return a hapticsim.Mechanism."
            )
        return made

    def _raised(self, error: BaseException) -> ConfigError:
        lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == self.where]
        text = " ".join(str(error).split()) or "no message"
        place = f" in line {lines[-1]}" if lines else ""
        return ConfigError(
            self.where, "", f"raises {type(error).__name__}{place} ({text[:200]}): correct the file."
        )


@dataclass(frozen=True, eq=False)
class MechanismObject:
    """A mechanism that was made in Python; it is known by what was formed of it."""

    made: Mechanism
    where: str
    digest: str = ""
    text = None  # no file made it
    system: list[Any] = field(default_factory=list)

    def mechanism(self) -> Mechanism:
        return self.made


@contextmanager
def recorded_mechanism(text: str | None, refusal: str) -> Iterator[None]:
    """Mechanism files that are loaded meanwhile are those of a recording.

    text : what was recorded of the file; None: the file itself is read.
    refusal : why it is not run, unless its equations have been compiled already; empty: it is run.
    """
    before = _recorded.set((text, refusal))
    try:
        yield
    finally:
        _recorded.reset(before)


def _text_of(path: Path) -> str:
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(f"larger than {MOST_BYTES // 1000} kB")
    return path.read_text(encoding="utf-8-sig")


def load_mechanism(path: str | Path, parameters: Mapping[str, Value] | None = None) -> MechanismModel:
    """Return the model of a mechanism file.

    path : Python file that defines ``mechanism()``.
    parameters : keyword arguments of it.

    Raises
    ------
    ConfigError : the file cannot be read, raises, or makes something that cannot be used.
    """
    a_path("load_mechanism", "path", path, "a mechanism file")
    given = _parameters({} if parameters is None else parameters)
    recorded, refusal = _recorded.get()
    try:
        text = recorded if recorded is not None else _text_of(Path(path))
    except (OSError, UnicodeDecodeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(path, "", f"cannot be read ({reason}): check the path.") from None
    source = MechanismFile(str(path), text, given, refusal)
    kept = mechanism_folder(source.digest) / DESCRIPTION
    try:
        return _model(json.loads(kept.read_text(encoding="utf-8")), source)
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        pass  # not there, or not whole: made again
    words = description(form(source))
    try:
        write_whole(kept, json.dumps(words))
    except OSError:
        pass  # where nothing can be kept, compiling will say so
    return _model(words, source)


def _parameters(parameters: object) -> tuple[tuple[str, Value], ...]:
    """Sorted names and values of a mechanism's parameters; numbers, truth values and text only."""
    where = "load_mechanism"
    if not isinstance(parameters, Mapping):
        raise unusable(where, "parameters", parameters, "a dict of names and values")
    for name, value in parameters.items():
        text(where, "parameters", name, "names as text, with their values")
        if not isinstance(value, bool | str):
            number(where, f"parameters[{shown(name)}]", value, words="a finite number, True, False or text")
    return tuple(sorted(parameters.items()))


def model_of(mechanism: Mechanism) -> MechanismModel:
    """Return the model of a mechanism made in Python."""
    where = mechanism.name
    require_sympy(where)
    import sympy

    system = form(MechanismObject(mechanism, where))
    words = description(system)
    expressions = [
        *(a.expression for p in system.places.values() for a in (*p.axes.omega, *p.v)),
        *(e for p in system.places.values() for e in (*p.p_W, *(x for row in p.axes.R_WF for x in row))),
        *(e for load in system.loads for e in (*load.vector, *(m.expression for m in load.motion))),
        *(e for m in system.masses for e in (*m.gravity, m.mass)),
        *(row.expression for _, row in system.rows),
        *(phi for phi, _ in system.rows),
        *(rate.expression for rate in system.rates),
        system.potential,
        *system.sensors,
    ]
    digest = hashlib.sha256(f"{made_by()}{json.dumps(words)}{system.parameters}".encode())
    for e in expressions:
        digest.update(sympy.srepr(e).encode())
    return _model(words, MechanismObject(mechanism, where, digest.hexdigest(), [system]))


def form(source: Any) -> System:
    """Return the expressions of a mechanism, checked."""
    require_sympy(source.where)
    from hapticsim.equations.kane.checks import check_system, check_words
    from hapticsim.equations.kane.mechanism import System

    if getattr(source, "system", None):
        return source.system[0]
    if source.digest and source.digest in _formed:
        return _formed[source.digest]
    mechanism = source.mechanism()
    try:
        check_words(mechanism, source.where)
        system = System(mechanism, source.where)
        check_system(system)
    except (AttributeError, TypeError, ValueError, LookupError) as error:  # an argument of the wrong kind
        text = " ".join(str(error).split())[:200]
        raise ConfigError(
            source.where,
            "",
            f"makes a Mechanism that cannot be used ({type(error).__name__}: {text}): check its arguments.",
        ) from error
    if source.digest:
        while len(_formed) >= KEPT:
            del _formed[next(iter(_formed))]
        _formed[source.digest] = system
    return system


def mechanism_folder(digest: str) -> Path:
    """Return the folder for a mechanism, or for equations of it; it need not exist yet."""
    return cache_folder(f"equations-{digest[:24]}")


def require_sympy(where: str) -> None:
    """Refuse mechanisms where SymPy is not installed."""
    if importlib.util.find_spec("sympy") is None:
        raise ConfigError(
            where, "", "needs SymPy, which is not installed: pip install 'hapticsim[mechanisms]'."
        )


@cache
def made_by() -> str:
    """Return a hash of the sources and versions that decide what is made of a mechanism."""
    root = Path(__file__).parents[2]
    digest = hashlib.sha256()
    others = [root / "mechanism.py", root / "model" / "mechanism_model.py"]
    for path in [*sorted((root / "equations").rglob("*.py")), *others]:
        digest.update(path.read_bytes())
    versions = []
    for package in ("sympy", "numba"):
        try:
            versions.append(metadata.version(package))
        except metadata.PackageNotFoundError:
            versions.append("none")
    return f"{digest.hexdigest()} {versions} {sys.version_info[:2]}"


# -- what a scene needs to know ------------------------------------------------------------------------------


def description(system: System) -> dict[str, Any]:
    """Return names, masses and start of a mechanism as JSON has them."""
    from hapticsim.equations.kane.description import describe

    return describe(system)


def _model(words: Mapping[str, Any], source: Any) -> MechanismModel:
    bodies = tuple(
        Body(b["name"], b["mass"], np.zeros(3), np.array(b["inertia"], float)) for b in words["bodies"]
    )
    handle = words["handle"]
    return MechanismModel(
        name=words["name"],
        bodies=bodies,
        fixed=frozenset(b["name"] for b in words["bodies"] if b["fixed"]),
        coordinates=tuple(Variable(*v) for v in words["coordinates"]),
        speeds=tuple(Variable(*v) for v in words["speeds"]),
        rate_of=tuple(words["rate_of"]),
        q0=np.array(words["q0"], float),
        u0=np.array(words["u0"], float),
        rows=tuple(
            Rows(
                name=r["name"],
                start=r["start"],
                count=r["count"],
                held=r["held"],
                friction=tuple(r["friction"]) if r["friction"] else None,
                units=tuple(r["units"]),
            )
            for r in words["rows"]
        ),
        handle=None if handle is None else (handle[0], tuple(handle[1])),
        sensors=tuple(words["sensors"]),
        source=source,
    )
