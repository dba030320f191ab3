"""The paper's results as functions: exact risks, optimal choices, bounds and equivalences."""

from ridgeway.research.theory._absorption import Absorption, absorption
from ridgeway.research.theory._approximation import ApproximationConstant
from ridgeway.research.theory._commuting import CommutingProblem
from ridgeway.research.theory._early_stopping import (
    learning_rates_from_penalties,
    penalties_from_early_stopping,
    weight_matrix_from_early_stopping,
)
from ridgeway.research.theory._fixed_design import FixedDesignProblem
from ridgeway.research.theory._propagation import ExpectedError
from ridgeway.research.theory._ridge_gap import ridge_gap

__all__ = [
    "Absorption",
    "ApproximationConstant",
    "CommutingProblem",
    "ExpectedError",
    "FixedDesignProblem",
    "absorption",
    "learning_rates_from_penalties",
    "penalties_from_early_stopping",
    "ridge_gap",
    "weight_matrix_from_early_stopping",
]
