"""How firmly to hold on to the past: the policies that choose H_t, task by task.

| H_t                          | policy                  |
|------------------------------|-------------------------|
| → 0                          | `Zero()`                |
| λ_t·I                        | `Isotropic(penalty)`    |
| (1/n_t)(Σ_{τ<t} X_τᵀX_τ + P) | `Accumulated(prior=P)`  |
| any PSD matrix               | `Explicit(matrices)`    |
"""

from ridgeway.weights._policies import (
    Accumulated,
    Explicit,
    Isotropic,
    TaskPolicy,
    WeightPolicy,
    Zero,
)
from ridgeway.weights._policies import check_semidefinite as check_semidefinite
from ridgeway.weights._schedule import scheduled as scheduled

__all__ = [
    "Accumulated",
    "Explicit",
    "Isotropic",
    "TaskPolicy",
    "WeightPolicy",
    "Zero",
]
