"""Generalized ℓ2-regularization: hold on to each direction as a policy says."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ridgeway.data import Task, check_tasks
from ridgeway.errors import InvalidParameterError, InvalidStateError, MergeError, RemovalError
from ridgeway.estimators._base import ContinualRegressor, State, check_targets, next_estimate
from ridgeway.estimators._memory import INFORMATION, Memory, memory_from, stored_prior, with_task
from ridgeway.information import Information
from ridgeway.linalg import Rows, ridge_step, threads_for, weighted_step
from ridgeway.weights import Accumulated, TaskPolicy

Array = NDArray[np.float64]


class GeneralizedRidge(ContinualRegressor):
    """Continual regression that does not forget (GR).

    ŵ_t = argmin_w (1/n_t)‖X_t·w − y_t‖² + ‖w − ŵ_{t−1}‖²_{H_t}, with H_t from a policy. With `weights.Accumulated()`,
    the default, the estimate after every task **is** pooled least squares on all rows so far, in any order and however
    they were cut into tasks, from a state of fixed size.

    Parameters
    ----------
    weights : policy of `ridgeway.weights`, optional
        How H_t is chosen; `Accumulated(prior=0.0)` if not given.
    information : {"square_root", "moments"}, default "square_root"
        How `Accumulated` keeps the past. "square_root" is a triangular factor and has the digits of a QR decomposition
        of all rows; "moments" is faster and has half of them.
    fit_intercept : bool, default True
        Whether an intercept is fitted, never penalised: with `Accumulated` one over all tasks, otherwise each task sets
        its own, b_t = ȳ_t − x̄_t·ŵ_t.
    initial_coef : array of shape (n_features,) or (n_targets, n_features), optional
        ŵ_0; zero if not given.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Solved when first asked for.
    intercept_ : float or ndarray of shape (n_targets,)
    rank_ : int
        Rank of the last system, the prior included.
    information_ : Information
        What the past left behind (`Accumulated` only).
    digits_lost_ : float
        Decimal digits that `remove` may have cost (`Accumulated` only).
    n_tasks_, n_samples_seen_, n_features_in_ : int
    feature_names_in_ : ndarray of str, where the tasks were DataFrames

    Notes
    -----
    With `Accumulated` a task costs O(n·p²), the coefficients O(p²) (square root; O(p³) where the prior is a matrix,
    very weak or very strong) or O(p³) (moments) when asked for. It remembers (p + k)² numbers at most, about half
    of them with moments or with more than 500 features; from some 1,500 features on it keeps room for as many again,
    which it needs to learn the next task. Singular systems take the limit H_t + δI, δ → 0⁺: the change is as small as
    can be, and for the first task the norm.

    References
    ----------
    Thm (adaptive ridge), with the prior σ²·E_0⁻¹ in the corrected form; Sec. "A Practical Algorithm" for H̃_t.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge
    >>> model = GeneralizedRidge()
    >>> model = model.partial_fit([[0.0], [1.0]], [1.0, 3.0]).partial_fit([[2.0], [3.0]], [5.0, 7.0])
    >>> model.predict([[10.0]])
    array([21.])
    """

    def __init__(
        self,
        weights: Any = None,
        *,
        information: str = "square_root",
        fit_intercept: bool = True,
        initial_coef: Any = None,
    ) -> None:
        self.weights = weights
        self.information = information
        self.fit_intercept = fit_intercept
        self.initial_coef = initial_coef

    def merge(self, other: "GeneralizedRidge") -> Self:
        """Return a new model, as if one had learned the tasks of both. The prior counts once. O(p³) at most.

        Both must have accumulated (`weights.Accumulated`, decay 1) the same features and targets under the same prior,
        intercept setting, kind of information and ŵ_0; otherwise `MergeError` lists what differs.
        """
        if not isinstance(other, GeneralizedRidge):
            raise MergeError(f"cannot merge a GeneralizedRidge with {other!r}. Pass another GeneralizedRidge.")
        mine, theirs = self._memory("merge", MergeError), other._memory("merge", MergeError)
        differences = [what for what, same in _agreement(self, other, mine, theirs) if not same]
        if differences:
            raise MergeError(
                f"cannot merge two models that differ in: {', '.join(differences)}. Learn both with the same settings."
            )
        with threads_for(self.n_features_in_):
            memory = mine.with_rows(mine.information.merge(theirs.information), mine.n_tasks + theirs.n_tasks)
        merged = copy.copy(self)
        merged._state = memory
        return merged

    def remove(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take a task back out, as if it had never been learned, or raise `RemovalError` and change nothing.

        The rows must be passed again. What remains must be safely of full rank without them, prior aside;
        `digits_lost_` then says how many digits the removal may have cost. Counts as one task less. O((n + p)·p²).
        """
        memory = self._memory("remove", RemovalError)
        (task,) = check_tasks(self, X, y, sample_weight, first=False)
        check_targets(memory, task)
        with threads_for(self.n_features_in_):
            memory = memory.with_rows(memory.information.remove(task), max(memory.n_tasks - 1, 1))
        self._state = memory
        return self

    def to_arrays(self) -> dict[str, Array]:
        """Return what was learned as plain float64 arrays (`Accumulated` only).

        `from_arrays` makes a model of them that answers bit for bit as this one does. The names of the columns are
        not numbers and stay with the caller. (p + k)² numbers.
        """
        return self._accumulated().to_arrays()

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], feature_names: Sequence[str] | None = None) -> Self:
        """Return the fitted model that `to_arrays` took apart, or raise `InvalidStateError`.

        Examples
        --------
        >>> model = GeneralizedRidge().fit([[0.0], [1.0]], [1.0, 3.0])
        >>> GeneralizedRidge.from_arrays(model.to_arrays()).predict([[2.0]])
        array([5.])
        """
        memory = memory_from(arrays)
        kind = next(name for name, kind in INFORMATION.items() if kind is type(memory.held))
        model = cls(
            Accumulated(prior="evidence" if memory.prior is None else memory.prior, decay=memory.decay or "adaptive"),
            information=kind,
            fit_intercept=memory.held.centered,
            initial_coef=memory.start.T.copy() if memory.start.any() else None,
        )
        if feature_names is not None:
            if len(feature_names) != memory.held.n_features:
                raise InvalidStateError(
                    f"{len(feature_names)} names for a state of {memory.held.n_features} features. Name each."
                )
            model.feature_names_in_ = np.array(feature_names, dtype=object)
        model.n_features_in_ = memory.held.n_features
        model._state = memory
        return model

    @property
    def information_(self) -> Information:
        """What the past left behind: the information of the rows alone, without the prior."""
        return self._accumulated().information

    @property
    def digits_lost_(self) -> float:
        """Decimal digits that removals may have cost."""
        return self._accumulated().held.digits_lost

    def _accumulated(self) -> Memory:
        check_is_fitted(self)
        if not isinstance(self._state, Memory):
            raise AttributeError(f"a model with weights={self.weights!r} keeps no information about the past.")
        return self._state

    def _memory(self, verb: str, error: type[MergeError | RemovalError]) -> Memory:
        check_is_fitted(self)
        if not isinstance(self._state, Memory):
            raise error(
                f"cannot {verb}: weights={self.weights!r} keeps no information about the past. "
                "Use weights.Accumulated()."
            )
        if self._state.decay != 1.0:
            decay = f"{self._state.decay:g}" if self._state.decay else "'adaptive'"
            raise error(
                f"cannot {verb}: with decay={decay} a task's share depends on when it was learned. "
                "Use weights.Accumulated(decay=1.0)."
            )
        return self._state

    def _learn(self, state: State | None, task: Task) -> State:
        policy = Accumulated() if self.weights is None else self.weights
        if isinstance(policy, Accumulated):
            return self._accumulate(state, task, policy)
        if not isinstance(policy, TaskPolicy):
            raise InvalidParameterError(
                f"weights must be a policy of ridgeway.weights; got {policy!r}. For a single matrix or number use "
                "weights.Explicit([...]) or weights.Isotropic(penalty)."
            )
        if isinstance(state, Memory):
            raise _changed()
        number = 1 if state is None else state.n_tasks + 1
        weight_matrix = policy.weight_matrix(number, task.n_features)
        rows = Rows(task, center=self.fit_intercept)
        coef = self._start(task) if state is None else state.answer.coef
        step = (
            weighted_step(rows, coef, weight_matrix)
            if isinstance(weight_matrix, np.ndarray)
            else ridge_step(rows, coef, weight_matrix)
        )
        return next_estimate(state, task, rows, coef + step.coef, step.rank)

    def _accumulate(self, state: State | None, task: Task, policy: Accumulated) -> Memory:
        if str(self.information) not in INFORMATION:
            raise InvalidParameterError(
                f"information must be one of {', '.join(map(repr, INFORMATION))}; got {self.information!r}."
            )
        kind = INFORMATION[self.information]
        prior = None if policy.learns_prior else policy.prior_matrix(task.n_features)
        decay = 0.0 if policy.adapts else policy.checked_decay()
        start = self._start(task)
        if state is None:
            past = kind.empty(task.n_features, task.n_targets, centered=bool(self.fit_intercept))
            if prior is not None and prior.any() and decay > 0.0:
                past = past.holding(prior, start, Rows(task).squares(centered=past.centered))
        elif isinstance(state, Memory) and (state.decay, type(state.held)) == (decay, kind):
            same = np.array_equal(stored_prior(state.prior), stored_prior(prior)) and np.array_equal(state.start, start)
            past = state.held if same else state.information
        else:
            raise _changed()
        if past.centered != self.fit_intercept:
            raise _changed()
        n_tasks = 1 if state is None else state.n_tasks + 1
        held = with_task(past, task, prior, start, decay, n_tasks)
        return Memory(
            n_tasks=n_tasks,
            n_samples=held.n_samples,
            n_targets=task.n_targets,
            single_target=task.single_target,
            held=held,
            prior=prior,
            start=start,
            decay=decay,
        )


def _changed() -> InvalidParameterError:
    return InvalidParameterError(
        "weights, decay, information or fit_intercept changed since the last task, and the rows are gone. "
        "Set them back, or start a new model."
    )


def _agreement(one: GeneralizedRidge, two: GeneralizedRidge, a: Memory, b: Memory) -> list[tuple[str, bool]]:
    """Return what two models must have in common, and whether they do."""
    names = [list(getattr(model, "feature_names_in_", range(model.n_features_in_))) for model in (one, two)]
    return [
        ("features", names[0] == names[1]),
        ("targets", (a.n_targets, a.single_target) == (b.n_targets, b.single_target)),
        ("intercept", a.held.centered == b.held.centered),
        ("kind of information", type(a.held) is type(b.held)),
        ("prior", np.array_equal(stored_prior(a.prior), stored_prior(b.prior))),
        ("initial_coef", np.array_equal(a.start, b.start)),
    ]
