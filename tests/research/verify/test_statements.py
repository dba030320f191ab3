"""Every statement has the recorded verdict, and every mutation of it is noticed."""

import json
import re
from pathlib import Path

import pytest
from research.verify.mutations import MUTATIONS, controls, mutated
from threadpoolctl import threadpool_limits

from ridgeway.errors import InvalidParameterError
from ridgeway.research import verify
from ridgeway.research.verify import STATEMENTS, Search, Trial, Verdict
from ridgeway.research.verify._findings import judge

PAPER = Path(__file__).parents[3] / "docs" / "paper.md"
CONTROLS = [(name, mutation) for name in STATEMENTS for mutation in controls(name)]


@pytest.mark.parametrize("name", STATEMENTS)
def test_verdict(name):
    (result,) = verify.verify([name])
    assert result.verdict is result.recorded
    assert result.agrees
    assert result.margin >= 0
    assert result.instances > 0
    assert json.dumps(result.as_dict())
    assert result.printed.holds == (result.verdict in (Verdict.HOLDS, Verdict.MORE, Verdict.EXTENDED))
    assert (result.corrected is None) == (result.verdict is Verdict.HOLDS)
    if result.corrected is not None:
        assert result.corrected.holds
        assert result.correction
        assert result.row
    assert bool(result.counterexample) != result.printed.holds


def untried(holds):
    """The trial of a form that is not replaced. `test_verdict` shows what it comes to."""
    return Trial("not tried", 0.0 if holds else 1.0, 0.0, 1)


@pytest.mark.parametrize(("name", "mutation"), CONTROLS)
def test_negative_control(name, mutation):
    statement, search = STATEMENTS[name], Search(name)
    replaced = mutated(name, mutation)
    trials = {"printed": untried(statement.recorded.as_printed), "corrected": statement.corrected and untried(True)}
    with threadpool_limits(1):
        for side in controls(name)[mutation]:
            claim = getattr(replaced, side)
            trials[side] = claim.trial(search, claim.form)
    assert judge(**trials, recorded=statement.recorded) is not statement.recorded


def test_a_control_without_a_mutation_changes_nothing():
    """What is not tried is what the run of a statement finds."""
    for name in ("vanilla", "forgetting", "ridge-second-penalty"):
        recorded = STATEMENTS[name].recorded
        corrected = STATEMENTS[name].corrected and untried(True)
        assert judge(untried(recorded.as_printed), corrected, recorded) is recorded
    assert not mutated("vanilla", "equal eigenvalues").run().agrees


def test_no_statement_without_a_mutation_of_the_form_that_holds():
    for statement in STATEMENTS.values():
        sides = {"printed": statement.recorded.as_printed, "corrected": statement.corrected is not None}
        for side in (side for side, holds in sides.items() if holds):
            assert any(side in forms for forms in MUTATIONS[statement.name].values()), (statement.name, side)


@pytest.mark.parametrize(
    "name", ["sample-size", "approx-reference", "ridge-first-penalty", "extension", "pooled-always"]
)
def test_other_instances_have_the_same_verdict(name):
    (first,), (again,), (other,) = (list(verify.verify([name], seed=seed)) for seed in (1, 1, 2))
    assert first.agrees
    assert other.agrees
    assert first.printed == again.printed
    assert first.counterexample != other.counterexample or first.printed.value != other.printed.value or other.row == ""


def test_known_numbers():
    numbers = {result.name: result for result in verify.verify(["iteration", "approx-reference"])}
    assert numbers["iteration"].counterexample == "σ²=1, e⁽⁰⁾=(4); n=1, γ=(1)"
    assert numbers["approx-reference"].printed.broken > 1000
    assert numbers["approx-reference"].corrected.broken == 0


def test_full_tries_more():
    (quick,) = verify.verify(["asymptotics"])
    (full,) = verify.verify(["asymptotics"], budget="full")
    assert full.agrees
    assert full.corrected.value < quick.corrected.value


@pytest.mark.parametrize("name", ["negative-transfer", "task-parameters"])
def test_many_more_instances_have_the_same_verdict(name):
    (full,) = verify.verify([name], budget="full")
    assert full.agrees
    assert full.instances >= 200


def test_arguments():
    with pytest.raises(InvalidParameterError, match=r"unknown statement 'oracel'. Did you mean oracle"):
        verify.verify(["oracel"])
    with pytest.raises(InvalidParameterError, match="Known statements: min-norm-limit, "):
        verify.select(["zzz"])
    with pytest.raises(InvalidParameterError, match="budget must be one of quick, full; got 'long'"):
        verify.verify(budget="long")
    for seed in (-1, "x", 1.5):
        with pytest.raises(InvalidParameterError, match="seed"):
            verify.verify(seed=seed)
    assert [statement.name for statement in verify.select("oracle")] == ["oracle"]
    assert len(verify.select(["oracle", "oracle"])) == 1


def test_every_row_is_covered_and_docs_agree_with_the_record():
    table = [
        [cell.strip() for cell in line.strip("|\n").split("|")]
        for line in PAPER.read_text(encoding="utf-8").splitlines()
        if re.match(r"\| `", line)
    ]
    shown = {cells[0].strip("`"): (cells[1], cells[2], cells[3]) for cells in table}
    recorded = {name: (s.where, s.row, str(s.recorded)) for name, s in STATEMENTS.items()}
    assert shown == recorded
    rows = {row for _, row, _ in recorded.values()}
    assert rows >= {*map(str, range(1, 40)), "10b", "10c"}
