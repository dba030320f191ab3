"""Twenty tasks, one after another, learned by all five estimators: who forgets, and who does not.

Every task has fewer rows than features, and each shows some directions of the true parameter strongly and others
hardly at all. Prints a table, and draws the errors after every task into build/demo.png.
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray

from ridgeway import ContinualRidge, EarlyStopping, GeneralizedRidge, MinimumNorm, Oracle, metrics
from ridgeway.estimators import ContinualRegressor

mpl.use("Agg")
from matplotlib import pyplot as plt

Array = NDArray[np.float64]

N_TASKS, N_SAMPLES, N_FEATURES, REPETITIONS = 20, 30, 40, 20
SHOWN = (1, 2, 3, 5, 10, 20)
PICTURE = Path("build") / "demo.png"
STYLES = {
    "MinimumNorm": ("#d55e00", "-"),
    "EarlyStopping": ("#cc79a7", "-"),
    "ContinualRidge": ("#e69f00", "-"),
    "GeneralizedRidge": ("#0072b2", "-"),
    "Oracle (keeps all rows)": ("black", ":"),
}


def estimators() -> dict[str, ContinualRegressor]:
    """Return the five, as the table shows them."""
    models = (MinimumNorm(), EarlyStopping(n_steps=20), ContinualRidge(penalty=1.0), GeneralizedRidge(), Oracle())
    return dict(zip(STYLES, models, strict=True))


def play(seed: int) -> tuple[Array, float]:
    """Return the errors after each task, of shape (5, N_TASKS), and how far GeneralizedRidge is from the oracle."""
    rng = np.random.default_rng(seed)
    true_coef = rng.normal(size=N_FEATURES)
    models = estimators()
    coefs = np.empty((len(models), N_TASKS, N_FEATURES))
    for task in range(N_TASKS):
        scales = np.where(rng.random(N_FEATURES) < 0.2, 3.0, 0.5)
        X = rng.normal(size=(N_SAMPLES, N_FEATURES)) * scales
        y = 1.0 + X @ true_coef + rng.normal(size=N_SAMPLES)
        for row, model in enumerate(models.values()):
            coefs[row, task] = model.partial_fit(X, y).coef_
    errors: Array = metrics.estimation_error(coefs, true_coef)
    return errors, float(np.abs(coefs[3] - coefs[4]).max() / np.abs(coefs[4]).max())


def main() -> None:
    """Play the sequence a few times, print the table, draw the picture."""
    played = [play(seed) for seed in range(REPETITIONS)]
    errors = np.array([error for error, _ in played])
    mean, spread = errors.mean(axis=0), errors.std(axis=0, ddof=1) / np.sqrt(REPETITIONS)

    print(f"{N_TASKS} tasks of {N_SAMPLES} rows and {N_FEATURES} features; error ‖ŵ − w*‖² after task t, ", end="")
    print(f"mean of {REPETITIONS} sequences\n")
    print(f"{'':<24}" + "".join(f"{f't = {t}':>10}" for t in SHOWN) + f"{'forgetting':>13}")
    for name, row in zip(STYLES, mean, strict=True):
        forgetting = metrics.forgetting(row)[-1]
        print(f"{name:<24}" + "".join(f"{row[t - 1]:>10.3f}" for t in SHOWN) + f"{forgetting:>+13.2f}")
    apart = max(distance for _, distance in played)
    print(f"\nGeneralizedRidge threw every row away, and is the pooled answer to {apart:.0e} after every task.")
    print("(forgetting: how much worse the last estimate is than those before it, on average; below 0, none)")

    figure, axes = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
    tasks = np.arange(1, N_TASKS + 1)
    for (name, (color, line)), row, band in zip(STYLES.items(), mean, spread, strict=True):
        above = 3 if name.startswith("Oracle") else 2
        axes.plot(tasks, row, line, color=color, linewidth=3.0 if above == 3 else 1.8, label=name, zorder=above)
        axes.fill_between(tasks, row - 2 * band, row + 2 * band, color=color, alpha=0.15, linewidth=0)
    axes.set(yscale="log", xlabel="tasks learned", ylabel="estimation error ‖ŵ − w*‖²", xlim=(1, N_TASKS))
    axes.set_title("Rows are thrown away after each task", loc="left")
    axes.set_xticks([1, *range(5, N_TASKS + 1, 5)])
    axes.grid(alpha=0.3, which="major")
    axes.legend(frameon=False, loc="lower left")
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=130)
    print(f"\nThe picture is in {PICTURE}")


if __name__ == "__main__":
    main()
