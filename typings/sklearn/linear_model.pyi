from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

class LinearRegression:
    coef_: NDArray[np.float64]
    intercept_: float
    def __init__(self, *, fit_intercept: bool = True) -> None: ...
    def fit(self, X: Any, y: Any) -> Self: ...

class SGDClassifier:
    def __init__(self, loss: str = "hinge", *, random_state: int | None = None) -> None: ...
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self: ...
    def predict(self, X: Any) -> NDArray[Any]: ...

class SGDRegressor:
    coef_: NDArray[np.float64]
    def __init__(self, *, fit_intercept: bool = True, eta0: float = 0.01, random_state: int | None = None) -> None: ...
    def partial_fit(self, X: Any, y: Any) -> Self: ...
    def predict(self, X: Any) -> NDArray[np.float64]: ...
    def set_params(self, **params: Any) -> Self: ...

def enet_path(
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    *,
    l1_ratio: float = 0.5,
    alphas: NDArray[np.float64] | None = None,
    precompute: NDArray[np.float64] | None = None,
    Xy: NDArray[np.float64] | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...
