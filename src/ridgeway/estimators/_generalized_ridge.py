"""Generalized ℓ2-regularization: hold on to each direction as a policy says."""

import copy
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ridgeway._validation import Task, check_tasks, dense
from ridgeway.errors import (
    InferenceError,
    InvalidParameterError,
    InvalidStateError,
    MergeError,
    PrecisionWarning,
    RemovalError,
)
from ridgeway.estimators._base import Answer, ContinualRegressor, State, check_targets, next_estimate
from ridgeway.information import Inference, Information, Moments, SquareRoot, evidence_decay, learn_penalty
from ridgeway.linalg import EPS, Rows, ridge_step, threads_for, weighted_step
from ridgeway.weights import Accumulated, TaskPolicy

Array = NDArray[np.float64]

INFORMATION: dict[str, type[Information]] = {"square_root": SquareRoot, "moments": Moments}
FEWEST_DIGITS = 4


@dataclass(frozen=True, eq=False)
class Memory(State):
    """What `Accumulated` remembers: the information, and the prior, which counts once and may be held in it.

    A prior of None is learned from the information, and a decay of 0 is chosen anew for each task.
    """

    held: Information
    prior: Array | None
    start: Array
    decay: float

    @cached_property
    def information(self) -> Information:
        """The information of the rows alone, found when first asked for."""
        if not self.held.holds_prior:
            return self.held
        with threads_for(self.held.n_features):
            return self.held.without_prior(self.prior_in_force, self.start)

    def with_rows(self, rows: Information, n_tasks: int) -> "Memory":
        """Return the memory of other rows under the same prior."""
        squares = rows.peak[: rows.n_features]
        held = rows if self.prior is None else rows.holding(self.prior, self.start, squares)
        return replace(self, n_tasks=n_tasks, n_samples=rows.n_samples, held=held)

    def refuse_fading(self) -> None:
        """Raise where rows fade: how many rows the information then amounts to is not known."""
        if self.decay not in (0.0, 1.0):
            raise InferenceError(
                f"with decay={self.decay:g} the rows of older tasks fade, and the noise cannot be told from what is "
                "left of them. Learn with decay=1.0 or decay='adaptive'."
            )

    @cached_property
    def prior_in_force(self) -> Array:
        """P as it stands beside the information."""
        if self.prior is None:
            self.refuse_fading()
            with threads_for(self.information.n_features):
                return learn_penalty(self.information, self.start).prior
        return self.prior * self.decay**self.n_tasks if self.decay else self.prior  # J_0 = P decays with the past

    @cached_property
    def inference(self) -> Inference:
        """What is known about the estimate."""
        self.refuse_fading()
        return Inference(self.information, self.prior_in_force, self.start, self.answer.coef)

    def predictive_deviations(self, X: Any) -> Array:
        """Return the standard deviation of a new observation at each row, (n_samples, n_targets)."""
        with threads_for(self.information.n_features):
            leverages = self.inference.leverages(dense(X).T, float(self.information.centered))
            return np.sqrt((1.0 + leverages)[:, None] * self.inference.noise_variance)

    @cached_property
    def answer(self) -> Answer:
        """The estimate, solved when first asked for."""
        prior = self.prior_in_force
        with threads_for(self.held.n_features):
            solution = self.held.solve(prior, self.start)
        _warn_of_lost_digits(solution.growth, type(self.held))
        return Answer(solution.coef, self.held.intercept(solution.coef), solution.rank)


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
    With `Accumulated` a task costs O(n·p²), the coefficients O(p²) (square root) or O(p³) (moments, or with a prior)
    when asked for, and it remembers (p + k)² numbers. Singular systems take the limit H_t + δI, δ → 0⁺: the change
    is as small as can be, and for the first task the norm.

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
        memory = self._accumulated()
        kind = list(INFORMATION.values()).index(type(memory.held))
        model = [kind, memory.n_tasks, memory.single_target, memory.decay]
        return {
            "model": np.array(model, dtype=np.float64),
            "prior": _stored(memory.prior),
            "start": memory.start,
            **memory.held.to_arrays(),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], feature_names: Sequence[str] | None = None) -> Self:
        """Return the fitted model that `to_arrays` took apart, or raise `InvalidStateError`.

        Examples
        --------
        >>> model = GeneralizedRidge().fit([[0.0], [1.0]], [1.0, 3.0])
        >>> GeneralizedRidge.from_arrays(model.to_arrays()).predict([[2.0]])
        array([5.])
        """
        memory = _memory_from(arrays)
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
            same = np.array_equal(_stored(state.prior), _stored(prior)) and np.array_equal(state.start, start)
            past = state.held if same else state.information
        else:
            raise _changed()
        if past.centered != self.fit_intercept:
            raise _changed()
        n_tasks = 1 if state is None else state.n_tasks + 1
        held = _with_task(past, task, prior, start, decay, n_tasks)
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


def _with_task(
    past: Information, task: Task, prior: Array | None, start: Array, decay: float, n_tasks: int
) -> Information:
    """Return the information after a task: the past faded by `decay`, or where that is 0 by what the task says."""
    if decay > 0.0 or past.n_samples == 0:
        past = past if decay in (0.0, 1.0) else past.decayed(decay)
        after = past.add(task)
        if prior is None or not after.is_weak(prior * decay**n_tasks):
            return after
        return past.without_prior(prior * decay**n_tasks, start).add(task)
    alone = type(past).empty(past.n_features, past.n_targets, centered=past.centered).add(task)
    share = evidence_decay(past, alone, start)
    if share == 0.0:
        return alone
    return (past if share == 1.0 else past.thinned(share)).add(task)


def _changed() -> InvalidParameterError:
    return InvalidParameterError(
        "weights, decay, information or fit_intercept changed since the last task, and the rows are gone. "
        "Set them back, or start a new model."
    )


def _stored(prior: Array | None) -> Array:
    """Return a prior as an array: empty where it is learned."""
    return np.zeros(0) if prior is None else prior


def _memory_from(arrays: Mapping[str, Array]) -> Memory:
    """Return the memory that `to_arrays` took apart, checked."""
    model, prior, start = (np.array(arrays.get(name, ())) for name in ("model", "prior", "start"))
    if model.shape != (4,) or model[0] not in range(len(INFORMATION)):
        raise InvalidStateError("the arrays are not those of a GeneralizedRidge. Pass all that to_arrays() returned.")
    kind = list(INFORMATION.values())[int(model[0])]
    information = kind.from_arrays(arrays)
    p, k = information.n_features, information.n_targets
    n_tasks, decay = int(model[1]), float(model[3])
    if n_tasks != model[1] or n_tasks < 1 or model[2] not in (0.0, 1.0) or (model[2] and k > 1) or not 0 <= decay <= 1:
        raise InvalidStateError("the number of tasks, of targets or the decay is out of range. Read an intact copy.")
    odd = information.holds_prior and (prior.shape != (p,) or not prior.all() or kind is not SquareRoot)
    if prior.shape not in ((0,), (p,), (p, p)) or start.shape != (p, k) or not np.isfinite(start).all() or odd:
        raise InvalidStateError(f"the prior or the start does not fit {p} features and {k} targets.")
    try:
        held = Accumulated(prior=prior).prior_matrix(p) if prior.size else None
    except InvalidParameterError as error:
        raise InvalidStateError(f"the prior of a state is damaged: {error}") from error
    return Memory(n_tasks, information.n_samples, k, bool(model[2]), information, held, start, decay)


def _warn_of_lost_digits(growth: float, kind: type[Information]) -> None:
    digits = -np.log10(EPS * growth)
    if np.isinf(growth):
        what = "collinear, exactly or to within 1e-7 ('moments' cannot tell), and coef_ is the one of least norm"
    elif digits < FEWEST_DIGITS:
        what = f"nearly collinear: about {max(digits, 0.0):.0f} digits of coef_ are correct"
    else:
        return
    more = "" if kind is SquareRoot else ", or learn anew with information='square_root'"
    warnings.warn(f"the columns learned are {what}. Drop a column, give a prior{more}.", PrecisionWarning, stacklevel=5)


def _agreement(one: GeneralizedRidge, two: GeneralizedRidge, a: Memory, b: Memory) -> list[tuple[str, bool]]:
    """Return what two models must have in common, and whether they do."""
    names = [list(getattr(model, "feature_names_in_", range(model.n_features_in_))) for model in (one, two)]
    return [
        ("features", names[0] == names[1]),
        ("targets", (a.n_targets, a.single_target) == (b.n_targets, b.single_target)),
        ("intercept", a.held.centered == b.held.centered),
        ("kind of information", type(a.held) is type(b.held)),
        ("prior", np.array_equal(_stored(a.prior), _stored(b.prior))),
        ("initial_coef", np.array_equal(a.start, b.start)),
    ]
