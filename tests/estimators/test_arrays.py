"""A state taken apart into plain arrays and put together again."""

import copy
import json
import pickle
import runpy
from pathlib import Path

import joblib
import numpy as np
import pytest

from ridgeway import GeneralizedRidge, GeneralizedRidgeClassifier
from ridgeway.errors import InvalidStateError
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
    arrays = {name: np.frombuffer(a.tobytes(), a.dtype).reshape(a.shape) for name, a in model.to_arrays().items()}
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


def changed(name, index, value):
    def damage(arrays):
        arrays[name] = np.array(arrays[name])
        arrays[name][index] = value

    return damage


def said(**fields):
    """Return what puts other fields into the header."""

    def damage(arrays):
        header = json.loads(arrays["header"].tobytes()) | fields
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)

    return damage


DAMAGE = {
    "array missing": lambda arrays: arrays.pop("peak"),
    "header missing": lambda arrays: arrays.pop("header"),
    "header not JSON": changed("header", 0, ord("x")),
    "header a list": lambda arrays: arrays.update(header=np.frombuffer(b"[]", dtype=np.uint8)),
    "another version": said(version=2),
    "header of numbers": lambda arrays: arrays.update(header=arrays["header"].astype(float)),
    "matrix too small": lambda arrays: arrays.update(matrix=arrays["matrix"][1:]),
    "matrix float32": lambda arrays: arrays.update(matrix=arrays["matrix"].astype(np.float32)),
    "not a number": changed("mean", 0, np.nan),
    "infinite": changed("matrix", 0, np.inf),
    "half a row": said(n_samples=29.5),
    "no features": said(n_features=0),
    "negative rows": said(n_samples=-1),
    "negative peak": changed("peak", 0, -1.0),
    "negative weight": said(total_weight=-1.0),
    "weight as text": said(total_weight="30"),
    "centred by half": said(centered=0.5),
    "unknown kind": said(information="tensor"),
    "kind not a text": said(information=["moments"]),
    "unknown state": said(state="melting"),
    "unknown prior": said(prior="guess"),
    "negative tasks": said(n_tasks=-1),
    "decay above one": said(state="fading", decay=1.5),
    "no decay": said(state="fading"),
    "single target of two": said(single_target=True),
    "negative prior": changed("prior", 0, -1.0),
    "prior missing": lambda arrays: arrays.pop("prior"),
    "start not finite": changed("start", (0, 0), np.inf),
    "start of another shape": lambda arrays: arrays.update(start=arrays["start"][1:]),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_damaged_arrays_are_refused(damage):
    arrays = learned().to_arrays()
    damage(arrays)
    with pytest.raises(InvalidStateError):
        GeneralizedRidge.from_arrays(arrays)


@pytest.mark.parametrize(
    "damage", [said(kind=["moments"]), said(kind={}), said(n_features=2**70), said(n_features=10**6)]
)
def test_damaged_parts_of_tasks_are_refused(damage):
    arrays = learned(information="by_task").to_arrays()
    damage(arrays)
    with pytest.raises(InvalidStateError, match="do not fit"):
        GeneralizedRidge.from_arrays(arrays)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_what_is_done_to_arrays_is_not_done_to_the_model(settings):
    model = learned(**settings)
    before = {name: array.tobytes() for name, array in model.to_arrays().items()}
    for array in model.to_arrays().values():
        if array.flags.writeable:
            array[...] = 1
    assert {name: array.tobytes() for name, array in model.to_arrays().items()} == before


def test_a_classifier_has_no_start():
    arrays = GeneralizedRidgeClassifier().fit([[0.0], [1.0], [3.0]], [0, 1, 1]).to_arrays()
    changed("start", (0, 0), 1.0)(arrays)
    with pytest.raises(InvalidStateError, match="classes of a state"):
        GeneralizedRidgeClassifier.from_arrays(arrays)


def test_co_moments_with_a_negative_square_are_refused():
    arrays = learned(information="moments").to_arrays()
    changed("matrix", 2, -1.0)(arrays)  # the second column's square
    with pytest.raises(InvalidStateError, match="no negative square"):
        GeneralizedRidge.from_arrays(arrays)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_pickle_is_those_arrays(settings):
    """Whatever was asked for in between: a pickle holds the state alone."""
    model = learned(**settings)
    before = pickle.dumps(model)
    _ = model.coef_, model.state_.with_prior
    assert pickle.dumps(model) == before
    again = copy.deepcopy(model)  # which goes through the pickle
    for name, array in again.to_arrays().items():
        np.testing.assert_array_equal(array, model.to_arrays()[name])
    assert not again.information_.matrix.flags.writeable


def test_as_many_names_as_features():
    with pytest.raises(InvalidStateError, match="2 names"):
        GeneralizedRidge.from_arrays(learned().to_arrays(), feature_names=["a", "b"])


def test_states_pickled_by_the_first_version_are_read():
    """`data/state-1.pickle` was written when the arrays were settled. Whatever changes, this test does not."""
    data = Path(__file__).with_name("data")
    kept = joblib.load(data / "state-1.pickle")
    fitted = runpy.run_path(str(data / "make_state_1.py"))["models"]()
    assert kept.keys() == fitted.keys()
    for name, model in fitted.items():
        again = GeneralizedRidge.from_state(kept[name])
        np.testing.assert_allclose(again.coef_, model.coef_, rtol=1e-12)
        assert (again.n_tasks_, again.n_samples_seen_) == (model.n_tasks_, 12)
        assert again.to_arrays().keys() == model.to_arrays().keys()
