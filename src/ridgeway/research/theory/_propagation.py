"""How the error of ŵ_t = ŵ_{t−1} + K_t(y_t − X_tŵ_{t−1}) travels from task to task."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ridgeway._checks import Array


@dataclass(frozen=True, eq=False)
class ExpectedError:
    """The exact expected error of a sequence of estimates, over the noise and over a random signal.

    Attributes
    ----------
    bias : ndarray of shape (T,)
        What is left of w_* − ŵ_0, squared: the error without noise.
    variance : ndarray of shape (T,)
        What the noise of all tasks so far adds to ŵ_t.
    drift : ndarray of shape (T,)
        What tasks with their own parameters add, including the cross term with the bias, so it may be negative; 0
        with one common parameter.
    second_moment : ndarray of shape (T, p, p)
        E[(ŵ_t − w_*)(ŵ_t − w_*)ᵀ], whose trace is `total`.

    Examples
    --------
    >>> from ridgeway.research import theory
    >>> problem = theory.FixedDesignProblem([[[2.0]]] * 2, noise_variance=1.0, signal=1.0)
    >>> found = problem.expected_error([1.0, 5.0])
    >>> found.bias + found.variance, found.total  # nothing drifts
    (array([0.2       , 0.11111111]), array([0.2       , 0.11111111]))
    """

    bias: Array
    variance: Array
    drift: Array
    second_moment: Array

    @property
    def total(self) -> Array:
        """𝓛(ŵ_t) = E‖ŵ_t − w_*‖² = bias + variance + drift; shape (T,)."""
        return self.bias + self.variance + self.drift


@dataclass(frozen=True, eq=False)
class ErrorMoments:
    """The error ŵ_t − w_* after one task, in its independent parts.

    Attributes
    ----------
    bias : ndarray of shape (p, k)
        B with E[bias bias ᵀ] = BBᵀ; for a known w_*, one column, the bias itself.
    drift : ndarray of shape (p,)
        The shift of the mean that tasks with their own parameters cause.
    covariance : ndarray of shape (p, p)
        Of ŵ_t, over the noise.
    """

    bias: Array
    drift: Array
    covariance: Array

    def after(self, design: Array, gain: Array, shift: Array, noise_variance: float) -> "ErrorMoments":
        """Return the moments after a task with these rows and gain and the parameter w_* + shift."""
        kept = np.eye(design.shape[1]) - gain @ design
        covariance = kept @ self.covariance @ kept.T + noise_variance * (gain @ gain.T)
        drift = kept @ self.drift + gain @ (design @ shift)
        return ErrorMoments(kept @ self.bias, drift, (covariance + covariance.T) / 2)

    def second_moment(self) -> Array:
        """Return E[(ŵ_t − w_*)(ŵ_t − w_*)ᵀ]; if there is a drift, the bias must have one column."""
        mean = self.bias + self.drift[:, np.newaxis]
        return np.asarray(mean @ mean.T + self.covariance)


def propagate(
    start: Array, designs: Sequence[Array], gains: Sequence[Array], shifts: Array, noise_variance: float
) -> Iterator[ErrorMoments]:
    """Yield the moments after each task. `start` is a root of E[w_*w_*ᵀ], and `shifts` are w_t − w_*."""
    n_features = start.shape[0]
    moments = ErrorMoments(-start, np.zeros(n_features), np.zeros((n_features, n_features)))
    for design, gain, shift in zip(designs, gains, shifts, strict=True):
        moments = moments.after(design, gain, shift, noise_variance)
        yield moments
