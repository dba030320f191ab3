"""docs/statements.md lists every statement of the paper, and agrees with the registry."""

import re
from itertools import groupby
from pathlib import Path

from ridgeway.research.verify import STATEMENTS, Verdict

PAGE = Path(__file__).parents[3] / "docs" / "statements.md"
LINES = [
    [cell.strip() for cell in line.strip("|\n").split("|")]
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if re.match(r"\| \d", line)
]
OTHER_READING = re.compile(r"the other form of the entry|as \d+a")


def entry_of(cells):
    found = re.fullmatch(r"`([a-z-]+)`", cells[3])
    return found and found[1]


def test_numbers_run_through():
    numbers = [re.fullmatch(r"(\d+)([a-z]?)", cells[0]).groups() for cells in LINES]
    groups = [(int(number), [letter for _, letter in rows]) for number, rows in groupby(numbers, lambda pair: pair[0])]
    assert [number for number, _ in groups] == list(range(1, len(groups) + 1))
    assert all(letters in ([""], [*"abcdef"[: len(letters)]]) for _, letters in groups)
    assert not any(letters == ["a"] for _, letters in groups)
    assert len(groups) > 150


def test_every_entry_is_in_the_table_and_every_name_exists():
    assert {entry_of(cells) for cells in LINES} - {None} == set(STATEMENTS)


def test_every_line_has_an_entry_or_a_reason():
    for cells in LINES:
        assert len(cells) == 6, cells
        assert cells[3] or cells[4], cells
        assert bool(cells[5]) or not cells[3], cells


def test_verdicts_are_the_recorded_ones():
    for cells in LINES:
        if (name := entry_of(cells)) is not None:
            expected = "holds" if OTHER_READING.fullmatch(cells[4]) else STATEMENTS[name].recorded
            assert cells[5] == expected, cells


def test_a_failing_reading_stands_beside_another():
    verdicts = {cells[0]: cells[5] for cells in LINES}
    for cells in LINES:
        if cells[5] == Verdict.READING:
            number = cells[0] if cells[0].endswith(("b", "c")) else cells[4].removeprefix("as ")
            assert number.endswith(("b", "c")), cells
            assert verdicts[number[:-1] + "a"].startswith(("holds", "open")), cells
