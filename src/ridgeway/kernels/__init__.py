"""The only caller of BLAS and LAPACK, and the only package that knows about threads.

`_reference` says in plain NumPy and SciPy what each function computes; read it first. `_lapack` computes the same, and
is fast. It is used unless the environment variable RIDGEWAY_KERNELS is "reference", or SciPy does not publish the
addresses of its LAPACK routines. Nothing here checks its input, or decides anything: see `ridgeway.linalg`.
"""

import os

from ridgeway.errors import InvalidParameterError
from ridgeway.kernels._means import Mean, two_sum
from ridgeway.kernels._returned import Reduced, Updated
from ridgeway.kernels._threads import single_threaded

NAME = os.environ.get("RIDGEWAY_KERNELS") or "lapack"
"""Which kernels are in use: "lapack" or "reference"."""
if NAME not in ("lapack", "reference"):
    raise InvalidParameterError(f"RIDGEWAY_KERNELS is {NAME!r}; it can be 'lapack' or 'reference'. Unset or change it.")
try:
    if NAME == "reference":
        raise ImportError
    from ridgeway.kernels._lapack import (
        cholesky,
        comoment_update,
        comoments_of,
        definite_condition,
        definite_solve,
        eigen,
        factor_update,
        pivoted_qr,
        product,
        qr,
        qr_update,
        right_svds,
        smallest_eigenvalue,
        solve_triangular,
        svd,
        triangle_condition,
        triangular_factor,
    )
    from ridgeway.kernels._tridiagonal import reduce_symmetric
except (AttributeError, ImportError, OSError, ValueError):
    NAME = "reference"
    from ridgeway.kernels._reference import (
        cholesky,
        comoment_update,
        comoments_of,
        definite_condition,
        definite_solve,
        eigen,
        factor_update,
        pivoted_qr,
        product,
        qr,
        qr_update,
        reduce_symmetric,
        right_svds,
        smallest_eigenvalue,
        solve_triangular,
        svd,
        triangle_condition,
        triangular_factor,
    )

__all__ = [
    "NAME",
    "Mean",
    "Reduced",
    "Updated",
    "cholesky",
    "comoment_update",
    "comoments_of",
    "definite_condition",
    "definite_solve",
    "eigen",
    "factor_update",
    "pivoted_qr",
    "product",
    "qr",
    "qr_update",
    "reduce_symmetric",
    "right_svds",
    "single_threaded",
    "smallest_eigenvalue",
    "solve_triangular",
    "svd",
    "triangle_condition",
    "triangular_factor",
    "two_sum",
]
