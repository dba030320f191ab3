"""What `decay="adaptive"` costs while nothing changes, and gains after a change: part of `make retrospect`.

The rule is written here a second time, for all sequences at once and from plain moments; a test compares the two.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from benchmarks.sweep import add_worker_options, sweep

Array = NDArray[np.float64]
Noise = Callable[[np.random.Generator, int, Array], Array]
"""Draws the noise of task t, counted from 1, given the rows of each sequence, (sequences, rows, features)."""
Move = Callable[[np.random.Generator, int, Array], Array]
"""Returns the parameters of task t, (sequences, features), given those of the task before."""

P, N = 4, 30
"""Features and rows per task; an intercept comes on top."""
SEQUENCES = 2000


def gaussian(rng: np.random.Generator, t: int, X: Array) -> Array:
    """Return Gaussian noise."""
    return rng.normal(size=X.shape[:2])


def last_noisy(rng: np.random.Generator, t: int, X: Array) -> Array:
    """Return Gaussian noise, in task 20 three times as large."""
    return gaussian(rng, t, X) * (3.0 if t == 20 else 1.0)


def second_noisy(rng: np.random.Generator, t: int, X: Array) -> Array:
    """Return Gaussian noise, in every second task three times as large."""
    return gaussian(rng, t, X) * (1.0 if t % 2 else 3.0)


def outlier(rng: np.random.Generator, t: int, X: Array, *, at: int) -> Array:
    """Return Gaussian noise with one outlier of +10σ in one task."""
    noise = gaussian(rng, t, X)
    noise[:, 0] += 10.0 * (t == at)
    return noise


def heavy(rng: np.random.Generator, t: int, X: Array) -> Array:
    """Return noise of Student's t with three degrees of freedom."""
    return rng.standard_t(3, size=X.shape[:2])


def scaled(rng: np.random.Generator, t: int, X: Array, *, each: int) -> Array:
    """Return Gaussian noise of lognormal scale: one for the task, or one for each row."""
    return np.exp(0.7 * rng.normal(size=(len(X), each))) * gaussian(rng, t, X)


def fanned(rng: np.random.Generator, t: int, X: Array) -> Array:
    """Return noise whose standard deviation is |x_0|."""
    return np.abs(X[..., 0]) * gaussian(rng, t, X)


def jumping(rng: np.random.Generator, t: int, coef: Array, *, size: float) -> Array:
    """Return the parameters, which move by ‖δ‖² = size before task 11."""
    return drifting(rng, t, coef, size=size) if t == 11 else coef


def drifting(rng: np.random.Generator, t: int, coef: Array, *, size: float) -> Array:
    """Return the parameters, which move by ‖δ‖² = size before every task."""
    step = rng.normal(size=coef.shape)
    return np.asarray(coef + step * np.sqrt(size / np.square(step).sum(axis=1, keepdims=True)))


def staying(rng: np.random.Generator, t: int, coef: Array) -> Array:
    """Return the parameters as they are."""
    return coef


@dataclass(frozen=True)
class Setting:
    """How the tasks of a sequence come about."""

    n_tasks: int = 20
    noise: Noise = gaussian
    move: Move = staying

    def tasks(self, sequences: int, seed: int = 0) -> Iterator[tuple[Array, Array, Array]]:
        """Yield the rows, targets and parameters of each task, for all sequences."""
        rng = np.random.default_rng(seed)
        coef = rng.normal(size=(sequences, P))
        for t in range(1, self.n_tasks + 1):
            coef = self.move(rng, t, coef)
            X = rng.normal(size=(sequences, N, P))
            yield X, np.einsum("bnp,bp->bn", X, coef) + 1.0 + self.noise(rng, t, X), coef


SETTINGS = {
    "Gaussian noise": Setting(),
    "the last task three times as noisy": Setting(noise=last_noisy),
    "every second task three times as noisy": Setting(noise=second_noisy),
    "an outlier of +10σ in the last task": Setting(noise=partial(outlier, at=20)),
    "an outlier of +10σ in task 10": Setting(noise=partial(outlier, at=10)),
    "t₃ noise, 40 tasks": Setting(40, heavy),
    "a noise level per task, lognormal": Setting(noise=partial(scaled, each=1)),
    "a noise level per row, lognormal": Setting(noise=partial(scaled, each=N)),
    "noise proportional to the size of x₀": Setting(noise=fanned),
    **{f"jump, ‖δ‖² = {size:g}": Setting(move=partial(jumping, size=size)) for size in (1.0, 2.0, 8.0)},
    **{f"drift, ‖δ‖² = {size:g} per task": Setting(move=partial(drifting, size=size)) for size in (0.1, 1.0)},
}
CALM = tuple(SETTINGS)[:9]


class Held:
    """The moments of [1, x, y] over rows, (sequences, P + 2, P + 2), and how many rows they are."""

    def __init__(self, moments: Array, rows: Array) -> None:
        self.moments, self.rows = moments, rows

    @classmethod
    def of(cls, X: Array, y: Array) -> "Held":
        """Return the moments of a task."""
        A = np.concatenate([np.ones((*y.shape, 1)), X, y[..., None]], axis=2)
        return cls(A.transpose(0, 2, 1) @ A, np.full(len(X), float(N)))

    def plus(self, other: "Held", share: Array | float = 1.0) -> "Held":
        """Return the sum, with a share of the rows of the other."""
        weight = np.broadcast_to(share, self.rows.shape)
        return Held(self.moments + weight[:, None, None] * other.moments, self.rows + np.rint(weight * other.rows))

    def where(self, chosen: NDArray[np.bool_], other: "Held") -> "Held":
        """Return this for the chosen sequences, the other for the rest."""
        moments = np.where(chosen[:, None, None], self.moments, other.moments)
        return Held(moments, np.where(chosen, self.rows, other.rows))

    def only(self, chosen: NDArray[np.bool_]) -> "Held":
        """Return the chosen sequences."""
        return Held(self.moments[chosen], self.rows[chosen])

    def coef(self) -> Array:
        """Return intercept and slopes, (sequences, P + 1)."""
        return np.asarray(np.linalg.solve(self.moments[:, :-1, :-1], self.moments[:, :-1, -1:])[..., 0])

    def squares(self, coef: Array) -> Array:
        """Return the residual squares of coefficients, (sequences,)."""
        towards = np.concatenate([-coef, np.ones((len(coef), 1))], axis=1)
        return np.asarray(np.einsum("bi,bij,bj->b", towards, self.moments, towards))

    def half_widths(self) -> Array:
        """Return half the 95 % intervals of the slopes, (sequences, P)."""
        freedom = self.rows - P - 1
        variances = np.diagonal(np.linalg.inv(self.moments[:, :-1, :-1]), axis1=1, axis2=2)[:, 1:]
        noise = np.square(student.ppf(0.975, freedom)) * self.squares(self.coef()) / freedom
        return np.sqrt(noise[:, None] * variances)


def likelihoods(past: Held, task: Held, sizes: Array, coef: Array | None = None) -> tuple[Array, Array]:
    """Return max_ρ log L(ρ, g) for sizes of a change, and ρ/(ρ + g) there; both (sequences, sizes)."""
    own = past.coef()
    coef = own if coef is None else coef
    root = np.linalg.inv(np.linalg.cholesky(past.moments[:, :-1, :-1]))
    seen = root @ task.moments[:, :-1, :-1] @ root.transpose(0, 2, 1)
    strengths, axes = np.linalg.eigh(seen)
    towards = task.moments[:, :-1, -1:] - task.moments[:, :-1, :-1] @ coef[..., None]
    z = np.square((axes.transpose(0, 2, 1) @ root @ towards)[..., 0]) / strengths
    left, left_of_past = task.squares(coef) - z.sum(axis=1), past.squares(own)
    freedom = past.rows - P - 1
    changes = sizes / strengths.mean(axis=1, keepdims=True)

    def value(log: Array) -> Array:
        spread = 1.0 + (np.exp(log) + changes[..., None])[..., None] * strengths[:, None, None]
        squares = left[:, None, None] + left_of_past[:, None, None] / np.exp(log) + (z[:, None, None] / spread).sum(-1)
        fit = (task.rows + freedom)[:, None, None] * np.log(squares)
        return -0.5 * np.asarray(freedom[:, None, None] * log + np.log(spread).sum(axis=-1) + fit)

    log = np.broadcast_to(np.linspace(-12.0, 12.0, 25), (len(z), len(sizes), 25))
    for width in (1.0, 0.2, 0.04, 0.008, 0.0):
        values = value(log)
        best = values.argmax(axis=2)[..., None]
        centre = np.take_along_axis(log, best, axis=2)
        log = centre + width * np.linspace(-1.0, 1.0, 11)
    ratio = np.exp(centre[..., 0])
    return np.take_along_axis(values, best, axis=2)[..., 0], ratio / (ratio + changes)


def odds(past: Held, task: Held) -> Array:
    """Return the log odds that a task has another parameter than the past, (sequences,)."""
    found = likelihoods(past, task, np.array([0.0, 3.0, 30.0, 300.0]))[0]
    return np.asarray(np.logaddexp.reduce(found[:, 1:], axis=1) - np.log(3.0) - found[:, 0])


def shares(past: Held, task: Held) -> Array:
    """Return the share of the past that is useful beside a task of another parameter, (sequences,)."""
    sizes = np.geomspace(0.1, 1e10, 45)
    found, useful = likelihoods(past, task, sizes)
    start = np.zeros((len(found), P + 1))
    start[:, 0] = past.moments[:, 0, -1] / past.moments[:, 0, 0]
    best = found.argmax(axis=1)[:, None]
    about_start = likelihoods(past, task, sizes, start)[0].max(axis=1)
    keeps = np.take_along_axis(found, best, axis=1)[:, 0] >= about_start
    return np.where(keeps, np.take_along_axis(useful, best, axis=1)[:, 0], 0.0)


def simulate(setting: Setting, sequences: int = SEQUENCES, seed: int = 0) -> dict[str, Array]:
    """Run all sequences and return what is found after each task, (n_tasks, sequences).

    `plain` and `adaptive` are ‖ŵ_t − w_t‖², `out` says whether rows are out of force, and `covered` is the share of the
    slopes inside their 95 % intervals.
    """
    found: dict[str, list[NDArray[Any]]] = {name: [] for name in ("plain", "adaptive", "out", "covered")}
    for t, (X, y, coef) in enumerate(setting.tasks(sequences, seed), 1):
        task = Held.of(X, y)
        if t == 1:
            plain = force = past = recent = task
            doubt = gone = np.zeros(sequences, dtype=bool)
        else:
            plain = plain.plus(task)
            past, recent, doubt, let_go = _step(past, recent, doubt, task, t)
            gone = gone | let_go
            force = past
            if doubt.any():
                share = np.zeros(sequences)
                share[doubt] = shares(past.only(doubt), recent.only(doubt))
                force = recent.plus(past, share).where(doubt, past)
        for name, held in (("plain", plain), ("adaptive", force)):
            found[name].append(np.square(held.coef()[:, 1:] - coef).sum(axis=1))
        found["out"].append(doubt | gone)
        found["covered"].append((np.abs(force.coef()[:, 1:] - coef) <= force.half_widths()).mean(axis=1))
    return {name: np.array(values, dtype=np.float64) for name, values in found.items()}


def _step(
    past: Held, recent: Held, doubt: NDArray[np.bool_], task: Held, t: int
) -> tuple[Held, Held, NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the past, the rows since it was set aside, in which sequences it is, and in which it was let go."""
    against, since = odds(past, task), np.zeros(len(doubt))
    since[doubt] = odds(recent.only(doubt), task.only(doubt))
    alarm = ~doubt & (against >= np.log(20.0 * t * (t - 1)))
    back = doubt & (against < since)
    let_go = doubt & ~back & (against >= np.log(20.0))
    later = recent.plus(task)
    calm = past.plus(task)
    after = later.where(let_go, past.plus(later).where(back, past.where(alarm | doubt, calm)))
    return after, task.where(~doubt, later), alarm | (doubt & ~back & ~let_go), let_go


def means(found: dict[str, Array]) -> dict[str, list[float]]:
    """Return the means over the sequences after each task, and `alarms`: the share with rows out of force by then."""
    found = {**found, "alarms": np.maximum.accumulate(found["out"])}
    return {name: [float(f"{value:.4g}") for value in values.mean(axis=1)] for name, values in found.items()}


def measured(setting: Setting, sequences: int) -> dict[str, list[float]]:
    """Return the means for one setting."""
    return means(simulate(setting, sequences))


DOCS = Path(__file__).parents[1] / "docs"
RESULTS, PAGE = DOCS / "adaptive.json", DOCS / "retrospect.md"
START, END = "<!-- adaptive: made by `make retrospect` -->\n", "<!-- end of adaptive -->\n"


def table(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the tables, in Markdown."""
    yield "| nothing changes | risk over plain, before | after | after, at the worst task "
    yield "| false alarms, before | after |\n|---|---|---|---|---|---|\n"
    for name in CALM:
        old, new = before[name], after[name]
        ratio = np.array(new["adaptive"]) / new["plain"]
        yield (
            f"| {name} | {old['adaptive'][-1] / old['plain'][-1]:.3g} | {ratio[-1]:.3f} | {ratio.max():.3f} "
            f"| {_percent(old['alarms'][-1], 1)} | {_percent(new['alarms'][-1], 2)} |\n"
        )
    yield "\n| the parameter changes | plain over adaptive, t = 11 | t = 12 | t = 15 | t = 20 "
    yield "| seen by t = 15 | coverage, t = 11 | t = 12 | t = 15 | t = 20 |\n"
    yield f"|{10 * '---|'}\n"
    for name in SETTINGS:
        if name not in CALM:
            new = after[name]
            gains = [f"{new['plain'][t - 1] / new['adaptive'][t - 1]:.3g}" for t in (11, 12, 15, 20)]
            covered = [_percent(new["covered"][t - 1]) for t in (11, 12, 15, 20)]
            yield f"| {' | '.join([name, *gains, _percent(new['alarms'][14]), *covered])} |\n"


def _percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"


def main() -> None:
    """Run all settings, write docs/adaptive.json and put the tables into docs/retrospect.md."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--sequences", type=int, default=SEQUENCES)
    add_worker_options(parser)
    options = parser.parse_args()
    results = json.loads(RESULTS.read_text(encoding="utf-8"))  # "before" stays: the rule of the first version
    found = dict(
        sweep({name: partial(measured, setting, options.sequences) for name, setting in SETTINGS.items()}, options)
    )
    results["after"] = {name: found[name] for name in SETTINGS}
    lines = ",\n".join(f" {json.dumps(key)}: {json.dumps(part, ensure_ascii=False)}" for key, part in results.items())
    RESULTS.write_text("{\n" + lines + "\n}\n", encoding="utf-8")
    first, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    last = rest.partition(END)[2]
    PAGE.write_text(first + START + "".join(table(results["before"], results["after"])) + END + last, encoding="utf-8")


if __name__ == "__main__":
    main()
