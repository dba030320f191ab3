"""Continual regression that does not forget.

Tasks arrive one after another; each is learned, its rows are thrown away, and the model still answers as if it had
seen all of them at once. `GeneralizedRidge` is the estimator to start with.
"""

from importlib.metadata import version

from ridgeway import errors, information, metrics, theory, weights
from ridgeway.estimators import ContinualRidge, EarlyStopping, GeneralizedRidge, MinimumNorm, Oracle

__version__ = version("ridgeway")

__all__ = [
    "ContinualRidge",
    "EarlyStopping",
    "GeneralizedRidge",
    "MinimumNorm",
    "Oracle",
    "errors",
    "information",
    "metrics",
    "theory",
    "weights",
]
