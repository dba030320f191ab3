"""The paper's results as functions: exact risks, optimal choices, bounds and equivalences."""

from ridgeway.research.theory._alike_tasks import AlikeTasks
from ridgeway.research.theory._approximation import ApproximationConstant
from ridgeway.research.theory._commuting import CommutingProblem
from ridgeway.research.theory._equivalence import (
    learning_rates_from_penalties,
    penalties_from_early_stopping,
    weight_matrix_from_early_stopping,
)
from ridgeway.research.theory._fixed_design import FixedDesignProblem
from ridgeway.research.theory._gaussian_rows import gaussian_minimum_norm_error, gaussian_pooled_error
from ridgeway.research.theory._pooling_gain import PoolingGain, pooling_gain
from ridgeway.research.theory._propagation import ExpectedError
from ridgeway.research.theory._ridge_gap import ridge_gap

__all__ = [
    "AlikeTasks",
    "ApproximationConstant",
    "CommutingProblem",
    "ExpectedError",
    "FixedDesignProblem",
    "PoolingGain",
    "gaussian_minimum_norm_error",
    "gaussian_pooled_error",
    "learning_rates_from_penalties",
    "penalties_from_early_stopping",
    "pooling_gain",
    "ridge_gap",
    "weight_matrix_from_early_stopping",
]
