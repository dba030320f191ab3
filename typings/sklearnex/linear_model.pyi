from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

class IncrementalLinearRegression:
    coef_: NDArray[np.float64]
    intercept_: Any
    def __init__(self, *, fit_intercept: bool = True) -> None: ...
    def partial_fit(self, X: Any, y: Any) -> Self: ...

class IncrementalRidge:
    coef_: NDArray[np.float64]
    intercept_: Any
    def __init__(self, *, fit_intercept: bool = True, alpha: float = 1.0) -> None: ...
    def partial_fit(self, X: Any, y: Any) -> Self: ...
