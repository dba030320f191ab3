"""A quick look at whether anything changed: cumulative sums of the scores."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway._checks import Array
from ridgeway._optional import require
from ridgeway._printed import Printed, Rows
from ridgeway.errors import InferenceError
from ridgeway.retrospect._cells import cells
from ridgeway.retrospect._no_change import DRAWS, CommonNoise, Targets
from ridgeway.retrospect._reduced_tasks import ReducedTasks, reduced_tasks, refuse_exact_fit

if TYPE_CHECKING:
    from pandas import DataFrame

ENOUGH = 10
"""Degrees of freedom within tasks below which the noise is also estimated from differences between tasks."""


@dataclass(frozen=True, eq=False)
class Cusum(Printed):
    """Cumulative sums of the scores over time.

    Attributes
    ----------
    tasks : tuple of str
        In the order of time.
    path : ndarray of shape (n_tasks,)
        S_jᵀ(σ²·XᵀX)⁻¹S_j for S_j = Σ_{g≤j} X_gᵀ(y_g − X_g·ŵ), the scores of the tasks up to j at the coefficients of
        all tasks. With several targets, the sum over them once their noise is made independent. The last is 0.
    maximum : float
        The largest of them.
    last_before : str
        The task at which it is reached. If there is one change, it is probably soon after.
    p_value : float
        How often the maximum is as large if nothing changes.
    n_draws : int
        Draws of the Monte Carlo simulation.
    assumption : str
        What the p-value assumes, in words.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> rng = np.random.default_rng(0)
    >>> months, X = np.repeat(np.arange(1, 9), 10), rng.normal(size=(80, 1))
    >>> y = np.where(months > 5, 2.0, 1.0) + 0.3 * rng.normal(size=80)  # higher after May
    >>> model = GeneralizedRidge(information="by_task").fit(X, y, tasks=months)
    >>> found = retrospect.cusum(model)
    >>> found.last_before, found.p_value
    ('5', 0.0005)
    """

    tasks: tuple[str, ...]
    path: Array
    maximum: float
    last_before: str
    p_value: float
    n_draws: int
    assumption: str

    def to_frame(self) -> "DataFrame":
        """Return one row per task as a pandas DataFrame."""
        require("pandas", extra="frame")
        from pandas import DataFrame

        return DataFrame({"path": self.path}, index=list(self.tasks))

    def _title(self) -> str:
        reached = f"maximum {self.maximum:.4g} after task {self.last_before!r}"
        return f"Cumulative scores of {len(self.tasks)} tasks: {reached}, p = {self.p_value:.4g} ({self.n_draws} draws)"

    def _tables(self) -> Iterator[tuple[str, Rows]]:
        rows = [[task, cell] for task, cell in zip(self.tasks, cells(self.path), strict=True)]
        yield "", [["up to task", "path"], *rows]

    def _notes(self) -> list[str]:
        return [self.assumption]


def cusum(model: Any, *, order: Any = None) -> Cusum:
    """Return the cumulative sums of the scores, and how likely their maximum is if nothing changes.

    If the coefficients are the same in all tasks, the scores of the tasks scatter about 0; after a change they lean
    to one side. This looks for one change, or a drift, and costs much less than `segments`. σ² is estimated within
    tasks, or from all tasks together if that leaves fewer than 10 degrees of freedom. O(T·q²) per draw, for q terms.

    Parameters
    ----------
    model : GeneralizedRidge
        Fitted, with information="by_task", without a prior. It needs at least two tasks.
    order : list of task ids, optional
        All tasks in the order of time; by default, the order in which they were learned.

    References
    ----------
    Brown, Durbin and Evans (1975); Hansen (1992) for scores.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> rng = np.random.default_rng(0)
    >>> months = np.repeat(np.arange(1, 13), 20)
    >>> X = rng.normal(size=(240, 1))
    >>> y = 2.0 * X[:, 0] + 0.1 * months + rng.normal(size=240)  # the intercept drifts
    >>> found = retrospect.cusum(
    ...     GeneralizedRidge(information="by_task").fit(X, y, tasks=months)
    ... )
    >>> found.last_before, round(found.maximum, 1), found.p_value
    ('5', 7.8, 0.0005)
    """
    tasks = reduced_tasks(model, order, "a cumulative sum over tasks")
    null = CommonNoise.of(tasks)
    pooled = tasks.right.shape[1] == 1 and null.freedom < ENOUGH
    freedom = null.freedom + (len(tasks.basis) - tasks.basis.shape[1] if pooled else 0)
    if freedom < 1:
        raise InferenceError(
            "no degrees of freedom are left to estimate the noise: all tasks together have no more rows than "
            "coefficients. Learn more rows, or ask about fewer features (retrospect.submodel)."
        )
    observed = null.observed()
    squares, path = _path(tasks, observed, pooled)
    if null.freedom == 0:
        refuse_exact_fit(tasks, squares)
    path = (path / (squares / freedom))[:, 0]
    chance = []
    for drawn in null.draws():
        scatter, paths = _path(tasks, drawn, pooled)
        chance.append((paths / (scatter / freedom)).max(axis=0))
    highest = float(path.max())
    text = "Gaussian, independent noise of equal variance in all tasks is assumed (weights aside)."
    if pooled:
        text += " The tasks are too small to show their noise: changes inflate its estimate."
    return Cusum(
        tasks=tasks.names,
        path=path,
        maximum=highest,
        last_before=tasks.names[int(path.argmax())],
        p_value=float((1 + np.count_nonzero(np.concatenate(chance) >= highest)) / (DRAWS + 1)),
        n_draws=DRAWS,
        assumption=text,
    )


def _path(tasks: ReducedTasks, targets: Targets, pooled: bool) -> tuple[Array, Array]:
    """Return the squares that estimate the noise, (m,), and the path in units of 1, (n_tasks, m)."""
    n, m, k = targets.right.shape
    residual = tasks.about_fit(targets.right.reshape(n, m * k))
    paths, total = [], np.zeros((tasks.basis.shape[1], m * k))
    pieces = (np.split(array, tasks.ends[:-1]) for array in (tasks.basis, residual))
    for basis, left in zip(*pieces, strict=True):
        total = total + basis.T @ left
        paths.append(np.square(total).sum(axis=0).reshape(m, k).sum(axis=1))
    paths[-1] = np.zeros(m)  # the scores of all tasks add up to 0
    squares = targets.squares
    if pooled:
        squares = squares + np.square(residual).sum(axis=0)
    return np.asarray(squares), np.array(paths)
