"""The page about which methods forget: NumPy finds the same with another random fifth of the birds."""

import numpy as np
import pandas as pd
import pytest
from gallery_page import page_of

from ridgeway import datasets


@pytest.fixture(scope="module")
def penguins():
    return page_of("penguins")


def test_the_page_says_what_was_found(penguins):
    found = penguins["found"]
    assert penguins.says("{:.0f} % worse at the end", 100.0 * found["mn"].rise)
    assert penguins.says("predicts them {:.0f} % better", -100.0 * found["gr"].rise)
    assert found["gr"].kept_loss == pytest.approx(found["oracle"].kept_loss)
    for key in ("mn", "gr"):
        diagonal, last = np.diag(found[key].losses)[:-1].mean(), found[key].losses[-1, :-1].mean()
        assert found[key].rise == pytest.approx(last / diagonal - 1.0)


def rises(rng):
    """Return the relative rise of the error on earlier tasks: the least change that fits, and all rows so far."""
    birds = pd.DataFrame(datasets.load_penguins().columns).dropna()
    X = birds[["bill_length_mm", "bill_depth_mm", "flipper_length_mm"]].assign(male=birds["sex"] == "male")
    X = np.column_stack([np.ones(len(X)), (X - X.mean()) / X.std()]).astype(float)
    y, held_out = birds["body_mass_g"].to_numpy(), rng.random(len(birds)) < 0.2
    groups = [rows.to_numpy() for rows in birds.reset_index().groupby(["island", "year"]).apply(lambda g: g.index)]
    losses = np.empty((2, 9, 9))
    for task in range(9):
        seen = np.concatenate(groups[: task + 1])
        for row, rows in enumerate((groups[task], seen)):  # both determine all five coefficients
            rows = rows[~held_out[rows]]
            coef = np.linalg.lstsq(X[rows], y[rows], rcond=None)[0]
            for other, group in enumerate(groups):
                test = group[held_out[group]]
                losses[row, task, other] = np.sqrt(np.mean((y[test] - X[test] @ coef) ** 2))
    learned, kept = np.diagonal(losses, axis1=1, axis2=2)[:, :-1].mean(axis=1), losses[:, -1, :-1].mean(axis=1)
    return kept / learned - 1.0


def test_another_fifth_of_the_birds_tells_the_same(penguins):
    last_only, pooled = np.mean([rises(np.random.default_rng(seed)) for seed in range(10)], axis=0)
    assert 0.4 < last_only < 1.2
    assert pooled < 0.05
    assert penguins["found"]["mn"].rise > 0.4 > 0.05 > penguins["found"]["gr"].rise
