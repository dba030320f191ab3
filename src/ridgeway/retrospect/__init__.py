"""Questions about data that is gone: inference, the learned prior, sub-models, paths, and tasks that disagree.

Every answer comes from what a `GeneralizedRidge` keeps. No rows are needed.
"""

from ridgeway.retrospect._clustered import clustered
from ridgeway.retrospect._coefficient_path import CoefficientPath, coefficient_path
from ridgeway.retrospect._compare import Comparison, compare
from ridgeway.retrospect._contrast import Contrast, Intervals, contrast, intervals
from ridgeway.retrospect._cusum import Cusum, cusum
from ridgeway.retrospect._fixed_effects import FixedEffects, fixed_effects
from ridgeway.retrospect._heteroscedastic import heteroscedastic
from ridgeway.retrospect._influence import Influence, influence
from ridgeway.retrospect._likelihood_summary import LikelihoodSummary, likelihood_summary
from ridgeway.retrospect._paths import Path, elastic_net
from ridgeway.retrospect._prior import Prior, learn_prior
from ridgeway.retrospect._random_effects import RandomEffects, random_effects
from ridgeway.retrospect._reweighted import reweighted
from ridgeway.retrospect._robust import RobustSummary
from ridgeway.retrospect._segments import Segments, segments
from ridgeway.retrospect._subset import Subset, best_subset, submodel
from ridgeway.retrospect._summary import Summary, summary
from ridgeway.retrospect._task_table import TaskTable, tasks

__all__ = [
    "CoefficientPath",
    "Comparison",
    "Contrast",
    "Cusum",
    "FixedEffects",
    "Influence",
    "Intervals",
    "LikelihoodSummary",
    "Path",
    "Prior",
    "RandomEffects",
    "RobustSummary",
    "Segments",
    "Subset",
    "Summary",
    "TaskTable",
    "best_subset",
    "clustered",
    "coefficient_path",
    "compare",
    "contrast",
    "cusum",
    "elastic_net",
    "fixed_effects",
    "heteroscedastic",
    "influence",
    "intervals",
    "learn_prior",
    "likelihood_summary",
    "random_effects",
    "reweighted",
    "segments",
    "submodel",
    "summary",
    "tasks",
]
