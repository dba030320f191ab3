"""Tables at any width: no line is too long if its names fit, and every cell can be read."""

import re
from unicodedata import combining, east_asian_width

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgeway import _printed
from ridgeway._printed import Printed, table_lines
from ridgeway._text import visible
from ridgeway.errors import InvalidParameterError

RULE = re.compile("-+")
WORDS = st.text(st.sampled_from("ab_-= é字\u0301\x1b"), min_size=1, max_size=60)
NUMBERS = st.floats().map("{:.4g}".format)


def columns_of(text):
    """Return the columns of a terminal that text takes, counted character by character."""
    return sum(0 if combining(c) else 1 + (east_asian_width(c) in "WF") for c in text)


def squeezed(text):
    return "".join(text.split())


@given(
    names=st.lists(WORDS, min_size=1, max_size=5),
    heads=st.lists(WORDS, min_size=1, max_size=8),
    numbers=st.lists(NUMBERS, min_size=40, max_size=40),
    width=st.integers(40, 120),
)
def test_only_one_column_can_make_a_line_too_long_and_nothing_is_lost(names, heads, numbers, width):
    body = [[name, *numbers[8 * i : 8 * i + len(heads)]] for i, name in enumerate(names)]
    rows = [["", *heads], *body]
    lines = table_lines(rows, width)
    first, *others = ([columns_of(visible(row[j])) for row in rows] for j in range(1 + len(heads)))
    too_long = {columns_of(line) for line in lines if RULE.fullmatch(line)} - {*range(width + 1)}
    assert too_long <= {max(first) + 2 + max(other) for other in others}
    assert max(map(columns_of, lines)) <= max(width, *too_long, 0)
    shown = sorted(squeezed("".join(lines)).replace("-", ""))
    blocks = sum(map(bool, [RULE.fullmatch(line) for line in lines])) // 2
    cells = [*heads, *(number for row in body for number in row[1:]), *names * blocks]
    assert shown == sorted(squeezed("".join(map(visible, cells))).replace("-", ""))


@given(numbers=st.lists(NUMBERS, min_size=12, max_size=12), width=st.integers(40, 100))
def test_numbers_are_whole_and_beside_their_names(numbers, width):
    """Read back by splitting at spaces: the rows of all blocks, joined, are the table."""
    heads = [f"h{j}" for j in range(6)]
    rows = [["name", *heads], ["a", *numbers[:6]], ["b", *numbers[6:]]]
    found = {"name": [], "a": [], "b": []}
    for line in table_lines(rows, width):
        if not RULE.fullmatch(line):
            name, *cells = line.split()
            found[name] += cells
    assert [[name, *cells] for name, cells in found.items()] == rows


def test_what_fits_is_one_block_and_the_rest_has_the_same_names():
    rows = [["", "x", "y"], ["first", "1", "2"], ["second", "3", "4"]]
    assert len(table_lines(rows, 80)) == 6
    assert [line.split() for line in table_lines(rows, 10)] == [
        ["-" * 9], ["x"], ["-" * 9], ["first", "1"], ["second", "3"],
        ["-" * 9], ["y"], ["-" * 9], ["first", "2"], ["second", "4"], ["-" * 9],
    ]  # fmt: skip


def test_a_cell_has_its_colour_and_the_width_is_that_of_the_text():
    rows = [["", "verdict"], ["a", "holds"]]
    painted = table_lines(rows, paint=lambda text, row, column: f"<{text}>" if (row, column) == (1, 1) else text)
    plain = table_lines(rows)
    assert [line.replace("<", "").replace(">", "") for line in painted] == plain
    assert "<holds>" in painted[3]


class Example(Printed):
    def __init__(self, rows, title="a title"):
        self.rows, self.title = rows, title

    def _title(self):
        return self.title

    def _tables(self):
        yield "", self.rows

    def _notes(self):
        return ["a note"]


def test_the_format_is_the_width():
    found = Example([["", *(f"column {j}" for j in range(20))], ["row", *map(str, range(20))]])
    assert str(found) == f"{found}" == f"{found:80}"
    assert max(map(len, str(found).splitlines())) <= 80 < max(map(len, f"{found:300}".splitlines()))
    with pytest.raises(InvalidParameterError, match="width, such as 120; got '>80'"):
        f"{found:>80}"


def test_large_tables_say_what_a_notebook_leaves_out():
    rows = [["", *(f"c{j}" for j in range(1000))], *([f"r{i}", *["0"] * 1000] for i in range(1000))]
    found = Example(rows)._repr_html_()
    assert len(found) < 100_000
    for said in ("… 900 more rows …", "… 977 more columns …", "r0<", "r999<", ">c0<", ">c999<"):
        assert said in found
    whole = [row[: _printed.MOST_COLUMNS] for row in rows[: 1 + _printed.MOST_ROWS]]
    assert "…" not in Example(whole)._repr_html_()
