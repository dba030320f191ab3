"""What follows from a state whose targets are classes, computed once."""

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ridgeway.information import class_weights, discriminants, oas_covariance, score_moments, shrunk_covariance
from ridgeway.linalg import psd_root
from ridgeway.weights import Answer

FEWEST_ROWS, ROWS_PER_FEATURE = 10, 5
"""The rows of a class, and of all classes for each feature, below which nothing is said about masking."""
MOST_SCORES, FEWEST_DRAWS = 20_000, 16
"""Scores that are drawn at random for an expected recall, and the fewest draws, however many classes there are."""

_REMEMBERED: WeakKeyDictionary[Any, dict[Any, Any]] = WeakKeyDictionary()
"""What was computed from a state, as long as somebody has the state."""


def _remembered(owner: Any, key: Any, compute: Callable[[], Any]) -> Any:
    found = _REMEMBERED.setdefault(owner, {})
    if key not in found:
        found[key] = compute()
    return found[key]


def balanced(state: Any) -> Any:
    """Return a state that keeps its classes apart, with rows weighted so that all classes weigh the same."""
    return _remembered(state, "balanced", lambda: state.with_tasks(state.by_task.balanced()))


def linear_discriminants(state: Any, shrinkage: float | str, *, even: bool) -> Answer:
    """Return the discriminants of the classes; "auto" takes the shrinkage of each class from its own memory.

    If they are `even`, all classes weigh the same.
    """

    def compute() -> Answer:
        held = balanced(state).information if even else state.information
        if isinstance(shrinkage, str):
            covariance = oas_covariance(state.by_task.clusters().values(), balanced=even)
        else:
            covariance = shrunk_covariance(held, shrinkage)
        return Answer(*discriminants(held, covariance))

    found: Answer = _remembered(state, (shrinkage, even), compute)
    return found


def masked_classes(state: Any) -> list[tuple[int, float, float]]:
    """Return the classes that least squares hides behind others: position, and expected recall of both decisions.

    A class that lies between others has fitted targets that are never the largest (Hastie, Tibshirani and Friedman,
    2009, section 4.2). It counts as masked if least squares is expected to recognise fewer than half as many of its
    rows as the discriminants, and these most of them. Recall is expected if scores are normal, with the means and the
    covariance that the memory implies. Without an intercept classes are missed for other reasons, and none is returned.
    """

    def compute() -> list[tuple[int, float, float]]:
        held, answer = state.information, state.answer
        rows = class_weights(held) * (held.n_samples / held.total_weight)
        seen = np.flatnonzero(rows)
        if not held.centered or len(seen) < 3 or held.n_samples < ROWS_PER_FEATURE * held.n_features:
            return []
        by_least_squares = _recalls(held, answer, seen)
        if by_least_squares.min() >= 0.5:
            return []
        by_discriminants = _recalls(held, linear_discriminants(state, 0.0, even=False), seen)
        is_masked = (by_discriminants > 0.5) & (by_least_squares < by_discriminants / 2.0) & (rows[seen] >= FEWEST_ROWS)
        pairs = zip(seen, by_least_squares, by_discriminants, strict=True)
        return [
            (int(k), float(one), float(two)) for (k, one, two), masked in zip(pairs, is_masked, strict=True) if masked
        ]

    found: list[tuple[int, float, float]] = _remembered(state, "masked", compute)
    return found


def _recalls(held: Any, rule: Answer, seen: Any) -> Any:
    """Return the share of each class's rows whose own score is the highest, if scores are normal in each class."""
    means, covariance = score_moments(held, rule.coef[:, seen], rule.intercept[seen])
    n_draws = max(MOST_SCORES // len(seen), FEWEST_DRAWS)
    around = np.random.default_rng(0).standard_normal((n_draws, len(seen))) @ psd_root(covariance)
    return np.array([((mean + around).argmax(axis=1) == k).mean() for k, mean in enumerate(means[seen])])


def said_before(state: Any) -> bool:
    """Return whether this was asked of a state before."""
    asked = _remembered(state, "said", list)
    asked.append(True)
    return len(asked) > 1
