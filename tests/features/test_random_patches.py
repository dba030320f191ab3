"""Filters on patches: against the definition in float64, pixel by pixel; and what they may and may not see."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from ridgeway.errors import FeatureMismatchError, InvalidDataError, InvalidDataTypeError, InvalidParameterError
from ridgeway.features import RandomPatches, _feature_map


def images(n=5, shape=(9, 7), seed=0):
    return np.random.default_rng(seed).integers(0, 256, size=(n, shape[0] * shape[1])).astype(np.uint8)


def by_definition(patches, X, *, offset, grid, contrast=True):
    """The squares of the features: loops over images, patches, filters and cells, in float64."""
    filters = patches.filters_.astype(np.float64)
    k, h, w = filters.shape
    height, width = patches.shape_
    rows, columns = height - h + 1, width - w + 1
    responses = np.zeros((len(X), rows, columns, k))
    for i, image in enumerate(X.reshape(-1, height, width).astype(np.float64)):
        for r in range(rows):
            for c in range(columns):
                patch = image[r : r + h, c : c + w]
                spread = np.sqrt(patch.var() + offset**2) if contrast else 1.0
                responses[i, r, c] = [(f * (patch - patch.mean())).sum() / spread / np.sqrt(h * w) for f in filters]
    cells = [min(grid, rows), min(grid, columns)]
    features = np.zeros((len(X), *cells, 2, k))
    for a in range(cells[0]):
        for b in range(cells[1]):
            down = hat(rows, cells[0], a)
            across = hat(columns, cells[1], b)
            for sign, rectified in enumerate((responses.clip(0), (-responses).clip(0))):
                features[:, a, b, sign] = np.einsum("nrck,r,c->nk", rectified, down, across)
    return features.reshape(len(X), -1)


def hat(n_places, n_cells, cell):
    """Weights that fall from the centre of a cell to the centres of the next ones, adding up to 1."""
    length = n_places / n_cells
    weights = np.array([max(0.0, 1.0 - abs((i + 0.5) - (cell + 0.5) * length) / length) for i in range(n_places)])
    return weights / weights.sum()


@settings(max_examples=25, deadline=None)
@given(
    height=st.integers(1, 9),
    width=st.integers(1, 9),
    size=st.integers(1, 6),
    grid=st.integers(1, 5),
    seed=st.integers(0, 9),
)
def test_features_are_those_of_the_definition(height, width, size, grid, seed):
    X = images(3, (height, width), seed)
    patches = RandomPatches(4, size, grid, offset=5.0, shape=(height, width), seed=seed).fit(X)
    features = patches.transform(X)
    wanted = by_definition(patches, X, offset=5.0, grid=grid)
    assert features.dtype == np.float32
    assert features.shape == wanted.shape
    assert np.abs(np.square(features) - wanted).max() < 2e-6
    assert 0.0 <= features.min() <= features.max() <= 1.0


def test_the_comparison_can_fail():
    X = images()
    patches = RandomPatches(4, 3, 2, offset=5.0, shape=(9, 7)).fit(X)
    found = np.square(patches.transform(X))
    assert np.abs(found - by_definition(patches, X, offset=5.0, grid=2)).max() < 2e-6
    assert np.abs(found - by_definition(patches, X, offset=8.0, grid=2)).max() > 1e-5
    assert np.abs(found - by_definition(patches, X, offset=5.0, grid=2, contrast=False)).max() > 0.1
    patches.filters_ = np.roll(patches.filters_, 1, axis=2)
    assert np.abs(found - by_definition(patches, X, offset=5.0, grid=2)).max() > 1e-2


def test_filters_have_mean_0_and_norm_1():
    for source in ("random", "first_task"):
        filters = RandomPatches(30, filters=source).fit(images(20, (12, 12))).filters_
        assert filters.shape == (30, 6, 6)
        assert np.abs(filters.mean(axis=(1, 2))).max() < 1e-7
        assert np.allclose(np.square(filters).sum(axis=(1, 2)), 1.0, atol=1e-6)


def test_contrast_and_brightness_make_no_difference():
    X = images(4, (8, 8)).astype(np.float64)
    patches = RandomPatches(5, 4, 2, offset=1e-6).fit(X)
    assert np.allclose(patches.transform(X), patches.transform(3.0 * X + 100.0), atol=1e-4)
    large = clone(patches).set_params(offset=50.0).fit(X)
    assert not np.allclose(large.transform(X), large.transform(3.0 * X + 100.0), atol=1e-2)


@pytest.mark.parametrize("level", [0.1, 0.7, 1e3 / 3, -1e9 / 7])
def test_a_flat_image_has_no_features_at_any_level(level):
    flat = np.full((2, 100), level)
    assert not RandomPatches(5).fit(flat).transform(flat).any()


def test_random_filters_see_no_data_and_first_task_filters_see_the_first_task():
    dark, light = images(30, (10, 10), 1), images(30, (10, 10), 2)
    assert np.array_equal(RandomPatches(9).fit(dark).filters_, RandomPatches(9).fit(light).filters_)
    one, two = (RandomPatches(9, filters="first_task").fit(X).filters_ for X in (dark, light))
    assert not np.array_equal(one, two)
    windows = np.lib.stride_tricks.sliding_window_view(dark.reshape(-1, 10, 10), (6, 6), axis=(1, 2)).reshape(-1, 36)
    centred = windows - windows.mean(axis=1, keepdims=True)
    centred /= np.sqrt(np.square(centred).sum(axis=1, keepdims=True))
    cosines = one.reshape(9, -1) @ centred.T
    assert np.allclose(cosines.max(axis=1), 1.0, atol=1e-6)  # each is a patch of the task
    assert (two.reshape(9, -1) @ centred.T).max() < 0.99


def test_the_seed_decides():
    X = images(10, (8, 8))
    for source in ("random", "first_task"):
        one, same, other = (RandomPatches(7, filters=source, seed=seed).fit(X) for seed in (3, 3, 4))
        assert np.array_equal(one.transform(X), same.transform(X))
        assert not np.allclose(one.filters_, other.filters_)


def test_a_few_images_at_a_time(monkeypatch):
    X = images(50, (8, 8))
    patches = RandomPatches(6, 3).fit(X)
    whole = patches.transform(X)
    monkeypatch.setattr(_feature_map, "NUMBERS", 2 * 36 * 6 * 7)
    assert np.allclose(patches.transform(X), whole, atol=1e-6)
    assert np.allclose(np.vstack([patches.transform(row[None]) for row in X]), whole, atol=1e-6)


def test_images_do_not_stand_in_memory_at_once():
    """Responses of all images would take 180 MB, features take 10 MB."""
    X, patches = images(2000, (28, 28)), RandomPatches(40, grid=2)
    patches.fit(X)
    tracemalloc.start()
    features = patches.transform(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert features.nbytes == 2000 * 320 * 4
    assert peak - features.nbytes < 30e6


def test_images_are_square_or_nearly_so():
    shapes = {784: (28, 28), 64: (8, 8), 12: (3, 4), 7: (1, 7), 1: (1, 1)}
    assert {n: RandomPatches(2).fit(np.zeros((2, n))).shape_ for n in shapes} == shapes
    assert RandomPatches(2, shape=(2, 6)).fit(np.zeros((2, 12))).shape_ == (2, 6)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_filters": 0}, "n_filters must be an integer ≥ 1; got 0"),
        ({"size": 2.5}, "size must be an integer ≥ 1"),
        ({"grid": -1}, "grid must be an integer ≥ 1"),
        ({"offset": 0.0}, "offset must be a finite number > 0"),
        ({"filters": "learned"}, "filters must be one of random, first_task"),
        ({"seed": None}, "seed must be an integer ≥ 0"),
        ({"shape": 8}, "shape must be the height and the width"),
        ({"shape": (8, 8.0)}, "width must be an integer ≥ 1"),
    ],
)
def test_parameters_out_of_range(parameters, message):
    X = images(4, (8, 8))
    patches = RandomPatches(3).fit(X)
    before = patches.transform(X)
    with pytest.raises(InvalidParameterError, match=message):
        patches.set_params(**parameters).fit(X[:, :49])
    assert patches.n_features_in_ == 64
    assert np.array_equal(patches.transform(X), before)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (np.full((2, 64), np.nan), InvalidDataError, "contains NaN"),
        (np.full((2, 64), 1e16), InvalidDataError, "up to 1e[+]16; the limit is 1e[+]15"),
        (np.full((2, 64), -1e16), InvalidDataError, "up to 1e[+]16"),
        (np.zeros((2, 63)), FeatureMismatchError, "has 63 features, but RandomPatches is expecting 64"),
        (np.zeros((2, 8, 8)), InvalidDataError, "dim 3"),
        (np.array([["a"] * 64] * 2), InvalidDataTypeError, "text"),
    ],
)
def test_bad_images(X, error, message):
    patches = RandomPatches(3).fit(images(4, (8, 8)))
    with pytest.raises(error, match=message):
        patches.transform(X)


def test_a_shape_that_is_not_that_of_the_images():
    with pytest.raises(InvalidDataError, match=r"64 pixels per image; shape=\(8, 9\) has 72"):
        RandomPatches(shape=(8, 9)).fit(images(4, (8, 8)))


def test_flat_images_have_no_patches_to_use_as_filters():
    with pytest.raises(InvalidDataError, match=r"of 150 patches .* only 0 have .* too few for 3 filters"):
        RandomPatches(3, filters="first_task").fit(np.zeros((5, 64)))
