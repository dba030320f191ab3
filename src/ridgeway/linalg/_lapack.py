"""LAPACK without Python's lock, and on part of a larger array.

SciPy's wrappers of the same routines keep the lock, so that two Python threads cannot factor at the same time, and copy
any part of an array first. The routines are SciPy's own, by the addresses that SciPy publishes for compiled code.
Arrays are in Fortran order, or parts of such; nothing is checked.
"""

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import LowLevelCallable
from scipy.linalg import cython_lapack

Array = NDArray[np.float64]


def _routine(name: str) -> Any:
    """Return a LAPACK routine as a foreign function, which takes pointers and gives the lock away while it runs."""
    found = LowLevelCallable.from_cython(cython_lapack, name)
    address = ctypes.pythonapi.PyCapsule_GetPointer
    address.restype, address.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    pointers = [ctypes.c_void_p] * (1 + found.signature.count(","))
    return ctypes.CFUNCTYPE(None, *pointers)(address(found.function, found.signature.encode()))


_DTPQRT, _DTPMQRT, _DTRTRS = _routine("dtpqrt"), _routine("dtpmqrt"), _routine("dtrtrs")
_DSFRK, _DTRTTF, _DTFTTR = _routine("dsfrk"), _routine("dtrttf"), _routine("dtfttr")


def dtpqrt(R: Array, block: Array, *, triangular_rows: int, panel: int) -> Array:
    """Overwrite R, upper triangular, by the factor of its rows and those of `block`, which is overwritten too.

    The last `triangular_rows` rows of `block` are upper trapezoidal. What then stands in `block`, and what is returned,
    are the reflectors for `dtpmqrt`.
    """
    (m, n), width = block.shape, _whole(panel)
    factors, work = np.empty((panel, n), order="F"), np.empty(panel * n)
    _DTPQRT(
        _whole(m), _whole(n), _whole(triangular_rows), width, *_matrix(R), *_matrix(block),
        *_matrix(factors), work.ctypes.data, _whole(0),
    )  # fmt: skip
    return factors


def dtpmqrt(reflectors: Array, factors: Array, top: Array, below: Array) -> None:
    """Overwrite [top; below], further columns of [R; block], by what the reflectors of `dtpqrt` make of them."""
    (m, n), (panel, k) = below.shape, factors.shape
    work = np.empty(panel * n)
    _DTPMQRT(
        b"L", b"T", _whole(m), _whole(n), _whole(k), _whole(0), _whole(panel), *_matrix(reflectors),
        *_matrix(factors), *_matrix(top), *_matrix(below), work.ctypes.data, _whole(0),
    )  # fmt: skip


def dtrtrs(R: Array, rhs: Array) -> Array:
    """Return R⁻¹·rhs for an upper triangular R without a zero on its diagonal."""
    solved = rhs.copy(order="F")
    n, k = solved.shape
    _DTRTRS(b"U", b"N", b"N", _whole(n), _whole(k), *_matrix(R), *_matrix(solved), _whole(0))
    return solved


def dsfrk(factor: float, A: Array, packed: Array) -> None:
    """Add factor·A·Aᵀ to a symmetric matrix, whose upper triangle is packed."""
    n, k = A.shape
    _DSFRK(
        b"N", b"U", b"N", _whole(n), _whole(k), _real(factor), *_matrix(A), _real(1.0), packed.ctypes.data
    )  # fmt: skip


def dtrttf(upper: Array, packed: Array) -> None:
    """Write the upper triangle of a square matrix into `packed`."""
    _DTRTTF(b"N", b"U", _whole(len(upper)), *_matrix(upper), packed.ctypes.data, _whole(0))


def dtfttr(packed: Array, upper: Array) -> None:
    """Write a packed triangle into the upper one of a square matrix."""
    _DTFTTR(b"N", b"U", _whole(len(upper)), packed.ctypes.data, *_matrix(upper), _whole(0))


def _real(number: float) -> Any:
    return ctypes.byref(ctypes.c_double(number))


def _whole(number: int) -> Any:
    return ctypes.byref(ctypes.c_int(number))


def _matrix(array: Array) -> tuple[int, Any]:
    """Return the address of a matrix and how far its columns are apart."""
    return array.ctypes.data, _whole(max(array.strides[1] // array.itemsize, len(array), 1))
