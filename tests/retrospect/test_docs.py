"""The chapter's examples give what it says."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "retrospect.md"


def test_the_chapter():
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, optionflags=options, encoding="utf-8")
    assert tried > 15
    assert failed == 0
