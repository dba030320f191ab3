"""Coverage of 95 % intervals if tasks differ: `python -m benchmarks.differing`.

Prints one line per setting. `--repetitions 200` takes about ten minutes.
"""

import argparse
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ridgeway import GeneralizedRidge, retrospect

Array = NDArray[np.float64]


def by_precision(model: GeneralizedRidge) -> retrospect.Summary:
    """Return the summary if each task is weighted by the precision that its own fit shows."""
    each = retrospect.tasks(model)
    weights = dict(zip(each.tasks, 1.0 / each.noise_variance, strict=True))
    return retrospect.summary(retrospect.reweighted(model, weights))


METHODS: dict[str, Callable[[Any], Any]] = {
    "summary": retrospect.summary,
    "fixed_effects": retrospect.fixed_effects,
    "random_effects": retrospect.random_effects,
    "random_effects, slope": lambda model: retrospect.random_effects(model, ["intercept", 0]),
    "reweighted": by_precision,
}


class Differing(NamedTuple):
    """Tasks and their rows, and how tasks differ: standard deviations of intercepts and slopes, ratio of noises."""

    n_tasks: int
    n: int
    intercepts: float = 0.0
    slopes: float = 0.0
    noises: float = 1.0

    def draw(self, rng: np.random.Generator) -> GeneralizedRidge:
        """Return a model that learned y = 1 + x·(1 + slope) + intercept + noise; x has a part that tasks share."""
        labels = np.repeat(np.arange(self.n_tasks), self.n)
        intercepts, slopes, shared = (
            size * rng.normal(size=self.n_tasks) for size in (self.intercepts, self.slopes, 1.0)
        )
        x = rng.normal(size=len(labels)) + shared[labels]
        noise = np.where(labels % 2 == 0, 1.0, self.noises) * rng.normal(size=len(labels))
        y = 1.0 + x * (1.0 + slopes[labels]) + intercepts[labels] + noise
        return GeneralizedRidge(information="by_task").fit(x[:, None], y, tasks=labels)


SETTINGS: dict[str, Differing] = {
    f"{name}, {n_tasks} tasks of {n} rows": Differing(n_tasks, n, **how)
    for name, how in {
        "nothing differs": {},
        "intercepts": {"intercepts": 1.0},
        "intercepts and slopes": {"intercepts": 1.0, "slopes": 0.5},
        "noise": {"noises": 4.0},
    }.items()
    for n_tasks in (8, 20, 100)
    for n in (8, 20)
}


def coverage(setting: Differing, repetitions: int, seed: int = 1) -> dict[str, float]:
    """Return how often the interval of the slope holds the mean slope, by method."""
    rng = np.random.default_rng(seed)
    hits = dict.fromkeys(METHODS, 0)
    for _ in range(repetitions):
        model = setting.draw(rng)
        for name, ask in METHODS.items():
            low, high = ask(model).intervals[-1]
            hits[name] += int(low <= 1.0 <= high)
    return {name: count / repetitions for name, count in hits.items()}


def lines(repetitions: int, only: str = "") -> Iterator[str]:
    """Yield a table in Markdown."""
    yield f"| 95 % intervals of a slope, {repetitions} sequences | {' | '.join(METHODS)} |"
    yield "|---|" + "---:|" * len(METHODS)
    for name, setting in SETTINGS.items():
        if name.startswith(only):
            found = coverage(setting, repetitions)
            yield f"| {name} | {' | '.join(f'{100.0 * share:.1f} %' for share in found.values())} |"


def main() -> None:
    """Print the coverage in all settings, or in those whose names begin as asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=2000)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    for line in lines(asked.repetitions, asked.only):
        print(line, flush=True)


if __name__ == "__main__":
    main()
