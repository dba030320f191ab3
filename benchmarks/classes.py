"""Images class by class, one pass and no image kept: `python -m benchmarks.classes --mnist FOLDER --fashion FOLDER`.

Each task is one class. The features come from a seed, and their scales and the prior are fixed before the first image.
Whoever changes them tries them with `--validate`, which holds out training images.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import SGDClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline

from benchmarks.bars import verdict
from benchmarks.images import Images, RandomPatches, load_idx
from benchmarks.tables import table
from benchmarks.workers import alone, peak_bytes
from ridgeway import GeneralizedRidge
from ridgeway.features import RandomFourier
from ridgeway.weights import Accumulated

Labels = NDArray[np.integer]
Features = NDArray[np.float32]

N_CLASSES, N_FILTERS, N_FOURIER = 10, 200, 3600
GAMMA, FOURIER_WEIGHT, PRIOR = 0.003, 20.0, 0.1
SEED, N_ORDERS, N_HELD_OUT, BLOCK, AT_ONCE = 0, 10, 10_000, 1000, 2000
CORES, MOST_SECONDS, MOST_BYTES = 2, 360.0, 3e9
LEAST = {("MNIST", True): 99.1, ("MNIST", False): 98.9, ("Fashion-MNIST", True): 91.0, ("Fashion-MNIST", False): 90.8}
"""The least accuracy in percent, with and without Fourier features."""
RESULTS = Path(__file__).parents[1] / "docs" / "classes.json"


class OneHot:
    """Least squares on one-hot targets."""

    def __init__(self) -> None:
        self.ridge = GeneralizedRidge(Accumulated(prior=PRIOR), information="moments")
        self.seen: list[int] = []

    def partial_fit(self, X: Features, y: Labels) -> Self:
        """Learn a task."""
        self.ridge.partial_fit(X, np.eye(N_CLASSES)[y])
        self.seen = sorted({*self.seen, *map(int, y)})
        return self

    def predict(self, X: Features) -> Labels:
        """Return the class of largest score, of those seen."""
        best: Labels = self.ridge.predict(X)[:, self.seen].argmax(axis=1)
        return np.array(self.seen)[best]

    def merge(self, other: "OneHot") -> "OneHot":
        """Return the model of the tasks of both."""
        both = OneHot()
        both.ridge, both.seen = self.ridge.merge(other.ridge), sorted({*self.seen, *other.seen})
        return both


def new_model() -> Any:
    """Return a model that has learned nothing."""
    return OneHot()


def new_encoder(images: Images, n_fourier: int) -> Any:
    """Return fixed features, fitted on a blank image."""
    patches = RandomPatches(N_FILTERS, size=6, shape=images.shape, seed=SEED)
    if not n_fourier:
        encoder = make_pipeline(patches)
    else:
        fourier = RandomFourier(n_fourier, gamma=GAMMA, seed=SEED)
        parts = [("patches", "passthrough"), ("fourier", fourier)]
        encoder = make_pipeline(patches, FeatureUnion(parts, transformer_weights={"fourier": FOURIER_WEIGHT}))
    return encoder.fit(np.zeros_like(images.train[:1]))


def blocks(rows: Any, size: int) -> Iterator[Any]:
    """Yield some rows at a time."""
    return (rows[start : start + size] for start in range(0, len(rows), size))


def encoded(encoder: Any, images: NDArray[np.uint8]) -> Features:
    """Return the features of images, made block by block."""
    first = encoder.transform(images[:1])
    found = np.empty((len(images), first.shape[1]), dtype=first.dtype)
    for rows, block in zip(blocks(found, BLOCK), blocks(images, BLOCK), strict=True):
        rows[:] = encoder.transform(block)
    return found


def classified(model: Any, X: Features) -> Labels:
    """Return the class of each row, predicted block by block."""
    return np.concatenate([model.predict(rows) for rows in blocks(X, BLOCK)])


def accuracy(model: Any, X: Features, y: Labels, seen: list[int]) -> float:
    """Return the percentage of the images of the classes seen so far that are classified correctly."""
    known = np.isin(y, seen)
    return float(100.0 * np.mean(classified(model, X)[known] == y[known]))


@dataclass(frozen=True)
class Pictures:
    """Which images are learned, and on which the model is tested."""

    folder: str
    most: int | None
    validate: bool

    def load(self) -> Images:
        """Return the images; to validate, the last of those for training take the place of the test images."""
        images = load_idx(self.folder)
        train, labels, test, test_labels = images.train, images.train_labels, images.test, images.test_labels
        if self.validate:
            test, test_labels = train[-N_HELD_OUT:], labels[-N_HELD_OUT:]
            train, labels = train[:-N_HELD_OUT], labels[:-N_HELD_OUT]
        train, labels = train[: self.most], labels[: self.most]
        return Images(train, labels, test, test_labels, images.shape)


def learned(pictures: Pictures, n_fourier: int) -> dict[str, Any]:
    """Learn class after class, and return the accuracy after each, with the time and the memory that it took."""
    begin = time.perf_counter()
    images = pictures.load()
    encoder, spent = new_encoder(images, n_fourier), dict.fromkeys(("encoding", "learning", "asking"), 0.0)

    def timed(what: str, action: Callable[..., Any], *args: Any) -> Any:
        start = time.perf_counter()
        result = action(*args)
        spent[what] += time.perf_counter() - start
        return result

    test = timed("encoding", encoded, encoder, images.test)
    model, curve = new_model(), []
    for label in range(N_CLASSES):
        for task in blocks(images.train[images.train_labels == label], AT_ONCE):
            rows = timed("encoding", encoded, encoder, task)
            timed("learning", model.partial_fit, rows, np.full(len(rows), label))
            del rows
        curve.append(timed("asking", accuracy, model, test, images.test_labels, [*range(label + 1)]))
    seconds = time.perf_counter() - begin
    return {"p": test.shape[1], "curve": curve, "seconds": seconds, "bytes": peak_bytes(), "spent": spent}


def contrasted(pictures: Pictures) -> dict[str, Any]:
    """Learn the same features in other orders, from the parts of the classes; and with gradient descent."""
    images = pictures.load()
    encoder = new_encoder(images, 0)
    test, labels = encoded(encoder, images.test), np.arange(N_CLASSES)
    steps: dict[str, Any] = {
        "SGDClassifier": SGDClassifier(loss="log_loss", random_state=SEED),
        "MLPClassifier": MLPClassifier((256,), random_state=SEED),
    }
    curves: dict[str, list[float]] = {name: [] for name in steps}
    whole, parts = new_model(), []
    for label in range(N_CLASSES):
        of = images.train_labels == label
        task, y = encoded(encoder, images.train[of]), images.train_labels[of]
        whole.partial_fit(task, y)
        parts.append(new_model().partial_fit(task, y))
        for name, model in steps.items():
            model.partial_fit(task, y, classes=labels)
            curves[name].append(accuracy(model, test, images.test_labels, [*range(label + 1)]))
    predicted = classified(whole, test)
    del whole
    return {"curves": curves, "changed": [_changed(order, parts, test, predicted) for order in range(N_ORDERS)]}


def _changed(order: int, parts: list[Any], test: Features, predicted: Labels) -> int:
    """Return how many test images are classified differently if the classes are learned in a random order."""
    first, *others = np.random.default_rng(order).permutation(N_CLASSES)
    model = parts[first]
    for label in others:
        model = model.merge(parts[label])
    return int(np.count_nonzero(classified(model, test) != predicted))


def report(results: dict[str, Any]) -> str:
    """Return the table, with the bars."""
    lines = []
    for name, found in results.items():
        for run in found["runs"]:
            fourier = run["p"] > 2 * 16 * N_FILTERS
            got, least = run["curve"][-1], LEAST[name, fourier]
            bars = [verdict(-got, -least)]
            bars += [verdict(run["seconds"], MOST_SECONDS), verdict(run["bytes"], MOST_BYTES)] if fourier else ["–"] * 2
            row = [f"{name}, p = {run['p']:,}", f"{got:.2f} %", f"≥ {least:g} %", bars[0]]
            lines.append([*row, f"{run['seconds']:.0f} s", bars[1], f"{run['bytes'] / 1e9:.2f} GB", bars[2]])
        for model, curve in found["contrast"]["curves"].items():
            lines.append([f"{name}, {model}", f"{curve[-1]:.2f} %", *["–"] * 6])
        changed = found["contrast"]["changed"]
        lines.append([f"{name}, images that {len(changed)} orders change", str(sum(changed)), "0", *["–"] * 5])
    return "\n".join(table(["what", "accuracy", "bar", "", "time", "", "memory", ""], lines))


def main() -> None:
    """Learn both data sets, print the table, and write the results as JSON."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--mnist", help="folder with the files of MNIST")
    parser.add_argument("--fashion", help="folder with the files of Fashion-MNIST")
    parser.add_argument("--images", type=int, help="learn only the first so many training images")
    parser.add_argument("--validate", action="store_true", help="test on held-out training images")
    parser.add_argument("--fourier", type=int, nargs="*", default=[N_FOURIER, 0], help="numbers of Fourier features")
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    results = {}
    for name, folder in {"MNIST": asked.mnist, "Fashion-MNIST": asked.fashion}.items():
        if folder is None:
            continue
        pictures = Pictures(folder, asked.images, asked.validate)
        runs = []
        for n_fourier in asked.fourier:
            runs.append(alone(CORES, learned, pictures, n_fourier))
            print(name, json.dumps(runs[-1]), flush=True)
        results[name] = {"runs": runs, "contrast": alone(CORES, contrasted, pictures)}
    asked.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(report(results))


if __name__ == "__main__":
    main()
