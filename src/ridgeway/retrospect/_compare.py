"""Does a task share the model's parameter? Asked before it is absorbed."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway._checks import Array, flag, whole
from ridgeway._plots import draw_terms
from ridgeway._printed import Printed, Rows
from ridgeway._text import counted
from ridgeway.data import Task, check_tasks
from ridgeway.errors import InferenceError, RemovalError
from ridgeway.information import Inference, SquareRoot
from ridgeway.retrospect._advice import Advice, Grounds, most_careful
from ridgeway.retrospect._cells import cells
from ridgeway.retrospect._effect import (
    coef_differences,
    prediction_gains,
    squared_difference,
    target_deviations,
    within_rounding,
)
from ridgeway.retrospect._model import feature_names, least_squares, per_target, state_of, whole_information
from ridgeway.retrospect._rotated import Seen
from ridgeway.retrospect._wald import Noise, WaldTest
from ridgeway.weights import Retained

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Comparison(Printed):
    """A task beside the model. Prints as a table, in a notebook too.

    With several targets each number is an array of shape (n_targets,).

    Attributes
    ----------
    advice : {"absorb", "absorb and watch", "keep apart"}
        What to do. If the difference is not significant (`p_value` ≥ 0.05), **absorb**. If it is significant but small
        (`relative_difference` < 0.1), absorb if that is expected to improve predictions for both past and task, and
        otherwise **absorb and watch**. If it is larger, or its size cannot be told (an estimate of 0), **keep apart**
        if it is clear (`p_value` < 0.001) and absorbing is expected to harm both, and otherwise absorb and watch.
        Expected are the prediction gains below. If one side has too few rows to estimate its noise, the advice is at
        most absorb and watch: a task that is only noisier looks the same as one that differs. With several targets,
        the most careful advice for any of them.
    recommendation : str
        The advice and its reason in one sentence; with several targets, one line for each.
    absorbed : bool
        Whether the task was part of the model, and is compared with what remains without it.
    difference : float
        How far apart the predictions of the two are, in the unit of the target: the root of the weighted mean of
        (x·δ)² over the task's rows, intercept included, for parameters that differ by δ. The estimate of the square,
        from which the part of estimation noise is subtracted, is unbiased until it is set to 0 if negative.
    relative_difference, standardized_difference : float
        `difference` divided by the noise standard deviation of the task, and by the standard deviation of the target
        in the task.
    prediction_gain_for_past, prediction_gain_for_task : float
        Unbiased estimates of how much absorbing lowers the mean squared error of predictions, noise aside: for the
        past's rows, against leaving the task out; and for the task's, against learning the task alone. Negative if
        absorbing harms. Unlike `gain_for_past`, they are finite and do not depend on the units of the features.
    coef_differences : ndarray of shape (n_terms,), or (n_targets, n_terms)
        The task's estimate of each term minus the past's; NaN if one of them does not determine it.
    coef_intervals : ndarray of shape (n_terms, 2), or (n_targets, n_terms, 2)
        Their confidence intervals. Bonferroni's: at the level 95 % for all terms together.
    f, p_value : float
        The test of equal parameters, intercept included: Wald's with both noise variances or, if `equal_noise`, Chow's.
    degrees_of_freedom : tuple
        Of the numerator, q, the number of directions that both know, and of the denominator.
    equal_noise : bool
        Whether the test assumes that past and task have the same noise variance.
    assumption : str
        What the test assumes, in words.
    noise_variance, task_noise_variance : float
        σ̂² of the past and of the task, each from its own residuals; both the same, from all residuals, if
        `equal_noise`.
    noncentrality : float
        Estimate of δᵀ(σ²J⁻¹ + σ_t²J_t⁻¹)⁻¹δ for parameters that differ by δ, set to 0 if it is negative, and so too
        large on average if δ is small. Under equal noise, absorbing helps in every direction if and only if the true
        value is at most 1 (`theory.pooling_gain`).
    gain_for_past, gain_for_task : float
        Unbiased estimates of how much absorbing lowers the error ‖ŵ − w‖²: for the past's parameter, against leaving
        the task out; and for the task's, against learning the task alone. Infinite if the past, or the task, alone
        leaves a direction undetermined that both together determine. Negative if absorbing harms.
    terms : tuple of str
        The intercept, if there is one, and the features.
    directions : ndarray of shape (q, n_terms)
        Linear functions of the terms of unit norm that both estimate, independently of each other; those that
        disagree most come first.
    differences : ndarray of shape (q,), or (n_targets, q)
        The task's estimate of each minus the past's.
    statistics : ndarray of shape (q,), or (n_targets, q)
        The differences divided by their standard errors; (Σ statistics²)/q is `f`.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 1))
    >>> y = X[:, 0] + 0.5 * rng.normal(size=60)
    >>> model = GeneralizedRidge().fit(X[:40], y[:40])
    >>> retrospect.compare(model, X[40:], y[40:]).advice
    'absorb'
    >>> retrospect.compare(model, X[40:], y[40:] + 3.0).advice
    'keep apart'
    """

    advice: Advice
    recommendation: str
    absorbed: bool
    difference: Any
    relative_difference: Any
    standardized_difference: Any
    prediction_gain_for_past: Any
    prediction_gain_for_task: Any
    coef_differences: Array
    coef_intervals: Array
    f: Any
    p_value: Any
    degrees_of_freedom: tuple[int, Any]
    equal_noise: bool
    assumption: str
    noise_variance: Any
    task_noise_variance: Any
    noncentrality: Any
    gain_for_past: Any
    gain_for_task: Any
    terms: tuple[str, ...]
    directions: Array
    differences: Array
    statistics: Array

    def plot(self, ax: Any = None, *, target: int = 0) -> "Axes":
        """Draw how the coefficients differ, task − past, with their intervals, and return the axes.

        Needs matplotlib (`pip install 'ridgeway[plot]'`).

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        target : int, default 0
            Which target, if there are several.
        """
        differences, intervals = self._by_target()
        target = whole(target, "target", 0, len(differences) - 1)
        label = "coefficient, task − past, with joint 95 % intervals"
        return draw_terms(ax, self.terms, differences[target], intervals[target], label=label)

    def _by_target(self) -> tuple[Array, Array]:
        """Return the differences (n_targets, n_terms), and their intervals with one more axis."""
        return np.atleast_2d(self.coef_differences), self.coef_intervals.reshape(-1, len(self.terms), 2)

    def _title(self) -> str:
        return f"A task beside {'what remains without it' if self.absorbed else 'the past'}: {self.advice}"

    def _tables(self) -> Iterator[tuple[str, Rows]]:
        differences, intervals = self._by_target()
        q, freedom = self.degrees_of_freedom
        for number, sentence in enumerate(self.recommendation.splitlines()):
            f, p, of = (float(np.atleast_1d(value)[number]) for value in (self.f, self.p_value, freedom))
            test = "" if np.isnan(f) else f" F({q}, {of:.4g}) = {f:.4g}, p = {p:.3g}."
            rows = zip(self.terms, cells(differences[number]), *map(cells, intervals[number].T), strict=True)
            yield sentence + test, [["", "difference", "[95 %", "95 %]"], *([*row] for row in rows)]

    def _notes(self) -> list[str]:
        test = "Chow's" if self.equal_noise else "Wald's"
        return [f"Task − past, with joint intervals. {test} test assumes that {self.assumption}."]


def compare(
    model: Any, X: Any, y: Any, sample_weight: Any = None, *, equal_noise: bool = False, absorbed: bool = False
) -> Comparison:
    """Ask whether a task shares the model's parameter, before it is absorbed. The model is left as it is.

    Past and task are rotated to directions in which they are independent. In each, the difference of the two estimates
    is divided by its standard error; each side has its own noise variance, and the degrees of freedom are the smallest
    that Welch's approximation gives for a direction (those of the smaller side if it has fewer than four). If one
    side has no residual degrees of freedom, such as a task with fewer rows than features, the test assumes equal noise
    and is Chow's F test in the directions that both know; the advice is then at most "absorb and watch", unless
    `equal_noise` says that the noise is known to be equal. The prior is left out. O((n + p)·p²).

    Parameters
    ----------
    model : GeneralizedRidge
        Fitted, with `weights.Accumulated`.
    X, y, sample_weight : the task, as for `partial_fit`
    equal_noise : bool, default False
        Whether to assume that past and task have the same noise variance. Chow's test has more power if that is true;
        if the task is noisier, it rejects far too often.
    absorbed : bool, default False
        Whether the model has learned the task already. It is then compared with what remains once it is removed.

    Raises
    ------
    RemovalError
        If the task was absorbed and cannot be removed.
    InferenceError
        If no degrees of freedom are left, or the task and the past have no direction in common.

    References
    ----------
    Chow (1960); Welch (1947).

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> y = X @ [1.0, 2.0, 3.0] + rng.normal(size=60)
    >>> model = GeneralizedRidge().fit(X[:40], y[:40])
    >>> same = retrospect.compare(model, X[40:], y[40:])
    >>> other = retrospect.compare(model, X[40:], y[40:] + 5.0 * X[40:, 1])
    >>> (
    ...     bool(same.p_value > 0.1),
    ...     bool(other.p_value < 1e-4),
    ...     other.gain_for_past < 0.0 < same.gain_for_past,
    ... )
    (True, True, True)
    >>> same.assumption
    'each side has its own noise variance'
    >>> same.advice, other.recommendation
    ('absorb', 'Keep apart: the relation differs by 4.21 (3.5 times the noise standard deviation), and absorbing ...')
    """
    asked, absorbed = flag(equal_noise, "equal_noise"), flag(absorbed, "absorbed")
    if absorbed:
        model = _without(model, X, y, sample_weight)
    state, held = state_of(model), whole_information(model)
    (task,) = check_tasks(model, X, y, sample_weight, first=False)
    state.origin.check_targets(task)
    task = task.counted() if state.origin.weight_kind == "frequency" else task
    of_task = SquareRoot.empty(task.n_features, task.n_targets, centered=held.centered).add(task)
    known, alone = least_squares(held), least_squares(of_task)
    seen = Seen.of(known, task, of_task)
    equal, assumption = _assumed(known, task, seen, asked)
    noise = Noise.of(known, seen, equal)
    tested = WaldTest.of(seen, noise)
    order = np.argsort(-np.square(tested.statistics).sum(axis=0), kind="stable")
    directions = seen.directions[order]
    norms = np.sqrt(np.square(directions).sum(axis=1))
    terms = feature_names(model)
    differences, intervals = coef_differences(known, alone, noise)
    return Comparison(
        **_judged(state, task, seen, noise, tested, absorbed=absorbed, noise_assumed=equal and not asked),
        absorbed=absorbed,
        coef_differences=per_target(state, differences),
        coef_intervals=per_target(state, intervals),
        f=per_target(state, tested.f),
        p_value=per_target(state, tested.p_value),
        degrees_of_freedom=(len(order), per_target(state, tested.freedom)),
        equal_noise=equal,
        assumption=assumption,
        noise_variance=per_target(state, noise.past),
        task_noise_variance=per_target(state, noise.task),
        noncentrality=per_target(state, tested.noncentrality),
        gain_for_past=per_target(state, seen.gain_for_past(noise.past)),
        gain_for_task=per_target(state, seen.gain_for_task(noise.task)),
        terms=("intercept", *terms) if held.centered else tuple(terms),
        directions=directions / norms[:, None],
        differences=per_target(state, (seen.differences()[order] / norms[:, None]).T),
        statistics=per_target(state, tested.statistics[:, order]),
    )


def _without(model: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    """Return the model without a task that it has learned, or raise."""
    state_of(model)
    try:
        return model.remove(X, y, sample_weight)
    except RemovalError as error:
        raise RemovalError(
            f"the task was absorbed already, and cannot be removed to compare it with what remains: {error}"
        ) from error


def _assumed(known: Inference, task: Task, seen: Seen, asked: bool) -> tuple[bool, str]:
    """Return whether the test assumes equal noise, and its assumption in words, or raise if there is no test."""
    if len(seen.strengths) == 0:
        raise InferenceError(
            "the task and the past have no direction in common, so there is nothing to compare. Absorb the task, or "
            "learn more rows first."
        )
    if known.degrees_of_freedom + seen.freedom < 1:
        raise InferenceError(
            f"no degrees of freedom are left for the comparison: {counted(known.information.n_samples, 'row')} of the "
            f"past and {task.n_samples} of the task fit exactly. Learn more rows."
        )
    if not asked and min(known.degrees_of_freedom, seen.freedom) >= 1:
        return False, "each side has its own noise variance"
    few = "the past has" if known.degrees_of_freedom < 1 else "the task has"
    why = "" if asked else f": {few} too few rows for a noise variance of its own"
    return True, f"past and task have the same noise variance{why}"


@np.errstate(divide="ignore")
def _judged(
    state: Retained, task: Task, seen: Seen, noise: Noise, tested: WaldTest, *, absorbed: bool, noise_assumed: bool
) -> dict[str, Any]:
    """Return the sizes of the difference and the advice, by their names in `Comparison`."""
    difference = np.sqrt(np.maximum(squared_difference(seen, noise), 0.0) / task.total_weight)
    relative, standardized = (
        np.divide(difference, scale, out=np.zeros_like(difference), where=difference > 0.0)
        for scale in (np.sqrt(noise.task), target_deviations(task))
    )
    gains = prediction_gains(seen, noise)
    for_past, for_task = gains[0] / state.information.total_weight, gains[1] / task.total_weight
    rounding = within_rounding(seen, task)
    assumed = np.full(len(difference), noise_assumed)
    parts = tested.p_value, rounding, difference, relative, for_past, for_task, assumed
    grounds = [Grounds(*row) for row in zip(*(part.tolist() for part in parts), strict=True)]
    return {
        "advice": most_careful(grounds),
        "recommendation": "\n".join(each.sentence(absorbed) for each in grounds),
        "difference": per_target(state, difference),
        "relative_difference": per_target(state, relative),
        "standardized_difference": per_target(state, standardized),
        "prediction_gain_for_past": per_target(state, for_past),
        "prediction_gain_for_task": per_target(state, for_task),
    }
