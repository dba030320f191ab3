"""Help in sections that fits 80 columns, examples that can be copied, and the Tab key."""

import re
import shlex
import shutil
from glob import glob
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pytest
from runner import CliRunner

from ridgeway import catalogue, store
from ridgeway.catalogue import _registry
from ridgeway.cli._commands import SECTIONS, commands
from ridgeway.report._comparison import MOST_CUBIC_BY_DEFAULT

INSTALL = Path(__file__).parents[2] / "docs" / "getting-started" / "install.md"

PARSED = ("compare", "reproduce", "simulate", "verify", "--restore-previous", "--workers")
"""Commands and options that take long, or need what takes long: their examples are parsed."""


def help_of(*names):
    result = CliRunner().invoke(commands, [*names, "--help"], env={"COLUMNS": "80"})
    assert result.exit_code == 0
    return result.stdout


def examples_of(text):
    """Return the examples at the end of a help text, each as one line."""
    _, _, shown = text.partition("  Examples:\n")
    lines = re.sub(r" \\\n +", " ", shown).splitlines()
    assert all(line.startswith("    ridgeway ") for line in lines)
    return [line.strip() for line in lines]


EXAMPLES = [
    pytest.param(line, id=line.partition("  #")[0]) for name in commands.commands for line in examples_of(help_of(name))
]


def test_the_sections():
    found = re.findall(r"^(\S.*):\n((?:  \S.*\n)+)", help_of(), flags=re.M)
    sections = {title: re.findall(r"^  (\S+) +[A-Z].*\.$", body, flags=re.M) for title, body in found[1:]}
    assert sections == {title: [command.name for command in members] for title, members in SECTIONS.items()}
    assert sorted(name for names in sections.values() for name in names) == sorted(commands.commands)
    assert "..." not in help_of().partition("Options:")[2]  # every sentence is whole


@pytest.mark.parametrize("name", ["", *commands.commands])
def test_help_fits_and_ends_with_examples(name):
    text = help_of(*([name] if name else []))
    assert max(map(len, text.splitlines())) <= 80
    assert examples_of(text)[0].startswith(f"ridgeway {name}")


def test_the_methods_of_compare(monkeypatch):
    """Every method that Ridgeway brings is named, by family of the target; those that run by default come first."""
    monkeypatch.setattr(_registry, "ENTRIES", {})
    words = " ".join(help_of("compare").split())
    listed = dict(re.findall(r" \((\w+)\): ([^.]+)\.", words))
    for family, compared in catalogue.COMPARED.items():
        usual, _, more = listed[family].partition("; also ")
        names = [*usual.split(", "), "oracle"]
        assert names == list(compared)
        assert {*names, *filter(None, more.split(", "))} == {*catalogue.known(family)}
    assert f"cubic up to {MOST_CUBIC_BY_DEFAULT} features" in words


WAGES, FLIGHTS = ["age", "education", "tenure"], ["carrier", "hour"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with the files that the examples name."""
    folder, rng = tmp_path_factory.mktemp("examples"), np.random.default_rng(0)
    survey = pd.DataFrame(rng.normal(size=(120, 4)), columns=[*WAGES, "log_wage"])
    years = np.repeat([2018, 2019, 2020, 2021], 30)
    survey.assign(year=years).to_parquet(folder / "all.parquet", index=False)
    keep = {"wages": None, "errors": ["tasks", "fourth-moments"]}
    stores = {
        name: store.create(folder / f"{name}.rw", features=WAGES, target="log_wage", keep=keep[name]) for name in keep
    }
    for year in (2018, 2019, 2020, 2021):
        survey[years == year].to_parquet(folder / f"survey-{year}.parquet", index=False)
        survey[years == year].to_csv(folder / f"survey-{year}.csv", index=False)
        for one in stores.values():
            one.absorb(str(year), survey[years == year][WAGES], survey[years == year]["log_wage"])
    (survey[:30] + 1.0).to_csv(folder / "late.csv", index=False)
    (survey[:30] + 2.0).to_parquet(folder / "survey-2024.parquet", index=False)
    survey.to_csv(folder / "new.csv", index=False)
    stores["wages"].export(folder / "model.safetensors")
    (folder / "setting.toml").write_text("n_tasks = 3\n")
    flights = pd.DataFrame(
        {"carrier": ["UA", "AA"] * 240, "hour": rng.normal(size=480), "arr_delay": rng.normal(size=480)}
    )
    flights.assign(tailnum="N1", time_hour="1").to_parquet(folder / "flights-2013-01.parquet", index=False)
    flights.assign(distance=9.5, date=["2013-01-05", "2013-02-06", "2013-03-07"] * 160).to_csv(
        folder / "jan.csv", index=False
    )
    flights.assign(flight=1).to_csv(folder / "tomorrow.csv", index=False)
    flights.assign(late=flights["arr_delay"] > 0.0).to_parquet(folder / "jan.parquet", index=False)
    one = store.create(
        folder / "flights.rw", features=store.encoding_of(flights[FLIGHTS]), target="arr_delay", keep=["tasks"]
    )
    one.absorb_table(flights.assign(task=[f"2013-{month:02}" for month in range(1, 13)] * 40), task_column="task")
    for name in ("north", "south"):
        one = store.create(folder / f"{name}.rw", features=["a"], target="b")
        one.absorb(name, rng.normal(size=(9, 1)), rng.normal(size=9))
    return folder


MAKES = ("init", "import", "absorb")
"""Commands whose examples begin without wages.rw or flights.rw, or with an empty one."""


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("line", EXAMPLES)
def test_examples_work(line, folder):
    program, name, *arguments = shlex.split(re.split(" >+ ", line)[0], comments=True)
    assert program == "ridgeway"
    if name in PARSED or any(option in arguments for option in PARSED):
        assert commands.commands[name].make_context(name, arguments).params
        return
    arguments = [part for word in arguments for part in (sorted(glob(word)) if "*" in word else [word])]
    if name in MAKES and "--force" not in arguments:
        for file in folder.glob("*s.rw"):
            file.unlink()
    if name == "absorb" and "--force" not in arguments:
        store.create("wages.rw", features=WAGES, target="log_wage")
    if name == "export":
        Path("model.safetensors").unlink()
    if "--errors" in arguments:
        shutil.copy("errors.rw", "wages.rw")
    shown = Path("survey-2019.csv").read_bytes() if "-" in arguments else None
    result = CliRunner().invoke(commands, [name, *arguments], input=shown)
    assert result.exit_code == 0, result.output


def test_an_example_that_does_not_work_is_found(folder):
    with pytest.raises(AssertionError, match="No such option"):
        test_examples_work("ridgeway summary wages.rw --heteroscedastic", folder)
    with pytest.raises(click.NoSuchOption):
        test_examples_work("ridgeway verify --all", folder)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_line_for_a_shell_completes(shell):
    """The page on installation gives click's variable and its value for each shell."""
    assert f"_RIDGEWAY_COMPLETE={shell}_source ridgeway" in INSTALL.read_text(encoding="utf-8")

    def ask(instruction, **typed):
        env = {"_RIDGEWAY_COMPLETE": instruction, **typed}
        return CliRunner().invoke(commands, [], prog_name="ridgeway", env=env).output

    assert "_RIDGEWAY_COMPLETE" in ask(f"{shell}_source")
    complete = f"{shell}_complete"
    assert "summary" in ask(complete, COMP_WORDS="ridgeway summ", COMP_CWORD="summ" if shell == "fish" else "1")
    assert "absorb" not in ask(complete, COMP_WORDS="ridgeway summ", COMP_CWORD="summ" if shell == "fish" else "1")
