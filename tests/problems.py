"""Sequences of tasks for the tests: every shape, rank and scale, and how well each can be answered at all."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

EPS = np.finfo(float).eps


@dataclass(frozen=True)
class Sequence:
    """Tasks (X, y, sample_weight), and whether a model of them has an intercept."""

    tasks: list
    fit_intercept: bool

    def pooled(self, n_tasks=None):
        parts = self.tasks[:n_tasks]
        weight = None if parts[0][2] is None else np.concatenate([w for _, _, w in parts])
        return np.vstack([X for X, _, _ in parts]), np.concatenate([y for _, y, _ in parts]), weight


@st.composite
def sequences(draw, *, most_tasks=8, most_features=7, collinear=0, deficient=True, scaled=True):
    """Draw a sequence; `collinear` is the largest k for which a column may be collinear with another to 10^-k."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    p = draw(st.integers(1, most_features))
    rank = draw(st.integers(1, p)) if deficient else p
    mix = rng.normal(size=(rank, p)) if rank < p else np.eye(p)
    scales = 10.0 ** rng.uniform(-6, 6, p) if scaled and draw(st.booleans()) else np.ones(p)
    offset = rng.normal(size=p) * draw(st.sampled_from([0.0, 1.0, 100.0]))
    targets = draw(st.sampled_from([(), (1,), (3,)]))
    coef = rng.normal(size=(p, *targets))
    nearness = 10.0 ** -draw(st.integers(0, collinear))
    weighted = draw(st.booleans())
    tasks = []
    for _ in range(draw(st.integers(1, most_tasks))):
        n = draw(st.integers(1, 2 * most_features))
        X = rng.normal(size=(n, rank)) @ mix + offset
        if p > 1 and rank == p and nearness < 1.0:
            X[:, 1] = X[:, 0] + nearness * X[:, 1]
        y = X @ coef + 0.1 * rng.normal(size=(n, *targets)) + 1.0
        tasks.append((X * scales, y, rng.uniform(0.2, 3.0, n) if weighted else None))
    return Sequence(tasks, draw(st.booleans()))


@dataclass(frozen=True)
class Difficulty:
    """What rounding allows for a pooled system: columns scaled to unit norm after centring."""

    norms: np.ndarray
    smallest: float
    condition: float
    magnified: float


def difficulty(X, weight, fit_intercept, prior=0.0):
    w = np.ones(len(X)) if weight is None else weight
    mean = w @ X / w.sum() if fit_intercept else np.zeros(X.shape[1])
    A = np.vstack([np.sqrt(w)[:, None] * (X - mean), np.sqrt(prior) * np.eye(X.shape[1])])
    norms = np.linalg.norm(A, axis=0)
    magnified = np.hypot(1, np.sqrt(w.sum()) * abs(mean) / np.where(norms > 0, norms, np.inf)).max()
    norms = np.where(norms > EPS * np.sqrt(w.sum()) * abs(mean), norms, np.inf)
    s = np.linalg.svd(A / norms, compute_uv=False)
    counted = s[s > 2e-14 * magnified * max(s[0], EPS)]
    if len(counted) == 0:
        return Difficulty(norms, 1.0, 1.0, magnified)
    return Difficulty(norms, counted[-1], s[0] / counted[-1], magnified)


def assert_same_model(model, other, X, y, weight, *, squared, prior=0.0):
    """Two models agree to what rounding allows; to 1e-10 where the system is well conditioned and of full rank.

    `squared` says whether the condition number enters squared, as it does for normal equations.
    """
    d = difficulty(X, weight, model.fit_intercept, prior)
    scale = np.where(np.isfinite(d.norms), d.norms, 0.0)
    one, two = (np.atleast_2d(m.coef_) * scale for m in (model, other))
    deficient = model.rank_ < X.shape[1]  # the least norm has a sensitivity of its own, to how columns differ in scale
    growth = d.condition**2 if squared or deficient else d.condition
    left = np.linalg.norm(y - other.predict(X))
    size = np.linalg.norm(two) + d.condition * left
    bound = 4000 * EPS * d.magnified * growth * size
    if deficient:
        bound *= 1e4
    assert np.linalg.norm(one - two) <= bound, (np.linalg.norm(one - two), bound)
    if d.condition**2 * d.magnified <= 1e4:
        tolerance = 1e-8 if deficient else 1e-10
        np.testing.assert_allclose(one, two, rtol=tolerance, atol=tolerance * max(np.abs(two).max(), EPS * left))
