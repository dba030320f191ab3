"""What the past leaves behind: add, merge, remove, and its evidence.

Two kinds hold the same content. `SquareRoot` keeps the digits of a QR decomposition of all rows; `Moments` is faster to
add to and keeps half of them. `ByTask` keeps one of either kind for each task.
"""

from ridgeway.information._all_rows import AllRows
from ridgeway.information._averaged import AveragedInference
from ridgeway.information._base import Information, WithPrior
from ridgeway.information._by_task import ByTask
from ridgeway.information._discriminant import (
    class_weights,
    discriminants,
    oas_covariance,
    score_moments,
    shrunk_covariance,
)
from ridgeway.information._evidence import (
    LearnedPrior,
    evidence_estimate,
    learn_penalty,
)
from ridgeway.information._fourth import FourthMoments, score_squares
from ridgeway.information._inference import Inference
from ridgeway.information._kinds import KINDS, checked_kind
from ridgeway.information._marginals import Marginals
from ridgeway.information._moments import Moments
from ridgeway.information._reshaped import checked_past, varying_columns
from ridgeway.information._square_root import SquareRoot
from ridgeway.information._tree import Join, Leaf, Node, PartName, found, task_node, with_leaf, without

__all__ = [
    "KINDS",
    "AllRows",
    "AveragedInference",
    "ByTask",
    "FourthMoments",
    "Inference",
    "Information",
    "Join",
    "Leaf",
    "LearnedPrior",
    "Marginals",
    "Moments",
    "Node",
    "PartName",
    "SquareRoot",
    "WithPrior",
    "checked_kind",
    "checked_past",
    "class_weights",
    "discriminants",
    "evidence_estimate",
    "found",
    "learn_penalty",
    "oas_covariance",
    "score_moments",
    "score_squares",
    "shrunk_covariance",
    "task_node",
    "varying_columns",
    "with_leaf",
    "without",
]
