"""The methods that Ridgeway brings: the paper's estimators, and two peers."""

import math
from functools import partial
from typing import Any

import numpy as np

from ridgeway._checks import Array
from ridgeway.catalogue._arguments import estimator, numbers, penalties, policy, steps
from ridgeway.catalogue._method import SGD_STEPS, Method, MethodFamily


class Sgd:
    """scikit-learn's SGDRegressor: a gradient step per row, of its default length or shorter if that would overflow."""

    def __init__(self) -> None:
        from sklearn.linear_model import SGDRegressor

        self.model = SGDRegressor(random_state=0)

    def partial_fit(self, X: Array, y: Array) -> "Sgd":
        """Learn one task."""
        longest = 1.0 + float(np.square(X).sum(axis=1).max())
        self.model.set_params(eta0=min(0.01, 0.5 / longest))
        passes = math.ceil(SGD_STEPS / len(X))
        self.model.partial_fit(np.tile(X, (passes, 1)), np.tile(y, passes))
        return self

    def predict(self, X: Array) -> Array:
        """Return predictions."""
        return self.model.predict(X)


class River:
    """river's BayesianLinearRegression: ridge regression on all rows so far, with prior 1 and without an intercept."""

    def __init__(self) -> None:
        from river.linear_model import BayesianLinearRegression

        self.model = BayesianLinearRegression()

    def partial_fit(self, X: Array, y: Array) -> "River":
        """Learn one task."""
        import pandas as pd

        self.model.learn_many(pd.DataFrame(X), pd.Series(y))
        return self

    def predict(self, X: Array) -> Array:
        """Return predictions."""
        import pandas as pd

        return np.asarray(self.model.predict_many(pd.DataFrame(X)), dtype=np.float64)


def _ridge(argument: str) -> Method:
    """`crr:0.1`, or `crr:1/2/3` with one penalty per task."""
    penalty, shown = penalties(argument)
    make, make_policy = partial(estimator, "ContinualRidge", penalty), partial(policy, "Isotropic", penalty)
    listed = penalty if isinstance(penalty, tuple) else (penalty,)
    return Method("crr", "ContinualRidge", f"ŵ; λ = {shown}", make, make_policy, rule="crr", argument=listed)


def _stopping(argument: str) -> Method:
    """`es`, or `es:20` with a number of gradient steps."""
    n = steps(argument)
    make, make_policy = partial(estimator, "EarlyStopping", n_steps=n), partial(policy, "GradientSteps", n_steps=n)
    about = f"ŵ; {n} gradient steps per task"
    return Method("es", "EarlyStopping", about, make, make_policy, rule="es", argument=n)


def _generalized(argument: str) -> Method:
    """`gr`, or `gr:1` with a prior."""
    (prior,) = numbers("gr", argument or "0", "gr:1, one prior", most=1)
    make, make_policy = partial(_accumulating, prior), partial(policy, "FullInformation", prior=prior)
    about = "ŵ and the information" + (f", prior {prior:g}" if prior else "")
    return Method("gr", "GeneralizedRidge", about, make, make_policy, rule="gr", argument=prior)


def _accumulating(prior: float | str) -> Any:
    return estimator("GeneralizedRidge", policy("Accumulated", prior=prior))


BUILTIN: dict[str, Method | MethodFamily] = {
    "mn": Method(
        "mn",
        "MinimumNorm",
        "ŵ; the least change that fits the task",
        partial(estimator, "MinimumNorm"),
        partial(policy, "Zero"),
        rule="mn",
    ),
    "crr": MethodFamily(_ridge, "continual ridge with λ = 1; crr:0.5 with another λ, crr:1/2/4 with one λ per task"),
    "es": MethodFamily(_stopping, "early stopping after 100 gradient steps per task; es:20 after 20"),
    "gr": MethodFamily(_generalized, "generalized ridge with the information of all past rows; gr:1 with the prior 1"),
    "gr:evidence": Method(
        "gr:evidence",
        "GeneralizedRidge",
        "ŵ and the information, with a prior learned from all rows so far",
        partial(_accumulating, "evidence"),
        rule="gr:evidence",
    ),
    "oracle": Method(
        "oracle", "Oracle", "every row: pooled least squares", partial(estimator, "Oracle"), rule="oracle"
    ),
    "sgd": Method("sgd", "SGDRegressor", "ŵ; scikit-learn", Sgd),
    "river": Method(
        "river", "river Bayesian", "ŵ and two matrices; its prior is 1", River, packages=("river", "pandas")
    ),
}
