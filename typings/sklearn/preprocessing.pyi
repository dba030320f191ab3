from typing import Any

import numpy as np
from numpy.typing import NDArray

class PolynomialFeatures:
    def __init__(self, degree: int = 2, *, include_bias: bool = True) -> None: ...
    def fit_transform(self, X: Any) -> NDArray[np.float64]: ...

class StandardScaler:
    def fit_transform(self, X: Any) -> NDArray[np.float64]: ...
