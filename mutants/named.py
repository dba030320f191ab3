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

EQUIVALENT: dict[Mutant, str] = {}
"""Mutants that no test can kill, and why."""
