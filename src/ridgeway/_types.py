"""Types that the whole package shares."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
