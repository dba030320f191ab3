"""Exact risks and optimal choices for any fixed designs, whether their covariances commute or not."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ridgeway._checks import Array, finite, nonnegative_array, positive, real_array, shaped
from ridgeway.errors import InvalidParameterError
from ridgeway.linalg import checked_semidefinite, semidefinite_root
from ridgeway.research.theory._designs import design_matrices
from ridgeway.research.theory._optimal import best_gains, best_isotropic_penalties, best_weight_matrices
from ridgeway.research.theory._policy_gains import WeightMatrices, gains_from_weights
from ridgeway.research.theory._propagation import ErrorMoments, ExpectedError, propagate


@dataclass(frozen=True, eq=False, init=False)
class FixedDesignProblem:
    """Tasks y_t = X_tw_* + ε_t with given rows X_t: the exact error of every linear update.

    The covariances of the tasks need not commute. The models have no intercept and unit sample weights.

    Parameters
    ----------
    designs : sequence of array_like of shape (n_t, p)
        X_1, …, X_T.
    noise_variance : float
        σ² > 0, the variance of the uncorrelated entries of ε_t. The error without noise is `bias`.
    signal : float or array_like of shape (p,) or (p, p)
        w_* itself; or, if it is random, its second moment E[w_*w_*ᵀ]: a matrix, or a number c for c·I.
    task_coefs : array_like of shape (T, p), optional
        A true parameter w_t for each task: y_t = X_tw_t + ε_t. Errors are still relative to `signal`, which must then
        be a vector; pass signal=task_coefs[-1] for errors relative to the latest parameter.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.research import theory
    >>> designs = [[[1.0, 1.0]], [[1.0, 0.0], [1.0, 2.0]]]
    >>> problem = theory.FixedDesignProblem(designs, noise_variance=1.0, signal=[1.0, 3.0])
    >>> error = problem.expected_error([0.0, 0.0])  # the minimum-norm estimator
    >>> error.bias, error.variance
    (array([2., 0.]), array([0.5, 1.5]))
    """

    designs: tuple[Array, ...]
    noise_variance: float
    signal: Array
    task_coefs: Array | None

    def __init__(
        self,
        designs: Iterable[ArrayLike],
        *,
        noise_variance: float = 1.0,
        signal: ArrayLike,
        task_coefs: ArrayLike | None = None,
    ) -> None:
        matrices = design_matrices(designs)
        noise = positive(noise_variance, "noise_variance")
        vars(self).update(designs=matrices, noise_variance=noise, signal=_checked_signal(signal, matrices[0].shape[1]))
        vars(self).update(task_coefs=self._checked_task_coefs(task_coefs))

    def expected_error(self, weights: WeightMatrices) -> ExpectedError:
        """Return E‖ŵ_t − w_*‖² after each task, for any policy or any weight matrices.

        With K_t = (X_tᵀX_t + n_tH_t)⁻¹X_tᵀ and P_t = I − K_tX_t the error is P_t(ŵ_{t−1} − w_*) + K_tε_t, Thm (adaptive
        ridge), proof; corrections row 1. If the inverse does not exist, K_t is the limit for H_t + δI, δ → 0⁺: the
        least change from ŵ_{t−1}.

        Parameters
        ----------
        weights : policy, or sequence of T entries
            Every `weights.DesignPolicy`, your own included, and `weights.Accumulated` with a given prior and decay. Or
            H_t for each task: a number λ in [0, ∞] for λI, a vector (p,) of such numbers for a diagonal, or a positive
            semidefinite matrix (p, p).

        Returns
        -------
        ExpectedError
            With `total`, `bias`, `variance`, `drift` of shape (T,) and `second_moment` of shape (T, p, p).

        Notes
        -----
        O(T·p²(n + p)) time, O(T·p² + T·n·p) memory.

        Examples
        --------
        >>> from ridgeway.research import theory
        >>> problem = theory.FixedDesignProblem(
        ...     [[[2.0, 0.0]]] * 2, noise_variance=1.0, signal=1.0
        ... )
        >>> problem.expected_error([1.0, 5.0]).total
        array([1.2       , 1.11111111])
        """
        return self.expected_error_of_gains(gains_from_weights(weights, self.designs))

    def expected_error_of_gains(self, gains: Sequence[ArrayLike]) -> ExpectedError:
        """Return E‖ŵ_t − w_*‖² after each task under any linear update ŵ_t = ŵ_{t−1} + K_t(y_t − X_tŵ_{t−1}).

        Parameters
        ----------
        gains : sequence of array_like of shape (p, n_t)
            K_1, …, K_T; `optimal_gains` returns the best.

        Returns
        -------
        ExpectedError

        Notes
        -----
        O(T·p²(n + p)) time, O(T·p²) memory.

        Examples
        --------
        >>> from ridgeway.research import theory
        >>> problem = theory.FixedDesignProblem(
        ...     [[[2.0, 0.0]]], noise_variance=1.0, signal=[1.0, 1.0]
        ... )
        >>> problem.expected_error_of_gains(problem.optimal_gains()).total
        array([0.4])
        """
        steps = list(self._moments(gains))
        # There is a drift only if w_* is known, and then the bias has one column.
        drift = np.array([step.drift @ (step.drift + 2 * step.bias.sum(axis=1)) for step in steps])
        return ExpectedError(
            bias=np.array([_bias(step) for step in steps]),
            variance=np.array([np.trace(step.covariance) for step in steps]),
            drift=drift,
            second_moment=np.array([step.second_moment() for step in steps]),
        )

    def expected_forgetting(self, weights: WeightMatrices) -> Array:
        """Return the forgetting F_t = (1/(t−1)) Σ_{τ<t} (𝓛_τ(ŵ_t) − 𝓛_τ(ŵ_τ)) after each task.

        𝓛_τ is E‖ŵ − w_*‖² for every τ, or E‖ŵ − w_τ‖² if tasks have their own parameters. F_t > 0 means that something
        was forgotten. F_1 is NaN: there is nothing to forget yet.

        Parameters
        ----------
        weights : policy, or sequence of T entries
            As for `expected_error`.

        Returns
        -------
        ndarray of shape (T,)

        Notes
        -----
        O(T·p²(n + p) + T²·p) time.

        Examples
        --------
        >>> from ridgeway.research import theory
        >>> problem = theory.FixedDesignProblem(
        ...     [[[2.0, 0.0]]] * 2, noise_variance=1.0, signal=1.0
        ... )
        >>> problem.expected_forgetting([0.0, 4.0])
        array([   nan, -0.125])
        """
        steps = list(self._moments(gains_from_weights(weights, self.designs)))
        shifts = self._shifts()
        errors = np.empty((len(steps), len(steps)))
        for t, step in enumerate(steps):
            offset = step.drift - shifts  # zero with a common parameter
            errors[t] = _bias(step) + (offset * (offset + 2 * step.bias.sum(axis=1))).sum(axis=1)
        errors += np.array([[np.trace(step.covariance)] for step in steps])
        change = np.tril(errors - np.diagonal(errors), k=-1)
        before = np.arange(len(steps), dtype=np.float64)
        before[0] = np.nan
        return np.asarray(change.sum(axis=1) / before)

    def optimal_weight_matrices(self) -> Array:
        """Return the weight matrices with the least error after every task, without Assumption (commutable).

        H_t = (σ²/n_t)·M_{t−1}⁻¹ with M the second moment of the error, which is (σ²·E[w_*w_*ᵀ]⁻¹ + Σ_{τ<t}
        X_τᵀX_τ)/n_t. No other choice of weight matrices, now or earlier, leads to a smaller M_t in the order of
        positive semidefinite matrices. Thm (extension), made exact; corrections row 2.

        Returns
        -------
        ndarray of shape (T, p, p)

        Raises
        ------
        InvalidParameterError
            If E[w_*w_*ᵀ] is singular, as it is for a known w_*: then no finite H_t is optimal; use `optimal_gains`.

        Notes
        -----
        O(T·n·p² + p³) time, O(T·p²) memory.

        Examples
        --------
        >>> from ridgeway.research import theory
        >>> problem = theory.FixedDesignProblem(
        ...     [[[1.0, 1.0]]] * 2, noise_variance=1.0, signal=0.5
        ... )
        >>> problem.optimal_weight_matrices()[1]
        array([[3., 1.],
               [1., 3.]])
        """
        self._need_common_parameter("optimal_weight_matrices")
        return best_weight_matrices(self._signal_moment(), self.designs, self.noise_variance)

    def optimal_gains(self) -> tuple[Array, ...]:
        """Return the gains K_t of the linear update with the least error after every task, singular cases included.

        K_t = M_{t−1}X_tᵀ(X_tM_{t−1}X_tᵀ + σ²I)⁻¹, M_t = (I − K_tX_t)M_{t−1}, computed from a root of M_0 = E[w_*w_*ᵀ].
        If M_0 is regular, these are the gains of `optimal_weight_matrices`.

        Returns
        -------
        tuple of ndarray of shape (p, n_t)

        Notes
        -----
        O(T·(n + k)·k·p) time for a second moment of rank k.

        Examples
        --------
        >>> from ridgeway.research import theory
        >>> problem = theory.FixedDesignProblem(
        ...     [[[2.0, 0.0]]], noise_variance=1.0, signal=[1.0, 1.0]
        ... )
        >>> problem.optimal_gains()[0]
        array([[0.4],
               [0.4]])
        """
        self._need_common_parameter("optimal_gains")
        return best_gains(self._signal_root(), self.designs, self.noise_variance)

    def optimal_isotropic_penalties(self) -> Array:
        """Return the penalties of continual ridge that minimise the error after each task in turn.

        With Σ_t = V diag(γ) Vᵀ and m_j = v_jᵀM_{t−1}v_j, the error after task t is Σ_j (λ²m_j + γ_jσ²/n_t)/(λ + γ_j)²;
        all of its local minima in λ are compared. Thm (ridge) compares with this choice.

        Returns
        -------
        ndarray of shape (T,)
            λ_t; ∞ if a task cannot remove any error.

        Notes
        -----
        O(T·(n + p)·p²) time.

        Examples
        --------
        >>> from ridgeway.research import theory
        >>> problem = theory.FixedDesignProblem(
        ...     [[[2.0, 0.0]]] * 2, noise_variance=1.0, signal=1.0
        ... )
        >>> problem.optimal_isotropic_penalties()
        array([1., 5.])
        """
        self._need_common_parameter("optimal_isotropic_penalties")
        return best_isotropic_penalties(self._signal_moment(), self.designs, self.noise_variance)

    def _moments(self, gains: Sequence[ArrayLike]) -> Iterator[ErrorMoments]:
        if not hasattr(gains, "__len__"):
            raise InvalidParameterError(f"gains must be a list of matrices, one per task; got {gains!r}.")
        if len(gains) != len(self.designs):
            raise InvalidParameterError(f"gains has {len(gains)} entries; pass {len(self.designs)}, one per task.")
        checked = [
            shaped(real_array(gain, f"gains[{t}]"), design.shape[::-1], f"gains[{t}]", "(features, rows)")
            for t, (gain, design) in enumerate(zip(gains, self.designs, strict=True))
        ]
        return propagate(self._signal_root(), self.designs, checked, self._shifts(), self.noise_variance)

    def _checked_task_coefs(self, task_coefs: ArrayLike | None) -> Array | None:
        if task_coefs is None:
            return None
        shape = (len(self.designs), self.designs[0].shape[1])
        coefs = shaped(real_array(task_coefs, "task_coefs"), shape, "task_coefs", "one row per task")
        finite(coefs, "task_coefs")
        if self.signal.ndim != 1:
            raise InvalidParameterError(
                f"with task_coefs, signal must be a vector of shape ({shape[1]},); got shape {self.signal.shape}."
            )
        return coefs

    def _shifts(self) -> Array:
        if self.task_coefs is None:
            return np.zeros((len(self.designs), self.designs[0].shape[1]))
        return self.task_coefs - self.signal

    def _signal_root(self) -> Array:
        if self.signal.ndim == 1:
            return self.signal[:, np.newaxis]
        return semidefinite_root(self._signal_moment()).T

    def _signal_moment(self) -> Array:
        if self.signal.ndim == 1:
            return np.outer(self.signal, self.signal)
        return self.signal if self.signal.ndim == 2 else self.signal * np.eye(self.designs[0].shape[1])

    def _need_common_parameter(self, method: str) -> None:
        if self.task_coefs is not None:
            raise InvalidParameterError(
                f"{method}() requires one common parameter; this problem has task_coefs. Leave them out."
            )


def _bias(moments: ErrorMoments) -> float:
    return float(np.square(moments.bias).sum())


def _checked_signal(signal: ArrayLike, n_features: int) -> Array:
    array = real_array(signal, "signal")
    if array.ndim == 0:
        return finite(nonnegative_array(array, "signal"), "signal")
    if array.ndim == 2:
        return checked_semidefinite(array, n_features, "signal")
    return finite(shaped(array, (n_features,), "signal", "one entry per feature"), "signal")
