"""What is remembered between tasks. A state is frozen; anything it can do besides answer is a capability."""

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway.data import Classes, Task, WeightKind, joined_classes
from ridgeway.errors import (
    InferenceError,
    InvalidDataError,
    InvalidParameterError,
    MergeError,
)
from ridgeway.information import AveragedInference, Inference, Information, SquareRoot, WithPrior, learn_penalty
from ridgeway.weights._displayed import Displayed
from ridgeway.weights._precision import MOST_GROWTH, MOST_LOST, warn_of_lost_digits
from ridgeway.weights._settings import same_prior, widened_prior


@dataclass(frozen=True, eq=False)
class Answer:
    """ŵ_t of shape (n_features, n_targets), b_t of shape (n_targets,), and the rank of the system they solve.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge
    >>> answer = GeneralizedRidge().fit([[0.0], [1.0], [2.0]], [1, 3, 5]).state_.answer
    >>> answer.coef, answer.intercept, answer.rank
    (array([[2.]]), array([1.]), 1)
    """

    coef: Array
    intercept: Array
    rank: int | None = None


@dataclass(frozen=True, eq=False)
class Origin:
    """Where a model starts.

    Parameters
    ----------
    coef : ndarray of shape (n_features, n_targets)
        ŵ_0.
    information : class
        The kind of information to keep.
    centered : bool
        Whether an intercept is fitted.
    single_target : bool
        Whether `y` has one axis.
    weight_kind : {"precision", "frequency"}
        Whether a weight is a precision, or the number of times that a row was observed.
    given : object
        ŵ_0 as the user gave it: it is checked once, as long as it is the same object.
    classes : tuple of labels, or None
        What the targets stand for, if they are the classes of a classifier.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import weights
    >>> origin = weights.Origin(coef=np.array([[0.5]]), centered=False)
    >>> weights.Accumulated().start(origin).answer.coef
    array([[0.5]])
    """

    coef: Array
    information: Any = SquareRoot
    centered: bool = True
    single_target: bool = True
    given: Any = None
    weight_kind: WeightKind = "precision"
    classes: Classes | None = None

    def check_targets(self, task: Task) -> None:
        """Raise if a task's targets are not those of the model."""
        mine, theirs = (self.single_target, self.coef.shape[1]), (task.single_target, task.n_targets)
        if mine != theirs:
            has, got = (f"shape (n_samples,{'' if single else f' {k}'})" for single, k in (mine, theirs))
            raise InvalidDataError(f"y has {got}; this model learned y of {has}. Start a new model, or reshape y.")


@dataclass(frozen=True, eq=False)
class _Started(Displayed):
    """What all states have in common."""

    origin: Origin
    n_tasks: int

    def resumed(self, origin: Origin) -> Self:
        """Return the state under the model's present settings, or raise if they cannot change any more."""
        mine = self.origin
        fixed = [(one.information, one.centered, one.weight_kind) for one in (origin, mine)]
        if fixed[0] != fixed[1]:
            raise changed()
        return self if np.array_equal(mine.coef, origin.coef) else replace(self, origin=origin)

    def with_classes(self, classes: Classes) -> Self:
        """Return the state with these classes as targets. A new one is a target that was 0 in every past row."""
        place = {label: number for number, label in enumerate(self.origin.classes or ())}
        targets = np.array([place.get(label, -1) for label in classes])
        origin = replace(self.origin, coef=_chosen(self.origin.coef, targets), classes=classes)
        return self._with_targets(targets, origin)

    @abstractmethod
    def _with_targets(self, targets: NDArray[np.intp], origin: Origin) -> Self:
        """Return the state with the old targets at these places, and new ones (−1) that were 0 in every past row."""


@dataclass(frozen=True, eq=False)
class Anchored(_Started):
    """The state of a policy that solves at once: ŵ_t, and whatever the policy remembers.

    Examples
    --------
    >>> from ridgeway import ContinualRidge
    >>> state = ContinualRidge().fit([[1.0], [2.0]], [1.0, 2.0]).state_
    >>> type(state).__name__, state.policy.__name__, hasattr(state, "information")
    ('Anchored', 'Isotropic', False)
    """

    answer: Answer
    n_samples: int
    policy: type
    memory: Any = None

    def _with_targets(self, targets: NDArray[np.intp], origin: Origin) -> Self:
        coef, intercept = (_chosen(values, targets) for values in (self.answer.coef, self.answer.intercept))
        return replace(self, origin=origin, answer=replace(self.answer, coef=coef, intercept=intercept))


@dataclass(frozen=True, eq=False)
class Retained(_Started):
    """A state that keeps information about the past, and solves for the estimate when it is first asked for.

    The information holds rows only. The prior is kept beside it: a diagonal (p,), a matrix (p, p), or None if it is
    learned from the information.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge
    >>> state = GeneralizedRidge().fit([[0, 1], [1, 1], [2, 4]], [1, 2, 3]).state_
    >>> state.answer.coef.round(8)
    array([[1.], [0.]])
    >>> state.select(np.array([1])).answer.coef  # a model of this column alone
    array([[0.5]])
    """

    information: Information
    prior: Array | None
    given: tuple[Any, Any] = field(default=(None, None), kw_only=True)
    """Prior and decay as the user gave them: they are checked once, as long as they are the same objects."""
    features_selected: bool = field(default=False, kw_only=True)
    """Whether the features were chosen because they fit these rows: for good, whatever is learned next."""

    @property
    def n_samples(self) -> int:
        """Rows learned, not counting rows of weight zero."""
        return self.information.n_samples

    def select(self, columns: NDArray[np.intp]) -> Self:
        """Return the state of the same rows with fewer features."""
        prior = self.prior
        if prior is not None:
            prior = prior[columns] if prior.ndim == 1 else prior[np.ix_(columns, columns)]
        origin = replace(self.origin, coef=self.origin.coef[columns])
        return replace(self, information=self.information.select(columns), prior=prior, origin=origin)

    def widened(self, features: NDArray[np.intp], targets: NDArray[np.intp], past: Array, prior: Any = None) -> Self:
        """Return the state of the same rows with more columns, as if they had been there from the start.

        Parameters
        ----------
        features, targets, past : as in `Information.widened`
        prior : the entries of the prior for new features, needed unless it is one number for all, or learned
        """
        information = self.information.widened(features, targets, past)
        coef = np.pad(self.origin.coef, (0, 1))[np.ix_(features, targets)]  # −1 is the zeros at the end
        single = self.origin.single_target and len(targets) == 1
        origin = replace(self.origin, coef=coef, single_target=single, given=None)
        wider = widened_prior(self.prior, features, prior)
        return replace(self, information=information, prior=wider, origin=origin, given=(None, None))

    def _with_targets(self, targets: NDArray[np.intp], origin: Origin) -> Self:
        return replace(self, origin=origin, information=self.information.with_targets(targets))

    def before(self) -> Information:
        """Return the past as it counts beside a new task: whole."""
        return self.information

    def next_with_prior(self, now: WithPrior, task: Task) -> WithPrior | None:
        """Return what `with_prior` is after a task, or None if it is not worth keeping."""
        return now.after(task)

    @property
    @abstractmethod
    def prior_in_force(self) -> Array:
        """P, as it applies now."""

    def after(self, task: Task) -> Self:
        """Return the state after a task."""
        if self.origin.weight_kind == "frequency":
            task = task.counted()
        state = replace(self, n_tasks=self.n_tasks + 1, information=self.before().add(task))
        asked = vars(self).get("with_prior") if "answer" in vars(self) else None
        if asked is not None and self.prior is not None:  # whoever asks after every task is answered in O(p²)
            carried = self.next_with_prior(asked, task)
            if carried is not None:
                vars(state)["with_prior"] = carried
        return state

    @cached_property
    def with_prior(self) -> WithPrior | None:
        """Information and prior, ready to be solved cheaply, if there is such a form."""
        return self.information.with_prior(self.prior_in_force, self.origin.coef)

    @cached_property
    def answer(self) -> Answer:
        """The estimate, solved when first asked for.

        The prior is added here, if `with_prior` does not include it yet. It is never stored in the information.
        """
        information = self.information
        if self.with_prior is None:
            solution = information.solve(self.prior_in_force, self.origin.coef)
        else:
            solution = self.with_prior.solve()
        lost = information.digits_lost
        removed = lost and lost + np.log10(solution.growth) / 2.0 > MOST_LOST
        if solution.constant or solution.growth > MOST_GROWTH or removed:
            warn_of_lost_digits(solution, information.collinear_within, information.more_digits, lost)
        return Answer(solution.coef, information.intercept(solution.coef), solution.rank)


class Whole(Retained):
    """A past whose rows count fully, so that the noise can be estimated from it."""

    @cached_property
    def prior_in_force(self) -> Array:
        """P, learned from the information if it is not given."""
        return learn_penalty(self.information, self.origin.coef).prior if self.prior is None else self.prior

    def inference(self) -> Inference | AveragedInference:
        """Return what is known about the estimate: if the prior is learned, averaged over what it may be."""
        return self._inference

    @cached_property
    def _inference(self) -> Inference | AveragedInference:
        known = Inference(self.information, self.prior_in_force, self.origin.coef, self.answer.coef)
        return AveragedInference.of(known) if self.prior is None else known


class Summed(Retained):
    """What remains is a sum over rows: states can be merged, and tasks can be removed."""

    def merge(self, other: Self) -> Self:
        """Return the state of both pasts, and of the classes of both. The prior counts once. O(p³) at most."""
        mine, theirs = self.origin.classes, other.origin.classes
        if mine is not None and theirs is not None:
            classes = _classes_of_both(mine, theirs)
            if not mine == theirs == classes:
                return self.with_classes(classes).merge(other.with_classes(classes))
        differences = [what for what, same in self._agreement(other) if not same]
        if differences:
            raise MergeError(
                f"cannot merge two models that differ in: {', '.join(differences)}. Learn both with the same settings."
            )
        merged = self.information.merge(other.information)
        n_tasks = self.n_tasks + other.n_tasks
        selected = self.features_selected or other.features_selected
        return replace(self, n_tasks=n_tasks, information=merged, features_selected=selected)

    def remove(self, task: Task) -> Self:
        """Return the state as if a task had never been learned, or raise `RemovalError`. O((n + p)·p²)."""
        gone = task.counted() if self.origin.weight_kind == "frequency" else task
        return replace(self, n_tasks=max(self.n_tasks - 1, 1), information=self.information.remove(gone))

    def mapped(self, matrix: Array, shift: Array) -> Self:
        """Return the state of the same rows, the features being x·matrix + shift: as `Information.mapped`."""
        if self.prior is None or self.prior.any() or self.origin.coef.any():
            raise InvalidParameterError(
                "features cannot be transformed in a model with a prior or an initial_coef: both are about the old "
                "features. Learn without them."
            )
        q, k = matrix.shape[1], self.origin.coef.shape[1]
        origin = replace(self.origin, coef=np.zeros((q, k)), given=None)
        information = self.information.mapped(matrix, shift)
        return replace(self, information=information, prior=np.zeros(q), origin=origin, given=(None, None))

    def _agreement(self, other: Self) -> list[tuple[str, bool]]:
        """Return what two states must have in common, and whether they do."""
        mine, theirs = self.origin, other.origin
        targets = [(origin.coef.shape, origin.single_target, origin.classes) for origin in (mine, theirs)]
        return [
            ("targets", targets[0] == targets[1]),
            ("intercept", mine.centered == theirs.centered),
            ("kind of information", mine.information == theirs.information),
            ("kind of weights", mine.weight_kind == theirs.weight_kind),
            ("prior", same_prior(self.prior, other.prior)),
            ("initial_coef", np.array_equal(mine.coef, theirs.coef)),
        ]


class Pooled(Summed, Whole):
    """Every row counts fully."""


@dataclass(frozen=True, eq=False)
class Fading(Retained):
    """Older rows count less: every task multiplies the weight of the past, the prior included, by `decay`."""

    decay: float

    def before(self) -> Information:
        """Return the past, faded once more."""
        return self.information.scaled(self.decay)

    def next_with_prior(self, now: WithPrior, task: Task) -> WithPrior | None:
        """Return it faded, with the task added."""
        return now.after(task, self.decay)

    @property
    def prior_in_force(self) -> Array:
        """J_0 = P, which fades with the past."""
        if self.prior is None:
            raise InferenceError(
                f"with decay={self.decay:g} the rows of older tasks fade, and the noise cannot be estimated from what "
                "is left of them. Learn with decay=1.0, or give the prior as a number."
            )
        return self.prior * self.decay**self.n_tasks


def changed() -> InvalidParameterError:
    """Return the error for settings that changed between tasks."""
    return InvalidParameterError(
        "the policy, its decay, information, fit_intercept or weight_kind changed since the last task, and the rows "
        "are gone. Set them back, or start a new model."
    )


def _chosen(values: Array, targets: NDArray[np.intp]) -> Array:
    """Return the columns of these targets: zeros for a new one (−1)."""
    return np.asarray(np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, 1)])[..., targets])


def _classes_of_both(one: Classes, two: Classes) -> Classes:
    try:
        return joined_classes(one, two, "the other model")
    except InvalidDataError as error:
        raise MergeError(f"cannot merge: {error}") from error
