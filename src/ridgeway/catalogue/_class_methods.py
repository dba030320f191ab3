"""The methods for classes and counts: least squares on classes, likelihoods, and a peer."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway.catalogue._arguments import estimator, numbers, penalties, policy, steps
from ridgeway.catalogue._method import SGD_STEPS, Method, MethodFamily
from ridgeway.data import FamilyName

CLASSIFIER = "GeneralizedRidgeClassifier"
"""The estimator of least squares on classes; its policies are the methods."""
PRIOR = 1.0
"""The prior of the likelihoods: columns are standardised, and a task may separate its classes."""


class SgdClasses:
    """scikit-learn's SGDClassifier with the logistic loss: a gradient step per row."""

    def __init__(self) -> None:
        from sklearn.linear_model import SGDClassifier

        self.model = SGDClassifier(loss="log_loss", random_state=0)

    def partial_fit(self, X: Array, y: Array, classes: Array | None = None) -> "SgdClasses":
        """Learn one task. The first one has to say which classes there are."""
        passes = math.ceil(SGD_STEPS / len(X))
        self.model.partial_fit(np.tile(X, (passes, 1)), np.tile(y, passes), classes=classes)
        return self

    def predict(self, X: Array) -> NDArray[Any]:
        """Return the class of each row."""
        return self.model.predict(X)

    def predict_proba(self, X: Array) -> Array:
        """Return the probabilities of the classes."""
        shares: Array = self.model.predict_proba(X)
        return shares


class LastTask:
    """An estimator that is fitted to each task alone, and keeps nothing of those before."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make
        self.model: Any = None

    def partial_fit(self, X: Array, y: Array) -> "LastTask":
        """Learn one task."""
        self.model = self.make().fit(X, y)
        return self

    def predict(self, X: Array) -> NDArray[Any]:
        """Return predictions."""
        predicted: NDArray[Any] = self.model.predict(X)
        return predicted

    def predict_proba(self, X: Array) -> Array:
        """Return the probabilities of the classes."""
        shares: Array = self.model.predict_proba(X)
        return shares


class PooledRows(LastTask):
    """An estimator that is fitted to the rows of all tasks, which it keeps: the oracle of a likelihood."""

    def __init__(self, make: Callable[[], Any]) -> None:
        super().__init__(make)
        self.rows: list[tuple[Array, Array]] = []

    def partial_fit(self, X: Array, y: Array) -> "PooledRows":
        """Keep the rows of one task. They are fitted when predictions are asked for."""
        self.rows.append((X, y))
        self.model = None
        return self

    def predict(self, X: Array) -> NDArray[Any]:
        """Return predictions."""
        self._fit()
        return super().predict(X)

    def predict_proba(self, X: Array) -> Array:
        """Return the probabilities of the classes."""
        self._fit()
        return super().predict_proba(X)

    def _fit(self) -> None:
        if self.model is None:
            X, y = (np.concatenate(part) for part in zip(*self.rows, strict=True))
            self.model = self.make().fit(X, y)


class PooledClasses:
    """The oracle of classes: that of numbers, with one target per class, which is 1 in its rows and 0 elsewhere."""

    def __init__(self) -> None:
        self.rows: list[tuple[Array, Array]] = []
        self.scores: tuple[NDArray[Any], Array, Array] | None = None

    def partial_fit(self, X: Array, y: Array) -> "PooledClasses":
        """Keep the rows of one task. They are fitted when predictions are asked for."""
        self.rows.append((X, y))
        self.scores = None
        return self

    def predict(self, X: Array) -> NDArray[Any]:
        """Return the class of each row."""
        if self.scores is None:
            self.scores = self._fit()
        classes, coef, intercept = self.scores
        best: NDArray[Any] = classes[(X @ coef.T + intercept).argmax(axis=1)]
        return best

    def _fit(self) -> tuple[NDArray[Any], Array, Array]:
        classes = np.unique(np.concatenate([y for _, y in self.rows]))
        oracle = estimator("Oracle")
        for X, y in self.rows:
            oracle.partial_fit(X, np.equal.outer(y, classes).astype(np.float64))
        return classes, oracle.coef_, oracle.intercept_


def _ridge(argument: str) -> Method:
    """`crr:0.1`, or `crr:1/2/3` with one penalty per task."""
    penalty, shown = penalties(argument)
    return Method("crr", "continual ridge", f"ŵ; λ = {shown}", partial(_anchored, CLASSIFIER, penalty), rule="crr")


def _stopping(argument: str) -> Method:
    """`es`, or `es:20` with a number of gradient steps."""
    n = steps(argument)
    return Method("es", "early stopping", f"ŵ; {n} gradient steps per task", partial(_stopped, n), rule="es")


def _generalized(argument: str) -> Method:
    """`gr`, or `gr:1` with a prior."""
    (prior,) = numbers("gr", argument or "0", "gr:1, one prior", most=1)
    about = "ŵ and the information" + (f", prior {prior:g}" if prior else "")
    return Method("gr", CLASSIFIER, about, partial(_accumulating, prior), rule="gr")


def _discriminants(argument: str) -> Method:
    """`lda`, or `lda:0.1` with a shrinkage."""
    (shrinkage,) = numbers("lda", argument or "0", "lda:0.1, one shrinkage up to 1", most=1, largest=1.0)
    about = f"the same state as {CLASSIFIER}, with linear discriminants"
    make = partial(_accumulating, 0.0, decision="lda", shrinkage=shrinkage)
    return Method("lda", "discriminant analysis", about, make, rule="lda")


def _accumulating(prior: float | str, **options: Any) -> Any:
    return estimator(CLASSIFIER, policy("Accumulated", prior=prior), **options)


def _forgetting() -> Any:
    return estimator(CLASSIFIER, policy("Zero"))


def _stopped(n_steps: int) -> Any:
    return estimator(CLASSIFIER, policy("GradientSteps", n_steps=n_steps))


def _expanding(name: str, prior: float, memory: str = "quadratic") -> Any:
    return estimator(name, policy("Accumulated", prior=prior), memory=memory)


def _anchored(name: str, penalty: float | tuple[float, ...]) -> Any:
    return estimator(name, policy("Isotropic", penalty))


def _memory(name: str, memory: str, kept: str) -> MethodFamily:
    def build(argument: str) -> Method:
        (prior,) = numbers(memory, argument or f"{PRIOR:g}", f"{memory}:0.1, one prior", most=1)
        about = f"ŵ and {kept}, prior {prior:g}"
        return Method(memory, f"{name} ({memory})", about, partial(_expanding, name, prior, memory), rule="gr")

    return MethodFamily(build, f"{name} with a {memory} memory; {memory}:0.1 with the prior 0.1")


def _memories(name: str) -> dict[str, Method | MethodFamily]:
    return {
        "quadratic": _memory(name, "quadratic", "the curvature"),
        "cubic": _memory(name, "cubic", "the curvature and the third derivative"),
    }


def _likelihood(name: str) -> dict[str, Method | MethodFamily]:
    """Return the methods that differ only in H_t, for one likelihood."""

    def ridge(argument: str) -> Method:
        penalty, shown = penalties(argument)
        return Method("crr", f"{name} (λ = {shown})", "ŵ", partial(_anchored, name, penalty), rule="crr")

    alone = partial(_expanding, name, PRIOR)
    return {
        "last": Method("last", "last task", f"ŵ; {name} on each task alone", partial(LastTask, alone)),
        "crr": MethodFamily(
            ridge, f"{name} with H_t = λI, λ = 1; crr:0.5 with another λ, crr:1/2/4 with one λ per task"
        ),
        **_memories(name),
        "oracle": Method("oracle", "Oracle", f"every row: pooled {name}", partial(PooledRows, alone), rule="oracle"),
    }


SGD = Method("sgd", "SGDClassifier", "ŵ; scikit-learn", SgdClasses)
METHODS: dict[FamilyName, dict[str, Method | MethodFamily]] = {
    "multiclass": {
        "mn": Method(
            "mn",
            "minimum norm",
            "ŵ; the least change that fits the task",
            _forgetting,
            rule="mn",
        ),
        "crr": MethodFamily(
            _ridge, "continual ridge with λ = 1; crr:0.5 with another λ, crr:1/2/4 with one λ per task"
        ),
        "es": MethodFamily(_stopping, "early stopping after 100 gradient steps per task; es:20 after 20"),
        "gr": MethodFamily(
            _generalized, "generalized ridge with the information of all past rows; gr:1 with the prior 1"
        ),
        "gr:evidence": Method(
            "gr:evidence",
            CLASSIFIER,
            "ŵ and the information, with a prior learned from all rows so far",
            partial(_accumulating, "evidence"),
            rule="gr:evidence",
        ),
        "lda": MethodFamily(_discriminants, "discriminant analysis from the state of gr; lda:0.1 with a shrinkage"),
        **_memories("GeneralizedLogistic"),
        "sgd": SGD,
        "oracle": Method("oracle", "Oracle", "every row: pooled least squares", PooledClasses, rule="oracle"),
    },
    "binomial": {**_likelihood("GeneralizedLogistic"), "sgd": SGD},
    "poisson": _likelihood("GeneralizedPoisson"),
}
"""The methods for targets that are not numbers, by the family of the target."""
