"""Does a task share the model's parameter? Asked before it is absorbed."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import fdtrc

from ridgeway._checks import Array
from ridgeway.data import Task, check_tasks, dense
from ridgeway.errors import InferenceError
from ridgeway.information import Inference, SquareRoot
from ridgeway.linalg import column_complement, svd_economic
from ridgeway.retrospect._model import feature_names, inference_of, per_target, state_of
from ridgeway.weights import Retained, kept_share


@dataclass(frozen=True, eq=False)
class Comparison:
    """A task beside the model. With several targets each number is an array of shape (n_targets,).

    Attributes
    ----------
    f, p_value : float
        Chow's test of equal parameters, intercept included.
    degrees_of_freedom : tuple of int
        Of the numerator, q, the directions that both know, and of the denominator.
    noise_variance : float
        σ̂² from the residuals of both.
    noncentrality : float
        Estimate of δᵀ(J⁻¹ + J_t⁻¹)⁻¹δ/σ² for parameters that differ by δ. Absorbing helps in every direction if
        it is at most 1 (`theory.pooling_gain`).
    gain_for_past, gain_for_task : float
        Unbiased estimates of how much absorbing lowers the error ‖ŵ − w‖²: for the past's parameter, against leaving
        the task out; and for the task's, against learning the task alone. Infinite if the past, or the task, alone
        leaves a direction undetermined that both together determine. Negative if absorbing harms.
    share : float
        The share of the past that `weights.Accumulated(decay="adaptive")` would leave in force: 1 unless the task
        contradicts the past.
    terms : tuple of str
        The intercept, if there is one, and the features.
    directions : ndarray of shape (q, n_terms)
        Linear functions of the terms of unit norm that both estimate, independently of each other; those that
        disagree most come first.
    differences : ndarray of shape (q,), or (n_targets, q)
        The task's estimate of each minus the past's.
    statistics : ndarray of shape (q,), or (n_targets, q)
        The differences divided by their standard errors; (Σ statistics²)/q is `f`.
    posterior : bool
        Whether there is a prior, so that the past is described by its posterior.
    """

    f: Any
    p_value: Any
    degrees_of_freedom: tuple[int, int]
    noise_variance: Any
    noncentrality: Any
    gain_for_past: Any
    gain_for_task: Any
    share: float
    terms: tuple[str, ...]
    directions: Array
    differences: Array
    statistics: Array
    posterior: bool


def compare(model: Any, X: Any, y: Any, sample_weight: Any = None) -> Comparison:
    """Ask whether a task shares the model's parameter, before it is absorbed. The model is left as it is.

    This is Chow's F test in the directions that the past and the task both know. It also works with fewer rows than
    features, because the task needs no estimate of its own. Past and task are rotated to directions in
    which they are independent; each gives one statistic. O((n + p)·p²).

    Parameters
    ----------
    model : GeneralizedRidge
        Fitted, with `weights.Accumulated`.
    X, y, sample_weight : the task, as for `partial_fit`

    Raises
    ------
    InferenceError
        If no degrees of freedom are left, or the task and the past have no direction in common.

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
    >>> bool(same.p_value > 0.1), bool(other.p_value < 1e-6), other.gain_for_past < 0.0 < same.gain_for_past
    (True, True, True)
    """
    state = state_of(model)
    known = inference_of(model)
    (task,) = check_tasks(model, X, y, sample_weight, first=False)
    state.origin.check_targets(task)
    alone = SquareRoot.empty(task.n_features, task.n_targets, centered=known.information.centered).add(task)
    seen = _Seen.of(state, known, task, alone)
    share = kept_share(state, alone)
    q, freedom = len(seen.strengths), known.degrees_of_freedom + seen.freedom
    if q == 0:
        raise InferenceError(
            "the task and the past have no direction in common, so there is nothing to compare. Absorb the task, or "
            "give the model a prior."
        )
    if freedom < 1:
        raise InferenceError(
            f"no degrees of freedom are left for the comparison: {known.information.n_samples} rows of the past and "
            f"{task.n_samples} of the task fit exactly. Learn more rows, or give the model a prior."
        )
    noise = (known.penalized_squares + seen.left) / freedom
    with np.errstate(divide="ignore", invalid="ignore"):
        statistics = (seen.gaps / np.sqrt(noise)).T
        f = np.square(statistics).mean(axis=1)
        strengths = np.square(statistics).sum(axis=0)
    order = np.argsort(-strengths, kind="stable")
    terms = feature_names(model)
    directions = seen.directions[order]
    norms = np.sqrt(np.square(directions).sum(axis=1))
    for_past, for_task = seen.gains(noise)
    return Comparison(
        f=per_target(state, f),
        p_value=per_target(state, fdtrc(q, freedom, f)),
        degrees_of_freedom=(q, freedom),
        noise_variance=per_target(state, noise),
        noncentrality=per_target(state, _noncentrality(f, q, freedom)),
        gain_for_past=per_target(state, for_past),
        gain_for_task=per_target(state, for_task),
        share=share,
        terms=("intercept", *terms) if known.information.centered else tuple(terms),
        directions=directions / norms[:, None],
        differences=per_target(state, (seen.differences()[order] / norms[:, None]).T),
        statistics=per_target(state, statistics[:, order]),
        posterior=bool(known.prior.any()),
    )


def _noncentrality(f: Array, q: int, freedom: int) -> Array:
    """Return the unbiased estimate of the noncentrality of an F statistic, at least 0."""
    return np.maximum(q * (f * max(freedom - 2, 1) / freedom - 1.0), 0.0)


@dataclass(frozen=True, eq=False)
class _Seen:
    """A task in the directions in which it and the past are independent, each of unit variance for the past.

    Attributes
    ----------
    strengths : ndarray of shape (q,)
        b_j: what the task knows about each direction, where the past knows 1.
    gaps : ndarray of shape (q, n_targets)
        d_j = (task's estimate − past's)/√(1 + 1/b_j), of variance σ² if the parameters are equal.
    left : ndarray of shape (n_targets,)
        Residual squares of the task.
    freedom : int
        Degrees of freedom of `left`.
    directions : ndarray of shape (q, n_terms)
        The directions as functions of the terms.
    past_moves, task_moves : ndarray of shape (n_features, q), or None
        What a unit of each direction moves in the coefficients of the past, or of the task, alone; None if the
        other knows a direction that it does not.
    """

    strengths: Array
    gaps: Array
    left: Array
    freedom: int
    directions: Array
    past_moves: Array | None
    task_moves: Array | None

    @classmethod
    def of(cls, state: Retained, known: Inference, task: Task, alone: SquareRoot) -> "_Seen":
        held = state.information
        p, c, space = held.n_features, int(held.centered), known.row_space
        ones, rows, targets, left, freedom = _about(state, task, alone)
        # What the past knows, whitened: ψ = [√W·b, values·basisᵀ·scale·w], estimated with unit variance.
        with np.errstate(divide="ignore"):
            inverse = np.where(space.scale > 0.0, 1.0 / space.scale, 0.0)
        moves = inverse[:, None] * space.basis / space.values
        inside = rows @ moves
        outside = rows - inside @ (space.values[:, None] * space.basis.T * space.scale)
        inside = np.hstack([ones / np.sqrt(held.total_weight), inside])
        targets = targets - rows @ state.answer.coef  # as seen from the past's estimate, which is now 0
        rest = np.eye(len(rows))
        if space.rank < p:  # what the past does not know is free: only rows orthogonal to it can be compared
            rest = column_complement(outside, rows)
            inside, targets = rest.T @ inside, rest.T @ targets
        U, s, Vt = svd_economic(inside)
        projected = U.T @ targets
        freedom += len(targets) - len(s)
        left = left + np.square(targets - U @ projected).sum(axis=0)
        gaps = projected / np.sqrt(1.0 + np.square(s))[:, None]
        functions = Vt[:, c:] @ (space.values[:, None] * space.basis.T * space.scale)
        if c:
            on_intercept = Vt[:, :1] * np.sqrt(held.total_weight)
            functions = np.hstack([on_intercept, functions + on_intercept * held.mean[:p]])
        past_moves = moves @ Vt[:, c:].T if rest.shape[1] == len(rows) else None
        task_moves = None
        if len(s) == c + space.rank:  # the task knows all that the past knows
            task_moves = past_moves if past_moves is not None else _solved(ones, rows, rest @ (U * s))
        return cls(np.square(s), gaps, left, freedom, functions, past_moves, task_moves)

    def differences(self) -> Array:
        """Return the task's estimates of the directions minus the past's, (q, n_targets)."""
        return self.gaps * np.sqrt(1.0 + 1.0 / self.strengths)[:, None]

    def gains(self, noise: Array) -> tuple[Array, Array]:
        """Return the unbiased estimates of the gains of absorbing, for the past and for the task; (n_targets,) each.

        For the past σ²·Σ‖g_j‖²·b/(1 + b) of variance is saved and ‖Σ g_j·δ_j·b/(1 + b)‖² of bias comes in; for the task
        1/b − 1/(1 + b) and δ_j/(1 + b). δ̂_j has variance σ²(1 + 1/b), so that the plug-in of the bias is too large by
        just the variance saved. g_j is of the past in the one case and of the task in the other.
        """
        b = self.strengths
        return (
            _gain(self.past_moves, b / (1.0 + b), self.gaps, noise),
            _gain(self.task_moves, 1.0 / (b * (1.0 + b)), self.gaps, noise),
        )


def _gain(moves: Array | None, saved: Array, gaps: Array, noise: Array) -> Array:
    """Return the gain from the variance saved in each direction; infinite if there is no estimate to improve."""
    if moves is None:
        return np.full(len(noise), np.inf)
    moved = moves @ (np.sqrt(saved)[:, None] * gaps)
    return np.asarray(2.0 * noise * (np.square(moves).sum(axis=0) @ saved) - np.square(moved).sum(axis=0))


def _solved(ones: Array, rows: Array, targets: Array) -> Array:
    """Return the coefficients of the rows that give the targets, an intercept aside, (n_features, q)."""
    design = np.hstack([ones, rows])
    norms = np.sqrt(np.square(design).sum(axis=0))
    norms[norms == 0.0] = 1.0
    U, s, Vt = svd_economic(design / norms)
    return np.asarray((Vt.T @ ((U.T @ targets) / s[:, None]) / norms[:, None])[ones.shape[1] :])


def _about(state: Retained, task: Task, alone: SquareRoot) -> tuple[Array, Array, Array, Array, int]:
    """Return a column of ones (if any), X and y about the past's means, weighted; squares and freedom left over.

    The rows themselves or, if there are many, an equivalent set of as many rows as there are terms.
    """
    held = state.information
    p, c = held.n_features, int(held.centered)
    if task.n_samples > p + c:
        factor = alone.factor()
        root = np.sqrt(alone.total_weight)
        apart = root * ((alone.mean - held.mean) + (alone.mean_low - held.mean_low))
        rows = np.vstack([*([apart] * c), factor[:p]])
        ones = np.zeros((p + c, c))
        ones[:1] = root
        left, freedom = np.square(factor[p:, p:]).sum(axis=0), task.n_samples - p - c
        return ones, rows[:, :p], rows[:, p:], left, freedom
    root_weight = np.ones(task.n_samples) if task.sample_weight is None else np.sqrt(task.sample_weight)
    rows = np.hstack([dense(task.X), task.y]) - held.mean - held.mean_low
    rows *= root_weight[:, None]
    return np.tile(root_weight[:, None], (1, c)), rows[:, :p], rows[:, p:], np.zeros(held.n_targets), 0
