"""Questions about data that is gone: inference, the learned prior, sub-models, paths, and tasks that disagree.

Every answer comes from what a `GeneralizedRidge` keeps. No rows are needed.
"""

from ridgeway.retrospect._clustered import clustered
from ridgeway.retrospect._compare import Comparison, compare
from ridgeway.retrospect._contrast import Contrast, Intervals, contrast, intervals
from ridgeway.retrospect._heteroscedastic import heteroscedastic
from ridgeway.retrospect._paths import Path, elastic_net, lasso_path
from ridgeway.retrospect._prior import Prior, learn_prior
from ridgeway.retrospect._robust import RobustSummary
from ridgeway.retrospect._subset import Subset, best_subset, submodel
from ridgeway.retrospect._summary import Summary, summary

__all__ = [
    "Comparison",
    "Contrast",
    "Intervals",
    "Path",
    "Prior",
    "RobustSummary",
    "Subset",
    "Summary",
    "best_subset",
    "clustered",
    "compare",
    "contrast",
    "elastic_net",
    "heteroscedastic",
    "intervals",
    "lasso_path",
    "learn_prior",
    "submodel",
    "summary",
]
