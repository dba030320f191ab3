"""The results, for people to read."""

import os
import platform
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from torture.outcome import Outcome

PAGE = Path("docs") / "torture.md"
BEGIN, END = "<!-- run -->\n", "<!-- end -->"
MOST_SHOWN = 10


def table(outcomes: Sequence[Outcome]) -> str:
    """Return the results as text, part by part."""
    return "\n".join(line for outcome in outcomes for line in _lines(outcome))


def _lines(outcome: Outcome) -> list[str]:
    if outcome.skipped:
        return [f"{outcome.part}: skipped: {outcome.skipped}"]
    verdict = "holds" if outcome.holds else "BROKEN"
    counts = ", ".join(f"{name} {number:,}" for name, number in outcome.counts.items())
    lines = [f"{outcome.part}: {verdict}, {len(outcome.violations)} violations, {outcome.seconds:.0f} s", f"  {counts}"]
    lines += [f"  ! {wrong[:1000]}" for wrong in outcome.violations[:MOST_SHOWN]]
    for name, caught in outcome.controls.items():
        lines.append(f"  a store that {name}: {f'caught: {caught[:160]}' if caught else 'NOT CAUGHT'}")
    return lines


def write_page(outcomes: Sequence[Outcome]) -> None:
    """Write the results between the marks of the page."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(before + BEGIN + "\n".join(page(outcomes)) + "\n" + END + rest.partition(END)[2])


def page(outcomes: Sequence[Outcome]) -> list[str]:
    """Return the results as a Markdown table."""
    minutes = sum(outcome.seconds for outcome in outcomes) / 60
    lines = [
        f"Run on {datetime.now(UTC):%d %B %Y} in {minutes:.0f} minutes: {os.cpu_count()} cores, Linux "
        f"{platform.release().split('-')[0]}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}.",
        "",
        "| part | done | violations | broken stores caught |",
        "|---|---|---|---|",
    ]
    for outcome in outcomes:
        counts = "; ".join(f"{name} {number:,}" for name, number in outcome.counts.items())
        caught = "; ".join(f"{name}: {'yes' if wrong else 'NO'}" for name, wrong in outcome.controls.items())
        lines.append(f"| {outcome.part} | {outcome.skipped or counts} | {len(outcome.violations)} | {caught} |")
    return lines
