"""Make the table and the figures of docs/paper.md: `make paper`, some ten minutes."""

from collections.abc import Iterator
from pathlib import Path

from paper_figures import FIGURES

from ridgeway.research import verify
from ridgeway.research.verify import StatementResult, Trial

PAGE = Path(__file__).with_name("paper.md")
START, END = "<!-- table: made by `make paper` -->\n", "<!-- end of table -->\n"


def main() -> None:
    """Run every statement with the full budget, put the table into the page, and draw the figures."""
    images = PAGE.with_name("images")
    images.mkdir(exist_ok=True)
    for name, draw in FIGURES.items():
        figure = draw()
        figure.savefig(images / f"{name}.png", dpi=150)
    results = list(verify.verify(budget="full", workers=-1))
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(START)
    after = rest.partition(END)[2]
    PAGE.write_text(before + START + "".join(table(results)) + END + after, encoding="utf-8")


def table(results: list[StatementResult]) -> Iterator[str]:
    """Yield the lines of the table, in Markdown."""
    yield (
        "| statement | where | row | verdict | as printed | as corrected or extended | instances "
        "| smallest counterexample |\n"
    )
    yield "|---|---|---|---|---|---|---|---|\n"
    for result in results:
        cells = [
            f"`{result.name}`",
            result.where,
            result.row,
            str(result.verdict) if result.agrees else f"{result.verdict}, recorded: {result.recorded}",
            evidence(result.printed),
            evidence(result.corrected) if result.corrected else "",
            f"{result.instances:,}",
            result.counterexample or "",
        ]
        yield f"| {' | '.join(cells)} |\n"


def evidence(trial: Trial) -> str:
    """Return what was measured, its worst value, and what it may be."""
    relation = ("≥" if trial.holds else "<") if trial.at_least else ("≤" if trial.holds else ">")
    broken = f"; {trial.broken:,} of {trial.instances:,} break it" if trial.broken else ""
    return f"{trial.measure}: {trial.value:.6g} {relation} {trial.limit:.6g}{broken}"


if __name__ == "__main__":
    main()
