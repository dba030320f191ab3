"""The simulation lab beside the plain NumPy loop that it is timed against: other code, other draws, the same errors."""

import numpy as np
import pytest

from benchmarks.simulation import methods_of, plain_best, plain_repetition
from ridgeway.research import simulation
from ridgeway.research.simulation import Setting

REPETITIONS = 8


def errors(shift, noise_variance):
    """Return the last errors of both, a dict of arrays each."""
    rng = np.random.default_rng(0)
    best = plain_best(rng, 1, shift=shift, noise_variance=noise_variance)
    loop = [plain_repetition(rng, best, shift=shift, noise_variance=noise_variance) for _ in range(REPETITIONS)]
    run = simulation.run(
        Setting(noise_variance=noise_variance, shift=shift), methods_of(shift), REPETITIONS, averaging="drawn"
    )
    return {name: np.array([found[name] for found in loop]) for name in loop[0]}, {
        name: run.of(name)[:, -1] for name in loop[0]
    }


def far(one, two):
    """Return how many standard errors the mean logarithms are apart."""
    one, two = np.log(one), np.log(two)
    return abs(one.mean() - two.mean()) / np.sqrt((one.var(ddof=1) + two.var(ddof=1)) / len(one))


@pytest.mark.parametrize("shift", ["paper", "scaled"])
def test_both_have_the_same_errors(shift):
    loop, run = errors(shift, 1.0)
    assert loop.keys() == set(methods_of(shift))
    assert {name: value for name in loop if (value := far(loop[name], run[name])) > 5.0} == {}
    assert far(1.5 * loop["crr:1"], run["crr:1"]) > 5.0
