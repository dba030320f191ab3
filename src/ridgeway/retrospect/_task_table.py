"""Every task beside the others: its own estimates, its noise, and whether it shares the parameter of the rest."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array, whole
from ridgeway._plots import draw_tasks
from ridgeway._printed import Printed
from ridgeway._text import did_you_mean, visible
from ridgeway.data import listed
from ridgeway.errors import InferenceError, InvalidParameterError
from ridgeway.information import Inference, Information
from ridgeway.retrospect._cells import framed, number
from ridgeway.retrospect._compressed import by_task, without_prior
from ridgeway.retrospect._estimated import margins
from ridgeway.retrospect._model import checked_level, feature_names, least_squares, per_target, state_of
from ridgeway.retrospect._multiplicity import ADJUSTMENTS, Adjustment, adjusted, checked_adjustment
from ridgeway.retrospect._rotated import Seen
from ridgeway.retrospect._rounding import rounding_squares
from ridgeway.retrospect._wald import Noise, WaldTest

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame


@dataclass(frozen=True, eq=False)
class TaskTable(Printed):
    """One row per task: its own fit, and the test that it shares the parameter of the others. Prints as a table.

    With several targets each array except `n_samples` has one more axis in front.

    Attributes
    ----------
    tasks, terms : tuple of str
    n_samples : ndarray of int of shape (n_tasks,)
    coef, standard_errors : ndarray of shape (n_tasks, n_terms)
        The estimate of each task alone. NaN and infinity if its rows do not determine a term; infinite errors also if
        they leave no degrees of freedom for the noise.
    intervals : ndarray of shape (n_tasks, n_terms, 2)
    level : float
    noise_variance : ndarray of shape (n_tasks,)
        NaN if a task has no residual degrees of freedom.
    f, p_values : ndarray of shape (n_tasks,)
        The test of each task against all others: Wald's, with both noise variances, as in `compare`. 0 and 1 if they
        differ by no more than rounding. NaN for tasks that are not tested.
    adjusted_p_values : ndarray of shape (n_tasks,)
        Adjusted for the number of tasks that are tested.
    adjust : {"holm", "bh"}
    untested : tuple of str
        Tasks without a test: they, or the others, have too few rows for a noise variance of their own, so that more
        noise could not be told from other coefficients; or they and the others have no direction in common.
    assumption : str

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> rng = np.random.default_rng(0)
    >>> sites, X = np.repeat(["a", "b", "c", "d"], 20), rng.normal(size=(80, 1))
    >>> y = np.where(sites == "d", 3.0, 1.0) * X[:, 0] + rng.normal(size=80)
    >>> model = GeneralizedRidge(information="by_task").fit(X, y, tasks=sites)
    >>> found = retrospect.tasks(model)
    >>> [task for task, p in zip(found.tasks, found.adjusted_p_values) if p < 0.001]
    ['d']
    """

    tasks: tuple[str, ...]
    terms: tuple[str, ...]
    n_samples: NDArray[np.intp]
    coef: Array
    standard_errors: Array
    intervals: Array
    level: float
    noise_variance: Array
    f: Array
    p_values: Array
    adjusted_p_values: Array
    adjust: Adjustment
    untested: tuple[str, ...]
    assumption: str

    @property
    def cautions(self) -> tuple[str, ...]:
        """What a reader must know: which tasks were not tested, and why."""
        if not self.untested:
            return ()
        return (f"Not tested: {', '.join(self.untested)}. Too few rows to tell other coefficients from more noise.",)

    def to_frame(self) -> "DataFrame":
        """Return the table as a pandas DataFrame: one row per task, and per target if there are several.

        The estimate of a term is in the column of its name, and its standard error in the one with `_error` behind it.
        """
        n_terms = len(self.terms)
        counts, coef, tested = np.split(self._table(), [1, 1 + n_terms], axis=-1)
        errors = [f"{term}_error" for term in self.terms]
        columns = ("n_samples", *self.terms, *errors, "noise_variance", "f", "p_value", "adjusted_p_value")
        table = np.concatenate([counts, coef, self.standard_errors, tested], axis=-1)
        return framed(table, self.tasks, columns, "task")

    def plot(self, feature: str, ax: Any = None, *, target: int = 0) -> "Axes":
        """Draw each task's estimate of a coefficient with its interval, and return the axes.

        Needs matplotlib (`pip install 'ridgeway[plot]'`).

        Parameters
        ----------
        feature : str
            One of `terms`.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        target : int, default 0
            Which target, if there are several.
        """
        if feature not in self.terms:
            near = did_you_mean(feature, self.terms)
            raise InvalidParameterError(f"unknown term {feature!r}.{near} The terms are {listed(self.terms)}.")
        place = self.terms.index(feature)
        coef = self.coef.reshape(-1, len(self.tasks), len(self.terms))[..., place]
        intervals = self.intervals.reshape(-1, len(self.tasks), len(self.terms), 2)[:, :, place]
        target = whole(target, "target", 0, len(coef) - 1)
        label = f"{visible(feature)} in each task, with {100 * self.level:g} % intervals"
        return draw_tasks(ax, self.tasks, coef[target], intervals[target], label=label)

    def _title(self) -> str:
        return f"{len(self.tasks)} tasks, each fitted alone and compared with the others"

    def _tables(self) -> Iterator[tuple[str, list[list[str]]]]:
        tables = self._table().reshape(-1, len(self.tasks), len(self.terms) + 5)
        head = ["", "rows", *self.terms, "noise", "F", "P>F", "adjusted"]
        kinds = ["d", *[".4g"] * (len(self.terms) + 2), ".3f", ".3f"]
        for target, table in enumerate(tables):
            rows = [head]
            for task, (n, *numbers) in zip(self.tasks, table, strict=True):
                rows.append([task, str(int(n)), *map(number, numbers, kinds[1:])])
            several = f", target {target}" if len(tables) > 1 else ""
            yield f"p-values adjusted by {ADJUSTMENTS[self.adjust]} method{several}", rows

    def _notes(self) -> list[str]:
        return [self.assumption, *self.cautions]

    def _table(self) -> Array:
        counts = np.broadcast_to(self.n_samples, self.f.shape)
        columns = (self.noise_variance, self.f, self.p_values, self.adjusted_p_values)
        return np.concatenate([counts[..., None], self.coef, np.stack(columns, axis=-1)], axis=-1)


def tasks(model: Any, *, level: float = 0.95, adjust: Adjustment = "holm") -> TaskTable:
    """Return the estimates and the noise of each task alone, and the test of each against all others.

    The test is that of `compare`: Wald's in the directions that both determine, each side with its own noise variance.
    A task that has no more rows than coefficients is not tested: it may only be noisier.
    A difference that rounding alone can make, such as between rows without noise, is not one: its p-value is 1.
    With many tasks some p-values are small by chance, so they are also adjusted for the number of tasks.
    O(n_tasks·log(n_tasks)·p³).

    Parameters
    ----------
    model : GeneralizedRidge
        Fitted, with information="by_task".
    level : float, default 0.95
        Level of the intervals of the estimates, which are not adjusted.
    adjust : {"holm", "bh"}, default "holm"
        Holm's method bounds the probability of any false alarm; "bh", Benjamini and Hochberg's, bounds the expected
        share of false alarms among the alarms.

    Raises
    ------
    InferenceError
        If there is only one task, or the model has a prior.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> rng = np.random.default_rng(0)
    >>> sites = np.repeat(["a", "b", "c"], 20)
    >>> X = rng.normal(size=(60, 1))
    >>> y = np.where(sites == "c", 3.0, 1.0) * X[:, 0] + rng.normal(size=60)
    >>> print(
    ...     retrospect.tasks(GeneralizedRidge(information="by_task").fit(X, y, tasks=sites))
    ... )
    3 tasks, each fitted alone and compared with the others
    p-values adjusted by Holm's method
    ------------------------------------------------------------------------------
            rows  intercept         x0      noise          F        P>F   adjusted
    ------------------------------------------------------------------------------
    a         20      0.327      1.423      1.273      1.539      0.229      0.229
    b         20   -0.03702     0.3761     0.7718      16.49      0.000      0.000
    c         20     0.1741      2.738     0.8557      18.59      0.000      0.000
    ------------------------------------------------------------------------------
    Rows are assumed independent, of equal variance within each task (weights aside).
    """
    state, level, adjust = state_of(model), checked_level(level), checked_adjustment(adjust)
    without_prior(model, "tasks")
    held = by_task(model)
    if len(held.ids) < 2:
        raise InferenceError("there is only one task, and nothing to compare it with. Use retrospect.summary.")
    parts = held.parts()
    alone = [OwnFit.of(least_squares(part), level) for part in parts.values()]
    tested = [_against(least_squares(held.without(task).total), part) for task, part in parts.items()]
    f = np.stack([each[0] for each in tested], axis=1)
    p_values = np.stack([each[1] for each in tested], axis=1)
    is_untested = np.isnan(p_values).all(axis=0)
    intercept = ["intercept"] if held.total.centered else []
    return TaskTable(
        tasks=held.ids,
        terms=(*intercept, *feature_names(model)),
        n_samples=np.array([part.n_samples for part in parts.values()]),
        coef=per_target(state, np.stack([each.coef for each in alone], axis=1)),
        standard_errors=per_target(state, np.stack([each.deviations for each in alone], axis=1)),
        intervals=per_target(state, np.stack([each.intervals for each in alone], axis=1)),
        level=level,
        noise_variance=per_target(state, np.stack([each.noise for each in alone], axis=1)),
        f=per_target(state, f),
        p_values=per_target(state, p_values),
        adjusted_p_values=per_target(state, np.stack([adjusted(each, adjust) for each in p_values])),
        adjust=adjust,
        untested=tuple(held.ids[number] for number in np.flatnonzero(is_untested)),
        assumption="Rows are assumed independent, of equal variance within each task (weights aside).",
    )


class OwnFit(NamedTuple):
    """A task alone: (n_targets, n_terms) each, intervals with one more axis, and the noise (n_targets,)."""

    coef: Array
    deviations: Array
    intervals: Array
    noise: Array

    @classmethod
    def of(cls, alone: Inference, level: float) -> "OwnFit":
        held, freedom = alone.information, alone.degrees_of_freedom
        p, c = held.n_features, int(held.centered)
        functionals, on_intercept = np.eye(p + c)[c:], np.eye(1, p + c)[0] * c
        whitened, known = alone.whiten(functionals, on_intercept)
        means = alone.coef.T @ functionals + held.intercept(alone.coef)[:, None] * on_intercept
        coef = np.where(known, means, np.nan)
        if freedom < 1:
            unknown = np.full(coef.shape, np.inf)
            ends = np.stack([coef - unknown, coef + unknown], axis=-1)
            return cls(coef, unknown, ends, np.full(len(coef), np.nan))
        roots = np.sqrt(np.square(whitened).sum(axis=0))
        deviations = np.where(known, np.sqrt(alone.noise_variance)[:, None] * roots, np.inf)
        half = margins(deviations, freedom, level)
        return cls(coef, deviations, np.stack([coef - half, coef + half], axis=-1), alone.noise_variance)


def _against(rest: Inference, part: Information) -> tuple[Array, Array]:
    """Return F and the p-value of each target, (n_targets,); NaN if there is no test."""
    seen = Seen.of_part(rest, part)
    if len(seen.strengths) == 0 or min(rest.degrees_of_freedom, seen.freedom) < 1:
        none = np.full(part.n_targets, np.nan)
        return none, none
    tested = WaldTest.of(seen, Noise.of(rest, seen, equal=False))
    apart = np.square(seen.gaps).sum(axis=0)  # what is left of task and others, if they share their coefficients
    differs = apart > rounding_squares(rest) + rounding_squares(least_squares(part))
    return np.where(differs, tested.f, 0.0), np.where(differs, tested.p_value, 1.0)
