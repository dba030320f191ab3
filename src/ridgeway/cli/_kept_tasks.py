"""What the commands about tasks share: a choice of terms, and plain data."""

from dataclasses import fields, replace
from typing import Any

from ridgeway._text import did_you_mean
from ridgeway.errors import InvalidParameterError

MOST_TERMS = 5
"""The number of terms that are shown, unless some are asked for."""


def with_terms(found: Any, chosen: list[str]) -> Any:
    """Return an answer about fewer terms: those that are asked for, or those whose t is largest in the last row."""
    import numpy as np

    terms = found.terms
    if unknown := [name for name in chosen if name not in terms]:
        near = did_you_mean(unknown[0], terms)
        raise InvalidParameterError(f"unknown term {unknown[0]!r}.{near} The terms are {', '.join(map(repr, terms))}.")
    if not chosen and len(terms) <= MOST_TERMS:
        return found
    places = [terms.index(name) for name in chosen]
    if not chosen:
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.abs(np.nan_to_num(found.coef / found.standard_errors)).reshape(-1, len(terms))[-1]
        places = sorted(np.argsort(-t, kind="stable")[:MOST_TERMS].tolist())
    kept: dict[str, Any] = {"terms": tuple(terms[place] for place in places)}
    kept |= {name: getattr(found, name)[..., places] for name in ("coef", "standard_errors")}
    if hasattr(found, "intervals"):
        kept["intervals"] = found.intervals[..., places, :]
    return replace(found, **kept)


def plain(found: Any) -> dict[str, Any]:
    """Return an answer as plain data, by the names of its attributes."""
    import numpy as np

    def simple(value: Any) -> Any:
        return value.tolist() if isinstance(value, np.ndarray | np.generic) else value

    return {field.name: simple(getattr(found, field.name)) for field in fields(found)}
