"""The paper's five estimators as regressors, one classifier, two more for classes and counts, and a pipeline."""

from ridgeway.estimators._continual_ridge import ContinualRidge
from ridgeway.estimators._early_stopping import EarlyStopping
from ridgeway.estimators._generalized_logistic import GeneralizedLogistic
from ridgeway.estimators._generalized_poisson import GeneralizedPoisson
from ridgeway.estimators._generalized_ridge import GeneralizedRidge
from ridgeway.estimators._generalized_ridge_classifier import GeneralizedRidgeClassifier
from ridgeway.estimators._minimum_norm import MinimumNorm
from ridgeway.estimators._oracle import Oracle
from ridgeway.estimators._pipeline import ContinualPipeline
from ridgeway.estimators._shell import ContinualRegressor

__all__ = [
    "ContinualPipeline",
    "ContinualRegressor",
    "ContinualRidge",
    "EarlyStopping",
    "GeneralizedLogistic",
    "GeneralizedPoisson",
    "GeneralizedRidge",
    "GeneralizedRidgeClassifier",
    "MinimumNorm",
    "Oracle",
]
