"""Random filters on the patches of images."""

from math import isqrt
from typing import Any, Literal, get_args

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from ridgeway._checks import one_of, positive, whole
from ridgeway.errors import InvalidDataError, InvalidParameterError
from ridgeway.features._feature_map import FeatureMap
from ridgeway.kernels import single_threaded

Float32 = NDArray[np.float32]
Source = Literal["random", "first_task"]

TRIES = 50
"""Patches of the first task that are drawn for each filter: flat ones are not used."""


class RandomPatches(FeatureMap):
    """How much each part of an image resembles small random filters.

    Each patch z of an image is normalised to z̃ = (z − z̄)/√(Var z + offset²), and compared with each filter f, of mean 0
    and norm 1: the response r = f·z̃/‖1‖ is the cosine between the two if the patch is not flat. Both signs of it are
    rectified, max(r, 0) and max(−r, 0), and averaged over the cells of a grid, with weights that fall linearly from the
    centre of a cell to the centres of its neighbours. The features are the square roots of these averages, all between
    0 and 1: 2 · grid² · n_filters of them, cell by cell.

    Parameters
    ----------
    n_filters : int, default 200
    size : int, default 6
        Side of a filter in pixels. In an image of less height or width, a filter has the size of the image there.
    grid : int, default 4
        Cells along each side of the image; if there are fewer patches than cells, as many as there are patches.
    offset : float, default 8.0
        Patches whose standard deviation is far below this count as flat. In the unit of the pixels: 8 suits grey
        values from 0 to 255.
    filters : "random" or "first_task", default "random"
        "random" filters are normal noise and see no data. Those of the "first_task" are patches of its images.
    shape : tuple of two int, optional
        Height and width of an image. By default images are square, or the nearest to a square that the number of their
        pixels allows.
    seed : int, default 0

    Attributes
    ----------
    filters_ : ndarray of shape (n_filters, height, width), float32
    shape_ : tuple of two int
    n_features_in_ : int
        Pixels of an image.
    feature_names_in_ : ndarray of str, if the first task was a DataFrame

    Notes
    -----
    Rows are images, pixel by pixel: reshape an array of images to (n_images, height · width). Some images at a time
    are encoded, in float32.

    References
    ----------
    Coates, Ng and Lee (2011), An analysis of single-layer networks in unsupervised feature learning.
    Saxe et al. (2011), On random weights and unsupervised feature learning.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ridgeway.features import RandomPatches
    >>> X, y = load_digits(return_X_y=True)  # 8 × 8 pixels, grey values from 0 to 16
    >>> patches = RandomPatches(50, size=4, grid=3, offset=0.5).fit(X[y == 0])
    >>> patches.transform(X).shape
    (1797, 900)
    """

    filters_: NDArray[np.float32]
    shape_: tuple[int, int]
    _offset: float
    _pool: NDArray[np.float32]

    def __init__(
        self,
        n_filters: int = 200,
        size: int = 6,
        grid: int = 4,
        offset: float = 8.0,
        filters: Source = "random",
        shape: tuple[int, int] | None = None,
        seed: int = 0,
    ) -> None:
        self.n_filters = n_filters
        self.size = size
        self.grid = grid
        self.offset = offset
        self.filters = filters
        self.shape = shape
        self.seed = seed

    def _draw(self, rows: NDArray[Any]) -> dict[str, Any]:
        n_filters, size, grid = (whole(getattr(self, name), name) for name in ("n_filters", "size", "grid"))
        rng = np.random.default_rng(whole(self.seed, "seed", 0))
        offset, source = positive(self.offset, "offset"), one_of(self.filters, get_args(Source), "filters")
        shape = _nearly_square(rows.shape[1]) if self.shape is None else _checked_shape(self.shape, rows.shape[1])
        sides = (min(size, shape[0]), min(size, shape[1]))
        if source == "random":
            drawn = rng.normal(size=(n_filters, sides[0] * sides[1]))
        else:
            drawn = _patches_of(rows, shape, sides, n_filters, offset, rng)
        drawn -= drawn.mean(axis=1, keepdims=True)
        norms = np.sqrt(np.square(drawn).sum(axis=1, keepdims=True))
        filters = (drawn / np.where(norms > 0.0, norms, 1.0)).astype(np.float32)  # a filter of one pixel is 0
        across = [_averages(length - side + 1, grid) for length, side in zip(shape, sides, strict=True)]
        pool = np.kron(*across)
        return {
            "filters_": filters.reshape(n_filters, *sides),
            "shape_": shape,
            "_offset": offset,
            "_pool": pool,
            "_n_features_out": 2 * n_filters * len(pool),
        }

    def _encode(self, rows: NDArray[Any]) -> Float32:
        n, sides = len(rows), self.filters_.shape[1:]
        patches = sliding_window_view(rows.astype(np.float32).reshape(n, *self.shape_), sides, axis=(1, 2))
        patches = _normalised(patches.reshape(-1, sides[0] * sides[1]), self._offset)
        filters = self.filters_.reshape(len(self.filters_), -1)
        features = np.empty((n, len(self._pool), 2, len(filters)), dtype=np.float32)
        with single_threaded():  # the products are small: threads would wait for each other
            responses = (patches @ filters.T).reshape(n, self._pool.shape[1], len(filters))
            rectified = np.maximum(responses, 0.0)
            features[:, :, 0] = self._pool @ rectified
            features[:, :, 1] = self._pool @ np.subtract(rectified, responses, out=rectified)
        return np.sqrt(features, out=features).reshape(n, -1)

    @property
    def _numbers_per_row(self) -> int:
        return 2 * int(self._pool.shape[1]) * len(self.filters_)


def _normalised(patches: Float32, offset: float) -> Float32:
    """Return patches of mean 0 and norm 1, or less if they are nearly flat."""
    patches = patches - patches[:, :1]  # so that a flat patch is exactly 0, whatever its level
    patches -= patches.mean(axis=1, keepdims=True)
    squares = np.einsum("ij,ij->i", patches, patches)
    patches /= np.sqrt(squares + patches.shape[1] * offset**2)[:, None]
    return patches


def _averages(n_places: int, grid: int) -> Float32:
    """Return averages along a side, (n_cells, n_places): the weights of a cell reach 0 at its neighbours' centres."""
    cells = min(grid, n_places)
    places = (np.arange(n_places) + 0.5) * cells / n_places - 0.5  # in cells, whose centres are whole numbers
    weights = np.maximum(1.0 - np.abs(places - np.arange(cells)[:, None]), 0.0)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float32)


def _nearly_square(n_pixels: int) -> tuple[int, int]:
    """Return the height and width nearest to a square, the height being the smaller."""
    height = next(side for side in range(isqrt(n_pixels), 0, -1) if n_pixels % side == 0)
    return height, n_pixels // height


def _checked_shape(shape: Any, n_pixels: int) -> tuple[int, int]:
    """Return height and width, or raise if they do not belong to these pixels."""
    if not isinstance(shape, tuple | list) or len(shape) != 2:
        raise InvalidParameterError(f"shape must be the height and the width of an image; got {shape!r}.")
    height, width = whole(shape[0], "height"), whole(shape[1], "width")
    if height * width != n_pixels:
        raise InvalidDataError(
            f"X has {n_pixels} pixels per image; shape={height, width} has {height * width}. Pass the shape of these "
            "images."
        )
    return height, width


def _patches_of(
    rows: NDArray[Any], shape: tuple[int, int], sides: tuple[int, int], wanted: int, offset: float, rng: Any
) -> NDArray[np.float64]:
    """Return patches of images, drawn at random among those that are not flat, as rows."""
    tries = TRIES * wanted
    windows = sliding_window_view(rows.reshape(-1, *shape), sides, axis=(1, 2))
    places = tuple(rng.integers(length, size=tries) for length in windows.shape[:3])
    drawn = windows[places].reshape(tries, -1).astype(np.float64)
    found: NDArray[np.float64] = drawn[drawn.std(axis=1) > offset][:wanted]
    if len(found) < wanted:
        raise InvalidDataError(
            f"of {tries} patches drawn from the first task only {len(found)} have a standard deviation above "
            f"offset={offset:g}, too few for {wanted} filters. Pass a smaller offset, or filters='random'."
        )
    return found
