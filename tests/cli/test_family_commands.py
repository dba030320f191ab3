"""The commands on state files of classes and counts: each works, or refuses in one line and changes nothing."""

import json
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from runner import CliRunner

from ridgeway import GeneralizedLogistic, GeneralizedPoisson, store, weights
from ridgeway.cli._commands import commands
from ridgeway.data import FamilyName, MemoryKind


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(line, code=0):
        result = CliRunner().invoke(commands, line.split())
        assert result.exit_code == code, result.output
        return result

    return run


@pytest.fixture
def months(run, rng):
    """Three months of flights: late or not, how many, and which kind."""
    for number, month in enumerate(("jan", "feb", "mar")):
        X = rng.normal(size=(60, 2))
        eta = X @ [1.0, -0.5]
        carrier = np.array(["AA", "BB"])[rng.integers(0, 2, 60)]
        late = np.where(rng.random(60) < 1.0 / (1.0 + np.exp(-eta)), "yes", "no")
        kind = np.array(["jet", "prop", "zeppelin"])[np.minimum(rng.integers(0, 3, 60), number)]
        frame = pd.DataFrame({"hour": X[:, 0], "wind": X[:, 1], "carrier": carrier})
        frame.assign(late=late).to_parquet(f"{month}.parquet", index=False)
        frame.assign(seats=rng.poisson(np.exp(0.3 * eta))).to_csv(f"{month}.csv", index=False)
        frame.assign(kind=kind).to_parquet(f"kind-{month}.parquet", index=False)


@pytest.mark.parametrize(
    ("name", "option", "words"),
    [("compare", "family", FamilyName), ("init", "family", FamilyName), ("init", "memory", MemoryKind)],
)
def test_the_choices_are_those_of_the_type(name, option, words):
    (found,) = [each for each in commands.commands[name].params if each.name == option]
    assert tuple(found.type.choices) == get_args(words)


def test_a_story_of_two_classes(run, months):
    line = "init risk.rw --from jan.parquet --target late --family binomial --memory cubic --prior 0.1"
    assert "target late of family binomial" in run(line).stdout
    for month in ("jan", "feb", "mar"):
        run(f"absorb risk.rw {month}.parquet --task {month}")
    assert "already absorbed" in run("absorb risk.rw jan.parquet --task jan").stdout
    assert "family binomial, cubic memory, classes no, yes" in run("history risk.rw").stdout
    shown = run("show risk.rw").stdout
    assert "carrier=BB" in shown
    assert "log-likelihood" in shown
    assert "family binomial" in shown
    found = json.loads(run("show risk.rw --json").stdout)
    assert (found["family"], found["memory"], found["classes"]) == ("binomial", "cubic", ["no", "yes"])
    model = GeneralizedLogistic(weights.Accumulated(prior=0.1), memory="cubic")
    for month in ("jan", "feb", "mar"):
        frame = pd.read_parquet(f"{month}.parquet")
        X = np.column_stack([frame["hour"], frame["wind"], frame["carrier"] == "BB"]).astype(float)
        model.partial_fit(np.asfortranarray(X), frame["late"])
    assert list(found["coefficients"]["late"].values()) == list(model.coef_)
    table = json.loads(run("summary risk.rw --json").stdout)
    terms = table["targets"]["late"]["terms"]
    assert [terms[name]["standard_error"] for name in ("hour", "wind", "carrier=BB")] == list(model.standard_errors_)
    assert "reference: carrier=AA" in run("summary risk.rw").stdout
    assert "60 predictions" in run("predict risk.rw mar.parquet --out p.parquet").stdout
    assert list(pd.read_parquet("p.parquet")) == ["predicted_late", "probability_no", "probability_yes"]
    run("check risk.rw")
    run("backup risk.rw copy.rw")
    run("export risk.rw risk.safetensors")
    run("import risk.safetensors again.rw")
    assert (
        run("show again.rw --json").stdout.split('"bytes_on')[0]
        == run("show risk.rw --json").stdout.split('"bytes_on')[0]
    )


def test_a_story_of_counts(run, months):
    run("init seats.rw --from jan.csv --target seats --family poisson --unknown widen")
    run("absorb seats.rw jan.csv feb.csv --task-from-name")
    assert "family poisson, quadratic memory" in run("history seats.rw").stdout
    run("widen seats.rw --category carrier=CC")
    run("predict seats.rw mar.csv --out p.csv")
    assert (pd.read_csv("p.csv")["predicted_seats"] > 0.0).all()


def test_a_story_of_counts_with_an_exposure(run, months, rng):
    for month in ("jan", "feb", "mar"):
        frame = pd.read_csv(f"{month}.csv")
        days = rng.uniform(1.0, 31.0, 60)
        frame = frame.assign(days=days, seats=rng.poisson(days * np.exp(0.3 * frame["hour"])))
        frame.to_csv(f"{month}.csv", index=False)
        frame.assign(log_days=np.log(days), rate=frame["seats"] / days).to_parquet(f"{month}.parquet", index=False)
    said = run("init seats.rw --from jan.csv --target seats --family poisson --exposure days --memory cubic").stdout
    assert "left out" not in said
    assert "3 features, target seats of family poisson, exposure days." in said
    run("absorb seats.rw jan.csv feb.csv --task-from-name")
    assert "already absorbed" in run("absorb seats.rw jan.csv --task jan").stdout
    model = GeneralizedPoisson(memory="cubic")
    for month in ("jan", "feb"):
        frame = pd.read_csv(f"{month}.csv")
        X = np.column_stack([frame["hour"], frame["wind"], frame["carrier"] == "BB"]).astype(float)
        model.partial_fit(np.asfortranarray(X), frame["seats"], offset=np.log(frame["days"]))
    shown = json.loads(run("show seats.rw --json").stdout)
    assert shown["offset"] == {"column": "days", "is_exposure": True}
    assert list(shown["coefficients"]["seats"].values()) == list(model.coef_)
    assert "offset: the logarithm of 'days', an exposure" in run("show seats.rw").stdout
    table = json.loads(run("summary seats.rw --json").stdout)
    assert (table["targets"]["seats"]["log_likelihood"], table["rates"]) == (model.log_likelihood_, False)
    run("predict seats.rw mar.csv --out p.csv")
    frame.drop(columns="days").to_csv("short.csv", index=False)
    assert "has no column 'days'" in run("predict seats.rw short.csv --out q.csv", code=2).stderr
    run("widen seats.rw --category carrier=CC")
    run("check seats.rw")
    assert "offset: the logarithm of 'days'" in run("show seats.rw").stdout
    settings = "--features hour,wind --target seats --family poisson --ignore-extra"
    run(f"init logs.rw --from jan.parquet {settings} --offset log_days")
    assert (
        json.loads(run("init o.rw --features a --target b --family poisson --offset c --json").stdout)["offset"] == "c"
    )
    run("absorb logs.rw jan.parquet --task jan")
    assert "offset: column 'log_days'" in run("show logs.rw").stdout


def test_rates_are_called_rates(run, months, rng):
    frame = pd.read_csv("jan.csv").assign(days=rng.uniform(1.0, 31.0, 60))
    frame.assign(rate=frame["seats"] / frame["days"]).drop(columns="seats").to_csv("rates.csv", index=False)
    run("init rates.rw --from rates.csv --target rate --family poisson --weight-column days")
    run("absorb rates.rw rates.csv --task jan")
    assert "of rates" in run("summary rates.rw").stdout
    assert "init --exposure" in " ".join(run("summary rates.rw").stdout.split())
    assert json.loads(run("summary rates.rw --json").stdout)["rates"]
    assert "of rates, not of counts" in " ".join(run("show rates.rw").stdout.split())


def test_a_story_of_many_classes(run, months):
    run("init kinds.rw --from kind-jan.parquet --target kind --family multiclass")
    for month in ("jan", "feb", "mar"):
        run(f"absorb kinds.rw kind-{month}.parquet --task {month}")
    assert "family multiclass, classes jet, prop, zeppelin" in run("show kinds.rw").stdout
    assert "removed, 60 rows" in run("remove kinds.rw kind-feb.parquet --task feb").stdout
    run("init other.rw --from kind-jan.parquet --target kind --family multiclass --classes airship")
    run("absorb other.rw kind-feb.parquet --task feb")
    run("merge kinds.rw other.rw --out both.rw")
    assert store.open("both.rw").schema.family.classes == ("airship", "jet", "prop", "zeppelin")


def test_what_is_not_defined_is_refused_in_one_line(run, months):
    run("init risk.rw --from jan.parquet --target late --family binomial")
    run("init kinds.rw --from kind-jan.parquet --target kind --family multiclass")
    run("absorb risk.rw jan.parquet --task jan")
    run("absorb kinds.rw kind-feb.parquet --task feb")
    refused = {
        "compare-task risk.rw feb.parquet": "family gaussian",
        "remove risk.rw jan.parquet --task jan": "cannot be removed",
        "tasks risk.rw": "keeps the total alone",
        "path kinds.rw": "keeps the total alone",
        "segments kinds.rw": "keeps the total alone",
        "summary risk.rw --errors cluster": "keeps the total alone",
        "summary kinds.rw": "no standard errors",
        "summary risk.rw --features hour": "Leave out features",
        "predict risk.rw feb.parquet --interval 0.9 --out p.csv": "intervals are for family gaussian",
        "merge risk.rw kinds.rw --out both.rw": "the family differs",
        "widen risk.rw --target more --past-value 0": "has one target",
        "init a.rw --features x --target y --family multiclass --memory cubic": "Leave it out",
        "init a.rw --features x --target y --family binomial --keep tasks": "keeps the total alone",
        "init a.rw --features x --target y --family binomial --classes 1,2,3": "two for family binomial",
    }
    before = [store.open(name).path.read_bytes() for name in ("risk.rw", "kinds.rw")]
    for line, match in refused.items():
        said = run(line, code=2)
        assert match in said.stderr, line
        assert said.stderr.count("\n") == 1
    assert [store.open(name).path.read_bytes() for name in ("risk.rw", "kinds.rw")] == before


@pytest.mark.parametrize(
    ("words", "classes"),
    [("no,yes", ("no", "yes")), ("1,-2", (-2, 1)), ("true,False", (False, True)), ("1,b", ("1", "b"))],
)
def test_classes_are_text_whole_numbers_or_bools(run, words, classes):
    run(f"init a.rw --features x --target y --family multiclass --classes {words}")
    assert store.open("a.rw").schema.family.classes == classes


def test_new_classes_are_named(run, months):
    run("init kinds.rw --from kind-jan.parquet --target kind --family multiclass --classes jet,rocket")
    assert "added" not in run("absorb kinds.rw kind-jan.parquet --task jan").stdout
    assert run("absorb kinds.rw kind-feb.parquet --task feb").stdout.endswith("kind-feb.parquet: added kind=prop\n")
    (found,) = json.loads(run("absorb kinds.rw kind-mar.parquet --task mar --json").stdout)
    assert found["added"] == ["kind=zeppelin"]
    run("predict kinds.rw kind-mar.parquet --out kinds.parquet")
    assert "rocket" not in set(pd.read_parquet("kinds.parquet")["predicted_kind"])
    run("init risk.rw --from jan.parquet --target late --family binomial")
    assert "jan.parquet: added late=no, late=yes\n" in run("absorb risk.rw jan.parquet --task jan").stdout
