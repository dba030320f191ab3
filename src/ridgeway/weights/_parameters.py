"""Parameters, in the way of scikit-learn but without importing it: that takes a second, and commands do not need it."""

from inspect import signature
from typing import Any, Self

from ridgeway.errors import InvalidParameterError


class Parameters:
    """An object that stores each parameter of its `__init__` under its name: it can be cloned and tuned."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name. `deep` is there for scikit-learn and changes nothing."""
        return {name: getattr(self, name) for name in sorted(signature(type(self)).parameters)}

    def set_params(self, **params: Any) -> Self:
        """Set parameters, and return the object."""
        known = self.get_params()
        for name in params:
            if name not in known:
                raise InvalidParameterError(
                    f"Invalid parameter {name!r} for estimator {self!r}. Valid parameters are: {list(known)!r}."
                )
        vars(self).update(params)
        return self

    def __repr__(self) -> str:
        """Return the name of the class, and the parameters that differ from their defaults."""
        defaults = {name: repr(one.default) for name, one in signature(type(self)).parameters.items()}
        given = {name: repr(value) for name, value in self.get_params().items()}
        changed = ", ".join(f"{name}={text}" for name, text in given.items() if text != defaults[name])
        return f"{type(self).__name__}({changed})"
