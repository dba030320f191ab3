"""Make format-1.rw, a state file of the first released format. Every later version must open it: do not replace it."""

from pathlib import Path

import numpy as np

from ridgeway import store

FEATURES = ["age", "education", "tenure"]
PATH = Path(__file__).with_name("format-1.rw")


def rows(number):
    """Return the rows of a task, made of small integers so that every machine has the same ones."""
    index = np.arange(12.0)
    X = np.column_stack([20 + (7 * index + 5 * number) % 40, (3 * index + number) % 8, (11 * index) % (13 + number)])
    y = 1.0 + X @ [0.02, 0.1, 0.03] + (index % 3 - 1) / 8
    return X, y


def main(path=PATH):
    """Absorb three tasks, one with weights, and remove the second."""
    made = store.create(path, features=FEATURES, target="log_wage", prior=[0.0, 0.5, 0.0])
    for number, (name, weight) in enumerate(
        [("2019", None), ("2020", None), ("2021", np.r_[np.ones(6), np.full(6, 2.0)])]
    ):
        made.absorb(name, *rows(number), weight)
    made.remove("2020", *rows(1))


if __name__ == "__main__":
    main()
