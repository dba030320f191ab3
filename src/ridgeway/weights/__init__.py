"""How firmly to hold on to the past: the policies that choose H_t, task by task, and the states that they keep.

Not sample weights.

| H_t                          | policy                                                              |
|------------------------------|---------------------------------------------------------------------|
| → 0, isotropically           | `Zero()`                                                            |
| λ_t·I                        | `Isotropic(penalty)`                                                |
| (1/n_t)(Σ_{τ<t} X_τᵀX_τ + P) | `Accumulated(prior=P)`; solved at each step, `FullInformation(P)`   |
| any PSD matrix               | `Explicit(matrices)`                                                |
| what gradient steps imply    | `GradientSteps(learning_rate, n_steps)`                             |
| your own                     | a subclass of `PenaltyPolicy` that defines `weight(memory, rows)`   |
"""

from ridgeway.linalg import Rows
from ridgeway.weights._accumulated import Accumulated
from ridgeway.weights._capabilities import Inferable, Informed, Mergeable, Removable, State
from ridgeway.weights._codec import from_arrays, policy_of, to_arrays
from ridgeway.weights._expanded import Expandable, Expanded
from ridgeway.weights._expanded_codec import expanded_from_arrays, expanded_to_arrays
from ridgeway.weights._gradient import GradientSteps
from ridgeway.weights._parted import TaskKeeper
from ridgeway.weights._penalties import Explicit, FullInformation, Isotropic, Zero
from ridgeway.weights._policy import Designed, DesignPolicy, PenaltyPolicy, WeightPolicy, checked_policy
from ridgeway.weights._settings import PriorValue
from ridgeway.weights._states import Anchored, Answer, Origin, Retained
from ridgeway.weights._with_likelihood import AccumulatedLikelihood, AnchoredLikelihood, with_likelihood

__all__ = [
    "Accumulated",
    "AccumulatedLikelihood",
    "Anchored",
    "AnchoredLikelihood",
    "Answer",
    "DesignPolicy",
    "Designed",
    "Expandable",
    "Expanded",
    "Explicit",
    "FullInformation",
    "GradientSteps",
    "Inferable",
    "Informed",
    "Isotropic",
    "Mergeable",
    "Origin",
    "PenaltyPolicy",
    "PriorValue",
    "Removable",
    "Retained",
    "Rows",
    "State",
    "TaskKeeper",
    "WeightPolicy",
    "Zero",
    "checked_policy",
    "expanded_from_arrays",
    "expanded_to_arrays",
    "from_arrays",
    "policy_of",
    "to_arrays",
    "with_likelihood",
]
