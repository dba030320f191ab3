"""Closed forms for tasks whose covariances share eigenvectors."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ridgeway._checks import Array, finite, nonnegative_array, positive, shaped
from ridgeway.errors import InvalidParameterError
from ridgeway.research.theory._approximation import (
    ApproximationConstant,
    penalty_limits,
    smallest_constants,
)
from ridgeway.research.theory._directions import updated_errors
from ridgeway.research.theory._equivalence import equivalent_rates, step_counts


@dataclass(frozen=True, eq=False, init=False)
class CommutingProblem:
    """Tasks with fixed designs, one true parameter and covariances that share their eigenvectors.

    The problem splits into directions j: task t has the information n_t·γ_j⁽ᵗ⁾ about direction j, and the error of
    the estimate there starts at e_j⁽⁰⁾ = (u_jᵀw_*)². Below, D_j(t) = σ²/e_j⁽⁰⁾ + n_1γ_j⁽¹⁾ + … + n_tγ_j⁽ᵗ⁾.

    Parameters
    ----------
    eigenvalues : array_like of shape (T, p)
        γ ≥ 0; row t has the eigenvalues of Σ_t in the common order of directions. Any positive value counts as
        information, so set values that are only rounding to 0.
    n_samples : array_like of shape (T,)
        n_t > 0.
    noise_variance : float
        σ² > 0.
    initial_errors : array_like of shape (p,)
        e⁽⁰⁾ ≥ 0. If it is 0, the start is already right: the optimal penalty is ∞ and the error stays 0.

    Notes
    -----
    Every method takes O(T·p) time and memory.

    Examples
    --------
    >>> from ridgeway.research import theory
    >>> problem = theory.CommutingProblem(
    ...     [[1.0, 0.0], [0.5, 1.0]],
    ...     [10, 20],
    ...     noise_variance=1.0,
    ...     initial_errors=[1.0, 0.5],
    ... )
    >>> problem.optimal_error()
    array([0.59090909, 0.09307359])
    >>> problem.direction_errors(problem.optimal_penalties()).sum(axis=1)
    array([0.59090909, 0.09307359])
    """

    eigenvalues: Array
    n_samples: Array
    noise_variance: float
    initial_errors: Array

    def __init__(
        self, eigenvalues: ArrayLike, n_samples: ArrayLike, *, noise_variance: float = 1.0, initial_errors: ArrayLike
    ) -> None:
        gamma = finite(nonnegative_array(eigenvalues, "eigenvalues"), "eigenvalues")
        if gamma.ndim != 2 or 0 in gamma.shape:
            raise InvalidParameterError(
                f"eigenvalues has shape {gamma.shape}; it must be (T, p), with at least one task and one direction."
            )
        n_tasks, n_directions = gamma.shape
        counts = finite(nonnegative_array(n_samples, "n_samples"), "n_samples")
        shaped(counts, (n_tasks,), "n_samples", "one per task")
        if not counts.all():
            raise InvalidParameterError("n_samples contains 0. Leave out empty tasks.")
        errors = finite(nonnegative_array(initial_errors, "initial_errors"), "initial_errors")
        shaped(errors, (n_directions,), "initial_errors", "one per direction")
        noise = positive(noise_variance, "noise_variance")
        vars(self).update(eigenvalues=gamma, n_samples=counts, noise_variance=noise, initial_errors=errors)

    def oracle_error(self) -> Array:
        """Return the error of pooled least squares after each task.

        Σ_j σ²/(n_1γ_j⁽¹⁾ + … + n_tγ_j⁽ᵗ⁾), Lemma (oracle); corrections row 3 (the factor σ² in its proof).

        Returns
        -------
        ndarray of shape (T,)
            NaN while the pooled information is singular, a case that the lemma does not cover.

        Examples
        --------
        >>> from ridgeway.research import theory
        >>> theory.CommutingProblem(
        ...     [[1, 0], [1, 2]], [5, 5], initial_errors=[1, 1]
        ... ).oracle_error()
        array([nan, 0.2])
        """
        information = self._information()
        singular = (information == 0).any(axis=1)
        with np.errstate(divide="ignore"):
            # Lemma (oracle); corrections row 3.
            errors = np.divide(self.noise_variance, information, out=information).sum(axis=1)
        return np.where(singular, np.nan, errors)

    def optimal_penalties(self) -> Array:
        """Return the penalties that minimise the error of every direction at every task.

        λ_j⁽ᵗ⁾ = D_j(t−1)/n_t, Thm (adaptive ridge), eq. (lambda); corrections rows 2 and 4.

        Returns
        -------
        ndarray of shape (T, p)
            ∞ if the initial error is 0.

        Examples
        --------
        >>> from ridgeway.research import theory
        >>> theory.CommutingProblem(
        ...     [[1, 0], [1, 2]], [4, 8], initial_errors=[1, 0.5]
        ... ).optimal_penalties()
        array([[0.25 , 0.5  ],
               [0.625, 0.25 ]])
        """
        denominators = self._denominators()
        # Thm (adaptive ridge), eq. (lambda): σ²/n_t over the error before the task; corrections row 4.
        denominators[1:] = denominators[:-1]
        denominators[0] = self._prior()
        return np.divide(denominators, self.n_samples[:, np.newaxis], out=denominators)

    def direction_errors(self, penalties: ArrayLike) -> Array:
        """Return the expected squared error of every direction after each task, for any penalties.

        E[e_j⁽ᵗ⁾] = (λ²·E[e_j⁽ᵗ⁻¹⁾] + γσ²/n_t)/(λ + γ)², Thm (adaptive ridge), eq. (error_iter); corrections
        row 1 (n is n_t). If γ = 0 or λ = ∞, a direction stays as it was; λ = γ = 0 is the limit λ → 0⁺, which
        stays as well.

        Parameters
        ----------
        penalties : array_like, broadcastable to (T, p)
            λ in [0, ∞]. A column (T, 1) is continual ridge; 0 is the minimum-norm estimator.

        Returns
        -------
        ndarray of shape (T, p)

        Examples
        --------
        >>> from ridgeway.research import theory
        >>> problem = theory.CommutingProblem([[1, 0], [1, 2]], [4, 8], initial_errors=[1, 0.5])
        >>> problem.direction_errors([[1.0], [0.0]])
        array([[0.3125, 0.5   ],
               [0.125 , 0.0625]])
        """
        lam = self._penalties(penalties)
        errors = np.empty_like(self.eigenvalues)
        before = self.initial_errors
        for t in range(errors.shape[0]):
            errors[t] = self._step(t, lam[t], before)
            before = errors[t]
        return errors

    def optimal_error(self) -> Array:
        """Return the error under the optimal penalties after each task.

        Σ_j σ²/D_j(t), Thm (adaptive ridge), eq. (main-result).

        Returns
        -------
        ndarray of shape (T,)

        Examples
        --------
        >>> from ridgeway.research import theory
        >>> theory.CommutingProblem(
        ...     [[1, 0], [1, 2]], [4, 8], initial_errors=[1, 0.5]
        ... ).optimal_error()
        array([0.7       , 0.13247863])
        """
        denominators = self._denominators()
        # Thm (adaptive ridge), eq. (main-result).
        return np.asarray(np.divide(self.noise_variance, denominators, out=denominators).sum(axis=1))

    def minimum_norm_bound(self) -> Array:
        """Return the lower bound on the error of the minimum-norm estimator after each task.

        σ²·rank_t/(n_t·γ_max⁽ᵗ⁾), which always holds; Thm (min-norm), corrections row 10b. The printed
        σ²/γ_max is the case rank_t = n_t. For a task without information the bound is 0.

        Returns
        -------
        ndarray of shape (T,)

        Examples
        --------
        >>> from ridgeway.research import theory
        >>> theory.CommutingProblem(
        ...     [[1, 0], [1, 2]], [1, 8], initial_errors=[1, 1]
        ... ).minimum_norm_bound()
        array([1.   , 0.125])
        """
        rank = np.count_nonzero(self.eigenvalues, axis=1)
        largest = self.eigenvalues.max(axis=1)
        # Thm (min-norm); corrections row 10b.
        return np.asarray(self.noise_variance * rank / (self.n_samples * np.where(rank > 0, largest, 1.0)))

    def approximation_constant(self, penalties: ArrayLike) -> ApproximationConstant:
        """Return the factor over the optimal error that Thm (approx) guarantees for these penalties.

        With g = γ/(λ + γ), g* the same at the one-step optimum λ* = σ²/(n_t·E[e_j⁽ᵗ⁻¹⁾]) for the error of these
        penalties, and ρ = n_tγ/D_j(t−1), the condition is (g − g*)² ≤ C(C−1)ρ²/((1+ρ)(1+Cρ)²). Its right side
        grows with C, so the smallest C is the root of a quadratic. One C must hold for all directions and tasks up
        to t. Thm (approx), proof, eq. (sensitivity); corrections rows 5, 6 and 7. For limits that are known before
        the run, relative to eq. (lambda), see `penalty_range`.

        Parameters
        ----------
        penalties : array_like, broadcastable to (T, p)
            λ in [0, ∞].

        Returns
        -------
        ApproximationConstant
            With `constant` and `holds`, both of shape (T,).

        Examples
        --------
        >>> from ridgeway.research import theory
        >>> problem = theory.CommutingProblem([[1, 0], [1, 2]], [4, 8], initial_errors=[1, 0.5])
        >>> problem.approximation_constant(2 * problem.optimal_penalties()).constant
        array([1.15163616, 1.28205475])
        """
        lam = self._penalties(penalties)
        worst = np.empty(lam.shape[0])
        before = self.initial_errors
        denominator = self._prior()
        for t, gamma in enumerate(self.eigenvalues):
            information = self.n_samples[t] * gamma
            with np.errstate(divide="ignore", over="ignore"):
                best = self.noise_variance / (self.n_samples[t] * before)  # corrections row 7
            # Thm (approx), with ρ over the information before the task; corrections row 6.
            worst[t] = smallest_constants(gamma, lam[t], best, information / denominator).max()
            before = self._step(t, lam[t], before)
            denominator = denominator + information
        return ApproximationConstant(np.maximum.accumulate(worst))

    def penalty_range(self, constant: float) -> Array:
        """Return the least and the largest penalties that Thm (approx) allows for a factor C over the optimal error.

        With λ of eq. (lambda), known before the run: if (λ̃ − λ)² ≤ (1 − 1/C)·λ(λ + γ) in every direction of every
        task up to t, then 𝓛(ŵ_t) ≤ C·Σ_j σ²/D_j(t). Corrections rows 5, 6 and 7; with Δ = 1/(λ̃ + γ) − 1/(λ + γ) as
        printed, and R = √(C(C−1)(1+ρ)), the condition reads
        −ρ(R − (C−1)) ≤ (1+ρ)(1+Cρ)·γΔ ≤ ρ(R + (C−1)).
        The printed one lacks both terms C−1.

        Proof: after the task the error is (λ̃²e + γσ²/n_t)/(λ̃ + γ)², which grows with the error e before. So let e be
        as large as the bound allows, C·σ²/(n_tλ). The result is within the bound of the next task, C·σ²/(n_t(λ + γ)),
        if and only if (Cλ̃² + γλ)(λ + γ) ≤ Cλ(λ̃ + γ)². This is (λ̃ − λ)² ≤ (1 − 1/C)·λ(λ + γ), times Cγ. The
        condition is sharp: where e equals its bound, no other penalty keeps the bound.

        Parameters
        ----------
        constant : float
            C ≥ 1. Whatever it is, a penalty of 2λ + γ/2 or more is never allowed.

        Returns
        -------
        ndarray of shape (2, T, p)
            The least and the largest λ̃. They are 0 and ∞ where γ = 0; both are ∞ if the initial error is 0.

        Examples
        --------
        >>> from ridgeway.research import theory
        >>> problem = theory.CommutingProblem([[1, 0], [1, 2]], [4, 8], initial_errors=[1, 0.5])
        >>> least, largest = problem.penalty_range(1.1)
        >>> least
        array([[0.08145003, 0.        ],
               [0.32114223, 0.02386649]])
        >>> largest
        array([[0.41854997,        inf],
               [0.92885777, 0.47613351]])
        >>> problem.direction_errors(largest).sum(axis=1) <= 1.1 * problem.optimal_error()
        array([ True,  True])
        """
        factor = positive(constant, "constant")
        if factor < 1:
            raise InvalidParameterError(
                f"constant is a factor over the optimal error, so it must be at least 1; got {constant!r}."
            )
        return penalty_limits(self.eigenvalues, self.optimal_penalties(), factor)

    def optimal_learning_rates(self, n_steps: ArrayLike) -> Array:
        """Return the learning rates for which early stopping reaches the optimal error.

        (1 − s_jγ_j)^m = D_j(t−1)/D_j(t), Cor. (ES), eq. (eses). If γ = 0, any rate is optimal; 1/(m·λ) is
        returned.

        Parameters
        ----------
        n_steps : int or array_like of shape (T,)
            m_t, the steps to take in each task.

        Returns
        -------
        ndarray of shape (T, p)

        Examples
        --------
        >>> from ridgeway.research import theory
        >>> problem = theory.CommutingProblem([[1, 0], [1, 2]], [3, 5], initial_errors=[1, 1])
        >>> problem.optimal_learning_rates(n_steps=1)
        array([[0.75      , 3.        ],
               [0.55555556, 0.45454545]])
        """
        steps, n_tasks = step_counts(n_steps), len(self.n_samples)
        if steps.shape not in ((), (n_tasks,)):
            raise InvalidParameterError(
                f"n_steps has shape {steps.shape}; pass one number, or one per task, shape ({n_tasks},)."
            )
        steps = np.broadcast_to(steps, n_tasks)
        rates = self.optimal_penalties()
        for t, gamma in enumerate(self.eigenvalues):
            rates[t] = equivalent_rates(gamma, rates[t], steps[t])  # Cor. (ES), eq. (eses)
        return rates

    def _penalties(self, penalties: ArrayLike) -> Array:
        array, shape = nonnegative_array(penalties, "penalties"), self.eigenvalues.shape
        try:
            return np.broadcast_to(array, shape)
        except ValueError:
            raise InvalidParameterError(
                f"penalties has shape {array.shape}, which does not match {shape} (tasks, directions). "
                "For one value per task, pass a column of shape (T, 1)."
            ) from None

    def _prior(self) -> Array:
        with np.errstate(divide="ignore", over="ignore"):
            return np.asarray(self.noise_variance / self.initial_errors)

    def _information(self) -> Array:
        information = self.eigenvalues * self.n_samples[:, np.newaxis]
        return np.cumsum(information, axis=0, out=information)

    def _denominators(self) -> Array:
        denominators = self._information()
        denominators += self._prior()
        return denominators

    def _step(self, t: int, lam: Array, before: Array) -> Array:
        # Thm (adaptive ridge), eq. (error_iter); corrections row 1: n is n_t.
        return updated_errors(self.eigenvalues[t], lam, before, self.noise_variance / self.n_samples[t])
