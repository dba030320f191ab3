"""The benchmark of images class by class, on scikit-learn's digits in IDX files: nobody waits for MNIST here."""

import struct

import numpy as np
import pytest
from sklearn.datasets import load_digits

from benchmarks import classes


def write(path, array):
    path.write_bytes(struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes())


@pytest.fixture
def pictures(tmp_path, monkeypatch):
    X, y = load_digits(return_X_y=True)
    images, labels = (15 * X).astype(np.uint8).reshape(-1, 8, 8), y.astype(np.uint8)
    for part, rows in (("train", slice(0, 1200)), ("t10k", slice(1200, None))):
        write(tmp_path / f"{part}-images-idx3-ubyte", images[rows])
        write(tmp_path / f"{part}-labels-idx1-ubyte", labels[rows])
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
