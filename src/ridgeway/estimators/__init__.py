"""The paper's five estimators, as scikit-learn regressors that learn task after task, and a pipeline for them."""

from ridgeway.estimators._continual_ridge import ContinualRidge
from ridgeway.estimators._early_stopping import EarlyStopping
from ridgeway.estimators._generalized_ridge import GeneralizedRidge
from ridgeway.estimators._minimum_norm import MinimumNorm
from ridgeway.estimators._oracle import Oracle
from ridgeway.estimators._pipeline import ContinualPipeline
from ridgeway.estimators._shell import ContinualRegressor

__all__ = [
    "ContinualPipeline",
    "ContinualRegressor",
    "ContinualRidge",
    "EarlyStopping",
    "GeneralizedRidge",
    "MinimumNorm",
    "Oracle",
]
