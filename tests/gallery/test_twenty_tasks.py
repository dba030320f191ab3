"""The page with twenty simulated tasks: two of the methods again, with NumPy."""

import numpy as np
import pytest
from gallery_page import page_of


@pytest.fixture(scope="module")
def tasks():
    return page_of("twenty_tasks")


def test_two_methods_by_numpy(tasks):
    rng = np.random.default_rng(3)
    true_coef, changed, rows, targets = rng.normal(size=40), np.zeros(40), [], []
    for task in range(20):
        X = np.where(rng.random(40) < 0.2, 3.0, 0.5) * rng.normal(size=(30, 40))
        y = 1.0 + X @ true_coef + rng.normal(size=30)
        x, z = X - X.mean(axis=0), y - y.mean()
        changed = changed + np.linalg.pinv(x, rcond=1e-10) @ (z - x @ changed)
        rows, targets = [*rows, X], [*targets, y]
        x, z = np.vstack(rows), np.concatenate(targets)
        pooled = np.linalg.pinv(x - x.mean(axis=0), rcond=1e-10) @ (z - z.mean())
        for name, coef in (("MinimumNorm", changed), ("GeneralizedRidge", pooled), ("Oracle", pooled)):
            found = tasks["errors"][3, tasks["NAMES"].index(name), task]
            assert found == pytest.approx(np.square(coef - true_coef).sum(), rel=1e-6)


def test_the_others_end_far_above(tasks):
    last = dict(zip(tasks["NAMES"], tasks["mean"][:, -1], strict=True))
    assert last["MinimumNorm"] > 100.0 * last["GeneralizedRidge"]  # "more than 100 times as large"
    assert min(last["ContinualRidge"], last["EarlyStopping"]) > 5.0 * last["GeneralizedRidge"]
