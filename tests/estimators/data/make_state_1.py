"""Make state-1.pickle, states in the first version of their arrays. Later versions must read it: do not replace it."""

import pickle
from pathlib import Path

import numpy as np

from ridgeway import GeneralizedRidge
from ridgeway.weights import Accumulated

PATH = Path(__file__).with_name("state-1.pickle")


def models():
    """Return a fitted model of each kind, on small integers so that every machine has the same rows."""
    index = np.arange(12.0)
    X = np.column_stack([(7 * index) % 11, (3 * index) % 8])
    y = 1.0 + X @ [2.0, -1.0] + (index % 3 - 1) / 8
    return {
        "square_root": GeneralizedRidge(Accumulated(prior=0.5)).fit(X, y),
        "moments": GeneralizedRidge(information="moments").fit(X, y),
        "fading": GeneralizedRidge(Accumulated(decay=0.5)).fit(X, y, tasks=index // 6),
    }


def main(path=PATH):
    """Pickle the states of all models, as the oldest protocol that every Python reads."""
    path.write_bytes(pickle.dumps({name: model.state_ for name, model in models().items()}, protocol=2))


if __name__ == "__main__":
    main()
