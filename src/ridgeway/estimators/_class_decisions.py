"""What follows from a state whose targets are classes, computed once."""

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ridgeway.estimators._temperature import normal_factor
from ridgeway.information import discriminants, oas_covariance, score_moments, shrunk_covariance
from ridgeway.weights import Answer

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


def expected_factor(state: Any) -> float:
    """Return what turns fitted targets into log probabilities, if they are normal in each class; 1 if nothing does."""
    held, answer = state.information, state.answer

    def compute() -> float:
        shares, means, covariance = score_moments(held, answer.coef, answer.intercept)
        seen = np.flatnonzero(shares)
        pairs = np.ix_(seen, seen)
        return normal_factor(shares[seen], means[pairs], covariance[pairs], held.total_weight) or 1.0

    found: float = _remembered(state, "factor", compute)
    return found
