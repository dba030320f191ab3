"""The policy of a model that was given none, and its parameters."""

from typing import Any, Self

from sklearn.base import BaseEstimator

from ridgeway.weights import Accumulated

DEFAULT = Accumulated()
"""What every model without a policy steps with. It is never handed out, so it never changes."""


class DefaultPolicyMixin(BaseEstimator):
    """`weights=None` has the parameters of `Accumulated()`, so that they can be set and searched.

    scikit-learn wants `__init__` to store what it is given, and a policy as its default value would be shared by all
    models. So a model keeps None until one of the parameters is set, and then gets a policy of its own.
    """

    weights: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, and if deep also those of the policy, such as `weights__prior`."""
        params = super().get_params(deep)
        if deep and self.weights is None:
            params |= {f"weights__{name}": value for name, value in DEFAULT.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, and return the model. `weights__prior` sets the prior of its policy."""
        nested = [name for name in params if name.startswith("weights__")]
        if nested and params.get("weights", self.weights) is None:
            given = {name.removeprefix("weights__"): params.pop(name) for name in nested}
            params["weights"] = Accumulated().set_params(**given)
        return super().set_params(**params)
