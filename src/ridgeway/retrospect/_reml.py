"""Restricted maximum likelihood for effects that vary over tasks, from the few rows that stand for each."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway.kernels import eigen, solve_triangular, triangular_factor

STARTS = (1.0, 0.1)
"""The sizes of the relative factor that the search starts from: 1 if effects are as visible as the noise."""
SMALL = 1e-4
"""The slope of the deviance, relative to the columns' scale, below which the search has converged."""
STEPS = (0.3, 0.03)
"""The sizes of the steps that lead away from a variance of 0, if it is not the optimum."""
MOST_RESTARTS = 3


@dataclass(frozen=True, eq=False)
class MixedRows:
    """Rows y_g = X_g·β + Z_g·b_g + noise of all tasks g, with b_g ~ N(0, σ²ΛΛᵀ).

    Attributes
    ----------
    Z : ndarray of shape (n_tasks, m, q)
        The columns whose coefficients vary, scaled so that Λ is about 1 if effects are as visible as the noise.
    X : ndarray of shape (n_tasks, m, r)
        The columns of the common coefficients, orthonormal over all tasks.
    y : ndarray of shape (n_tasks, m)
        One target, less what the pooled fit explains.
    n_samples : int
        The rows of the user's that these stand for.
    """

    Z: Array
    X: Array
    y: Array
    n_samples: int

    @property
    def entries(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows and columns of the entries of Λ, a lower triangle."""
        return np.tril_indices(self.Z.shape[2])

    def at(self, theta: Array) -> "MixedFit":
        """Return the fit at given entries of Λ. O(n_tasks·p³)."""
        factor = np.zeros(self.Z.shape[2:] * 2)
        factor[self.entries] = theta
        return MixedFit.of(self, factor)

    def fitted(self) -> "MixedFit":
        """Return the fit at the Λ of least deviance, searched from several starts and checked by its gradient."""
        rows, columns = self.entries
        fits = [self._searched(np.where(rows == columns, start, 0.0)) for start in STARTS]
        best = min(fits, key=lambda fit: fit.deviance)
        for _ in range(MOST_RESTARTS):  # at Λ = 0 every slope is 0: look beyond
            further = [self._searched(out[self.entries]) for out in best.ways_out()]
            if not further:
                break
            best = min([best, *further], key=lambda fit: fit.deviance)
        return best

    def _searched(self, start: Array) -> "MixedFit":
        rows, columns = self.entries

        def objective(theta: Array) -> tuple[float, Array]:
            fit = self.at(theta)
            return fit.deviance, 2.0 * (fit.slope @ fit.factor)[rows, columns]

        bounds = [(0.0, None) if on_diagonal else (None, None) for on_diagonal in rows == columns]
        found: Any = scipy.optimize.minimize(
            objective,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": 1000, "maxfun": 5000, "ftol": 1e-15, "gtol": 1e-9, "maxcor": 30},
        )
        return self.at(found.x)


@dataclass(frozen=True, eq=False)
class MixedFit:
    """The best fit at a given Λ; σ² and β are profiled out.

    Attributes
    ----------
    data : MixedRows
    factor : ndarray of shape (q, q)
        Λ, lower triangular.
    roots : ndarray of shape (n_tasks, q, q)
        R_g, upper triangular, with R_gᵀR_g = I + ΛᵀZ_gᵀZ_gΛ.
    own : ndarray of shape (n_tasks, q, r + 1)
        What X_g and y_g are in the directions of Z_gΛ.
    rest : ndarray of shape (n_tasks, …, r + 1 + q)
        F_g with F_gᵀF_g = [X, y, Z]ᵀ(I + ZΛΛᵀZᵀ)⁻¹[X, y, Z].
    common : ndarray of shape (r + 1, r + 1)
        The triangular factor of [X, y] over all tasks.
    """

    data: MixedRows
    factor: Array
    roots: Array
    own: Array
    rest: Array
    common: Array

    @classmethod
    def of(cls, data: MixedRows, factor: Array) -> "MixedFit":
        n_tasks, m, q = data.Z.shape
        r = data.X.shape[2]
        # Householder on [ZΛ, X, y, Z] above [I, 0, 0, 0], the augmented system of Bates et al. (2015).
        rows = np.zeros((n_tasks, m + q, 2 * q + r + 1))
        rows[:, :m] = np.concatenate([data.Z @ factor, data.X, data.y[:, :, None], data.Z], axis=2)
        rows[:, m:, :q] = np.eye(q)
        R = triangular_factor(rows)
        rest = R[:, q:, q:]
        common = triangular_factor(rest[:, :, : r + 1].reshape(-1, r + 1))
        return cls(data, factor, R[:, :q, :q], R[:, :q, q : q + r + 1], rest, common)

    @property
    def freedom(self) -> int:
        """Rows less common coefficients."""
        return int(self.data.n_samples - self.data.X.shape[2])

    @property
    def noise_variance(self) -> float:
        """σ̂² = r²/(n − r)."""
        return float(self.common[-1, -1] ** 2 / self.freedom)

    @cached_property
    def coef(self) -> Array:
        """β̂, (r,)."""
        return solve_triangular(self.common[:-1, :-1], self.common[:-1, -1:])[:, 0]

    @property
    def deviance(self) -> float:
        """−2 times the restricted log likelihood of y given the orthonormal X; weights aside."""
        logs = np.log(np.abs(np.diagonal(self.roots, axis1=1, axis2=2))).sum()
        logs += np.log(np.abs(np.diagonal(self.common)[:-1])).sum()
        return float(2.0 * logs + self.freedom * (1.0 + np.log(2.0 * np.pi * self.noise_variance)))

    @cached_property
    def slope(self) -> Array:
        """∂deviance/∂(ΛΛᵀ), (q, q): the slope in Λ is twice this times Λ."""
        r, q = self.data.X.shape[2], len(self.factor)
        X, y, Z = self.rest[:, :, :r], self.rest[:, :, r], self.rest[:, :, r + 1 :]
        crossed = np.einsum("gij,gik->jgk", X, Z).reshape(r, -1)
        through = solve_triangular(self.common[:-1, :-1], crossed, transposed=True).reshape(-1, q)
        left = np.einsum("gik,gi->gk", Z, y - X @ self.coef)
        flat = Z.reshape(-1, q)
        return np.asarray(flat.T @ flat - through.T @ through - left.T @ left / self.noise_variance)

    def ways_out(self) -> list[Array]:
        """Return values of Λ near this one with a lower deviance, although its slope in Λ is 0; none at an optimum.

        At an optimum over D = ΛΛᵀ ⪰ 0 the deviance rises along every direction that can be added to D: slope ⪰ 0.
        """
        values, vectors = eigen(self.slope)
        if values[0] >= -SMALL * self.scale:
            return []
        added = vectors.T[:1]
        factors = [triangular_factor(np.vstack([self.factor.T, size * added, 0.0 * self.factor])) for size in STEPS]
        return [(root * np.where(np.diagonal(root) < 0.0, -1.0, 1.0)[:, None]).T for root in factors]

    @property
    def scale(self) -> float:
        """The size of a slope that matters."""
        return float(len(self.roots))

    @property
    def is_converged(self) -> bool:
        """Whether the gradient is 0 and no direction leads down, up to rounding."""
        gradient = 2.0 * (self.slope @ self.factor)[self.data.entries]
        return bool(np.abs(gradient).max() <= SMALL * self.scale and not self.ways_out())

    def effects(self) -> tuple[Array, Array]:
        """Return the predicted effects b_g, (n_tasks, q), and N_g, (n_tasks, q, q): b_g | y has covariance σ²·N_gN_gᵀ.

        Both are for the scaled Z.
        """
        left = self.own[:, :, -1] - self.own[:, :, :-1] @ self.coef
        inverses = np.stack([solve_triangular(root, np.eye(len(root))) for root in self.roots])
        spread = self.factor @ inverses
        return np.einsum("gij,gj->gi", spread, left), spread
