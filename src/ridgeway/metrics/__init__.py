"""Forgetting and transfer, with one convention for their signs.

The paper's metrics, from the errors 𝓛(ŵ_1), …, 𝓛(ŵ_T) with respect to a parameter that all tasks share:

- `estimation_error`: ‖ŵ − w_*‖²; smaller is better
- `forgetting`: F_t > 0 means that something was forgotten
- `generalization_error`: G_t; smaller is better

For real tasks, from a matrix of losses whose row t has the losses on every task after task t:

- `average_loss`: smaller is better
- `backward_transfer`: > 0 means that later tasks improved earlier ones; < 0 means forgetting
- `forward_transfer`: > 0 means that earlier tasks helped to predict a task before it was learned
"""

from ridgeway.metrics._losses import average_loss, backward_transfer, forward_transfer
from ridgeway.metrics._paper import estimation_error, forgetting, generalization_error

__all__ = [
    "average_loss",
    "backward_transfer",
    "estimation_error",
    "forgetting",
    "forward_transfer",
    "generalization_error",
]
