"""Instances: tasks with exact covariances that share eigenvectors, and designs that do not."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product

import numpy as np

from ridgeway._checks import Array
from ridgeway.research.verify._exact import Matrix, diagonal, exact, identity, next_moment, zeros
from ridgeway.research.verify._search import Search

OTHER_FACTORS = exact([Fraction(1, 50), Fraction(1, 2), Fraction(99, 100), Fraction(101, 100), 2, 50])
"""How much smaller or larger the penalties are that a minimiser is compared with."""


@dataclass(frozen=True, eq=False)
class Case:
    """Tasks in rational numbers: X_t has the rows a_j·u_jᵀ, one per direction, and rows of zeros up to n_t.

    Attributes
    ----------
    loadings : Matrix of shape (T, p)
        a, so that n_tγ_j⁽ᵗ⁾ = a_j².
    n_samples : tuple of int
        n_t.
    noise_variance : Fraction
        σ².
    start : Matrix of shape (p,)
        u_jᵀw_*, so that e_j⁽⁰⁾ is its square.
    basis : Matrix of shape (p, p)
        The columns u_j.
    """

    loadings: Matrix
    n_samples: tuple[int, ...]
    noise_variance: Fraction
    start: Matrix
    basis: Matrix

    @property
    def n_tasks(self) -> int:
        """T."""
        return len(self.n_samples)

    @property
    def n_directions(self) -> int:
        """The number of directions, p."""
        return len(self.start)

    @cached_property
    def eigenvalues(self) -> Matrix:
        """γ, (T, p)."""
        return np.asarray(self.loadings**2 / exact(self.n_samples)[:, np.newaxis])

    @cached_property
    def initial_errors(self) -> Matrix:
        """e⁽⁰⁾, (p,)."""
        return np.asarray(self.start**2)

    @cached_property
    def designs(self) -> list[Matrix]:
        """X_t, each (n_t, p)."""
        designs = []
        for loads, n in zip(self.loadings, self.n_samples, strict=True):
            seen = (self.basis * loads).T[loads != 0]
            designs.append(np.vstack([seen, zeros(n - len(seen), self.n_directions)]))
        return designs

    @property
    def size(self) -> float:
        """How much space it takes to write the case down."""
        numbers = [*self.loadings.ravel(), self.noise_variance, *self.start]
        digits = sum(abs(x.numerator) + x.denominator for x in numbers)
        return float(20 * self.loadings.size + digits + sum(self.n_samples))

    def direction_errors(self, penalties: Matrix) -> Matrix:
        """Return E[e_j⁽ᵗ⁾] under penalties for the first tasks, (t, p), from the definition of the estimator."""
        true_coef, errors = self.basis @ self.start, []
        moment = np.outer(true_coef, true_coef)
        for design, row in zip(self.designs, penalties, strict=False):
            weight = self.basis @ diagonal(row) @ self.basis.T
            moment = next_moment(moment, design, weight, self.noise_variance)
            errors.append(np.diagonal(self.basis.T @ moment @ self.basis))
        return exact(errors)

    def reordered(self, order: tuple[int, ...]) -> "Case":
        """Return the same tasks in another order."""
        return replace(self, loadings=self.loadings[list(order)], n_samples=tuple(self.n_samples[t] for t in order))

    def __str__(self) -> str:
        tasks = "; ".join(
            f"n={n}, γ=({', '.join(map(str, row))})" for n, row in zip(self.n_samples, self.eigenvalues, strict=True)
        )
        return f"σ²={self.noise_variance}, e⁽⁰⁾=({', '.join(map(str, self.initial_errors))}); {tasks}"


def cases(search: Search, quick: int, full: int) -> Iterator[Case]:
    """Yield all of the smallest cases, then random ones; each direction is seen by a task (Assumption (fullrank))."""
    for load, n, noise, start in product((1, 2), repeat=4):
        yield Case(exact([[load]]), (n,), Fraction(noise), exact([start]), identity(1))
    for counts in product((1, 2), repeat=2):
        yield Case(exact([[1], [1]]), counts, Fraction(1), exact([1]), identity(1))
    rng = search.generator()
    for _ in range(search.count(quick, full)):
        n_tasks, p = rng.integers(1, 4, size=2).tolist()
        loadings = exact(rng.integers(0, 4, size=(n_tasks, p)))
        for j in range(p):
            if all(load == 0 for load in loadings[:, j]):
                loadings[rng.integers(n_tasks), j] = Fraction(1)
        rows = [sum(load != 0 for load in task) for task in loadings]
        spare = rng.integers(0, 4, size=n_tasks)
        sizes = [max(1, seen + int(more)) for seen, more in zip(rows, spare, strict=True)]
        first = exact([Fraction(int(a), int(b)) for a, b in rng.integers(1, 4, size=(p, 2))])
        variance = Fraction(*rng.integers(1, 5, size=2).tolist())
        yield Case(loadings, tuple(sizes), variance, first, reflection(rng, p))


def reflection(rng: np.random.Generator, p: int) -> Matrix:
    """Return I − 2vvᵀ/(vᵀv) for a random integer vector v: a rational orthogonal matrix."""
    vector = exact(rng.integers(1, 4, size=p))
    return np.asarray(identity(p) - np.outer(vector, vector) * (Fraction(2) / (vector @ vector)))


def gaussian_designs(rng: np.random.Generator, n_tasks: int, n: int, p: int) -> list[Array]:
    """Return designs with columns of different scales and covariances that do not commute."""
    return [rng.normal(size=(n, p)) * np.exp(rng.normal(0, 0.5, p)) for _ in range(n_tasks)]
