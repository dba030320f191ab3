"""What each task does to the answer: everything computed again without it, exactly."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway._checks import Array
from ridgeway._optional import require
from ridgeway._printed import Printed, Rows
from ridgeway.data import listed
from ridgeway.errors import InferenceError
from ridgeway.information import Information
from ridgeway.retrospect._cells import cells, targets
from ridgeway.retrospect._compressed import by_task, without_prior
from ridgeway.retrospect._estimates import Estimates, estimates, functionals_of, terms_of
from ridgeway.retrospect._model import per_target, state_of
from ridgeway.retrospect._rounding import rounding_squares

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, eq=False)
class Influence(Printed):
    """What changes if a task is left out. With several targets each array of numbers has one more axis in front.

    Attributes
    ----------
    tasks : tuple of str
        In the order in which they were learned.
    terms : tuple of str
        The intercept, if there is one, and the features.
    coef : ndarray of shape (n_terms,)
        The estimates from all tasks.
    coef_without, standard_errors_without : ndarray of shape (n_tasks, n_terms)
        The estimates without each task. A coefficient is NaN, with an infinite standard error, if the other tasks do
        not determine it. Standard errors are infinite if they leave no degrees of freedom.
    change : ndarray of shape (n_tasks, n_terms)
        `coef` minus `coef_without`: what the task adds to each estimate.
    standardized_change : ndarray of shape (n_tasks, n_terms)
        The change divided by the standard error from all tasks, with the noise variance estimated without the task
        (DFBETAS of Belsley, Kuh and Welsch, for a whole task).
    distance : ndarray of shape (n_tasks,)
        Cook's distance: the change of all fitted values, ‖X(ŵ − ŵ_without)‖², divided by the number of coefficients
        and the noise variance. NaN if the other tasks do not determine all that the tasks together do. If all
        rows are fitted up to rounding, every change is rounding: distances and standardized changes are 0.
    undetermined : tuple of str
        The tasks without which some direction of the coefficients is not determined.
    assumption : str

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> X, y = [[0.0], [1.0], [2.0], [0.0], [1.0], [8.0]], [1.0, 2.0, 3.1, 1.0, 2.1, 3.0]
    >>> model = GeneralizedRidge(information="by_task").fit(X, y, tasks=list("aaabbb"))
    >>> found = retrospect.influence(model)
    >>> dict(zip(found.tasks, found.coef_without[:, 1].round(2).tolist()))  # slopes
    {'a': 0.21, 'b': 1.05}
    """

    tasks: tuple[str, ...]
    terms: tuple[str, ...]
    coef: Array
    coef_without: Array
    standard_errors_without: Array
    change: Array
    standardized_change: Array
    distance: Array
    undetermined: tuple[str, ...]
    assumption: str

    def to_frame(self) -> "DataFrame":
        """Return one row per task and term, and per target if there are several, as a pandas DataFrame."""
        require("pandas", extra="frame")
        from pandas import DataFrame, MultiIndex

        columns = {
            "coef_without": self.coef_without,
            "standard_error_without": self.standard_errors_without,
            "change": self.change,
            "standardized_change": self.standardized_change,
            "distance": np.broadcast_to(self.distance[..., None], self.change.shape),
        }
        axes: list[Any] = [range(len(self.change)), self.tasks, self.terms][3 - self.change.ndim :]
        index = MultiIndex.from_product(axes, names=["target", "task", "term"][3 - self.change.ndim :])
        return DataFrame({name: values.ravel() for name, values in columns.items()}, index=index)

    def _title(self) -> str:
        return f"Influence of {len(self.tasks)} tasks: change of each coefficient in standard errors, the largest first"

    def _tables(self) -> Iterator[tuple[str, Rows]]:
        single = self.change.ndim == 2
        pairs = zip(targets(self.standardized_change, single), targets(self.distance, single), strict=True)
        for number, (changes, distance) in enumerate(pairs):
            rows = [["task", "distance", *self.terms]]
            for j in np.argsort(-np.where(np.isnan(distance), np.inf, distance), kind="stable"):
                rows.append([self.tasks[j], *cells([distance[j]]), *cells(changes[j], ".2f")])
            yield "" if single else f"target {number}", rows

    def _notes(self) -> list[str]:
        notes = [self.assumption]
        if self.undetermined:
            notes.append(
                f"Without {listed(self.undetermined)} (one at a time), the other tasks do not determine all "
                "coefficients: what they leave open is NaN."
            )
        return notes


def influence(model: Any) -> Influence:
    """Return what leaving out each task would change, exactly: as if the model were `model.remove(task=id)`.

    The tasks before and after each one are merged, so nothing is subtracted and no digits are lost. O(T·p³).

    Parameters
    ----------
    model : GeneralizedRidge
        Fitted, with information="by_task", without a prior. It needs at least two tasks.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> X, y = [[0.0], [1.0], [2.0], [0.0], [1.0], [3.0]], [1.0, 3.0, 5.5, 2.0, 2.0, 3.0]
    >>> model = GeneralizedRidge(information="by_task").fit(
    ...     X, y, tasks=["a", "a", "a", "b", "b", "b"]
    ... )
    >>> found = retrospect.influence(model)
    >>> found.tasks, found.coef_without[:, 1].round(3)
    (('a', 'b'), array([0.357, 2.25 ]))
    """
    held, state = by_task(model), state_of(model)
    without_prior(model, "influence")
    if len(held.ids) < 2:
        raise InferenceError("influence compares tasks, and the model has learned only one. Learn another.")
    parts = list(held.parts().values())
    before = list(accumulate(parts, Information.merge))
    after = list(accumulate(parts[::-1], Information.merge))[::-1]
    others = [after[1], *map(Information.merge, before[:-2], after[2:]), before[-2]]
    whole, rest = estimates(held.total), [estimates(other) for other in others]
    without = np.stack([each.coef for each in rest], axis=1)
    change = whole.coef[:, None] - without
    with np.errstate(divide="ignore", invalid="ignore"):  # rows without noise
        standardized, distance = change / _scales(whole, rest), _distances(whole, rest)
    exact = whole.known.residual_squares <= rounding_squares(whole.known)
    exact = (exact & np.isfinite(whole.noise_variance))[:, None]
    standardized = np.where(exact[..., None] & np.isfinite(change), 0.0, standardized)
    distance = np.where(exact, 0.0, distance)
    deficient = [each.known.row_space.rank < whole.known.row_space.rank for each in rest]
    return Influence(
        tasks=held.ids,
        terms=terms_of(model),
        coef=per_target(state, whole.coef),
        coef_without=per_target(state, without),
        standard_errors_without=per_target(state, np.stack([each.errors for each in rest], axis=1)),
        change=per_target(state, change),
        standardized_change=per_target(state, standardized),
        distance=per_target(state, np.where(deficient, np.nan, distance)),
        undetermined=tuple(task for task, lost in zip(held.ids, deficient, strict=True) if lost),
        assumption="Rows are assumed independent, of equal variance (weights aside), with the same coefficients in all "
        "tasks.",
    )


def _scales(whole: Estimates, rest: list[Estimates]) -> Array:
    """Return the standard errors from all tasks, each time with the noise of the others; (n_targets, n_tasks, …)."""
    functionals = functionals_of(whole.known.information)
    whitened, determined = whole.known.whiten(*functionals)
    lengths = np.where(determined, np.sqrt(np.square(whitened).sum(axis=0)), np.inf)
    noise = np.stack([each.noise_variance for each in rest], axis=1)
    return np.asarray(np.sqrt(noise)[..., None] * lengths)


def _distances(whole: Estimates, rest: list[Estimates]) -> Array:
    """Return Cook's distances, (n_targets, n_tasks)."""
    held, p = whole.known.information, whole.known.information.n_features
    R, rows = held.factor()[:p, :p], []
    for each in rest:
        change = whole.known.coef - each.known.coef
        squares = np.square(R @ change).sum(axis=0)
        if held.centered:  # the change of the fitted value at the mean of all rows
            other = each.known.information
            gap = (held.mean - other.mean) + (held.mean_low - other.mean_low)
            squares = squares + held.total_weight * np.square(gap[p:] - gap[:p] @ each.known.coef)
        rows.append(squares)
    size = whole.known.row_space.rank + held.centered
    return np.stack(rows, axis=1) / (size * whole.noise_variance[:, None])
