"""Coefficients that are common to all tasks, with errors, tests and intervals."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway.retrospect._coefficients import CoefficientTable
from ridgeway.retrospect._model import per_target, selection_cautions
from ridgeway.weights import Retained


@dataclass(frozen=True, eq=False, kw_only=True)
class Estimated(CoefficientTable):
    """Coefficients that are common to all tasks, with errors, tests and intervals.

    With several targets each array has one more axis in front, and each number is an array of shape (n_targets,).

    Attributes
    ----------
    terms : tuple of str
    coef, standard_errors, t, p_values : ndarray of shape (n_terms,)
    intervals : ndarray of shape (n_terms, 2)
    level : float
    degrees_of_freedom : float or ndarray
        Of Student's t.
    noise_variance : float
    n_samples, n_tasks : int
    assumption : str
        Under which assumption the numbers hold.
    not_estimable : tuple of str
        Terms that the rows do not determine: their standard errors are infinite.
    post_selection : bool
        Whether `best_subset` chose the features. The p-values and the level of the intervals do not account for that.
    cautions : tuple of str
        What `post_selection` means, in words.
    """

    degrees_of_freedom: Any
    noise_variance: Any
    n_samples: int
    n_tasks: int
    assumption: str
    not_estimable: tuple[str, ...]
    post_selection: bool
    cautions: tuple[str, ...]

    @abstractmethod
    def _captions(self) -> list[str]:
        """Return what is said about the fit of each target."""

    def _caption(self, target: int) -> str:
        return self._captions()[target]

    def _notes(self) -> list[str]:
        notes = [*self.cautions, self.assumption]
        if self.not_estimable:
            notes.append(f"The rows do not determine: {', '.join(self.not_estimable)}.")
        return notes


def margins(deviations: Array, freedom: Array | float, level: float) -> Array:
    """Return half the length of the intervals of Student's t that hold `level`; infinity is normal."""
    return np.asarray(scipy.special.stdtrit(freedom, 0.5 + level / 2.0) * deviations)


def estimates(
    state: Retained, terms: tuple[str, ...], coef: Array, deviations: Array, freedom: Array | float, level: float
) -> dict[str, Any]:
    """Return the columns of an `Estimated` by name.

    `coef` and `deviations` are of shape (n_targets, n_terms), and `freedom` is a number or can be broadcast to it.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        t = coef / deviations
    half = margins(deviations, freedom, level)
    return {
        "terms": terms,
        "coef": per_target(state, coef),
        "standard_errors": per_target(state, deviations),
        "t": per_target(state, t),
        "p_values": per_target(state, np.asarray(2.0 * scipy.special.stdtr(freedom, -np.abs(t)))),
        "intervals": per_target(state, np.stack([coef - half, coef + half], axis=-1)),
        "level": level,
        "degrees_of_freedom": per_target(state, freedom) if isinstance(freedom, np.ndarray) else freedom,
        "not_estimable": tuple(terms[j] for j in np.flatnonzero(np.isinf(deviations[0]))),
        "post_selection": state.features_selected,
        "cautions": selection_cautions(state),
    }


def flags(state: Retained, values: NDArray[np.bool_]) -> Any:
    """Return one bool per target, or a single bool."""
    return bool(values[0]) if state.origin.single_target else values
