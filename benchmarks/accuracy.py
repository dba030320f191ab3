"""Correct digits, beside the peers': `python -m benchmarks.accuracy FILE` writes the tables of docs/accuracy.md."""

import sys
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
from scipy.linalg.lapack import dgels
from sklearn.linear_model import LinearRegression
from sklearnex.linear_model import IncrementalLinearRegression

from benchmarks.nist import NAMES, Array, digits, exact_least_squares, load
from benchmarks.row_orders import order_table
from ridgeway import GeneralizedRidge
from ridgeway.data import InformationKind

N_TASKS = 3
Case = tuple[Array, Array, bool]


def householder(X: Array, y: Array, fit_intercept: bool) -> Array:
    """Pooled least squares by LAPACK's Householder QR, the intercept a column of ones."""
    design = np.column_stack([np.ones(len(X)), X]) if fit_intercept else X
    return np.asarray(dgels(design, y)[1][: design.shape[1]])


def pooled(X: Array, y: Array, fit_intercept: bool) -> Array:
    """scikit-learn on the pooled rows."""
    model = LinearRegression(fit_intercept=fit_intercept).fit(X, y)
    return np.r_[model.intercept_, model.coef_] if fit_intercept else model.coef_


def incremental(X: Array, y: Array, fit_intercept: bool) -> Array:
    """scikit-learn-intelex, task by task."""
    model = IncrementalLinearRegression(fit_intercept=fit_intercept)
    for part in np.array_split(np.arange(len(X)), N_TASKS):
        model.partial_fit(X[part], y[part])
    return np.r_[model.intercept_, model.coef_.ravel()] if fit_intercept else model.coef_.ravel()


def ridgeway(kind: InformationKind) -> Callable[[Array, Array, bool], Array]:
    """GeneralizedRidge, task by task."""

    def learn(X: Array, y: Array, fit_intercept: bool) -> Array:
        model = GeneralizedRidge(information=kind, fit_intercept=fit_intercept)
        for part in np.array_split(np.arange(len(X)), N_TASKS):
            model.partial_fit(X[part], y[part])
        return np.r_[model.intercept_, model.coef_] if fit_intercept else model.coef_

    return learn


CONTENDERS: dict[str, Callable[[Array, Array, bool], Array]] = {
    "`square_root`": ridgeway("square_root"),
    "`moments`": ridgeway("moments"),
    "scikit-learn-intelex": incremental,
    "scikit-learn, pooled": pooled,
    "Householder QR, pooled": householder,
}


def made(gap: float, offset: float) -> Case:
    """Return a set with two columns collinear to `gap`, all columns shifted by `offset`."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    X[:, 1] = X[:, 0] + gap * X[:, 1]
    return X + offset, rng.normal(size=90), True


def cases() -> dict[str, Case]:
    """Return the NIST sets and the made ones."""
    sets = {name.capitalize(): load(name) for name in NAMES}
    sets["collinear to 1e-7"] = made(1e-7, 0.0)
    sets["collinear to 1e-9"] = made(1e-9, 0.0)
    sets["offset of 1e8"] = made(1.0, 1e8)
    return sets


def table() -> list[str]:
    """Return the rows of the table: the smallest number of correct digits over all coefficients of a set."""
    lines = ["| set | " + " | ".join(CONTENDERS) + " |", "|---|" + "---:|" * len(CONTENDERS)]
    for name, (X, y, fit_intercept) in cases().items():
        exact = exact_least_squares(X, y, fit_intercept=fit_intercept)
        scores = [f"{digits(learn(X, y, fit_intercept), exact):.1f}" for learn in CONTENDERS.values()]
        lines.append(f"| {name} | " + " | ".join(scores) + " |")
    return lines


def main() -> None:
    """Print the tables, and put them between the marks of the page that is named."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lines = [*table(), "", *order_table()]
    names = ("numpy", "scipy", "scikit-learn", "scikit-learn-intelex")
    lines += ["", "Made with " + ", ".join(f"{name} {version(name)}" for name in names) + "."]
    print("\n".join(lines))
    if len(sys.argv) > 1:
        page = Path(sys.argv[1])
        before, _, rest = page.read_text().partition("<!-- table -->\n")
        page.write_text(
            before + "<!-- table -->\n" + "\n".join(lines) + "\n<!-- end -->" + rest.partition("<!-- end -->")[2]
        )


if __name__ == "__main__":
    main()
