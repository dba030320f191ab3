"""The results of a comparison, and the sentence that sums them up."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ridgeway._checks import Array
from ridgeway._plots import axes_or_new
from ridgeway._printed import Printed, Rows
from ridgeway._style import label_ends
from ridgeway.data import Encoding, FamilyName
from ridgeway.report._measures import Measure, measure_of
from ridgeway.report._method_result import MethodResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FAMILY_WORDS = {"gaussian": "numbers", "poisson": "counts", "binomial": "{} classes", "multiclass": "{} classes"}
POOLED = 1e-8
"""Predictions this close to the pooled ones, in standard deviations of the target, are the pooled answer."""


@dataclass(frozen=True)
class TaskInfo:
    """The name of a task, and how many of its rows were learned from and held out."""

    name: str
    n_train: int
    n_test: int


@dataclass(frozen=True, eq=False)
class MethodComparison(Printed):
    """What `compare` returns: the results, and how they were obtained. Prints as a table, in a notebook too.

    `encoding` is how columns became features. `center` and `scale` are what was subtracted from each of them and, last,
    from the target, and what they were then divided by. `constant` names the terms that were left out because they had
    only one value.

    Examples
    --------
    >>> from ridgeway import report
    >>> table = {"site": list("aaaabbbb"), "x": range(8), "y": [1, 2, 3, 4, 4, 3, 2, 1]}
    >>> found = report.compare(table, target="y", task_column="site", methods=["mn", "gr"])
    >>> found.task_columns, found.n_rows, [result.method.name for result in found.results]
    (('site',), 8, ['MinimumNorm', 'GeneralizedRidge', 'Oracle'])
    >>> found["gr"].distance < 1e-9 < found["mn"].distance  # from the pooled answer
    True
    """

    source: str
    task_columns: tuple[str, ...]
    order: str
    holdout: float
    seed: int
    n_rows: int
    family: FamilyName
    family_reason: str
    classes: tuple[str, ...]
    target: str
    encoding: Encoding
    constant: tuple[str, ...]
    center: Array
    scale: Array
    dropped: dict[str, int]
    lost_tasks: tuple[str, ...]
    absent: tuple[str, ...]
    tasks: tuple[TaskInfo, ...]
    results: tuple[MethodResult, ...]

    def __getitem__(self, key: str) -> MethodResult:
        """Return the result of a method by its key, such as "gr"."""
        return {result.method.key: result for result in self.results}[key]

    @property
    def measure(self) -> Measure:
        """How predictions are judged, and how that is shown."""
        return measure_of(self.family)

    @property
    def family_sentence(self) -> str:
        """What the target is, and why."""
        what = FAMILY_WORDS[self.family].format(len(self.classes))
        return f"The target {self.target} has {what} (family {self.family}), because {self.family_reason}."

    def plot(self, ax: Any = None) -> "Axes":
        """Draw what each method forgets: the slope of its error or accuracy on earlier tasks. Returns the axes.

        Needs matplotlib (`pip install 'ridgeway[report]'`).

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given. Labels are to the right of it.
        """
        axes = axes_or_new(ax, 3.6)
        from ridgeway.report._figures import slopes

        label_ends(axes, slopes(self, axes), axes.bbox.height / axes.figure.dpi)
        return axes

    def _title(self) -> str:
        return f"{len(self.tasks)} tasks, {sum(task.n_train for task in self.tasks):,} training rows"

    def _tables(self) -> Iterator[tuple[str, Rows]]:
        rows = [result.cells() for result in self.results]
        yield "", [[*rows[0]], *([*row.values()] for row in rows)]

    def _notes(self) -> list[str]:
        return self.notes

    @property
    def rows_left_out(self) -> int:
        """How many rows of the table were not used."""
        return self.n_rows - sum(task.n_train + task.n_test for task in self.tasks)

    @property
    def notes(self) -> list[str]:
        """What was left out, and what happened, in words."""
        left_out = self.rows_left_out
        return [
            *([self.family_sentence] if self.family != "gaussian" else []),
            *([f"{left_out:,} of {self.n_rows:,} rows were left out; the report says why."] if left_out else []),
            *([f"Not compared, because no rows are left: {', '.join(self.lost_tasks)}."] if self.lost_tasks else []),
            *([f"Not compared, because not installed: {', '.join(self.absent)}."] if self.absent else []),
            self.sentence,
        ]

    def settings(self) -> dict[str, Any]:
        """Return the settings of the comparison as plain data."""
        return {
            "source": self.source,
            "target": self.target,
            "family": self.family,
            "family_reason": self.family_reason,
            "measure": self.measure.name,
            "classes": list(self.classes),
            "features": list(map(str, self.encoding.terms)),
            "task_columns": list(self.task_columns),
            "methods": [result.method.key for result in self.results],
            "not_installed": list(self.absent),
            "order": self.order,
            "holdout": self.holdout,
            "seed": self.seed,
            "rows": self.n_rows,
            "rows_left_out": self.rows_left_out,
            "missing_values": self.dropped,
            "tasks_left_out": list(self.lost_tasks),
            "tasks": [vars(task) for task in self.tasks],
        }

    @property
    def sentence(self) -> str:
        """What happened, in words."""
        return " ".join([*(self._exact(r) for r in self.results if r.method.rule.startswith("gr")), self._forgotten()])

    def _exact(self, result: MethodResult) -> str:
        said = self.measure.compared(result.distance, result.distance <= POOLED)
        article = "a" if self.measure.name == "deviance" else "an"
        return (
            f"After {len(self.tasks)} tasks, {result.method.name} has thrown away every row and {said}, with {article} "
            f"{self.measure.name} of {self.measure.shown(result.average_loss)} on held-out rows."
        )

    def _forgotten(self) -> str:
        others = sorted((r for r in self.results if len(r.controls)), key=lambda r: -r.rise)
        shown, forgetful = self.measure.shown, [r for r in others if r.forgets]
        rises = {f"{r.method.name} ({shown(r.learned_loss)} → {shown(r.kept_loss)})": r.rise for r in forgetful}
        rest = {r.method.name: r.spared_by for r in others if not r.forgets}
        if rises:
            spared = f" {joined(list(rest))} {'does' if len(rest) == 1 else 'do'} not." if rest else ""
            return f"{self._said_of(rises)}{spared}"
        if rest:
            return f"No method forgets: {joined([f'{name} ({reason})' for name, reason in rest.items()])}."
        return "No method that can forget was compared."

    def _said_of(self, rises: dict[str, float]) -> str:
        """Return how much was forgotten, by method."""
        if self.measure.rises:
            (first, most), *others = ((name, f"{100.0 * rise:.0f} points") for name, rise in rises.items())
            forgot = [f"{first} forgot {most} of accuracy", *(f"{name} {points}" for name, points in others)]
            return f"On earlier tasks, {joined(forgot)}."
        they = "it forgets" if len(rises) == 1 else "they forget"
        forgot = [f"by {rise:.0%} for {name}" for name, rise in rises.items()]
        return f"The {self.measure.name} on earlier tasks rose {joined(forgot)}: {they}."


def joined(names: list[str]) -> str:
    """Return names as words: "a, b and c"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
