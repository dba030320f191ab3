"""Tasks added, merged, removed and faded in random order, the prior changed in between: against rational arithmetic."""

import warnings
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from benchmarks.extended import EPS, Problem, exact, solved
from ridgeway import GeneralizedRidge, weights
from ridgeway.errors import InvalidDataError, RemovalError

ROOM = 1e3
"""The error that is allowed without a warning, in units of eps·κ (κ² for `moments`)."""
PRIORS = [0.0, 1e-6, 1e-2, 1.0, 1e3]


@dataclass
class Life:
    """A model, and the rows that it must answer for."""

    seed: int
    kind: str
    kept: list = field(default_factory=list)
    n_tasks: int = 0

    def __post_init__(self):
        self.rng = rng = np.random.default_rng(self.seed)
        self.p = int(rng.integers(1, 4))
        self.decay = float(rng.choice([1.0, 1.0, 0.7, 1e-3, 1e-8]))
        self.gap, self.offset = 10.0 ** -rng.uniform(0, 4), rng.choice([0.0, 10.0, 1e4])
        self.scales = 10.0 ** rng.uniform(-3, 3, self.p)
        self.start = rng.normal(size=self.p) / self.scales
        self.fit_intercept = bool(rng.random() < 0.6)
        self.prior = float(rng.choice(PRIORS))
        self.model = self.fresh()

    def fresh(self):
        policy = weights.Accumulated(prior=self.prior, decay=self.decay)
        return GeneralizedRidge(
            policy, information=self.kind, fit_intercept=self.fit_intercept, initial_coef=self.start
        )

    def task(self):
        n = int(self.rng.integers(1, 6))
        X = self.rng.normal(size=(n, self.p)) + self.offset
        X[:, 1:2] = X[:, :1] + self.gap * X[:, 1:2]
        y = X.sum(axis=1) + self.rng.normal(size=n) * 10.0 ** self.rng.uniform(-4, 1)
        return X * self.scales * 10.0 ** self.rng.uniform(-1, 1), y, self.rng.uniform(0.2, 3.0, n)

    def step(self):
        """Do something at random. A model that fades can only learn."""
        what = self.rng.choice(["add", "merge", "remove", "prior"]) if self.kept and self.decay == 1.0 else "add"
        if what == "remove" and len(self.kept) > 1:
            number = int(self.rng.integers(len(self.kept)))
            try:
                self.model = self.model.remove(*self.kept[number])
                del self.kept[number]
            except RemovalError:
                pass
            return
        if what == "prior":
            self.prior = float(self.rng.choice(PRIORS))
            self.model.set_params(weights__prior=self.prior)
        task = self.task()
        if what == "merge":
            self.model = self.model.merge(self.fresh().partial_fit(*task))
        else:
            self.model.partial_fit(*task)
        self.kept = [(X, y, w * self.decay) for X, y, w in self.kept] + [task]
        self.n_tasks += 1

    def problem(self):
        X, y, w = (np.concatenate(part) for part in zip(*self.kept, strict=True))
        prior = np.full(self.p, self.prior * self.decay**self.n_tasks)
        return Problem(X, y[:, None], w, self.fit_intercept, prior, self.start[:, None])


def error(life, problem):
    """Return the error of the model in units of eps·κ, or None if there is no unique answer, and whether it warned."""
    if len(problem.X) - problem.fit_intercept < life.p and not problem.prior.any():
        return None, False
    reference = solved(problem)
    if reference is None:
        return None, False
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        coef = life.model.coef_[:, None]
    away = np.abs(reference.norms[:, None] * (coef - exact(problem))).max() / reference.size
    condition = reference.condition
    if life.model.digits_lost_:  # a removal works on the rows alone, and leaves the rounding of their condition
        condition = max(condition, solved(replace(problem, prior=np.zeros(life.p))).condition)
    return away / (EPS * condition ** (2 if life.kind == "moments" else 1)), bool(caught)


def lives(count):
    for seed in range(count):
        life = Life(seed, ("square_root", "moments")[seed % 2])
        for _ in range(int(life.rng.integers(2, 7))):
            life.step()
        yield life


def test_any_order_of_changes_keeps_its_digits_or_warns():
    found = [error(life, life.problem()) for life in lives(300)]
    judged = [(size, warned) for size, warned in found if size is not None]
    assert len(judged) > 250
    assert sum(warned for _, warned in judged) < 30
    assert max(size for size, warned in judged if not warned) <= ROOM


def test_a_prior_that_counts_twice_is_noticed():
    broken = [error(life, replace(life.problem(), prior=2.0 * life.problem().prior))[0] for life in lives(60)]
    assert max(size for size in broken if size is not None) > 1e6


@pytest.mark.parametrize("weight", [5e-324, 1e-310, 1e-200])
def test_weights_that_lose_digits_are_refused(weight):
    model = GeneralizedRidge().fit([[1.0], [2.0], [4.0]], [1.0, 2.0, 5.0])
    before = model.state_
    with pytest.raises(InvalidDataError, match="sample_weight has positive values below 1e-150"):
        model.partial_fit([[1.0], [2.0]], [1.0, 3.0], [1.0, weight])
    assert model.state_ is before
