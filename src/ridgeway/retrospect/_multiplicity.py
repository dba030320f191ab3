"""p-values of many tests, adjusted so that few of them are small by chance."""

from typing import Literal, get_args

import numpy as np

from ridgeway._checks import Array, one_of

Adjustment = Literal["holm", "bh"]
ADJUSTMENTS: dict[str, str] = {"holm": "Holm's", "bh": "Benjamini and Hochberg's"}


def checked_adjustment(adjust: Adjustment) -> Adjustment:
    """Return the name of an adjustment, or raise."""
    return one_of(adjust, get_args(Adjustment), "adjust")


def adjusted(p_values: Array, adjust: Adjustment) -> Array:
    """Return adjusted p-values; tests without a p-value (NaN) do not count, and stay NaN.

    Reject all that are at most α. With Holm's method, the probability of any false rejection is then at most α, however
    the tests depend on each other. With Benjamini and Hochberg's, at most a share α of the rejections is false on
    average, if the tests are independent or positively dependent.

    Parameters
    ----------
    p_values : ndarray of shape (n_tests,)
    adjust : {"holm", "bh"}

    References
    ----------
    Holm (1979); Benjamini and Hochberg (1995).

    Examples
    --------
    >>> adjusted(np.array([0.01, 0.04, 0.03]), "holm")
    array([0.03, 0.06, 0.06])
    >>> adjusted(np.array([0.01, 0.04, 0.03]), "bh")
    array([0.03, 0.04, 0.04])
    """
    found = np.full(len(p_values), np.nan)
    places = np.flatnonzero(~np.isnan(p_values))
    places = places[np.argsort(p_values[places], kind="stable")]
    ordered, m = p_values[places], len(places)
    if adjust == "holm":
        raised = np.maximum.accumulate(ordered * np.arange(m, 0, -1))
    else:
        raised = np.minimum.accumulate((ordered * (m / np.arange(1, m + 1)))[::-1])[::-1]
    found[places] = np.minimum(raised, 1.0)
    return found
