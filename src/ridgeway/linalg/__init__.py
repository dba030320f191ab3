"""Decisions about matrices: rank, definiteness, minimum norm, and how rounding errors grow. Built on `kernels`.

Nothing here checks its input: `data` has done so. Ranks are decided in `_rank`, on columns divided by the size of
their rounding, and nowhere else.
"""

from ridgeway.linalg._checked import checked_definite, checked_semidefinite
from ridgeway.linalg._definite import (
    asymmetry,
    cholesky_root,
    is_definite,
    is_nearly_semidefinite,
    is_semidefinite,
    smallest_eigenvalue,
)
from ridgeway.linalg._dense import (
    column_complement,
    definite_inverse,
    minimum_norm_gain,
    semidefinite_eigen,
    semidefinite_root,
    svd_economic,
)
from ridgeway.linalg._gains import filtered_gain, joined_root, penalized_change, penalty_gain, root_gain
from ridgeway.linalg._penalized import solve_by_corrections, solve_penalized
from ridgeway.linalg._pooled import pooled_factor, pooled_least_squares, pooled_means
from ridgeway.linalg._rank import (
    EPS,
    Solution,
    column_norms,
    column_squares,
    equilibrate,
    row_basis,
    solve_triangle,
    solve_under_prior,
    tolerance,
    triangle_growth,
)
from ridgeway.linalg._row_space import RowSpace
from ridgeway.linalg._rows import Rows
from ridgeway.linalg._squares import mirrored, solve_moments
from ridgeway.linalg._steps import (
    filtered_step,
    gradient_steps,
    largest_eigenvalue,
    minimum_norm_step,
    ridge_step,
    weighted_step,
)
from ridgeway.linalg._triangle import (
    empty_triangle,
    psd_root,
    remove_rows,
)

__all__ = [
    "EPS",
    "RowSpace",
    "Rows",
    "Solution",
    "asymmetry",
    "checked_definite",
    "checked_semidefinite",
    "cholesky_root",
    "column_complement",
    "column_norms",
    "column_squares",
    "definite_inverse",
    "empty_triangle",
    "equilibrate",
    "filtered_gain",
    "filtered_step",
    "gradient_steps",
    "is_definite",
    "is_nearly_semidefinite",
    "is_semidefinite",
    "joined_root",
    "largest_eigenvalue",
    "minimum_norm_gain",
    "minimum_norm_step",
    "mirrored",
    "penalized_change",
    "penalty_gain",
    "pooled_factor",
    "pooled_least_squares",
    "pooled_means",
    "psd_root",
    "remove_rows",
    "ridge_step",
    "root_gain",
    "row_basis",
    "semidefinite_eigen",
    "semidefinite_root",
    "smallest_eigenvalue",
    "solve_by_corrections",
    "solve_moments",
    "solve_penalized",
    "solve_triangle",
    "solve_under_prior",
    "svd_economic",
    "tolerance",
    "triangle_growth",
    "weighted_step",
]
