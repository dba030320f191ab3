"""The benchmark of images class by class, on scikit-learn's digits in IDX files: nobody waits for MNIST here."""

import gzip
import struct

import numpy as np
import pytest
from sklearn.datasets import load_digits

from benchmarks import classes, images


def idx(array):
    """Return an array as the format's description has it: big-endian integers, the last axis fastest."""
    return struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes()


@pytest.fixture
def pictures(tmp_path, monkeypatch):
    X, y = load_digits(return_X_y=True)
    pixels, labels = (15 * X).astype(np.uint8).reshape(-1, 8, 8), y.astype(np.uint8)
    for part, rows in (("train", slice(0, 1200)), ("t10k", slice(1200, None))):
        (tmp_path / f"{part}-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx(pixels[rows])))
        (tmp_path / f"{part}-labels-idx1-ubyte").write_bytes(idx(labels[rows]))
    for name, value in {"N_FILTERS": 30, "N_ORDERS": 3, "N_HELD_OUT": 200, "BLOCK": 50, "AT_ONCE": 70}.items():
        monkeypatch.setattr(classes, name, value)
    return classes.Pictures(str(tmp_path), None, validate=False)


def test_classes_one_after_another_are_not_forgotten_in_any_order(pictures):
    runs = [classes.learned(pictures, n_fourier) for n_fourier in (60, 0)]
    assert [run["p"] for run in runs] == [30 * 2 * 9 + 60, 30 * 2 * 9]
    for run in runs:
        assert run["curve"][0] == 100.0
        assert run["curve"][-1] > 90.0
        assert sum(run["spent"].values()) < run["seconds"]
    contrast = classes.contrasted(pictures)
    assert contrast["changed"] == [0, 0, 0]
    assert all(curve[-1] < 50.0 for curve in contrast["curves"].values())  # what forgetting looks like
    lines = classes.report({"MNIST": {"runs": runs, "contrast": contrast}}).splitlines()
    assert len(lines) == 2 + 2 + 2 + 1


def test_orders_that_learn_different_rows_would_be_noticed(pictures):
    images = pictures.load()
    encoder = classes.new_encoder(images, 0)
    train, test = (classes.encoded(encoder, rows) for rows in (images.train, images.test))
    whole = classes.new_model().partial_fit(train, images.train_labels)
    predicted = classes.classified(whole, test)
    assert predicted.dtype.kind == "i"
    parts = [
        classes.new_model().partial_fit(train[of], images.train_labels[of])
        for of in (images.train_labels == label for label in range(10))
    ]
    assert classes._changed(0, parts, test, predicted) == 0
    assert classes._changed(0, [*parts[:9], parts[8]], test, predicted) > 10


def test_validation_images_are_training_images_that_are_not_learned(pictures):
    whole, held = pictures.load(), classes.Pictures(pictures.folder, 500, validate=True).load()
    assert np.array_equal(held.test, whole.train[-200:])
    assert np.array_equal(held.train, whole.train[:500])
    assert np.array_equal(held.test_labels, whole.train_labels[-200:])


def test_files_hold_what_was_written(pictures):
    X, y = load_digits(return_X_y=True)
    found = pictures.load()
    assert found.shape == (8, 8)
    np.testing.assert_array_equal(np.vstack([found.train, found.test]), 15 * X)
    np.testing.assert_array_equal(np.concatenate([found.train_labels, found.test_labels]), y)


def test_labels_in_the_place_of_images_are_refused(tmp_path):
    for part in ("train", "t10k"):
        (tmp_path / f"{part}-images-idx3-ubyte").write_bytes(idx(np.zeros(6, np.uint8)))
    with pytest.raises(SystemExit, match="train-images-idx3-ubyte is not an IDX file of bytes with 3 axes"):
        images.load_idx(str(tmp_path))


def by_definition(patches, X, *, offset):
    """The squares of the features: loops over images, patches, filters and cells, in float64."""
    n_filters, size = len(patches.filters_), patches.size
    filters = patches.filters_.astype(np.float64).reshape(n_filters, size, size)
    rows, columns = (side - size + 1 for side in patches.shape)
    responses = np.zeros((len(X), rows, columns, n_filters))
    for i, image in enumerate(X.reshape(-1, *patches.shape).astype(np.float64)):
        for r in range(rows):
            for c in range(columns):
                patch = image[r : r + size, c : c + size]
                spread = np.sqrt(patch.var() + offset**2)
                responses[i, r, c] = [(f * (patch - patch.mean())).sum() / spread / size for f in filters]
    cells = [min(images.GRID, rows), min(images.GRID, columns)]
    features = np.zeros((len(X), *cells, 2, n_filters))
    for a in range(cells[0]):
        for b in range(cells[1]):
            down, across = hat(rows, cells[0], a), hat(columns, cells[1], b)
            for sign, rectified in enumerate((responses.clip(0), (-responses).clip(0))):
                features[:, a, b, sign] = np.einsum("nrck,r,c->nk", rectified, down, across)
    return features.reshape(len(X), -1)


def hat(n_places, n_cells, cell):
    """Weights that fall from the centre of a cell to the centres of the next ones, adding up to 1."""
    length = n_places / n_cells
    weights = np.array([max(0.0, 1.0 - abs((i + 0.5) - (cell + 0.5) * length) / length) for i in range(n_places)])
    return weights / weights.sum()


@pytest.mark.parametrize("shape", [(9, 7), (4, 12), (3, 3), (10, 10)])
def test_responses_of_filters_are_those_of_the_definition(rng, shape, monkeypatch):
    X = rng.integers(0, 256, size=(7, shape[0] * shape[1])).astype(np.uint8)
    X[0] = 200  # a flat image has no features
    patches = images.RandomPatches(5, 3, shape, seed=1).fit(X)
    features = patches.transform(X)
    assert features.dtype == np.float32
    assert not features[0].any()
    assert np.abs(np.square(features) - by_definition(patches, X, offset=8.0)).max() < 2e-6
    assert np.abs(np.square(features) - by_definition(patches, X, offset=20.0)).max() > 1e-4
    monkeypatch.setattr(images, "NUMBERS", 1)
    np.testing.assert_allclose(patches.transform(X), features, atol=1e-6)  # one image at a time
    other = images.RandomPatches(5, 3, shape, seed=2).fit(X)
    assert not np.allclose(other.transform(X), features, atol=1e-3)
