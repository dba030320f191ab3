"""Random Fourier features, by scikit-learn's sampler."""

import copy
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, Tags, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ridgeway._checks import one_of, positive, whole
from ridgeway.data import check_rows
from ridgeway.errors import InvalidDataError
from ridgeway.linalg import tolerance

Floats = NDArray[np.floating]

LARGEST = 1e15
"""The largest value that is accepted: its square, summed over many columns, does not overflow in float32."""
NUMBERS = 2**20
"""Features that are computed at a time: they stay in cache."""
SEEDS = 2**32 - 1
"""The largest seed that scikit-learn accepts."""


class RandomFourier(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Random Fourier features: √(2/m)·cos(x·w_j + b_j), whose products approximate exp(−γ‖x − z‖²).

    A model that is linear in them is a kernel machine, approximately; exactly so as m grows. The w_j ~ N(0, 2γ·I) and
    b_j ~ U(0, 2π) come from the seed alone, as in scikit-learn's `RBFSampler`.

    Parameters
    ----------
    n_features : int, default 1000
        m, the number of features that come out.
    gamma : float or "scale", default "scale"
        γ. "scale" is 1/(n_columns · variance of all values of the first task).
    seed : int, default 0

    Attributes
    ----------
    sampler_ : sklearn.kernel_approximation.RBFSampler
    n_features_in_ : int
    feature_names_in_ : ndarray of str, if the first task was a DataFrame

    Notes
    -----
    The first task decides how the map computes, for all tasks: in float64 if its values are float64 or large integers,
    in float32 otherwise.

    References
    ----------
    Rahimi and Recht (2007), Random features for large-scale kernel machines.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import ContinualPipeline, GeneralizedRidge, weights
    >>> from ridgeway.features import RandomFourier
    >>> model = GeneralizedRidge(weights.Accumulated(prior=1e-3))
    >>> pipeline = ContinualPipeline([RandomFourier(200, gamma=2.0), model])
    >>> X = np.linspace(-2.0, 2.0, 80)[:, None]
    >>> pipeline.partial_fit(X[::2], np.sin(3.0 * X[::2, 0])).partial_fit(
    ...     X[1::2], np.sin(3.0 * X[1::2, 0])
    ... )
    ContinualPipeline(...)
    >>> print(pipeline.predict([[0.5]]).round(2), np.sin(1.5).round(2))
    [1.] 1.0
    """

    sampler_: Any
    n_features_in_: int
    _n_features_out: int

    def __init__(self, n_features: int = 1000, gamma: float | Literal["scale"] = "scale", seed: int = 0) -> None:
        self.n_features = n_features
        self.gamma = gamma
        self.seed = seed

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the map. Later tasks are not seen.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows of the first task.
        y : ignored
        """
        fresh = copy.copy(self)  # a call that fails changes nothing
        rows = self._checked(fresh, X, first=True)
        vars(fresh).update(self._draw(rows))
        self.__dict__ = vars(fresh)
        return self

    def transform(self, X: Any) -> Floats:
        """Return the features of each row, of shape (n_samples, n_features_out)."""
        check_is_fitted(self)
        rows = self._checked(self, X, first=False)
        step = max(NUMBERS // self._n_features_out, 1)
        head = self._encode(rows[:step])
        features = np.empty((len(rows), head.shape[1]), dtype=head.dtype)
        features[:step] = head
        for start in range(step, len(rows), step):
            features[start : start + step] = self._encode(rows[start : start + step])
        return features

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @staticmethod
    def _checked(owner: "RandomFourier", X: Any, *, first: bool) -> NDArray[Any]:
        """Return rows of finite numbers as they are; if they are the first, with the columns noted in their owner."""
        rows: NDArray[Any] = check_rows(owner, X, first=first, sparse=False, dtype="numeric")
        largest = max(float(rows.max()), -float(rows.min()))
        if largest > LARGEST:
            raise InvalidDataError(f"X has values up to {largest:.3g}; the limit is {LARGEST:g}. Change the unit.")
        return rows

    def _draw(self, rows: NDArray[Any]) -> dict[str, Any]:
        """Return the fitted attributes, or raise if a parameter is out of range."""
        from sklearn.kernel_approximation import RBFSampler

        n_features, seed = whole(self.n_features, "n_features"), whole(self.seed, "seed", 0, SEEDS)
        gamma = self._scale(rows) if isinstance(self.gamma, str) else positive(self.gamma, "gamma")
        kind = np.result_type(rows.dtype, np.float32)
        sampler = RBFSampler(gamma=gamma, n_components=n_features, random_state=seed)
        return {"sampler_": sampler.fit(rows[:1].astype(kind)), "_n_features_out": n_features}

    def _scale(self, rows: NDArray[Any]) -> float:
        one_of(self.gamma, ["scale"], "gamma")
        mean = float(rows.mean(dtype=np.float64))
        deviation = float(rows.std(dtype=np.float64))
        if deviation <= tolerance(1) * abs(mean):  # all numbers are the same, but for rounding
            return 1.0
        return float(1.0 / (rows.shape[1] * deviation**2))

    def _encode(self, rows: NDArray[Any]) -> Floats:
        features: Floats = self.sampler_.transform(rows.astype(self.sampler_.random_weights_.dtype, copy=False))
        return features
