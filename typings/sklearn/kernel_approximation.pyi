from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

class RBFSampler:
    random_weights_: NDArray[np.floating]
    def __init__(self, *, gamma: float = 1.0, n_components: int = 100, random_state: int | None = None) -> None: ...
    def fit(self, X: Any, y: Any = None) -> Self: ...
    def transform(self, X: Any) -> NDArray[np.floating]: ...
