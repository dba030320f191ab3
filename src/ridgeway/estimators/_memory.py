"""What a model that accumulates remembers between tasks."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway.data import Task, dense
from ridgeway.errors import InferenceError, InvalidParameterError, InvalidStateError, PrecisionWarning
from ridgeway.estimators._base import Answer, State
from ridgeway.information import Inference, Information, Moments, SquareRoot, evidence_decay, learn_penalty
from ridgeway.linalg import EPS, threads_for
from ridgeway.weights import Accumulated

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
            rows, whole = self.held.without_prior(self.prior_in_force, self.start)
        if not whole:
            warnings.warn(
                "some direction of the features is known so little beside the prior that few digits of it are left "
                "once the prior is taken out (none, if columns are collinear). Learn anew without a prior, or with the "
                "prior as a matrix, which is kept apart.",
                PrecisionWarning,
                stacklevel=3,
            )
        return rows

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

    def to_arrays(self) -> dict[str, Array]:
        """Return what is remembered as plain float64 arrays."""
        kind = list(INFORMATION.values()).index(type(self.held))
        model = [kind, self.n_tasks, self.single_target, self.decay]
        return {
            "model": np.array(model, dtype=np.float64),
            "prior": stored_prior(self.prior),
            "start": self.start,
            **self.held.to_arrays(),
        }


def with_task(
    past: Information, task: Task, prior: Array | None, start: Array, decay: float, n_tasks: int
) -> Information:
    """Return the information after a task: the past faded by `decay`, or where that is 0 by what the task says."""
    if decay > 0.0 or past.n_samples == 0:
        past = past if decay in (0.0, 1.0) else past.decayed(decay)
        after = past.add(task)
        if prior is None or not after.is_weak(prior * decay**n_tasks):
            return after
        return past.without_prior(prior * decay**n_tasks, start)[0].add(task)
    alone = type(past).empty(past.n_features, past.n_targets, centered=past.centered).add(task)
    share = evidence_decay(past, alone, start)
    if share == 0.0:
        return alone
    return (past if share == 1.0 else past.thinned(share)).add(task)


def stored_prior(prior: Array | None) -> Array:
    """Return a prior as an array: empty where it is learned."""
    return np.zeros(0) if prior is None else prior


def memory_from(arrays: Mapping[str, Array]) -> Memory:
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
