"""How good the probabilities of classes are, class by class: `python -m benchmarks.probabilities --fashion FOLDER`.

Digits come with scikit-learn. Half of them are learned, a quarter calibrates and a quarter is the test. Of
Fashion-MNIST the first 55,000 images are learned and the last 5,000 calibrate. The yardstick is scikit-learn's
discriminant analysis, fitted to all rows at once, on the same features.
"""

import argparse
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import log_loss

from benchmarks.classes import Features, Labels, encoded
from benchmarks.tables import table
from ridgeway import GeneralizedRidgeClassifier, features, weights
from ridgeway.datasets import load_idx

Rows = tuple[Features, Labels]
Shares = NDArray[np.float64]

SHRINKAGE, N_FILTERS, N_BINS, N_HELD_OUT = 0.01, 25, 10, 5000
MOST = 1.05
"""The largest log-loss, relative to the yardstick's."""


def calibration_error(y: Labels, shares: Shares) -> float:
    """Return the expected calibration error: how far accuracy and confidence are apart, on average over bins."""
    confidence, correct = shares.max(axis=1), shares.argmax(axis=1) == y
    bins = np.minimum((confidence * N_BINS).astype(int), N_BINS - 1)
    return float(sum(abs((correct - confidence)[bins == b].sum()) for b in range(N_BINS)) / len(y))


def digits() -> tuple[Rows, Rows, Rows]:
    """Return the digits to learn, to calibrate with, and of the test."""
    X, y = load_digits(return_X_y=True)
    return (X[::2], y[::2]), (X[1::4], y[1::4]), (X[3::4], y[3::4])


def fashion(folder: str) -> tuple[Rows, Rows, Rows]:
    """Return the same of Fashion-MNIST, as responses of random filters."""
    images = load_idx(folder)
    maps = features.RandomPatches(N_FILTERS, size=6, shape=images.shape, seed=0).fit(np.zeros_like(images.train[:1]))
    train, labels = encoded(maps, images.train), images.train_labels.astype(int)
    held = slice(len(train) - N_HELD_OUT, None)
    test = encoded(maps, images.test), images.test_labels.astype(int)
    return (train[:-N_HELD_OUT], labels[:-N_HELD_OUT]), (train[held], labels[held]), test


def predicted(learned: Rows, held: Rows, X: Features) -> Iterator[tuple[str, Shares]]:
    """Yield the probabilities of each way to have them, the yardstick's first."""
    pooled = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=SHRINKAGE).fit(*learned)
    yield "scikit-learn's discriminants, pooled", pooled.predict_proba(X)
    model = GeneralizedRidgeClassifier(
        weights.Accumulated(prior="evidence"), shrinkage=SHRINKAGE, information="moments"
    )
    for label in np.random.default_rng(0).permutation(10):
        rows = learned[1] == label
        model.partial_fit(learned[0][rows], learned[1][rows])
    yield 'least squares, prior="evidence"', model.predict_proba(X)
    yield "the same, calibrated", model.calibrate(*held).predict_proba(X)
    model.set_params(decision="lda")
    yield "discriminants, shrinkage 0.01", model.predict_proba(X)
    yield "the same, calibrated", model.calibrate(*held).predict_proba(X)


def measured(learned: Rows, held: Rows, test: Rows) -> list[list[str]]:
    """Return a row per way: accuracy, log-loss, the log-loss over that of the yardstick, calibration error."""
    X, y = test
    rows: list[list[str]] = []
    bar = float("nan")
    for name, shares in predicted(learned, held, X):
        loss = log_loss(y, shares)
        bar = bar if rows else loss
        accuracy = float(np.mean(shares.argmax(axis=1) == y))
        error = f"{calibration_error(y, shares):.3f}"
        rows.append([name, f"{accuracy:.1%}", f"{loss:.3f}", f"{loss / bar:.2f}", f"≤ {MOST}", error])
    return rows


def main() -> None:
    """Measure digits and, if there is a folder, Fashion-MNIST."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.probabilities", description=main.__doc__)
    parser.add_argument("--fashion", help="folder with the files of Fashion-MNIST")
    folder = parser.parse_args().fashion
    head = ["probabilities", "accuracy", "log-loss", "over pooled", "bar", "calibration error"]
    for name, parts in [("digits", digits()), *([("Fashion-MNIST", fashion(folder))] if folder else [])]:
        print(f"{name}: {len(parts[0][1]):,} rows, p = {parts[0][0].shape[1]}")
        print("\n".join(table(head, measured(*parts))), flush=True)


if __name__ == "__main__":
    main()
