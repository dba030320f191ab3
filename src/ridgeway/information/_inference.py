"""An estimate and how well it is known, from the information alone."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway._text import counted
from ridgeway.data import dense
from ridgeway.errors import InferenceError
from ridgeway.information._base import Information
from ridgeway.information._marginals import Marginals
from ridgeway.kernels import qr_update
from ridgeway.linalg import RowSpace, psd_root, semidefinite_root


@dataclass(frozen=True, eq=False)
class Inference:
    """What is known about w after minimising Σ w·(y − x·w − b)² + ‖w − start‖²_P.

    Without a prior the quantities are those of least squares. Under a prior P = σ²·E_0⁻¹ they are those of the
    posterior, w | σ² ~ N(ŵ, σ²(J + P)⁻¹) with p(σ²) ∝ 1/σ²: Student's t with the same degrees of freedom.

    Attributes
    ----------
    information : Information
    prior : ndarray of shape (n_features,), a diagonal, or (n_features, n_features)
    start, coef : ndarray of shape (n_features, n_targets)
        The mean of the prior, and ŵ.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge
    >>> model = GeneralizedRidge().fit([[-1.0], [0.0], [1.0]], [0.0, 1.0, 5.0])
    >>> known = model.state_.inference()
    >>> known.residual_squares, known.degrees_of_freedom, known.noise_variance
    (array([1.5]), 1, array([1.5]))
    """

    information: Information
    prior: Array
    start: Array
    coef: Array

    @cached_property
    def row_space(self) -> RowSpace:
        """What J + P knows."""
        held = self.information
        p = held.n_features
        R = held.factor()[:p, :p]
        size = p
        if self.prior.any():
            R = qr_update(psd_root(self.prior), R, triangular=True)
        else:
            size = min(held.n_samples - held.centered, p)
        return RowSpace.of(R, size=size, offset=np.sqrt(held.total_weight) * np.abs(held.mean[:p]))

    @cached_property
    def degrees_of_freedom(self) -> int:
        """Rows less rank without a prior, rows under one of full rank; in both cases one less for an intercept."""
        prior = self.prior
        known = np.count_nonzero(prior) if prior.ndim == 1 else len(semidefinite_root(prior))
        return int(self.information.n_samples - self.information.centered + known - self.row_space.rank)

    @cached_property
    def residual_squares(self) -> Array:
        """Σ w·(y − ŷ)², of shape (n_targets,)."""
        p, factor = self.information.n_features, self.information.factor()
        left = factor[:, p:].copy()
        left[:p] -= factor[:p, :p] @ self.coef
        return np.asarray(np.square(left).sum(axis=0))

    @cached_property
    def total_squares(self) -> Array:
        """Σ w·(y − ȳ)², or Σ w·y² without an intercept; of shape (n_targets,)."""
        return np.asarray(np.square(self.information.factor()[:, self.information.n_features :]).sum(axis=0))

    @cached_property
    def penalized_squares(self) -> Array:
        """The residual squares and ‖ŵ − start‖²_P, of shape (n_targets,)."""
        away = self.coef - self.start
        weighted = self.prior[:, None] * away if self.prior.ndim == 1 else self.prior @ away
        return np.asarray(self.residual_squares + (away * weighted).sum(axis=0))

    @cached_property
    def noise_variance(self) -> Array:
        """σ̂², of shape (n_targets,), or raise `InferenceError` if no degrees of freedom are left."""
        if self.degrees_of_freedom < 1:
            held = self.information
            raise InferenceError(
                f"no degrees of freedom are left to estimate the noise: {counted(held.n_samples, 'row')}"
                f"{', an intercept' if held.centered else ''} and {self.row_space.rank} independent columns. "
                "Learn more rows, use a submodel of fewer features, or give a prior (retrospect.learn_prior finds one)."
            )
        return np.asarray(self.penalized_squares / self.degrees_of_freedom)

    @property
    def effective_parameters(self) -> float:
        """tr{(J + P)⁻J} and 1 for an intercept: the number of parameters, if there is no prior."""
        p = self.information.n_features
        whitened, _ = self.row_space.whiten(self.information.factor()[:p, :p].T)
        return float(np.square(whitened).sum()) + self.information.centered

    def about(self, functionals: Array, on_intercept: Array | float) -> Array:
        """Return c − c_0·x̄: c_0·b + c·w is c_0·ȳ and this function of w, which is independent of ȳ."""
        held, p = self.information, self.information.n_features
        about = functionals - held.mean[:p, None] * on_intercept - held.mean_low[:p, None] * on_intercept
        return np.asarray(about)

    def whiten(self, functionals: Array, on_intercept: Array | float) -> tuple[Array, NDArray[np.bool_]]:
        """Return A with σ²·AᵀA the covariance of c_0·b + c·ŵ, and which of these are known at all.

        Parameters
        ----------
        functionals : ndarray of shape (n_features, q)
            c, one per column.
        on_intercept : ndarray of shape (q,) or float
            c_0; 0 for a model without an intercept.
        """
        whitened, known = self.row_space.whiten(self.about(functionals, on_intercept))
        total = self.information.total_weight
        first = np.broadcast_to(on_intercept / np.sqrt(total), (1, functionals.shape[1]))
        return np.vstack([first, whitened]), known

    def roots(self, functionals: Array, on_intercept: Array | float) -> tuple[Array, NDArray[np.bool_]]:
        """Return A_k, (n_targets, …, q), with A_kᵀA_k the covariance of c_0·b + c·w, and which of these are known."""
        whitened, known = self.whiten(functionals, on_intercept)
        return np.sqrt(self.noise_variance)[:, None, None] * whitened, known

    def marginals(self, functionals: Array, on_intercept: Array | float, extra: float = 0.0) -> Marginals:
        """Return what is known about each c_0·b + c·w: Student's t.

        `extra` is the variance of noise that is added to each, in units of σ²: 1 for a new observation.
        """
        whitened, known = self.whiten(functionals, on_intercept)
        leverages = np.where(known, np.square(whitened).sum(axis=0), 0.0) + extra
        scales = np.where(known, np.sqrt(self.noise_variance)[:, None] * np.sqrt(leverages), np.inf)
        intercept = self.information.intercept(self.coef)[:, None]
        means = self.coef.T @ functionals + intercept * on_intercept
        return Marginals(np.ones(1), means[None], scales[None], self.degrees_of_freedom)

    def predictive_deviations(self, X: Any) -> Array:
        """Return the standard deviation of a new observation of weight 1 at each row, (n_samples, n_targets)."""
        return self.marginals(dense(X).T, float(self.information.centered), extra=1.0).deviations.T
