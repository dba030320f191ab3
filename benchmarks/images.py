"""Images in IDX files, the format of MNIST and Fashion-MNIST, and the responses of random filters to their patches."""

import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from ridgeway.kernels import single_threaded

Bytes = NDArray[np.uint8]
Float32 = NDArray[np.float32]

GRID, OFFSET = 4, 8.0
"""Cells along each side of an image, and the deviation in grey values (0 to 255) far below which a patch is flat."""
NUMBERS = 2**20
"""Numbers that a block of images may take up on the way: they stay in cache."""


@dataclass(frozen=True, eq=False)
class Images:
    """Grey images with labels, one image of height · width pixels per row, and that shape."""

    train: Bytes
    train_labels: Bytes
    test: Bytes
    test_labels: Bytes
    shape: tuple[int, int]


def load_idx(folder: str) -> Images:
    """Return the images of a folder with the four files of MNIST or Fashion-MNIST, gzipped or not."""
    train, test = (_array(folder, f"{part}-images-idx3-ubyte", 3) for part in ("train", "t10k"))
    labels, test_labels = (_array(folder, f"{part}-labels-idx1-ubyte", 1) for part in ("train", "t10k"))
    shape = (train.shape[1], train.shape[2])
    return Images(train.reshape(len(labels), -1), labels, test.reshape(len(test_labels), -1), test_labels, shape)


def _array(folder: str, name: str, n_axes: int) -> Bytes:
    """Return the array in a file: two zeros, a type, the number of axes, their lengths, and the values."""
    path = Path(folder, name)
    content = path.read_bytes() if path.exists() else gzip.decompress(path.with_name(f"{name}.gz").read_bytes())
    if content[:4] != bytes([0, 0, 8, n_axes]):
        raise SystemExit(f"{path} is not an IDX file of bytes with {n_axes} axes.")
    start = 4 + 4 * n_axes
    shape = np.frombuffer(content[4:start], dtype=">u4")
    return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(shape)


class RandomPatches(TransformerMixin, BaseEstimator):
    """How much each part of an image resembles small random filters (Coates, Ng and Lee, 2011; Saxe et al., 2011).

    Each patch z of an image is normalised to z̃ = (z − z̄)/√(Var z + offset²), and compared with each filter f, of mean 0
    and norm 1: the response r = f·z̃/‖1‖ is the cosine between the two if the patch is not flat. Both signs of it are
    rectified, max(r, 0) and max(−r, 0), and averaged over the cells of a grid, with weights that fall linearly from the
    centre of a cell to the centres of its neighbours. The features are the square roots of these averages, all between
    0 and 1: 2 · grid² · n_filters of them, cell by cell. The filters are normal noise from a seed.
    """

    filters_: Float32
    _pool: Float32

    def __init__(self, n_filters: int, size: int, shape: tuple[int, int], seed: int) -> None:
        self.n_filters = n_filters
        self.size = size
        self.shape = shape
        self.seed = seed

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the filters. No image is looked at."""
        drawn = np.random.default_rng(self.seed).normal(size=(self.n_filters, self.size**2))
        drawn -= drawn.mean(axis=1, keepdims=True)
        norms = np.sqrt(np.square(drawn).sum(axis=1, keepdims=True))
        self.filters_ = (drawn / norms).astype(np.float32)
        height, width = self.shape
        self._pool = np.kron(_averages(height - self.size + 1), _averages(width - self.size + 1))
        return self

    def transform(self, X: Bytes) -> Float32:
        """Return the features of each image, (n_images, n_features), made some images at a time."""
        step = max(NUMBERS // (2 * self._pool.shape[1] * self.n_filters), 1)
        return np.concatenate([self._encode(X[start : start + step]) for start in range(0, len(X), step)])

    def _encode(self, rows: Bytes) -> Float32:
        n = len(rows)
        windows = sliding_window_view(
            rows.astype(np.float32).reshape(n, *self.shape), (self.size, self.size), axis=(1, 2)
        )
        patches = _normalised(windows.reshape(-1, self.size**2))
        features = np.empty((n, len(self._pool), 2, self.n_filters), dtype=np.float32)
        with single_threaded():  # the products are small: threads would wait for each other
            responses = (patches @ self.filters_.T).reshape(n, self._pool.shape[1], self.n_filters)
            rectified = np.maximum(responses, 0.0)
            features[:, :, 0] = self._pool @ rectified
            features[:, :, 1] = self._pool @ np.subtract(rectified, responses, out=rectified)
        return np.sqrt(features, out=features).reshape(n, -1)


def _normalised(patches: Float32) -> Float32:
    """Return patches of mean 0 and norm 1, or less if they are nearly flat."""
    patches = patches - patches[:, :1]  # so that a flat patch is exactly 0, whatever its level
    patches -= patches.mean(axis=1, keepdims=True)
    squares = np.einsum("ij,ij->i", patches, patches)
    patches /= np.sqrt(squares + patches.shape[1] * OFFSET**2)[:, None]
    return patches


def _averages(n_places: int) -> Float32:
    """Return averages along a side, (n_cells, n_places): the weights of a cell reach 0 at its neighbours' centres."""
    cells = min(GRID, n_places)
    places = (np.arange(n_places) + 0.5) * cells / n_places - 0.5  # in cells, whose centres are whole numbers
    weights = np.maximum(1.0 - np.abs(places - np.arange(cells)[:, None]), 0.0)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float32)
