"""Continual regression that does not forget.

Tasks arrive one after another; each is learned, its rows are thrown away, and the model still answers as if it had
seen all of them at once. `GeneralizedRidge` is the estimator to start with.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ridgeway import (
        catalogue,
        data,
        datasets,
        errors,
        features,
        information,
        likelihoods,
        metrics,
        report,
        research,
        retrospect,
        store,
        weights,
    )
    from ridgeway.estimators import (
        ContinualPipeline,
        ContinualRidge,
        EarlyStopping,
        GeneralizedLogistic,
        GeneralizedPoisson,
        GeneralizedRidge,
        GeneralizedRidgeClassifier,
        MinimumNorm,
        Oracle,
    )

__all__ = [
    "ContinualPipeline",
    "ContinualRidge",
    "EarlyStopping",
    "GeneralizedLogistic",
    "GeneralizedPoisson",
    "GeneralizedRidge",
    "GeneralizedRidgeClassifier",
    "MinimumNorm",
    "Oracle",
    "catalogue",
    "data",
    "datasets",
    "distributed",
    "errors",
    "features",
    "information",
    "likelihoods",
    "metrics",
    "report",
    "research",
    "retrospect",
    "store",
    "weights",
]

_ESTIMATORS = {name for name in __all__ if name[0].isupper()}


def __getattr__(name: str) -> Any:
    """Import what is asked for: the command line must not wait for scikit-learn before it can print its help."""
    if name == "__version__":
        return import_module("importlib.metadata").version("ridgeway")
    if name in _ESTIMATORS:
        return getattr(import_module("ridgeway.estimators"), name)
    if name in __all__:
        return import_module(f"ridgeway.{name}")
    raise AttributeError(f"module 'ridgeway' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
