"""The state of a likelihood that is not Gaussian: the past as a polynomial about the last estimate."""

from dataclasses import dataclass, replace
from functools import cached_property
from math import comb
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway._text import counted
from ridgeway.data import Classes
from ridgeway.errors import InferenceError, InvalidParameterError, MergeError
from ridgeway.information import checked_past
from ridgeway.likelihoods import Likelihood, Polynomial, SlopeCurvature, climb, newton_step
from ridgeway.linalg import definite_inverse
from ridgeway.weights._displayed import Displayed
from ridgeway.weights._settings import same_prior, widened_prior
from ridgeway.weights._states import Answer, Origin, changed

MOST_CUBIC = 300
"""The most coefficients of which a third derivative is kept."""


@runtime_checkable
class Expandable(Protocol):
    """States that keep the past as a polynomial.

    Examples
    --------
    >>> from ridgeway import GeneralizedPoisson, weights
    >>> state = GeneralizedPoisson().fit([[0.0], [0.0], [1.0]], [1, 3, 4]).state_
    >>> isinstance(state, weights.Expandable)
    True
    """

    past: Polynomial
    rates: bool

    def prior_in_force(self) -> Polynomial:
        """Return −½‖w − ŵ_0‖²_P, with P as it applies now."""

    def covariance(self) -> Array:
        """Return the covariance of w and b."""


@dataclass(frozen=True, eq=False)
class Expanded(Displayed):
    """What is kept of the past: its log-likelihood as a polynomial, of rows only. The prior is kept beside it.

    Attributes
    ----------
    origin : Origin
    n_tasks : int
    likelihood : Likelihood
    past : Polynomial
        About the estimate; a cubic if it has a third derivative. It is exact up to what Taylor's polynomials leave out.
    prior : ndarray of shape (n_features,), a diagonal, or (n_features, n_features)
    decay : float
    about : ndarray of shape (n_features,), or None if there is no intercept
        The mean of the first task, which X is taken about.
    n_samples : int
    rank : int, or None before the first task
    rates : bool
        Whether a target was not a whole number though the likelihood is of counts: `past.value` is then not their
        log-likelihood.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedPoisson
    >>> state = GeneralizedPoisson().fit([[0.0], [0.0], [1.0]], [1, 3, 4]).state_
    >>> np.exp(state.answer.coef), np.exp(state.answer.intercept)  # twice as many at x = 1
    (array([[2.]]), array([2.]))
    >>> np.allclose(state.held().gradient, 0.0, atol=1e-6)  # largest at the estimate
    True
    """

    origin: Origin
    n_tasks: int
    likelihood: Likelihood
    past: Polynomial
    prior: Array
    decay: float
    about: Array | None
    n_samples: int = 0
    rank: int | None = None
    rates: bool = False

    @cached_property
    def answer(self) -> Answer:
        """The estimate."""
        p, q = self.origin.coef.shape
        coef = self.past.centre[: p * q].reshape(p, q)
        if self.about is None:
            return Answer(coef, np.zeros(q), self.rank)
        return Answer(coef, self.past.centre[p * q :] - self.about @ coef, self.rank)

    def resumed(self, origin: Origin) -> "Expanded":
        """Return the state under the model's present settings, or raise if they cannot change any more."""
        mine = self.origin
        if (mine.centered, mine.weight_kind) != (origin.centered, origin.weight_kind):
            raise changed()
        return self if np.array_equal(mine.coef, origin.coef) else replace(self, origin=origin)

    @property
    def n_intercepts(self) -> int:
        """How many coefficients at the end of θ are intercepts."""
        return 0 if self.about is None else self.likelihood.n_predictors

    @property
    def size(self) -> int:
        """The number of rows that determine the coefficients; under a prior that is no limit."""
        return len(self.past.centre) if self.prior.any() else self.n_samples

    def held(self) -> Polynomial:
        """Return the past and the prior together, about the estimate."""
        return self.past.plus(self.prior_in_force())

    def prior_in_force(self) -> Polynomial:
        """Return −½‖w − ŵ_0‖²_P, with P as it applies now."""
        return anchor(self.origin.coef, self.prior * self.decay**self.n_tasks, self.n_intercepts)

    def covariance(self) -> Array:
        """Return the covariance of w and b, (size, size), from the curvature at the estimate, or raise."""
        inverse = definite_inverse(self.held().curvature)
        if inverse is None:
            raise InferenceError(
                "the columns learned are collinear, so the errors of their coefficients are infinite. Drop a column, "
                "or give a prior."
            )
        back = self._shear(None if self.about is None else -self.about)
        return np.asarray(back @ inverse @ back.T)

    def undetermined(self) -> NDArray[np.bool_]:
        """Return which features neither rows nor the prior say anything about, as they never varied; (n_features,)."""
        p, q = self.origin.coef.shape
        curvature = self.held().curvature
        slopes = None if self.about is None else SlopeCurvature.of(curvature, self.about)
        is_rounding = curvature.diagonal()[: p * q] == 0.0 if slopes is None else slopes.is_rounding()
        return np.asarray(is_rounding.reshape(p, q).all(axis=1))

    def without(self, features: NDArray[np.bool_]) -> "Expanded":
        """Return the state without features that are undetermined. That is exact: the past is constant in them."""
        if not features.any():
            return self
        kept, q = np.flatnonzero(~features), self.likelihood.n_predictors
        places = np.append(np.repeat(~features, q), np.ones(self.n_intercepts, dtype=bool))
        matrix = np.eye(len(places))[:, places]
        return replace(
            self,
            origin=replace(self.origin, coef=self.origin.coef[kept], given=None),
            past=self.past.mapped(matrix, matrix.T @ self.past.centre),
            prior=self.prior[kept] if self.prior.ndim == 1 else self.prior[np.ix_(kept, kept)],
            about=None if self.about is None else self.about[kept],
        )

    @np.errstate(over="ignore", invalid="ignore")  # what overflows is refused
    def merge(self, other: "Expanded") -> "Expanded":
        """Return the state of both pasts: polynomials add exactly. O(p⁴) for a cubic."""
        differences = [what for what, same in self._agreement(other) if not same]
        if differences:
            raise MergeError(
                f"cannot merge two models that differ in: {', '.join(differences)}. Learn both with the same settings."
            )
        n_samples = self.n_samples + other.n_samples
        rates = self.rates or other.rates
        both = replace(self, n_tasks=self.n_tasks + other.n_tasks, n_samples=n_samples, rates=rates)
        held = [self.held(), other._about(self.about)]
        if not all(polynomial.is_finite for polynomial in held):
            raise _overflown()
        plain = held[0].damped(0.0).plus(held[1].damped(0.0))
        start = plain.centre + newton_step(plain, self.about, both.size).coef[:, 0]
        found = climb(None, held, start, about=self.about, size=both.size)
        past = self.past.damped(found.share).plus(held[1].damped(found.share)).at(found.theta)
        if not past.is_finite:
            raise _overflown()
        return replace(both, past=past, rank=found.solution.rank)

    def with_classes(self, classes: Classes) -> "Expanded":
        """Return the state with its classes named, which is possible once."""
        if self.origin.classes not in (None, classes):
            raise changed()
        return replace(self, origin=replace(self.origin, classes=classes))

    def widened(self, features: NDArray[np.intp], past: Array, prior: Any = None) -> "Expanded":
        """Return the state of the same rows with more features, as if they had been there from the start.

        A new feature is taken about its past value, so it is 0 in every past row, and the polynomial is constant in its
        coefficient. That is exact.

        Parameters
        ----------
        features : ndarray of int
            For each feature its place among the old ones, or −1 if it is new.
        past : ndarray of float
            What each feature was in every past row, if it is new.
        prior : the entries of the prior for new features, needed unless it is one number for all
        """
        new, (p, q) = features < 0, self.origin.coef.shape
        values = checked_past(past, new, centered=self.about is not None)
        places = np.append((features[:, None] * q + np.arange(q)).ravel(), p * q + np.arange(self.n_intercepts))
        matrix = np.zeros((len(self.past.centre), len(places)))
        kept = np.flatnonzero(places >= 0)
        matrix[places[kept], kept] = 1.0
        check_size(len(places), cubic=self.past.third is not None)
        centre = np.zeros(len(places))
        centre[kept] = self.past.centre[places[kept]]
        coef = np.pad(self.origin.coef, ((0, 1), (0, 0)))[features]
        wider: Any = widened_prior(self.prior, features, prior)
        return replace(
            self,
            origin=replace(self.origin, coef=coef, given=None),
            past=self.past.mapped(matrix, centre),
            prior=wider,
            about=None if self.about is None else np.where(new, values, self.about[features]),
        )

    def _about(self, about: Array | None) -> Polynomial:
        """Return the past with X taken about another point: b there is b + (about − own)·w."""
        if about is None or self.about is None:
            return self.past
        matrix = self._shear(self.about - about)
        return self.past.mapped(matrix, self._shear(about - self.about) @ self.past.centre)

    def _shear(self, shift: Array | None) -> Array:
        """Return the matrix that adds shift·w to the intercepts."""
        matrix = np.eye(len(self.past.centre))
        if shift is not None:
            q = self.n_intercepts
            matrix[-q:, :-q] = np.kron(shift, np.eye(q))
        return matrix

    def _agreement(self, other: "Expanded") -> list[tuple[str, bool]]:
        """Return what two states must have in common, and whether they do."""
        mine, theirs = self.origin, other.origin
        return [
            ("targets", (mine.coef.shape, mine.classes) == (theirs.coef.shape, theirs.classes)),
            ("intercept", mine.centered == theirs.centered),
            ("kind of weights", mine.weight_kind == theirs.weight_kind),
            ("likelihood", self.likelihood.name == other.likelihood.name),
            ("memory", (self.past.third is None) == (other.past.third is None)),
            ("prior", same_prior(self.prior, other.prior)),
            ("decay, which must be 1", self.decay == other.decay == 1.0),
            ("initial_coef", np.array_equal(mine.coef, theirs.coef)),
        ]


def _overflown() -> MergeError:
    return MergeError(
        "the derivatives of the two pasts are too large to be added: they overflow. Learn both again with the largest "
        "columns in other units."
    )


def check_size(size: int, *, cubic: bool) -> None:
    """Raise if a third derivative of this many coefficients would be too large."""
    if cubic and size > MOST_CUBIC:
        raise InvalidParameterError(
            f"memory='cubic' keeps C(p + 2, 3) numbers, {comb(size + 2, 3):,} for {counted(size, 'coefficient')}; the "
            f"limit is {MOST_CUBIC} coefficients. Use memory='quadratic', or fewer columns."
        )


def anchor(coef: Array, weight: float | Array, intercepts: int) -> Polynomial:
    """Return −½‖w − coef‖²_W as a polynomial in θ, for a number, a diagonal or a matrix W. Intercepts are free."""
    p, q = coef.shape
    matrix = np.diag(np.broadcast_to(weight, (p,))) if np.ndim(weight) < 2 else np.asarray(weight)
    curvature = np.zeros((p * q + intercepts,) * 2)
    curvature[: p * q, : p * q] = np.kron(matrix, np.eye(q))
    return Polynomial.quadratic(np.append(coef.ravel(), np.zeros(intercepts)), curvature)
