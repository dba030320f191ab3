"""The NIST reference sets, and least squares on them in rational arithmetic."""

import csv
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

FOLDER = Path(__file__).parent.parent / "tests" / "data" / "nist"
DEGREES = {"filip": 10, "pontius": 2, **{f"wampler{i}": 5 for i in range(1, 6)}}
NO_INTERCEPT = ("noint1", "noint2")
NAMES = tuple(sorted(path.stem for path in FOLDER.glob("*.csv")))
MOST_DIGITS = 15.0


def load(name: str) -> tuple[Array, Array, bool]:
    """Return the float64 design without a column of ones, the target, and whether the model has an intercept."""
    with (FOLDER / f"{name}.csv").open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    table = np.array(rows, dtype=np.float64)
    y, X = table[:, 0], table[:, 1:]
    if name in DEGREES:
        X = np.column_stack([X[:, 0] ** power for power in range(1, DEGREES[name] + 1)])
    return X, y, name not in NO_INTERCEPT


def exact_least_squares(X: Array, y: Array, *, fit_intercept: bool) -> list[Fraction]:
    """Return the least-squares coefficients of the float64 design, the intercept first, exactly."""
    design = [
        [Fraction(float(v)) for v in row] for row in np.column_stack([np.ones(len(X)), X] if fit_intercept else [X])
    ]
    target = [Fraction(float(v)) for v in y]
    columns = list(zip(*design, strict=True))
    system = [[_dot(a, b) for b in columns] + [_dot(a, target)] for a in columns]
    size = len(system)
    for i in range(size):
        pivot = next(j for j in range(i, size) if system[j][i] != 0)
        system[i], system[pivot] = system[pivot], system[i]
        system[i] = [value / system[i][i] for value in system[i]]
        for j in range(size):
            if j != i:
                factor = system[j][i]
                system[j] = [a - factor * b for a, b in zip(system[j], system[i], strict=True)]
    return [row[-1] for row in system]


def digits(coef: Sequence[float] | Array, exact: Sequence[Fraction]) -> float:
    """Return the smallest log relative error, −log10(|b − b_exact|/|b_exact|), at most 15 and at least 0."""
    return min(_digits(Fraction(float(got)), want) for got, want in zip(coef, exact, strict=True))


def _digits(got: Fraction, want: Fraction) -> float:
    error = abs(got - want) / abs(want) if want else abs(got)
    return MOST_DIGITS if error == 0 else min(max(0.0, -float(np.log10(float(error)))), MOST_DIGITS)


def _dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))
