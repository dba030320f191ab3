"""The family of the target chooses the estimator that takes a policy."""

from collections.abc import Callable
from typing import Any

from ridgeway.catalogue._method import Method
from ridgeway.data import FamilyName

LEARNERS: dict[FamilyName, str] = {
    "gaussian": "GeneralizedRidge",
    "multiclass": "GeneralizedRidgeClassifier",
    "binomial": "GeneralizedLogistic",
    "poisson": "GeneralizedPoisson",
}


def estimator(name: str, *arguments: Any, **options: Any) -> Any:
    """Return a new estimator of Ridgeway by its name."""
    from ridgeway import estimators

    return getattr(estimators, name)(*arguments, **options)


def of_policy(policy: Any, family: FamilyName, *, name: str, about: str = "", **options: Any) -> Method:
    """Return the method that learns with a policy, in the estimator of a family with these options."""
    unfitted = copier(policy)

    def make() -> Any:
        return estimator(LEARNERS[family], unfitted(), **options)

    # A policy that has no gain, such as one that learns its prior, can be compared but not simulated.
    return Method(name, name, about, make=make, policy=getattr(policy, "design", None))


def copier(thing: Any) -> Callable[[], Any]:
    """Return a function that makes unfitted copies."""

    def copied() -> Any:
        from sklearn.base import clone

        return clone(thing, safe=False)

    return copied
