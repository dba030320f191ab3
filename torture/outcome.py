"""What a part of the campaign found."""

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from torture.broken import Variant


@dataclass
class Outcome:
    """The figures of one part.

    Attributes
    ----------
    counts : what was done, by name
    violations : each broken promise, with what is needed to reproduce it
    controls : for each deliberately broken store, the violation that shows its fault; empty if there was none
    skipped : why the part could not run here
    """

    part: str
    counts: dict[str, int] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)
    controls: dict[str, str] = field(default_factory=dict)
    skipped: str = ""
    seconds: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether the store kept its promises and every broken store was caught."""
        return not self.violations and all(self.controls.values())

    def add(self, name: str, number: int = 1) -> None:
        """Count something."""
        self.counts[name] = self.counts.get(name, 0) + number

    def control(self, variant: Variant, other: "Outcome") -> None:
        """Record how a broken store was caught, if the check that its fault is about did it."""
        self.controls[variant.name] = next(filter(variant.shown_by, other.violations), "")

    def of(self, subject: str) -> "Outcome":
        """Return the outcome with counts and violations that name their subject."""
        counts = {f"{name}, {subject}": number for name, number in self.counts.items()}
        return replace(self, counts=counts, violations=[f"{subject}: {wrong}" for wrong in self.violations])

    def merge(self, other: "Outcome") -> None:
        """Add what another lane of the same part found."""
        for name, number in other.counts.items():
            self.add(name, number)
        self.violations += other.violations
        self.controls |= other.controls
        self.skipped = self.skipped or other.skipped

    def record(self) -> dict[str, Any]:
        """Return the outcome as plain data, from which it can be made again."""
        return asdict(self)
