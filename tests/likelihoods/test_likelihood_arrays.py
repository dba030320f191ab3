"""A state as arrays, which copies and pickles use: bit for bit the same, or a typed error."""

import copy
import json
from dataclasses import fields

import numpy as np
import pytest
from glm_rows import MODELS, draw, learned

from ridgeway import GeneralizedLogistic, GeneralizedPoisson, weights
from ridgeway.errors import InferenceError, InvalidStateError
from ridgeway.likelihoods import Polynomial, packed_third, pairs, unpacked_third


def same(one, two):
    """Whether two states or polynomials are the same to the last bit."""
    if isinstance(one, type):
        return one is two
    if hasattr(one, "__dataclass_fields__"):
        return all(same(getattr(one, f.name), getattr(two, f.name)) for f in fields(one) if f.name != "given")
    if isinstance(one, np.ndarray):
        return one.dtype == two.dtype and one.tobytes() == two.tobytes()
    return type(one) is type(two) if hasattr(one, "slopes") else one == two


def models():
    for family in MODELS:
        X, y = draw(np.random.default_rng(0), family, 200, 3)
        for memory in ("quadratic", "cubic"):
            policy = weights.Accumulated(prior=[0.1, 0.2, 0.3], decay=0.9)
            yield learned(MODELS[family](policy, memory=memory, initial_coef=[0.0, 0.1, 0.0]), X, y, [100]), X
            yield learned(MODELS[family](memory=memory, fit_intercept=False), X, y, [100]), X
    X, y = draw(np.random.default_rng(1), "poisson", 200, 2)
    words = np.array(["few", "some", "many"])[np.minimum(y, 2)]
    yield learned(GeneralizedLogistic(weights.Accumulated(0.5), memory="cubic"), X, words, [100]), X


def test_arrays_and_copies_are_read_bit_for_bit():
    for model, X in models():
        again = type(model).from_arrays(model.to_arrays())
        for other in (again, copy.deepcopy(model)):
            assert same(other.state_, model.state_)
            assert (other.predict(X) == model.predict(X)).all()
        rows, seen = draw(np.random.default_rng(2), "poisson", 50, X.shape[1])
        if type(model) is GeneralizedPoisson:
            assert (again.partial_fit(rows, seen).coef_ == model.partial_fit(rows, seen).coef_).all()


def test_a_changed_bit_is_noticed():
    """The control."""
    model, _ = next(models())
    arrays = model.to_arrays()
    arrays["gradient"] = np.nextafter(arrays["gradient"], np.inf)
    assert not same(type(model).from_arrays(arrays).state_, model.state_)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_third_derivative_is_packed_and_unpacked(size):
    rng = np.random.default_rng(size)
    full = rng.integers(-9, 9, (size, size, size)).astype(float)
    full = sum(full.transpose(order) for order in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)))
    third = full[pairs(size)]
    packed = packed_third(third)
    assert len(packed) == size * (size + 1) * (size + 2) // 6
    assert (unpacked_third(packed, size) == third).all()


def damaged(arrays, name, change):
    return {**arrays, name: change(arrays[name])}


def altered_header(arrays, **changes):
    header = json.loads(arrays["header"].tobytes()) | changes
    return {**arrays, "header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)}


def test_damaged_arrays_are_refused():
    model, _ = next(models())
    arrays = model.to_arrays()
    for name in arrays:
        with pytest.raises(InvalidStateError):
            type(model).from_arrays({key: array for key, array in arrays.items() if key != name})
        if name != "header":
            for change in (lambda a: a[:-1], lambda a: np.full_like(a, np.nan), lambda a: a.astype(np.float32)):
                with pytest.raises(InvalidStateError):
                    type(model).from_arrays(damaged(arrays, name, change))
    unknown = {"version": 2, "state": "pooled", "likelihood": "gamma", "memory": "quartic", "n_tasks": -1, "rank": 99}
    unknown |= {"n_samples": 1.5, "decay": 0.0, "weight_kind": "none", "single_target": 1, "classes": ["a"]}
    for name, value in unknown.items():
        with pytest.raises(InvalidStateError):
            type(model).from_arrays(altered_header(arrays, **{name: value}))
    with pytest.raises(InvalidStateError, match="GeneralizedPoisson"):
        GeneralizedPoisson.from_arrays(arrays)
    with pytest.raises(InvalidStateError, match="one per feature"):
        type(model).from_arrays(arrays, ["a"])


def test_arrays_are_copies():
    for model, _ in models():
        state, arrays = copy.deepcopy(model.state_), model.to_arrays()
        for array in arrays.values():
            array[...] = 1
        assert same(model.state_, state)


WRONG = [
    None,
    "ab",
    ["a"],
    ["b", "a"],
    ["a", "a"],
    ["a", 1],
    [None, "a"],
    [["a"], ["b"]],
    [{}, {}],
    [float("nan"), 1.0],
]


@pytest.mark.parametrize("classes", WRONG, ids=str)
def test_classes_are_labels_of_one_type_in_order(classes):
    arrays = GeneralizedLogistic().partial_fit([[0.0], [1.0], [2.0], [3.0]], ["a", "b", "a", "b"]).to_arrays()
    with pytest.raises(InvalidStateError):
        GeneralizedLogistic.from_arrays(altered_header(arrays, classes=classes))
    counts = GeneralizedPoisson().partial_fit([[0.0], [1.0], [2.0]], [1, 2, 1]).to_arrays()
    with pytest.raises(InvalidStateError, match="with classes"):
        GeneralizedPoisson.from_arrays(altered_header(counts, classes=["a", "b"]))


def test_names_come_back_and_anchored_models_have_no_arrays():
    model, _ = next(models())
    assert list(type(model).from_arrays(model.to_arrays(), list("abc")).feature_names_in_) == list("abc")
    X, y = draw(np.random.default_rng(0), "binomial", 100, 2)
    anchored = GeneralizedLogistic(weights.Isotropic(1.0)).fit(X, y)
    for ask in (anchored.to_arrays, lambda: anchored.standard_errors_):
        with pytest.raises(InferenceError, match="Accumulated"):
            ask()
    assert isinstance(model.state_.past, Polynomial)
