"""A state file as a notebook shows it."""

from collections.abc import Iterator
from dataclasses import dataclass

from ridgeway._printed import Printed, Rows
from ridgeway._text import counted
from ridgeway.data import Schema
from ridgeway.store._ledger import Record


@dataclass(frozen=True)
class LedgerTable(Printed):
    """The columns of a state file and its ledger; without them if it cannot be read."""

    path: str
    schema: Schema | None = None
    ledger: tuple[Record, ...] = ()
    problem: str = ""

    def _title(self) -> str:
        if self.schema is None:
            return self.path
        there = [record for record in self.ledger if record.removed is None]
        n_samples = sum(record.n_samples for record in there)
        return (
            f"{self.path}: {counted(len(self.schema.features), 'feature')}, target {', '.join(self.schema.targets)}; "
            f"{counted(len(there), 'task')}, {counted(n_samples, 'row')}"
        )

    def _tables(self) -> Iterator[tuple[str, Rows]]:
        rows = [[r.task_id, f"{r.n_samples:,}", r.absorbed_at, r.digest[:12], r.note] for r in self.ledger]
        if rows:
            yield "", [["task", "rows", "absorbed", "digest", "note"], *rows]

    def _notes(self) -> list[str]:
        return [self.problem] if self.problem else []
