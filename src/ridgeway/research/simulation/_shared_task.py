"""One task of one repetition, with the products and factors that its methods share, each computed once.

Every method is an update ŵ_t = ŵ_{t−1} + K_t(z_t − Z_tŵ_{t−1}). With fewer rows than features, Z_t = X_t and z_t = y_t;
otherwise the equations are multiplied by X_tᵀ: Z_t = X_tᵀX_t and z_t = X_tᵀy_t.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ridgeway._checks import Array
from ridgeway.kernels import Reduced, eigen, reduce_symmetric
from ridgeway.linalg import Rows, tolerance
from ridgeway.research.simulation._draws import TaskDesign
from ridgeway.research.simulation._factor import Factor


@dataclass(frozen=True, eq=False)
class Past:
    """Sums over the tasks so far.

    Attributes
    ----------
    n_samples : Σ n_τ
    information : Σ X_τᵀX_τ, shape (p, p)
    moment : Σ X_τᵀY_τ, shape (p, 2), Y the columns X_τw_τ and ε_τ/σ
    squares : Σ Y_τᵀY_τ, shape (2, 2)
    """

    n_samples: int
    information: Array
    moment: Array
    squares: Array

    @classmethod
    def empty(cls, n_features: int) -> "Past":
        """Return the past before the first task."""
        return cls(0, np.zeros((n_features, n_features)), np.zeros((n_features, 2)), np.zeros((2, 2)))

    @cached_property
    def form(self) -> Reduced:
        """`information` as Q·T·Qᵀ."""
        return reduce_symmetric(self.information)


class SharedTask:
    """A task and the past before it.

    Parameters
    ----------
    design : TaskDesign
    targets : ndarray of shape (rows, 2)
        X_tw_t and ε_t/σ; the targets are their sum with weights 1 and σ. Zeros if only expectations are computed.
    past : Past
    best_penalties : mapping of noise variance to λ_t
        For `crr:best`.
    reduces_past : bool
        Whether the next task uses the tridiagonal form of the sums with this one: then it is used to solve here too.

    Attributes
    ----------
    equations : Z_t, of shape (m, p)
    right_sides : z_t, of shape (m, 2)
    products : X_tᵀX_t, of shape (p, p)
    square : X_tX_tᵀ or X_tᵀX_t, whichever is of shape (m, m)
    pooled : Past
        The sums with this task.

    Examples
    --------
    >>> from ridgeway.research import simulation
    >>> seen = []
    >>> def applied(task, noise_variance):
    ...     seen.append((task.number, task.n_samples, task.past.n_samples))
    ...     return lambda g: task.pooled_solve(0.0, g)
    >>> setting = simulation.Setting(n_tasks=3, n_samples=5, n_features=8)
    >>> _ = simulation.run(setting, [simulation.Update("mine", applied)], repetitions=1)
    >>> seen  # rows of the task, and of the past
    [(1, 5, 0), (2, 5, 5), (3, 5, 10)]
    """

    def __init__(
        self,
        design: TaskDesign,
        targets: Array,
        past: Past,
        best_penalties: Mapping[float, float] | None = None,
        *,
        reduces_past: bool = False,
    ) -> None:
        self.design, self.targets, self.past, self.reduces_past = design, targets, past, reduces_past
        self.number, self.n_samples = design.number, design.n_samples
        self.rows = design.rows
        self.n_features = design.rows.shape[1]
        self.is_dual = len(design.rows) < self.n_features
        self.best_penalties = best_penalties or {}
        self.products = design.rows.T @ design.rows
        moment = design.rows.T @ targets
        self.pooled = Past(
            past.n_samples + design.n_samples,
            past.information + self.products,
            past.moment + moment,
            past.squares + targets.T @ targets,
        )
        self.square = design.rows @ design.rows.T if self.is_dual else self.products
        self.equations = design.rows if self.is_dual else self.products
        self.right_sides = targets if self.is_dual else moment

    def lift(self, values: Array) -> Array:
        """Return X_tᵀ·values, or the values themselves if the equations are already multiplied by X_tᵀ."""
        return self.rows.T @ values if self.is_dual else values

    @cached_property
    def design_rows(self) -> Rows:
        """The rows as a policy sees them; their total weight is n_t, even if statistics are drawn."""
        return Rows.of(self.rows, float(self.n_samples))

    @cached_property
    def form(self) -> Reduced:
        """`square` as Q·T·Qᵀ, ready for any penalty."""
        return reduce_symmetric(self.square)

    @property
    def top(self) -> float:
        """The largest eigenvalue of X_tᵀX_t."""
        return self.form.top

    @cached_property
    def pooled_factor(self) -> Factor:
        """The factor of Σ_{τ≤t} X_τᵀX_τ."""
        return Factor(self.pooled.information)

    def pooled_solve(self, prior: float, right: Array) -> Array:
        """Return (Σ_{τ≤t} X_τᵀX_τ + prior·I)⁺·right."""
        if self.reduces_past:
            form = self.pooled.form
            return form.turn_back(form.solve(prior, form.turn(right), tolerance(self.n_features)))
        factor = Factor(self.pooled.information, prior) if prior else self.pooled_factor
        return factor.solve(right)

    @cached_property
    def eigen(self) -> tuple[Array, Array]:
        """Eigenvalues, clipped at 0, and eigenvectors of `square`."""
        values, vectors = eigen(self.square)
        return np.maximum(values, 0.0), vectors

    @cached_property
    def basis(self) -> Array:
        """Q of `form`."""
        return self.form.turn_back(np.eye(len(self.square)))

    @cached_property
    def turned_rows(self) -> Array:
        """QᵀX_t; or Qᵀ if the equations are already multiplied by X_tᵀ."""
        return np.asfortranarray(self.lift(self.basis).T)

    @cached_property
    def lifted_unit(self) -> Array:
        """X_tᵀ; or I if the equations are already multiplied by X_tᵀ."""
        return self.rows.T if self.is_dual else np.eye(self.n_features)

    def noise_moment(self, noise_variance: float, drift: float) -> Array:
        """Return the covariance of z_t given the rows, from the noise and from X_tδ, where δ has covariance drift·I."""
        return self.row_noise(noise_variance, drift) if self.is_dual else self.scatter(noise_variance, drift)

    def row_noise(self, noise_variance: float, drift: float) -> Array:
        """Return the covariance of y_t given the rows, of shape (n_t, n_t)."""
        scales = self.design.noise_scales
        spread = np.eye(len(self.rows)) if scales is None else np.diag(scales**2)
        return noise_variance * spread + (drift * (self.rows @ self.rows.T) if drift else 0.0)

    def scatter(self, noise_variance: float, drift: float) -> Array:
        """Return the covariance of X_tᵀy_t given the rows, of shape (p, p)."""
        scales = self.design.noise_scales
        products, scaled = self.products, self.rows if scales is None else self.rows * scales[:, np.newaxis]
        spread = products if scales is None else scaled.T @ scaled
        return noise_variance * spread + (drift * (products @ products) if drift else 0.0)
