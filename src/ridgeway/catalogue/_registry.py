"""The table of names, and how a name or an object becomes a `Method`."""

import difflib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ridgeway.catalogue._learners import copier, of_policy
from ridgeway.catalogue._method import Method
from ridgeway.catalogue._table import FAMILIES, TABLE, Entry
from ridgeway.data import FamilyName
from ridgeway.errors import InvalidParameterError

ENTRIES: dict[str, Entry] = {}
"""What was registered."""
ACCEPTED = (
    "a name, an estimator with partial_fit and predict, a policy of ridgeway.weights (or your own subclass of "
    "WeightPolicy; simulations need a DesignPolicy), or a form of research.simulation"
)


def register(name: str, method: Any, *, label: str | None = None, about: str = "") -> None:
    """Add a method under a name, for `compare` and `simulate` in this Python process. Then name it in `methods`.

    Parameters
    ----------
    name : str
        A word, or a word, a colon and a fixed argument. You may register a name of your own again, but not replace
        one of Ridgeway's.
    method : estimator, policy, Method, or function
        An estimator has `partial_fit` and `predict`; each run starts with an unfitted copy. A policy is a
        `weights.WeightPolicy`, and simulations need a `weights.DesignPolicy`. The family of the target decides which
        estimator takes it. A function takes the text after the colon, so that one registration serves `name`,
        `name:1` and `name:2`, and returns an estimator or a policy.
    label : str, optional
        The label in tables; the name of the class if not given.
    about : str, optional
        One line about the method.

    Examples
    --------
    >>> from ridgeway import MinimumNorm, catalogue
    >>> catalogue.register(
    ...     "far",
    ...     MinimumNorm(initial_coef=[5.0, 5.0]),
    ...     about="minimum norm from a far start",
    ... )
    >>> catalogue.find("far").make().initial_coef
    [5.0, 5.0]
    """
    if str(name).strip() != name or not name or "," in name:
        raise InvalidParameterError(f"a method needs a name without commas and outer spaces; got {name!r}.")
    if name in TABLE:
        raise InvalidParameterError(f"{name!r} is one of Ridgeway's own methods. Choose another name.")
    takes_argument = callable(method) and not isinstance(method, type) and not _is_method(method)

    def build(family: FamilyName, argument: str) -> Method:
        found = as_method(method(argument) if takes_argument else method, family)
        return replace(found, name=label or found.name, about=about or found.about)

    line = about
    if not takes_argument:
        line = build("gaussian", "").about  # raises now if it cannot be a method
    ENTRIES[name] = Entry(build, line, takes_argument, also=FAMILIES)


def find(key: str, family: FamilyName = "gaussian") -> Method:
    """Return the method of a name for a family of targets, or raise `InvalidParameterError`.

    Examples
    --------
    >>> from ridgeway import catalogue
    >>> catalogue.find("crr:0.1").make()
    GeneralizedRidge(weights=Isotropic(penalty=0.1))
    >>> catalogue.find("crr:0.1", "multiclass").make()
    GeneralizedRidgeClassifier(weights=Isotropic(penalty=0.1))
    """
    entries = _entries(family)
    entry, argument = entries.get(key), ""
    if entry is None:
        word, _, argument = key.partition(":")
        entry = entries.get(word) if argument else None
    if entry is None or (argument and not entry.takes_argument):
        close = difflib.get_close_matches(key, entries, n=1)
        hint = f" Did you mean {close[0]}?" if close else ""
        targets = "" if family == "gaussian" else f" for a {family} target"
        raise InvalidParameterError(f"unknown method {key!r}.{hint} Known methods{targets}: {', '.join(entries)}.")
    return entry.method(key, family, argument)


def known(family: FamilyName = "gaussian") -> dict[str, str]:
    """Return the names of methods for a family of targets, and a line about each.

    Examples
    --------
    >>> from ridgeway import catalogue
    >>> catalogue.known()["oracle"]
    'every row, pooled'
    >>> "lda" in catalogue.known("multiclass"), "lda" in catalogue.known()
    (True, False)
    """
    return {name: entry.about for name, entry in _entries(family).items()}


def _entries(family: FamilyName) -> dict[str, Entry]:
    """Return Ridgeway's methods for a family, and those that were registered."""
    entries = TABLE | ENTRIES
    return {key: entry for key, entry in entries.items() if family in (*entry.compared, *entry.also)}


def resolve(methods: str | Iterable[Any], family: FamilyName = "gaussian") -> list[Method]:
    """Return methods for names and objects, or raise.

    Parameters
    ----------
    methods : str, or sequence of str and objects
        One text with commas; or names, estimators, policies and methods.
    family : {"gaussian", "binomial", "poisson", "multiclass"}, default "gaussian"
        What the target is: numbers, two classes, counts, or classes. It decides which estimator a name or a policy is.

    Examples
    --------
    >>> from ridgeway import MinimumNorm, catalogue
    >>> [method.key for method in catalogue.resolve(["gr", "crr:1/2/3", MinimumNorm()])]
    ['gr', 'crr:1/2/3', 'MinimumNorm()']
    """
    if isinstance(methods, str):
        methods = methods.split(",")
    try:
        listed = list(methods)
    except TypeError:
        listed = [methods]
    found = [find(each.strip(), family) if isinstance(each, str) else as_method(each, family) for each in listed]
    keys = [method.key for method in found]
    if not found or len(set(keys)) < len(keys):
        raise InvalidParameterError(f"name at least one method, and each one once; got {', '.join(keys) or 'none'}.")
    return found


def as_method(thing: Any, family: FamilyName = "gaussian") -> Method:
    """Return an object as a method: itself, or an estimator, policy or form in a `Method`."""
    if isinstance(thing, Method):
        return thing
    if not isinstance(thing, type):
        if hasattr(thing, "partial_fit") and hasattr(thing, "predict"):
            return Method(_shown(thing), type(thing).__name__, make=copier(thing))
        if hasattr(thing, "start") and hasattr(thing, "step"):
            return replace(of_policy(thing, family, name=type(thing).__name__), key=_shown(thing))
        if hasattr(thing, "as_method"):
            return as_method(thing.as_method(), family)
    instance = f" Pass an instance, {thing.__name__}(…)." if isinstance(thing, type) else ""
    raise InvalidParameterError(f"cannot use {thing!r} as a method.{instance} Accepted: {ACCEPTED}.")


def _is_method(thing: Any) -> bool:
    return isinstance(thing, Method) or any(hasattr(thing, name) for name in ("partial_fit", "step", "as_method"))


def _shown(thing: Any) -> str:
    """Return an object as a key: its representation in one line, or the name of its class if it has none."""
    name = type(thing).__name__
    text = " ".join(repr(thing).split())
    return name if text == object.__repr__(thing) or len(text) > 80 else text.replace(",", ";")
