"""LAPACK's triangular-pentagonal QR without Python's lock, so that two Python threads can factor at the same time.

SciPy's wrapper of the same routine keeps the lock. The routine itself is SciPy's, by the address that SciPy publishes
for compiled code.
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
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (1 + found.signature.count(",")))(
        address(found.function, found.signature.encode())
    )


_DTPQRT = _routine("dtpqrt")


def dtpqrt(R: Array, block: Array, *, triangular_rows: int, panel: int) -> None:
    """Overwrite R, upper triangular, by the factor of its rows and those of `block`, which is overwritten too.

    Both in Fortran order. The last `triangular_rows` rows of `block` are upper trapezoidal.
    """
    m, n = block.shape
    sizes = np.array([m, n, triangular_rows, panel, max(m, 1), 0], dtype=np.intc)
    rows, columns, trapezoid, width, leading, info = (sizes.ctypes.data + sizes.itemsize * i for i in range(6))
    reflectors, work = np.empty((2, panel * n))
    _DTPQRT(
        rows, columns, trapezoid, width, R.ctypes.data, columns, block.ctypes.data, leading,
        reflectors.ctypes.data, width, work.ctypes.data, info,
    )  # fmt: skip
