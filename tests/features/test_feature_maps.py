"""Fourier features as a transformer of scikit-learn, and exactness of what is learned through them."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline, make_union
from sklearn.utils.estimator_checks import parametrize_with_checks

from ridgeway import ContinualPipeline, GeneralizedRidge
from ridgeway.errors import InvalidDataError, InvalidDataTypeError, InvalidParameterError
from ridgeway.features import RandomFourier, _random_fourier
from ridgeway.weights import Accumulated

MAPS = [
    RandomFourier(20),
    RandomFourier(5, gamma=0.1),
]


@parametrize_with_checks(MAPS)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def table(seed=0, n=40, p=6):
    return np.random.default_rng(seed).normal(size=(n, p))


def test_products_approximate_the_kernel():
    X = table()
    features = RandomFourier(40_000, gamma=0.05).fit_transform(X)
    assert np.abs(features @ features.T - rbf_kernel(X, gamma=0.05)).max() < 0.03
    assert np.abs(features @ features.T - rbf_kernel(X, gamma=0.1)).max() > 0.1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features_are_those_of_the_sampler_block_by_block(dtype, monkeypatch):
    X = table().astype(dtype)
    wanted = RBFSampler(gamma=0.3, n_components=50, random_state=7).fit(X).transform(X)
    monkeypatch.setattr(_random_fourier, "NUMBERS", 50 * 7)
    found = RandomFourier(50, gamma=0.3, seed=7).fit_transform(X)
    assert found.dtype == wanted.dtype == dtype
    assert np.allclose(found, wanted, atol=1e-6)


def test_the_scale_is_that_of_the_first_task():
    first, later = table(1), 100.0 * table(2)
    fitted = RandomFourier(30).fit(first)
    wanted = RBFSampler(gamma="scale", n_components=30, random_state=0).fit(first)
    assert np.allclose(fitted.transform(later), wanted.transform(later), atol=1e-9)
    given = RandomFourier(30, gamma=1.0 / (6 * first.var()))
    assert np.allclose(given.fit(later).transform(later), wanted.transform(later), atol=1e-9)
    assert not np.allclose(RandomFourier(30).fit(later).transform(later), wanted.transform(later), atol=0.1)
    assert np.isfinite(RandomFourier(30).fit_transform(np.ones((3, 2)))).all()
    constant = np.full((50, 3), 0.1)  # its variance is 1e-34 by rounding
    wanted = RandomFourier(30, gamma=1.0).fit_transform(constant)
    np.testing.assert_array_equal(RandomFourier(30).fit_transform(constant), wanted)


def test_the_first_task_decides_the_precision():
    pixels, numbers = np.arange(60, dtype=np.uint8).reshape(20, 3), table(p=3)
    assert RandomFourier(4).fit(pixels).transform(numbers).dtype == np.float32
    assert RandomFourier(4).fit(numbers).transform(pixels).dtype == np.float64
    assert RandomFourier(4).fit(pixels.astype(np.int64)).transform(pixels).dtype == np.float64


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_features": 0}, "n_features must be an integer ≥ 1"),
        ({"gamma": 0.0}, "gamma must be a finite number > 0"),
        ({"gamma": "auto"}, "gamma must be one of scale; got 'auto'"),
        ({"seed": -1}, "seed must be an integer from 0 to 4294967295"),
        ({"seed": 2**32}, "seed must be an integer from 0 to"),
    ],
)
def test_parameters_out_of_range(parameters, message):
    fourier = RandomFourier(4).fit(table())
    before = fourier.transform(table())
    with pytest.raises(InvalidParameterError, match=message):
        fourier.set_params(**parameters).fit(table(p=3))
    assert np.array_equal(fourier.transform(table()), before)


def test_what_is_not_a_table_of_numbers_is_refused():
    with pytest.raises(NotFittedError):
        RandomFourier(4).transform(table())
    for X, error in (
        (sparse.csr_array(table()), InvalidDataTypeError),
        (np.full((3, 6), np.inf), InvalidDataError),
        (np.zeros((0, 6)), InvalidDataError),
        (np.zeros((3, 0)), InvalidDataError),
        (np.full((3, 6), 1e200), InvalidDataError),
        (table() * 1j, InvalidDataError),
    ):
        with pytest.raises(error):
            RandomFourier(4).fit(X)


@pytest.mark.parametrize("each", MAPS, ids=repr)
def test_features_have_names(each):
    X = table()
    fitted = clone(each).fit(X)
    features = fitted.transform(X)
    names = fitted.get_feature_names_out()
    assert len(names) == features.shape[1]
    frame = clone(each).set_output(transform="pandas").fit_transform(X)
    assert list(frame.columns) == list(names)
    assert np.array_equal(frame.to_numpy(), features)


def encoder(gamma=0.0003):
    """Fourier features of the digits, and of those once more."""
    return make_pipeline(RandomFourier(500, gamma=gamma), make_union("passthrough", RandomFourier(200, gamma=0.1)))


@pytest.mark.parametrize("kind", ["square_root", "moments"])
def test_digits_class_by_class_in_any_order_equal_all_rows_at_once(kind):
    X, y = load_digits(return_X_y=True)
    X, targets, test = X[:1200], np.eye(10)[y[:1200]], X[1200:]
    features = encoder().fit(X)
    pooled = Ridge(0.1).fit(features.transform(X).astype(np.float64), targets).predict(features.transform(test))
    for order in (range(10), [7, 2, 9, 0, 4, 1, 8, 3, 6, 5]):
        stream = ContinualPipeline([encoder(), GeneralizedRidge(Accumulated(prior=0.1), information=kind)])
        for digit in order:
            stream.partial_fit(X[y[:1200] == digit], targets[y[:1200] == digit])
        assert np.allclose(stream.predict(test), pooled, atol=1e-5)
    assert np.mean(pooled.argmax(axis=1) == y[1200:]) > 0.9


def test_the_scale_of_the_first_task_depends_on_the_first_task_alone():
    X, y = load_digits(return_X_y=True)
    stream = ContinualPipeline([encoder("scale"), GeneralizedRidge(Accumulated(prior=0.1))])
    stream.partial_fit(X[y < 2], y[y < 2])
    before = stream.pipeline_[:-1].transform(X)
    stream.partial_fit(X[y > 5], y[y > 5])
    assert np.array_equal(stream.pipeline_[:-1].transform(X), before)
    other = ContinualPipeline([encoder("scale"), GeneralizedRidge(Accumulated(prior=0.1))])
    other.partial_fit(X[y > 5], y[y > 5])
    assert not np.allclose(other.pipeline_[:-1].transform(X), before, atol=1e-3)


def test_pipelines_with_the_same_seed_are_merged():
    X, y = load_digits(return_X_y=True)
    one, two, both = (
        ContinualPipeline([encoder(), GeneralizedRidge(Accumulated(prior=0.1))]).fit(X[part], y[part])
        for part in (y < 5, y >= 5, y >= 0)
    )
    assert np.allclose(one.merge(two).predict(X), both.predict(X), atol=1e-5)
