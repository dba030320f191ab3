"""What one repetition draws: covariances, rows, parameters and noise, each from its own stream.

The streams depend only on the seed and the number of the repetition, and each one only on its part of the setting: if
the noise or the parameter changes, the designs stay the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway.kernels import eigen, qr
from ridgeway.linalg import semidefinite_root
from ridgeway.research.simulation._setting import Setting

Generator = np.random.Generator

REPETITION, REHEARSAL = 0, 1
"""The purposes of streams: the repetitions themselves, and the designs on which penalties are chosen."""

SPIKE, SPIKE_PROBABILITY = 100.0, 0.01


@dataclass(frozen=True, eq=False)
class TaskDesign:
    """One task's rows.

    Attributes
    ----------
    number : from 1
    n_samples : n_t
    rows : ndarray of shape (n_t, p), C order
        X_t; or, if statistics are drawn, fewer rows with the same law of XᵀX, Xᵀy and yᵀy.
    noise_scales : ndarray of shape (n_t,), or None
        The standard deviations of the noise over σ; None if all are 1.
    chi_degrees : int
        If statistics are drawn, the noise of the last row is the norm of this many normals; otherwise 0.
    earlier : sequence of (F, n)
        The tasks before: a root of the covariance as in `_covariance_roots`, and the number of rows.
    """

    number: int
    n_samples: int
    rows: Array
    noise_scales: Array | None
    chi_degrees: int
    earlier: Sequence[tuple[Array, int]] = ()


class Draws:
    """All random draws of one repetition.

    Parameters
    ----------
    setting : Setting
    seed : int
    repetition : int
    purpose : REPETITION or REHEARSAL
    """

    def __init__(self, setting: Setting, seed: int, repetition: int, purpose: int = REPETITION) -> None:
        self.setting = setting
        streams = np.random.SeedSequence(seed, spawn_key=(purpose, repetition)).spawn(5)
        covariance, rows, coef, drift, noise = (np.random.default_rng(stream) for stream in streams)
        self._roots = _covariance_roots(setting, covariance)
        self._rows, self._drift, self._noise = rows, drift, noise
        self.true_coef = _true_coef(setting, coef)
        self.visits, self.n_samples = _visits(setting, self._roots)

    def designs(self) -> Iterator[TaskDesign]:
        """Yield the designs, task by task. Can be called once."""
        visited = self._visited()
        for t, (root, n_samples) in enumerate(visited):
            design = _design(self.setting, t + 1, n_samples, root, self._rows)
            yield replace(design, earlier=visited[:t])

    def targets(self, design: TaskDesign) -> Array:
        """Return X_t·w_t and ε_t/σ as two columns. Call it once per design, in order."""
        coef = self.true_coef
        if self.setting.distance:
            direction = self._drift.standard_normal(len(coef))
            coef = coef + direction * (self.setting.distance / np.sqrt(direction @ direction))
        return np.column_stack([design.rows @ coef, self._unit_noise(design)])

    def _unit_noise(self, design: TaskDesign) -> Array:
        """Return noise of unit variance."""
        law, size = self.setting.noise, len(design.rows)
        if law == "laplace":
            return self._noise.laplace(scale=np.sqrt(0.5), size=size)
        if law.startswith("t:"):
            freedom = float(law[2:])
            return np.asarray(self._noise.standard_t(freedom, size=size) * np.sqrt((freedom - 2.0) / freedom))
        noise = self._noise.standard_normal(size)
        if design.noise_scales is not None:
            return noise * design.noise_scales
        if design.chi_degrees:
            noise[-1] = np.sqrt(self._noise.chisquare(design.chi_degrees))
        return noise

    @cached_property
    def directions(self) -> tuple[Array, Array | None]:
        """The population's information in each direction, Σ_t n_tΣ_t diagonalised, and the directions as columns.

        The directions are None if they are the coordinates.
        """
        total = _population(self._visited())
        return (total, None) if total.ndim == 1 else eigen(total)

    def _visited(self) -> list[tuple[Array, int]]:
        return [(self._roots[visit], n) for visit, n in zip(self.visits, self.n_samples, strict=True)]


def population_top(visited: Sequence[tuple[Array, int]]) -> float:
    """Return the largest eigenvalue of the population's information on these tasks; 0 without tasks."""
    if not visited:
        return 0.0
    total = _population(visited)
    return float((total if total.ndim == 1 else eigen(total)[0]).max())


def _population(visited: Sequence[tuple[Array, int]]) -> Array:
    """Return Σ n_tΣ_t, as a vector if it is diagonal."""
    if all(root.ndim == 1 for root, _ in visited):
        return np.asarray(np.sum([n * root**2 for root, n in visited], axis=0))
    return np.asarray(sum(n * (np.diag(root**2) if root.ndim == 1 else root.T @ root) for root, n in visited))


def _covariance_roots(setting: Setting, rng: Generator) -> list[Array]:
    """Return F_k with F_kᵀF_k the covariance, for T covariances; a vector stands for a diagonal."""
    p, roots = setting.n_features, []
    given = None if setting.covariance is None else [_root(entry) for entry in setting.covariance]
    for k in range(setting.n_tasks):
        if given is not None:
            root = given[k % len(given)]
        elif setting.shift != "none":
            root = np.sqrt(np.where(rng.random(p) < SPIKE_PROBABILITY, SPIKE, 1.0))
            root = root / np.sqrt(SPIKE) if setting.shift == "scaled" else root
        else:
            root = np.ones(p)
        if setting.rotate:
            turned = _random_rotation(rng, p)
            root = root[:, np.newaxis] * turned if root.ndim == 1 else root @ turned
        roots.append(root)
    return roots


def _random_rotation(rng: Generator, size: int) -> Array:
    """Return an orthogonal matrix from Haar's measure: Q of a normal matrix, the diagonal of R made positive."""
    Q, R = qr(rng.standard_normal((size, size)))
    return np.asarray(Q * np.sign(np.diagonal(R)))


def _root(covariance: Array) -> Array:
    if covariance.ndim == 1 or not covariance.any():
        return np.sqrt(np.diagonal(covariance) if covariance.ndim == 2 else covariance)
    return semidefinite_root(covariance)


def _visits(setting: Setting, roots: list[Array]) -> tuple[list[int], list[int]]:
    """Return which covariance each task has, and its number of rows."""
    tasks, counts = range(setting.n_tasks), list(setting.n_samples)
    if setting.order == "adversarial":
        visits = sorted(tasks, key=lambda k: -counts[k] * float(np.square(roots[k]).sum()))
        return visits, [counts[k] for k in visits]
    if isinstance(setting.order, tuple):
        return [number - 1 for number in setting.order], counts
    distinct = int(setting.order.partition(":")[2] or setting.n_tasks)
    return [t % min(distinct, setting.n_tasks) for t in tasks], counts


def _true_coef(setting: Setting, rng: Generator) -> Array:
    p = setting.n_features
    if setting.signal == "dense":
        return rng.standard_normal(p)
    count = int(setting.signal.partition(":")[2])
    coef = np.zeros(p)
    coef[rng.choice(p, size=count, replace=False)] = rng.standard_normal(count) * np.sqrt(p / count)
    return coef


def _design(setting: Setting, number: int, n_samples: int, root: Array, rng: Generator) -> TaskDesign:
    p = setting.n_features
    reduced = setting.statistics and n_samples > p
    white = _bartlett(n_samples, len(root), rng) if reduced else rng.standard_normal((n_samples, len(root)))
    rows = white * root if root.ndim == 1 else white @ root
    scales = np.abs(white[:, 0]) if setting.noise == "heteroscedastic" else None
    return TaskDesign(number, n_samples, rows, scales, n_samples - len(root) if reduced else 0)


def _bartlett(n_samples: int, width: int, rng: Generator) -> Array:
    """Return width + 1 rows B, the last zero, with BᵀB ~ Wishart(I, n_samples), by Bartlett's decomposition.

    X = QB with Q orthonormal and independent of B. Qᵀε is again standard normal. The part of ε outside the span has the
    norm of n − width normals; it goes into the zero row, so that yᵀy has the right law too.
    """
    upper = np.zeros((width + 1, width))
    above = _above(width)
    upper[above] = rng.standard_normal(len(above[0]))
    upper[np.arange(width), np.arange(width)] = np.sqrt(rng.chisquare(n_samples - np.arange(width)))
    return upper


@lru_cache(maxsize=4)
def _above(width: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return np.triu_indices(width, k=1)
