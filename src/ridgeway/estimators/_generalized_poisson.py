"""Poisson regression that learns task after task."""

from typing import Any, Self

from sklearn.base import RegressorMixin, Tags

from ridgeway._checks import Array
from ridgeway.data import Task, check_single_target, check_tasks
from ridgeway.estimators._likelihood_shell import LikelihoodEstimator
from ridgeway.likelihoods import Likelihood, Poisson
from ridgeway.weights import State


class GeneralizedPoisson(RegressorMixin, LikelihoodEstimator):
    """Counts, task after task: log E[y] = x·w + b + offset.

    ŵ_t = argmin_w −(1/n_t)·log-likelihood_t(w) + ½‖w − ŵ_{t−1}‖²_{H_t}, with H_t from a policy. With
    `weights.Accumulated()`, the default, the past's log-likelihood is kept as a polynomial about the last estimate, so
    that the estimate stays close to that of all rows pooled.

    Parameters
    ----------
    weights : policy of `ridgeway.weights`, optional
        How H_t is chosen; `Accumulated(prior=0.0)` if not given. A prior P adds ½‖w‖²_P once.
    memory : {"quadratic", "cubic"}, default "quadratic"
        How `Accumulated` keeps the past: "quadratic" takes p² numbers, "cubic" C(p + 2, 3), for at most 300
        coefficients, and is much closer to the pooled estimate.
    fit_intercept : bool, default True
        Whether an intercept is fitted. It is never penalised. With `Accumulated` there is one for all tasks; otherwise
        each task sets its own.
    initial_coef : array of shape (n_features,), optional
        ŵ_0; zero if not given.
    weight_kind : {"precision", "frequency"}, default "precision"
        What `sample_weight` means. "frequency": the number of times that the row was observed, a whole number, and the
        row counts that often in `n_samples_seen_`. The estimates are the same.

    Attributes
    ----------
    coef_, standard_errors_ : ndarray of shape (n_features,)
    intercept_, intercept_error_ : float
    log_likelihood_ : float
        Of all rows learned, as far as the state knows it.
    n_tasks_, n_samples_seen_, n_features_in_ : int
    feature_names_in_ : ndarray of str, if the tasks were DataFrames

    Notes
    -----
    A y that is not whole is a rate: pass the exposure as its weight. `log_likelihood_` is then not one of counts. For
    that, learn the counts, with the logarithm of the exposure as `offset`. Rows cannot be removed: only their expansion
    about an old estimate was added, and they cannot give it back.

    Examples
    --------
    >>> from ridgeway import GeneralizedPoisson
    >>> model = GeneralizedPoisson(memory="cubic").partial_fit(
    ...     [[0.0], [1.0], [1.0]], [1, 2, 4]
    ... )
    >>> model.partial_fit([[0.0], [2.0]], [2, 5]).predict([[1.0]]).round(1)
    array([2.9])
    """

    @property
    def _likelihood(self) -> Likelihood:
        return Poisson()

    def fit(self, X: Any, y: Any, sample_weight: Any = None, tasks: Any = None, offset: Any = None) -> Self:
        """Forget everything, then learn one task, or one per label in `tasks` in order of first appearance.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Counts ≥ 0.
        sample_weight : array of shape (n_samples,), optional
            How much each row counts; rows of weight zero are ignored.
        tasks : array of shape (n_samples,), optional
            The task that each row belongs to.
        offset : array of shape (n_samples,), optional
            What is added to the linear predictor, such as the logarithm of the exposure.
        """
        return self._learn(X, y, sample_weight, first=True, labels=tasks, offset=offset)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Self:
        """Learn one more task. Its rows are not kept.

        Parameters
        ----------
        X, y, sample_weight, offset : as for `fit`
        """
        return self._learn(X, y, sample_weight, first=False, offset=offset)

    def predict(self, X: Any, offset: Any = None) -> Array:
        """Return the expected counts exp(x·ŵ_t + b_t + offset), of shape (n_samples,)."""
        return self._likelihood.mean(self._predictor(X, offset))[:, 0]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags

    def _checked(self, state: State | None, X: Any, y: Any, sample_weight: Any, **names: Any) -> list[Task]:
        return check_tasks(self, X, check_single_target(y), sample_weight, first=state is None, **names)
