"""Factor, solve, update, minimum norm: pure functions, and the only caller of LAPACK.

Nothing here checks its input: `_validation` has done so. Rank decisions are made in `_rank`, on columns scaled to
unit norm, and nowhere else.
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
    solve_lower,
    solve_upper,
    squared_singular_values,
    svd_economic,
    svd_square,
    triangular_root,
)
from ridgeway.linalg._gains import filtered_gain, joined_root, penalized_change, penalty_gain, root_gain
from ridgeway.linalg._panels import Panels
from ridgeway.linalg._penalized import solve_penalized
from ridgeway.linalg._pooled import pooled_factor, pooled_least_squares, pooled_means
from ridgeway.linalg._products import Products, mirrored, packed, unpacked
from ridgeway.linalg._rank import (
    EPS,
    Solution,
    column_squares,
    solve_moments,
    solve_triangle,
    solve_under_prior,
    tolerance,
    triangle_growth,
)
from ridgeway.linalg._row_space import RowSpace
from ridgeway.linalg._rows import Rows, RunningMean, two_sum
from ridgeway.linalg._semidefinite import (
    Factor,
    TridiagonalForm,
    column_products,
    random_rotation,
    row_products,
    symmetric_eigen,
)
from ridgeway.linalg._steps import (
    filtered_step,
    gradient_steps,
    largest_eigenvalue,
    minimum_norm_step,
    ridge_step,
    weighted_step,
)
from ridgeway.linalg._threads import SMALL, one_thread, side_by_side, threads_for
from ridgeway.linalg._triangle import (
    add_rows,
    add_triangle,
    empty_triangle,
    psd_root,
    remove_rows,
)

__all__ = [
    "EPS",
    "SMALL",
    "Factor",
    "Panels",
    "Products",
    "RowSpace",
    "Rows",
    "RunningMean",
    "Solution",
    "TridiagonalForm",
    "add_rows",
    "add_triangle",
    "asymmetry",
    "checked_definite",
    "checked_semidefinite",
    "cholesky_root",
    "column_complement",
    "column_products",
    "column_squares",
    "definite_inverse",
    "empty_triangle",
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
    "one_thread",
    "packed",
    "penalized_change",
    "penalty_gain",
    "pooled_factor",
    "pooled_least_squares",
    "pooled_means",
    "psd_root",
    "random_rotation",
    "remove_rows",
    "ridge_step",
    "root_gain",
    "row_products",
    "semidefinite_eigen",
    "semidefinite_root",
    "side_by_side",
    "smallest_eigenvalue",
    "solve_lower",
    "solve_moments",
    "solve_penalized",
    "solve_triangle",
    "solve_under_prior",
    "solve_upper",
    "squared_singular_values",
    "svd_economic",
    "svd_square",
    "symmetric_eigen",
    "threads_for",
    "tolerance",
    "triangle_growth",
    "triangular_root",
    "two_sum",
    "unpacked",
    "weighted_step",
]
