"""What a policy is: all that an estimator and the theory call."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from ridgeway._checks import Array, finite, nonnegative, nonnegative_array, real_array, shaped
from ridgeway.data import Task, check_values
from ridgeway.errors import InvalidDataError, InvalidParameterError
from ridgeway.linalg import Rows, Solution, checked_semidefinite, penalized_change, penalty_gain
from ridgeway.weights._parameters import Parameters
from ridgeway.weights._precision import MOST_GROWTH, warn_of_lost_digits
from ridgeway.weights._states import Anchored, Answer, Origin, changed


class WeightPolicy(Parameters, ABC):
    """How firmly to hold on to the past.

    An estimator calls `start` once and then `step` for every task. Both are pure. Policies have `get_params` and
    `set_params`, so they work with grid search.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import data, weights
    >>> policy = weights.Accumulated()
    >>> state = policy.start(weights.Origin(np.zeros((1, 1)), centered=False))
    >>> for y in (2.0, 4.0):
    ...     state = policy.step(state, data.Task.of(np.ones((1, 1)), np.array([[y]])))
    >>> state.answer.coef
    array([[3.]])
    """

    retains: ClassVar[bool] = False
    """Whether its states keep information about the past."""

    @abstractmethod
    def start(self, origin: Origin) -> Any:
        """Return the state before the first task."""

    @abstractmethod
    def step(self, state: Any, task: Task) -> Any:
        """Return the state after a task."""


@runtime_checkable
class Designed(Protocol):
    """A policy whose answer depends on the targets only through ŵ_t = ŵ_{t−1} + K_t(y_t − X_tŵ_{t−1}).

    Examples
    --------
    >>> from ridgeway import weights
    >>> isinstance(weights.Accumulated(), weights.Designed)
    True
    >>> weights.Accumulated(prior=2.0).design()
    FullInformation(prior=2.0)
    """

    def design(self) -> "DesignPolicy":
        """Return the policy in the form that gives the gains K_t."""


class DesignPolicy(WeightPolicy):
    """A policy that never sees the targets: its gain K_t depends on the designs alone.

    ŵ_t = ŵ_{t−1} + K_t(y_t − X_tŵ_{t−1}). `research.theory` and `research.simulation` accept every such policy. It
    keeps what it needs to know about past designs in its own memory, which is None before the first task.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, weights
    >>> class Halfway(weights.DesignPolicy):  # half of the way that each row asks for
    ...     def gain(self, memory, rows):
    ...         return 0.5 * rows.X.T / (rows.X**2).sum(axis=1)
    >>> model = GeneralizedRidge(Halfway(), fit_intercept=False)
    >>> model.partial_fit([[2.0]], [4.0]).coef_, model.partial_fit([[2.0]], [4.0]).coef_
    (array([1.]), array([1.5]))
    """

    @abstractmethod
    def gain(self, memory: Any, rows: Rows) -> Array:
        """Return K_t, of shape (n_features, n_samples)."""

    def remember(self, memory: Any, rows: Rows) -> Any:
        """Return the memory after a task, without changing the old one. The default is to leave it as it is."""
        return memory

    def checked_gain(self, memory: Any, rows: Rows) -> Array:
        """Return the gain, or raise if it is not a finite real matrix of shape (n_features, n_samples)."""
        gain = finite(real_array(self.gain(memory, rows), "the gain of the policy"), "the gain of the policy")
        return shaped(gain, rows.X.shape[::-1], "the gain of the policy", "one row per feature, one column per row")

    def design(self) -> "DesignPolicy":
        """Return the policy itself."""
        return self

    def start(self, origin: Origin) -> Anchored:
        """Return the state before the first task: ŵ_0."""
        if origin.weight_kind != "precision":
            raise InvalidParameterError(
                f"weight_kind={origin.weight_kind!r} needs a policy that counts rows; {type(self).__name__} does not. "
                "Use weights.Accumulated(), or weight_kind='precision'."
            )
        return Anchored(origin, 0, Answer(origin.coef, np.zeros(origin.coef.shape[1])), 0, type(self))

    def step(self, state: Any, task: Task) -> Anchored:
        """Return the state after a task. Each task sets its own intercept, b_t = ȳ_t − x̄_t·ŵ_t."""
        if not isinstance(state, Anchored) or state.policy is not type(self):
            raise changed()
        check_values(task)
        rows = Rows(task, center=state.origin.centered)
        change = self._change(state.memory, rows, state.answer.coef)
        coef = state.answer.coef + change.coef
        if not np.isfinite(coef).all():
            raise InvalidDataError("the coefficients overflow with this task. Change the units of its columns.")
        if change.constant or change.growth > MOST_GROWTH:
            warn_of_lost_digits(change)
        return Anchored(
            origin=state.origin,
            n_tasks=state.n_tasks + 1,
            answer=Answer(coef, rows.intercept(coef), change.rank),
            n_samples=state.n_samples + task.n_samples,
            policy=type(self),
            memory=self.remember(state.memory, rows),
        )

    def _change(self, memory: Any, rows: Rows, coef: Array) -> Solution:
        """Return ŵ_t − ŵ_{t−1}. The policies of this package solve for it without forming the gain."""
        return Solution(self.checked_gain(memory, rows) @ rows.residual(coef), None, 1.0)


class PenaltyPolicy(DesignPolicy):
    """min_w (1/n_t)‖X_t·w − y_t‖² + ‖w − ŵ_{t−1}‖²_{H_t}: a subclass defines H_t.

    The gain is K_t = (X_tᵀX_t + n_tH_t)⁻¹X_tᵀ, or, if that inverse does not exist, its limit for H_t + δI, δ → 0⁺. Use
    `rows.total_weight` for n_t: in a simulation, fewer rows may stand for all of them.

    Examples
    --------
    Elastic weight consolidation: H_t is the diagonal of the past's information.

    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge, weights
    >>> class DiagonalEwc(weights.PenaltyPolicy):
    ...     def weight(self, memory, rows):
    ...         return 0.0 if memory is None else memory / rows.total_weight
    ...     def remember(self, memory, rows):
    ...         return np.square(rows.X).sum(axis=0) + (0.0 if memory is None else memory)
    >>> model = GeneralizedRidge(DiagonalEwc(), fit_intercept=False)
    >>> model.partial_fit([[1.0, 1.0]], [2.0]).partial_fit([[1.0, 0.0]], [3.0]).coef_
    array([2., 1.])
    """

    @abstractmethod
    def weight(self, memory: Any, rows: Rows) -> float | Array:
        """Return H_t: a number λ for λI, a diagonal (n_features,), or a matrix (n_features, n_features)."""

    def gain(self, memory: Any, rows: Rows) -> Array:
        """Return K_t, of shape (n_features, n_samples). O((n + p)·p²)."""
        return penalty_gain(rows, self.checked_weight(memory, rows))

    def _change(self, memory: Any, rows: Rows, coef: Array) -> Solution:
        return penalized_change(rows, coef, self.checked_weight(memory, rows))

    def checked_weight(self, memory: Any, rows: Rows) -> float | Array:
        """Return H_t, or raise if it is not a number, a diagonal or a matrix that is positive semidefinite."""
        weight, p = self.weight(memory, rows), rows.n_features
        if isinstance(weight, float):
            return nonnegative(weight, "the weight H_t of the policy")
        weight = real_array(weight, "the weight H_t of the policy")
        if weight.ndim == 2:
            return checked_semidefinite(weight, p, "the weight H_t of the policy")
        if weight.shape not in ((), (p,)):
            raise InvalidParameterError(
                f"the weight H_t of the policy has shape {weight.shape}; it must be a number, ({p},) or ({p}, {p})."
            )
        checked = finite(nonnegative_array(weight, "the weight H_t of the policy"), "the weight H_t of the policy")
        return checked if checked.ndim else float(checked)


def checked_policy(weights: Any) -> WeightPolicy:
    """Return `weights` if it is a policy, or raise.

    Examples
    --------
    >>> from ridgeway import weights
    >>> weights.checked_policy(weights.Zero())
    Zero()
    >>> weights.checked_policy(0.5)
    Traceback (most recent call last):
    ...
    ridgeway.errors.InvalidParameterError: weights must be a policy of ridgeway.weights, ...
    """
    if not isinstance(weights, WeightPolicy):
        raise InvalidParameterError(
            f"weights must be a policy of ridgeway.weights, or an instance of your own subclass; got {weights!r}. For "
            "a single matrix or number use weights.Explicit([...]) or weights.Isotropic(penalty)."
        )
    return weights
