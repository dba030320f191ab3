"""What is stored does not depend on the number of threads: a promise of the fast kernels."""

import pickle

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from ridgeway import GeneralizedRidge

rng = np.random.default_rng(0)


@pytest.mark.parametrize("kind", ["square_root", "moments"])
@pytest.mark.parametrize("shape", [(40, 5), (3000, 20), (40_000, 20), (700, 300), (1500, 700), (200, 900)], ids=str)
def test_what_is_stored_does_not_depend_on_threads(shape, kind):
    X, y = rng.normal(size=shape) + 3.0, rng.normal(size=shape[0])
    states = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            states.append(pickle.dumps(GeneralizedRidge(information=kind).fit(X, y).partial_fit(X + 1.0, y)))
    assert states[0] == states[1]
