"""The continual step for a likelihood: min_w −(1/n_t)·log-likelihood_t(w) + ½‖w − ŵ_{t−1}‖²_{H_t}."""

from dataclasses import replace
from typing import Any, Protocol, get_args, runtime_checkable

import numpy as np

from ridgeway._checks import Array, one_of
from ridgeway.data import MemoryKind, Task, check_values, is_sparse
from ridgeway.errors import InvalidDataError, InvalidParameterError
from ridgeway.likelihoods import Climbed, Likelihood, Observed, Polynomial, climb, column_centres
from ridgeway.linalg import Rows
from ridgeway.weights._expanded import Expanded, anchor, check_size
from ridgeway.weights._policy import WeightPolicy
from ridgeway.weights._precision import MOST_GROWTH, warn_of_lost_digits
from ridgeway.weights._settings import checked_decay, checked_prior
from ridgeway.weights._states import Anchored, Answer, Origin, changed


@runtime_checkable
class Generalizable(Protocol):
    """A policy with a form of its own for likelihoods other than the Gaussian."""

    def with_likelihood(self, likelihood: Likelihood, memory: MemoryKind) -> WeightPolicy:
        """Return the policy that takes the step for a likelihood."""


@runtime_checkable
class Penalizing(Protocol):
    """A policy that gives H_t itself."""

    def start(self, origin: Origin) -> Anchored:
        """Return the state before the first task."""

    def checked_weight(self, memory: Any, rows: Rows) -> float | Array:
        """Return H_t: a number, a diagonal or a matrix."""

    def remember(self, memory: Any, rows: Rows) -> Any:
        """Return the memory after a task."""


def with_likelihood(policy: WeightPolicy, likelihood: Likelihood, memory: MemoryKind) -> WeightPolicy:
    """Return the policy that takes the step for a likelihood, or raise if there is none.

    Examples
    --------
    >>> from ridgeway import weights
    >>> from ridgeway.likelihoods import Poisson
    >>> for policy in (weights.Accumulated(), weights.Zero()):
    ...     print(type(weights.with_likelihood(policy, Poisson(), "quadratic")).__name__)
    AccumulatedLikelihood
    AnchoredLikelihood
    """
    one_of(memory, get_args(MemoryKind), "memory")
    if isinstance(policy, Generalizable):
        return policy.with_likelihood(likelihood, memory)
    if isinstance(policy, Penalizing):
        return AnchoredLikelihood(policy, likelihood)
    raise InvalidParameterError(
        f"weights={policy!r} is for least squares alone. Use weights.Accumulated(), or a policy that gives H_t: "
        "weights.Zero(), weights.Isotropic(…), weights.Explicit(…) or your own."
    )


class AccumulatedLikelihood(WeightPolicy):
    """H_t is the curvature of the past's log-likelihood, which is kept as a polynomial. See `Accumulated`.

    After each task, the past is expanded about the new estimate, exactly, and the task's own expansion is added. With
    a quadratic memory this is the online Laplace approximation, or elastic weight consolidation with the whole matrix.

    Parameters
    ----------
    prior, decay : as for `Accumulated`, given as numbers
    likelihood : Likelihood
    memory : {"quadratic", "cubic"}

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import data, likelihoods, weights
    >>> policy = weights.AccumulatedLikelihood(0.0, 1.0, likelihoods.Poisson(), "quadratic")
    >>> state = policy.start(weights.Origin(np.zeros((1, 1)), centered=False))
    >>> task = data.Task.of(np.ones((2, 1)), np.array([[1.0], [3.0]]))
    >>> np.exp(policy.step(state, task).answer.coef)  # the mean of the counts
    array([[2.]])
    """

    def __init__(self, prior: Any, decay: Any, likelihood: Likelihood, memory: MemoryKind) -> None:
        self.prior = prior
        self.decay = decay
        self.likelihood = likelihood
        self.memory = memory

    def start(self, origin: Origin) -> Expanded:
        """Return the state before the first task: a polynomial of no rows."""
        cubic = self.memory == "cubic"
        p, q = origin.coef.shape
        check_size((p + origin.centered) * q, cubic=cubic)
        theta = np.append(origin.coef.ravel(), np.zeros(q * origin.centered))
        about = np.zeros(p) if origin.centered else None
        prior, decay = checked_prior(self.prior, p), checked_decay(self.decay)
        likelihood = self.likelihood.with_targets(q)
        past = Polynomial.zero(theta, cubic=cubic)
        return Expanded(origin, 0, likelihood, past, prior, decay, about)

    @np.errstate(over="ignore", invalid="ignore")  # what overflows is refused at the end
    def step(self, state: Any, task: Task) -> Expanded:
        """Return the state after a task."""
        cubic = self.memory == "cubic"
        if not isinstance(state, Expanded) or state.decay != checked_decay(self.decay):
            raise changed()
        if (state.past.third is not None) != cubic:
            raise InvalidParameterError(
                f"memory={self.memory!r} differs from what this model has kept so far, and the rows are gone. Set it "
                "back, or start a new model."
            )
        n_samples = checked_count(task, state.origin, state.likelihood)
        state = replace(state, prior=checked_prior(self.prior, task.n_features))
        if state.n_tasks == 0 and state.about is not None:
            state = replace(state, about=column_centres(task))
        observed = Observed(state.likelihood, task, state.about)
        held = state.held().scaled(state.decay)
        start = state.past.centre if state.n_tasks else observed.start(state.past.centre)
        rates = state.rates or state.likelihood.has_rates(task.y)
        state = replace(state, n_tasks=state.n_tasks + 1, n_samples=state.n_samples + n_samples, rates=rates)
        found = climb(observed, [held], start, about=state.about, size=state.size)
        _warn_of_lost_digits(found)
        own = observed.expand(found.theta, cubic=cubic)
        past = own.plus(state.past.damped(found.share).scaled(state.decay))
        if not past.is_finite:
            raise _overflown(task, cubic=cubic)

        after: Expanded = replace(state, past=past, rank=found.solution.rank)
        return after


class AnchoredLikelihood(WeightPolicy):
    """H_t from a penalty policy: only ŵ_{t−1} is remembered, and what the policy itself keeps.

    The policy sees the rows times √−ℓ'', the roots of their curvature: before a step at ŵ_{t−1}, and when it remembers
    them at ŵ_t. With an intercept, they are taken about their mean under these weights.

    Parameters
    ----------
    policy : a policy that gives H_t
    likelihood : Likelihood

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import data, likelihoods, weights
    >>> policy = weights.AnchoredLikelihood(weights.Zero(), likelihoods.Poisson())
    >>> state = policy.start(weights.Origin(np.zeros((1, 1)), centered=False))
    >>> for counts in ([[1.0], [3.0]], [[5.0], [5.0]]):
    ...     state = policy.step(state, data.Task.of(np.ones((2, 1)), np.array(counts)))
    >>> np.exp(state.answer.coef)  # the last task alone
    array([[5.]])
    """

    def __init__(self, policy: Penalizing, likelihood: Likelihood) -> None:
        self.policy = policy
        self.likelihood = likelihood

    def start(self, origin: Origin) -> Anchored:
        """Return the state before the first task: ŵ_0."""
        return replace(self.policy.start(origin), policy=type(self.policy))

    def step(self, state: Any, task: Task) -> Anchored:
        """Return the state after a task. Each task sets its own intercept."""
        if not isinstance(state, Anchored) or state.policy is not type(self.policy):
            raise changed()
        coef, (p, q) = state.answer.coef, state.answer.coef.shape
        likelihood = self.likelihood.with_targets(q)
        n_samples = checked_count(task, state.origin, likelihood)
        about = column_centres(task) if state.origin.centered else None
        intercepts = 0 if about is None else q
        last = np.zeros(0) if about is None else state.answer.intercept + about @ coef
        observed, theta = Observed(likelihood, task, about), np.append(coef.ravel(), last)
        start = theta if state.n_tasks else observed.start(theta)
        weight = self.policy.checked_weight(state.memory, _weighted(observed, start))
        held = anchor(coef, task.total_weight * np.asarray(weight), intercepts)
        size = p * q if np.any(weight) else task.n_samples
        found = climb(observed, [held], start, about=about, size=size)
        _warn_of_lost_digits(found)
        estimate = found.theta[: p * q].reshape(p, q)
        intercept = np.zeros(q) if about is None else found.theta[p * q :] - about @ estimate
        return replace(
            state,
            n_tasks=state.n_tasks + 1,
            answer=Answer(estimate, intercept, found.solution.rank),
            n_samples=state.n_samples + n_samples,
            memory=self.policy.remember(state.memory, _weighted(observed, found.theta)),
        )


def checked_count(task: Task, origin: Origin, likelihood: Likelihood) -> int:
    """Return how many observations a task has, or raise if its values are not finite or cannot be observed."""
    check_values(task)
    likelihood.check(task.y)
    return task.counted().n_samples if origin.weight_kind == "frequency" else task.n_samples


def _weighted(observed: Observed, theta: Array) -> Rows:
    """Return the rows as a policy sees them at θ, standing for n_t rows."""
    task = observed.task
    weight = np.maximum(observed.weights(theta), np.finfo(np.float64).tiny)
    rows = Rows(
        replace(task, sample_weight=weight, total_weight=float(weight.sum())), center=observed.about is not None
    )
    rows.total_weight = task.total_weight
    return rows


def _overflown(task: Task, *, cubic: bool) -> InvalidDataError:
    """Return the error for a task whose derivatives are too large to add up."""
    largest = float(np.abs(task.X.data if is_sparse(task.X) else task.X).max())
    powers, also = ("third powers", ", or use memory='quadratic'") if cubic else ("squares", "")
    return InvalidDataError(
        f"X has values up to {largest:.3g}, whose {powers} overflow when they are summed: memory="
        f"{'cubic' if cubic else 'quadratic'!r} needs them. Change the unit of the largest columns{also}."
    )


def _warn_of_lost_digits(found: Climbed) -> None:
    if found.solution.constant or found.solution.growth > MOST_GROWTH:
        warn_of_lost_digits(found.solution)
