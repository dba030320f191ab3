"""Models whose rows are gone: the state, as bytes, is all that is left."""

import numpy as np

from ridgeway import GeneralizedRidge


def without_rows(model):
    """Return the model made again from the bytes of its arrays."""
    stored = {name: (array.tobytes("F"), array.shape, array.dtype) for name, array in model.to_arrays().items()}
    names = getattr(model, "feature_names_in_", None)
    arrays = {name: np.frombuffer(data, kind).reshape(shape, order="F") for name, (data, shape, kind) in stored.items()}
    return GeneralizedRidge.from_arrays(arrays, names)


def learned(X, y, sample_weight=None, n_tasks=3, **settings):
    """Return a model that learned the rows in a few tasks, and then nothing of them but its state."""
    labels = np.arange(len(X)) * n_tasks // len(X)
    return without_rows(GeneralizedRidge(**settings).fit(X, y, sample_weight, tasks=labels))
