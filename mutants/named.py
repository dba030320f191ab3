"""Mutants that are always run, and mutants that change nothing."""

from mutants.mutant import Mutant

NAMED: dict[str, Mutant] = {
    "only the first local minimum": Mutant(
        "research.theory._directions",
        "best_isotropic_penalty",
        "[brentq(slope, grid[i], grid[i + 1], xtol=1e-15) for i in rises]",
        "[brentq(slope, grid[i], grid[i + 1], xtol=1e-15) for i in rises[:1]]",
    ),
    "a grid that is too coarse": Mutant("research.theory._directions", "", "GRID_STEP = 0.1", "GRID_STEP = 3.0"),
    "no infinite first penalty": Mutant(
        "research.theory._ridge_gap", "ridge_gap", "min(errors.min(), ridge_error(np.inf))", "errors.min()"
    ),
    "no search beyond all scales": Mutant("research.theory._ridge_gap", "", "TAIL = 20.0", "TAIL = 0.0"),
}
"""Mutants that once survived every test, by what they do."""

EQUIVALENT: dict[Mutant, str] = {
    Mutant(
        "research.theory._alike_tasks",
        "AlikeTasks.optimal_penalties",
        "np.arange(whole(n_tasks, 'n_tasks'), dtype=np.float64)",
        "np.arange(whole(n_tasks, 'n_tasks'))",
    ): "A float is added to it.",
    Mutant(
        "research.theory._approximation", "smallest_constants", "-best_gain", "best_gain"
    ): "Only the square of the difference is used.",
    Mutant(
        "research.theory._approximation",
        "smallest_constants",
        "eigenvalues / (penalties + eigenvalues)",
        "eigenvalues * (penalties + eigenvalues)",
    ): "This gain is used only if the best penalty is infinite; then ρ = 0, and any gain but 0 has no constant.",
    Mutant(
        "research.theory._ridge_gap", "ridge_gap", "i + 1", "i + 2"
    ): "The wider bracket holds the same minimum; it takes the search a little longer.",
    Mutant(
        "information._base", "Information.add", "held.peak.max() <= LARGEST ** 2", "held.peak.max() < LARGEST ** 2"
    ): "At the limit itself the values are checked once more, and pass.",
    Mutant(
        "information._discriminant", "_less", "squares.diagonal() <= least", "squares.diagonal() < least"
    ): "Both are 0 for a column that never varied, which is zeros already.",
    Mutant(
        "information._discriminant",
        "_oas",
        "min((squares + mean ** 2) / spread, 1.0) if spread > 0.0 else 1.0",
        "min((squares + mean ** 2) / spread, 1.0) if spread > 0.0 else 2.0",
    ): "The spread is 0 if the covariance is a multiple of the identity, which any shrinkage leaves as it is.",
    Mutant(
        "information._marginals",
        "Marginals._quantile",
        "self.mean + place * self.deviations",
        "self.mean - place * self.deviations",
    ): "The search starts elsewhere between the same bounds and finds the same quantile.",
    Mutant(
        "information._square_root", "SquareRoot._combined", "factor.shape[1]", "factor.shape[0]"
    ): "There are at least as many rows as columns, so the factor is square.",
    Mutant(
        "information._square_root",
        "SquareRoot._without_task",
        "residual > tolerance(p) * noise[p:]",
        "residual >= tolerance(p) * noise[p:]",
    ): "If both are 0, nothing is subtracted; otherwise they are rounded sums, whose last bits mean nothing.",
    Mutant(
        "information._fourth", "FourthMoments._add_block", "last + 2", "last + 3"
    ): "More products are computed than are used.",
    Mutant(
        "information._with_fourth",
        "WithFourth.select",
        "np.zeros(len(columns) + self.n_targets)",
        "np.ones(len(columns) + self.n_targets)",
    ): "No column is new, so what new ones were is not used.",
    Mutant(
        "retrospect._clustered", "Adjusted.of", "np.where(alone, 1.0, left)", "np.where(alone, 2.0, left)"
    ): "The score of a cluster has no part in the directions that only this cluster knows.",
    Mutant(
        "retrospect._model", "positions", "np.array(chosen, dtype=np.intp)", "np.array(chosen)"
    ): "NumPy's default integer is intp, and the list is not empty.",
    Mutant(
        "retrospect._reml",
        "MixedRows._searched",
        "scipy.optimize.minimize(objective, start, jac=True, method='L-BFGS-B', bounds=bounds, "
        "options={'maxiter': 1000, 'maxfun': 5000, 'ftol': 1e-15, 'gtol': 1e-09, 'maxcor': 30})",
        "scipy.optimize.minimize(objective, start, jac=True, bounds=bounds, "
        "options={'maxiter': 1000, 'maxfun': 5000, 'ftol': 1e-15, 'gtol': 1e-09, 'maxcor': 30})",
    ): "With bounds, L-BFGS-B is SciPy's default.",
    Mutant(
        "retrospect._random_effects",
        "random_effects",
        "np.min(np.abs(np.diagonal(fit.factor))) < SINGULAR",
        "np.min(np.abs(np.diagonal(fit.factor))) <= SINGULAR",
    ): "An estimate that is exactly the limit cannot be made.",
    Mutant(
        "information._parts", "", "NARROW = 128", "NARROW = 129"
    ): "A triangle of this width is packed in the other way, to the same vector.",
    Mutant(
        "retrospect._reml", "", "(1.0, 0.1)", "(2.0, 0.1)"
    ): "The search starts elsewhere and finds the same optimum.",
    Mutant(
        "retrospect._mixed", "MixedModel.deviations", "fit.common[:-1, :-1]", "fit.common[:, :-1]"
    ): "The row that is added is below the triangle and is not read.",
    Mutant(
        "retrospect._rotated",
        "Seen.of",
        "task.n_samples > alone.n_features + alone.centered",
        "task.n_samples >= alone.n_features + alone.centered",
    ): "With as many rows as columns, the rows and their factor give the same numbers but for signs of directions.",
    Mutant(
        "information._by_task",
        "ByTask.without_cluster",
        "leaf.name.cluster == cluster and tree is not None",
        "leaf.name.cluster == cluster",
    ): "Only the last leaf leaves nothing, and no leaf comes after it.",
    Mutant(
        "information._base",
        "Information.solve",
        "solution.rank == self.n_features or not start.any()",
        "not start.any()",
    ): "If the rank is full, a change from the start solves the same equations.",
    Mutant(
        "retrospect._clustered", "Adjusted.decided_alone", "np.square(d).sum(axis=0)", "np.square(d).sum()"
    ): "The columns are scaled to sizes near 1, so this is a small multiple of a limit that is far from all shares.",
}
"""Mutants that no test can kill, and why."""
