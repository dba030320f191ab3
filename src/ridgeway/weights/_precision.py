"""The warning about an answer with few correct digits, or without something that the rows may have said."""

import warnings

import numpy as np

from ridgeway.errors import PrecisionWarning
from ridgeway.linalg import EPS, Solution

MOST_GROWTH = 1e-4 / EPS
"""If rounding errors may have grown more than this, fewer than four digits are correct."""


MOST_LOST = 4.0
"""The most decimal digits that removals may cost without a warning, the root of the condition number counted too."""


def warn_of_lost_digits(
    solution: Solution, within: str = "rounding", remedy: str = "or give a larger prior", digits_lost: float = 0.0
) -> None:
    """Warn of columns that were dropped, and of digits that were lost.

    Parameters
    ----------
    solution : Solution
    within : how nearly collinear columns cannot be told from collinear ones
    remedy : what to do, besides dropping a column
    digits_lost : decimal digits that removals may have cost
    """
    if digits_lost and digits_lost + np.log10(solution.growth) / 2.0 > MOST_LOST:
        digits = min(digits_lost + np.log10(solution.growth), 16.0)  # a removal multiplies by the condition once more
        _warn(f"removals may have cost {digits:.0f} digits of coef_. Learn the remaining tasks again.")
    if solution.constant:
        _warn(
            f"columns {list(solution.constant)} of X, counted from 0, vary by no more than rounding error: they count "
            "as constant, and their coefficients are left as they were. Drop these columns, or subtract a constant "
            "before they are rounded."
        )
    if np.isinf(solution.growth):
        what = f"collinear, exactly or to within {within}: rank {solution.rank}, so coef_ is the solution of least norm"
        _warn(f"the columns learned are {what}. Drop a column, {remedy}.")
    elif solution.growth > MOST_GROWTH:
        digits = max(-np.log10(EPS * solution.growth), 0.0)
        what = f"nearly collinear: about {digits:.0f} digits of coef_ are correct"
        _warn(f"the columns learned are {what}. Drop a column, {remedy}.")


def _warn(message: str) -> None:
    warnings.warn(message, PrecisionWarning, 6)
