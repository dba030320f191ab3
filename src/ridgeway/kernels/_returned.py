"""What kernels return, and how the fast ones are described."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar

from ridgeway._checks import Array
from ridgeway.kernels._means import Mean

F = TypeVar("F", bound=Callable[..., Any])


def twin_of(plain: Callable[..., Any]) -> Callable[[F], F]:
    """Return a decorator that gives a fast kernel the docstring of its plain twin, which says what both compute."""

    def described(kernel: F) -> F:
        kernel.__doc__ = plain.__doc__
        return kernel

    return described


class Updated(NamedTuple):
    """A factor or co-moments with the rows of a task added.

    Attributes
    ----------
    matrix : ndarray of shape (n_columns, n_columns)
    mean : Mean
        Of all rows.
    squares : ndarray of shape (n_columns,)
        By how much each column's sum of squares has grown. Not finite if a value of the task is not.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.kernels import Mean, factor_update
    >>> past, X, y = Mean.of_nothing(2), np.array([[1.0], [3.0]]), np.array([[2.0], [2.0]])
    >>> found = factor_update(np.zeros((2, 2), order="F"), past, X, y, None, centered=True)
    >>> found.mean.high, found.squares  # about their means, x is −1 and 1
    (array([2., 2.]), array([2., 0.]))
    """

    matrix: Array
    mean: Mean
    squares: Array


class Reduced(Protocol):
    """A semidefinite A = Q·T·Qᵀ, reduced once: then functions of A, such as (A + shift·I)⁻¹, are cheap to apply.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.kernels import reduce_symmetric
    >>> A, right = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([[1.0], [0.0]])
    >>> reduced = reduce_symmetric(A)
    >>> found = reduced.turn_back(reduced.solve(1.0, reduced.turn(right), 1e-12))
    >>> np.allclose((A + np.eye(2)) @ found, right)
    True
    """

    @property
    def top(self) -> float:
        """The largest eigenvalue of A."""

    def turn(self, right: Array) -> Array:
        """Return Qᵀ·right for a right-hand side of shape (m, k)."""

    def turn_back(self, inner: Array) -> Array:
        """Return Q·inner."""

    def solve(self, shift: float, inner: Array, tolerance: float) -> Array:
        """Return (T + shift·I)⁻¹·inner, or the pseudo-inverse: eigenvalues below `tolerance` of the largest are 0."""

    def descend(self, rate: float, n_steps: int, inner: Array) -> Array:
        """Return rate·Σ_{i<n_steps} (I − rate·T)^i·inner: what n_steps of gradient descent add up to."""
