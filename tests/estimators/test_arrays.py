"""A state taken apart into plain arrays and put together again."""

import numpy as np
import pytest

from ridgeway import GeneralizedRidge
from ridgeway.errors import InvalidStateError
from ridgeway.information import Information, Moments, SquareRoot
from ridgeway.weights import Accumulated, Isotropic

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(30, 4)) + 3.0, RNG.normal(size=(30, 2))
SETTINGS = [
    {},
    {"information": "moments"},
    {"fit_intercept": False},
    {"weights": Accumulated(prior=[1.0, 2.0, 0.0, 4.0], decay=0.5)},
    {"weights": Accumulated(prior=np.eye(4) + 1.0), "initial_coef": np.arange(8.0).reshape(2, 4)},
]


def learned(**settings):
    return GeneralizedRidge(**settings).fit(X, Y, sample_weight=RNG.uniform(1, 2, size=30), tasks=np.arange(30) // 10)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_state_survives_as_arrays_bit_for_bit(settings):
    model = learned(**settings)
    arrays = {name: np.frombuffer(a.tobytes()).reshape(a.shape) for name, a in model.to_arrays().items()}
    again = GeneralizedRidge.from_arrays(arrays, feature_names=None)
    for name, array in again.to_arrays().items():
        np.testing.assert_array_equal(array, model.to_arrays()[name])
    np.testing.assert_array_equal(again.coef_, model.coef_)
    np.testing.assert_array_equal(again.intercept_, model.intercept_)
    model.partial_fit(X, Y)
    np.testing.assert_array_equal(again.partial_fit(X, Y).coef_, model.coef_)
    assert (again.n_tasks_, again.n_samples_seen_) == (model.n_tasks_, model.n_samples_seen_)


def test_names_are_given_back_by_the_caller():
    model = GeneralizedRidge.from_arrays(learned().to_arrays(), feature_names=list("abcd"))
    assert list(model.feature_names_in_) == list("abcd")


def test_a_model_that_keeps_no_past_has_no_arrays():
    with pytest.raises(AttributeError, match="keeps no information"):
        GeneralizedRidge(Isotropic(1.0)).fit(X, Y).to_arrays()


def changed(name, change):
    def damage(arrays):
        arrays[name] = np.array(arrays[name])
        change(arrays[name])

    return damage


def put(index, value):
    return lambda array: array.__setitem__(index, value)


DAMAGE = {
    "array missing": lambda arrays: arrays.pop("peak"),
    "model missing": lambda arrays: arrays.pop("model"),
    "matrix too small": lambda arrays: arrays.update(matrix=arrays["matrix"][1:, 1:]),
    "matrix float32": lambda arrays: arrays.update(matrix=arrays["matrix"].astype(np.float32)),
    "counts too few": lambda arrays: arrays.update(counts=arrays["counts"][1:]),
    "not a number": changed("mean", put(0, np.nan)),
    "infinite": changed("matrix", put((0, 0), np.inf)),
    "below the triangle": changed("matrix", put((2, 1), 0.5)),
    "half a row": changed("counts", put(3, 29.5)),
    "no features": changed("counts", put(0, 0.0)),
    "negative rows": changed("counts", put(3, -1.0)),
    "negative peak": changed("peak", put(0, -1.0)),
    "centred by half": changed("counts", put(2, 0.5)),
    "unknown kind": changed("model", put(0, 9.0)),
    "no task": changed("model", put(1, 0.0)),
    "decay above one": changed("model", put(3, 1.5)),
    "single target of two": changed("model", put(2, 1.0)),
    "negative prior": changed("prior", put(0, -1.0)),
    "start not finite": changed("start", put((0, 0), np.inf)),
    "start of another shape": lambda arrays: arrays.update(start=arrays["start"][1:]),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_damaged_arrays_are_refused(damage):
    arrays = learned().to_arrays()
    damage(arrays)
    with pytest.raises(InvalidStateError):
        GeneralizedRidge.from_arrays(arrays)


@pytest.mark.parametrize(
    ("kind", "index", "value"), [(Moments, (1, 0), 5.0), (Moments, (0, 0), -1.0), (SquareRoot, (1, 0), 5.0)]
)
def test_a_matrix_of_another_form_is_refused(kind: type[Information], index, value):
    arrays = kind.empty(2, 1, centered=True).to_arrays()
    kind.from_arrays(arrays)
    arrays["matrix"] = arrays["matrix"].copy()
    arrays["matrix"][index] = value
    with pytest.raises(InvalidStateError):
        kind.from_arrays(arrays)


def test_as_many_names_as_features():
    with pytest.raises(InvalidStateError, match="2 names"):
        GeneralizedRidge.from_arrays(learned().to_arrays(), feature_names=["a", "b"])
