"""Stores of classes and of a likelihood: their tasks, their lives, and the calls on them that meet faults."""

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ridgeway import GeneralizedLogistic, GeneralizedPoisson, GeneralizedRidgeClassifier, store, weights
from torture.scenarios import Scenario
from torture.tasks import FEATURES, LIFE, TARGET, Life, Step, arrays_of, difference, name, rows

PRIOR = 1.0
WEIGHT = "weight"


def labels(number: int) -> NDArray[np.str_]:
    """Return the classes of a task: two that every task has, and another one in every third task.

    The tasks that `LIFE` removes are not among these: a class without rows stays in a store, but not in an estimator.
    """
    y = rows(number)[1]
    found = np.where(y > np.median(y), "dog", "eel")
    found[: 3 * (number % 3 == 1)] = ["ant", "fox"][number % 2]
    return found


def answers(number: int) -> NDArray[np.str_]:
    """Return yes or no."""
    y = rows(number)[1]
    return np.where(y > np.median(y), "yes", "no")


def counts(number: int) -> NDArray[np.float64]:
    """Return counts."""
    return np.round(np.abs(rows(number)[1]) / 4.0)


class Kind(NamedTuple):
    """A family: the targets of its tasks, how a store of it is made, and the estimator that it must equal."""

    targets: Callable[[int], Any]
    settings: Mapping[str, Any]
    model: Callable[[], Any]

    def create(self, path: Path) -> store.Store:
        """Make a store."""
        return store.create(path, features=FEATURES, target=TARGET, prior=PRIOR, **self.settings)

    def task(self, number: int) -> tuple[Any, Any]:
        """Return the rows and the targets of a task."""
        return rows(number)[0], self.targets(number)


POLICY = weights.Accumulated(prior=PRIOR)
KINDS = {
    "multiclass": Kind(labels, {"family": "multiclass"}, lambda: GeneralizedRidgeClassifier(POLICY)),
    "binomial": Kind(
        answers, {"family": "binomial", "memory": "cubic"}, lambda: GeneralizedLogistic(POLICY, memory="cubic")
    ),
    "poisson": Kind(counts, {"family": "poisson"}, lambda: GeneralizedPoisson(POLICY)),
}


class FamilyStep(Step):
    """One call in the life of a store of a family."""

    kind: Kind

    def take(self, path: Path) -> None:
        """Make the call."""
        if self.verb == "create":
            self.kind.create(path)
        elif self.verb == "absorb":
            store.open(path).absorb(name(self.number), *self.kind.task(self.number))
        else:
            store.open(path).remove(name(self.number), *self.kind.task(self.number))


class ClassStep(FamilyStep):
    """One call in the life of a store of classes."""

    kind = KINDS["multiclass"]


class LikelihoodStep(FamilyStep):
    """One call in the life of a store of a likelihood, which cannot remove tasks."""

    kind = KINDS["binomial"]


@lru_cache(maxsize=256)
def _expected(steps: tuple[FamilyStep, ...], done: int) -> tuple[tuple[str, ...], bytes]:
    """Return ids and state after the first steps: those of an estimator that took them too."""
    ledger, model = list[int](), steps[0].kind.model()
    for step in steps[:done]:
        if step.verb == "absorb":
            model.partial_fit(*step.kind.task(step.number))
            ledger.append(step.number)
        elif step.verb == "remove":
            model = model.remove(*step.kind.task(step.number))
            ledger.remove(step.number)
    return tuple(map(name, ledger)), arrays_of(model) if ledger else b""


def _life(steps: list[FamilyStep]) -> Life:
    moment = partial(_expected, tuple(steps))
    return Life(steps, lambda path, done: difference(path, done, moment), moment)


CLASS_LIFE = _life([ClassStep(step.verb, step.number) for step in LIFE])
LIKELIHOOD_LIFE = _life([LikelihoodStep("create"), *(LikelihoodStep("absorb", number) for number in range(12))])


def _filled(kind: str, folder: Path) -> None:
    made = KINDS[kind].create(folder / "a.rw")
    for number in range(1, 4):
        made.absorb(name(number), *KINDS[kind].task(number))


def _absorb(kind: str, folder: Path) -> None:
    store.open(folder / "a.rw").absorb(name(4), *KINDS[kind].task(4))


FAMILY_SCENARIOS = (
    Scenario("classes: absorb a new one", partial(_filled, "multiclass"), partial(_absorb, "multiclass")),
    Scenario("a likelihood: absorb", partial(_filled, "binomial"), partial(_absorb, "binomial")),
)
