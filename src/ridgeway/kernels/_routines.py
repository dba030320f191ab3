"""LAPACK without Python's lock, and on parts of larger arrays.

SciPy's wrappers of the same routines hold the lock, so two Python threads cannot factor at the same time, and they copy
parts of arrays first. The routines are SciPy's own, by the addresses that SciPy publishes for compiled code. Arrays are
in Fortran order, or parts of such arrays; nothing is checked.
"""

import ctypes
from typing import Any

import numpy as np
from scipy import LowLevelCallable
from scipy.linalg import cython_blas, cython_lapack

from ridgeway._checks import Array

TOGETHER = 16


def _routine(module: Any, name: str) -> Any:
    """Return a routine as a foreign function, which takes pointers and releases the lock while it runs."""
    found = LowLevelCallable.from_cython(module, name)
    prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    address = prototype(("PyCapsule_GetPointer", ctypes.pythonapi))
    pointers = [ctypes.c_void_p] * (1 + found.signature.count(","))
    return ctypes.CFUNCTYPE(None, *pointers)(address(found.function, found.signature.encode()))


_DSYRK = _routine(cython_blas, "dsyrk")
_DTPQRT, _DTPMQRT, _DTRTRS = (_routine(cython_lapack, name) for name in ("dtpqrt", "dtpmqrt", "dtrtrs"))


def dsyrk(factor: float, rows: Array, S: Array) -> None:
    """Add factor·rowsᵀrows to the upper triangle of S; the rows are in either order."""
    n, width = rows.shape
    c_order = rows.flags.c_contiguous
    _DSYRK(
        b"U", b"N" if c_order else b"T", _whole(width), _whole(n), _real(factor),
        *_matrix(rows.T if c_order else rows), _real(1.0), *_matrix(S),
    )  # fmt: skip


def dtpqrt(R: Array, rows: Array, *, triangular_rows: int, panel: int | None = None) -> Array:
    """Overwrite R, upper triangular, by the factor of its rows and of others, which are overwritten too.

    The last `triangular_rows` of the others are upper trapezoidal. What then stands in their place, and what is
    returned, are the reflectors for `dtpmqrt`. The reflectors of `panel` columns are put together; by default of
    `TOGETHER`, but of one in a narrow matrix, which keeps most digits.
    """
    m, n = rows.shape
    panel = panel or (TOGETHER if n > TOGETHER else 1)
    factors, work = np.empty((panel, n), order="F"), np.empty(panel * n)
    _DTPQRT(
        _whole(m), _whole(n), _whole(triangular_rows), _whole(panel), *_matrix(R), *_matrix(rows),
        *_matrix(factors), work.ctypes.data, _whole(0),
    )  # fmt: skip
    return factors


def dtpmqrt(reflectors: Array, factors: Array, top: Array, below: Array, *, triangular_rows: int) -> None:
    """Apply the reflectors of `dtpqrt` to [top; below], further columns of [R; rows], in place."""
    (m, n), (panel, k) = below.shape, factors.shape
    work = np.empty(panel * n)
    _DTPMQRT(
        b"L", b"T", _whole(m), _whole(n), _whole(k), _whole(triangular_rows), _whole(panel), *_matrix(reflectors),
        *_matrix(factors), *_matrix(top), *_matrix(below), work.ctypes.data, _whole(0),
    )  # fmt: skip


def dtrtrs(R: Array, right: Array, *, transposed: bool) -> None:
    """Overwrite the right-hand side by R⁻¹·right, or R⁻ᵀ·right, for an upper triangular R."""
    n, k = right.shape
    _DTRTRS(
        b"U", b"T" if transposed else b"N", b"N", _whole(n), _whole(k), *_matrix(R), *_matrix(right), _whole(0)
    )  # fmt: skip


def _real(number: float) -> Any:
    return ctypes.byref(ctypes.c_double(number))


def _whole(number: int) -> Any:
    return ctypes.byref(ctypes.c_int(number))


def _matrix(array: Array) -> tuple[int, Any]:
    """Return the address of a matrix and how far its columns are apart."""
    return array.ctypes.data, _whole(max(array.strides[1] // array.itemsize, len(array), 1))
