"""The mutation campaign: a sample of it, and that it can tell a killed mutant from a survivor."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from mutants.__main__ import line, summary
from mutants.campaign import PACKAGES
from mutants.changes import changes, draw, mutants_of
from mutants.mutant import MissingMutantError, Mutant, sites
from mutants.named import EQUIVALENT, NAMED

ROOT = Path(__file__).parents[1]
MODULE = "research.theory._pooling_gain"


def campaign(*arguments):
    command = [sys.executable, "-m", "mutants", MODULE, "--lanes", "2", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


def test_a_sample_is_killed():
    done = campaign("--count", "10", "--checks", "tests/research/theory/test_pooling_gain.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "10 mutants: tests kill 10;" in done.stdout


def test_a_test_that_checks_nothing_lets_mutants_survive():
    done = campaign("--count", "4", "--checks", "tests/unasserted.py")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "SURVIVED" in done.stdout


def changes_of(expression):
    (*_, last) = [site for site in sites(ast.parse(f"def f():\n    return {expression}")) if site.text == expression]
    return changes(last)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("a + b", ["a - b"]),
        ("a < b", ["a <= b", "a >= b"]),
        ("a and b", ["a or b", "a", "b"]),
        ("a[1:]", ["a[2:]", "a[0:]", "a[:]"]),
        ("a[:, 0]", ["a[:, 1]"]),
        ("-a", ["a"]),
        ("a.T", ["a"]),
        ("max(a, b)", ["min(a, b)"]),
        ("f(a, b)", ["f(b, a)"]),
        ("a.sum(axis=1)", ["a.sum(axis=2)", "a.sum(axis=0)", "a.sum()"]),
        ("np.sqrt(a)", ["a"]),
        ("float(a)", []),
        ("a * 0.5", ["a * 1.0", "a / 0.5"]),
        ("a if b else c", ["c if b else c", "a if b else a"]),
    ],
)
def test_what_is_changed(expression, expected):
    assert changes_of(expression) == expected


def test_messages_docstrings_and_annotations_stay():
    text = 'def f(a: int = 1) -> int:\n    """1 + 1"""\n    b: Literal[1] = a\n    raise E(f"{b + 1}" + 1)'
    assert [change for site in sites(ast.parse(text)) for change in changes(site)] == []


def test_a_mutant_keeps_its_name_if_lines_move(tmp_path, monkeypatch):
    monkeypatch.setattr("mutants.mutant.SOURCE", tmp_path)
    mutant = Mutant("_a", "f", "x < 1", "x <= 1", nth=1)
    for head in ("", "y = 1\n\n\ndef g():\n    return 2\n\n\n"):
        (tmp_path / "_a.py").write_text(f"{head}def f(x):\n    return x < 1, x < 1\n")
        assert ast.unparse(mutant.applied()).endswith("return (x < 1, x <= 1)")
    (tmp_path / "_a.py").write_text("def f(x):\n    return x < 1\n")
    with pytest.raises(MissingMutantError, match="remove or update it"):
        mutant.applied()


def test_every_mutant_can_be_applied_and_is_different():
    for package in PACKAGES:
        found = mutants_of(package)
        assert len(set(found)) == len(found) > 400
    for mutant in draw(dict.fromkeys(PACKAGES, 40), seed=2):
        changed = compile(mutant.applied(), str(mutant.path), "exec")
        assert changed != compile(mutant.path.read_text("utf-8"), str(mutant.path), "exec"), mutant


def test_the_draw_depends_on_the_seed_alone():
    few, more, other = (draw({MODULE: count}, seed) for count, seed in ((5, 1), (10, 1), (5, 2)))
    assert more[:5] == few != other


def test_listed_mutants_still_apply_and_have_a_reason():
    for mutant in (*NAMED.values(), *EQUIVALENT):
        mutant.applied()
    assert all(reason.endswith(".") for reason in EQUIVALENT.values())


def test_only_a_mutant_that_nothing_kills_survives():
    one, other = NAMED["a grid that is too coarse"], next(iter(EQUIVALENT))
    assert summary({one: None, other: None}) == "2 mutants: tests kill 0; 1 are equivalent; 1 survived."
    assert summary({one: "tests/test_a.py::test_a"}) == "1 mutants: tests kill 1; 0 are equivalent; 0 survived."
    assert line(one, None).startswith("SURVIVED\t")
    assert line(one, "tests/test_a.py::test_a").startswith("tests/test_a.py::test_a\t")
