"""`ridgeway absorb --workers` and `--scheduler`: many files, one task."""

import json

import pytest
from runner import CliRunner
from spread import files_in, made, rows, spread_out

from ridgeway.cli._commands import commands


def absorb(*words):
    return CliRunner().invoke(commands, ["absorb", *map(str, words)])


def test_files_are_one_task_on_a_local_cluster(tmp_path):
    files, whole = spread_out(tmp_path, (9000, 500))
    wages = made(tmp_path / "wages.rw")
    done = absorb(wages.path, files, "--task", "2019", "--workers", 1)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("2019: absorbed, 9,500 rows, digest ")
    again = absorb(wages.path, whole, "--task", "2019")
    assert again.stdout.startswith("2019: already absorbed, 9,500 rows")


def test_on_a_cluster_that_is_there(tmp_path, processes, rng):
    frames = [rows(rng, n_rows) for n_rows in (9000, 300)]
    frames[1].loc[7, "b"] = float("inf")
    files, _ = files_in(tmp_path / "data", frames)
    wages = made(tmp_path / "wages.rw")
    before = wages.path.read_bytes()
    where = ("--scheduler", processes.scheduler_address)
    broken = absorb(wages.path, files, "--task", "2019", *where)
    assert broken.exit_code == 2
    assert "'b' has NaN or infinity" in broken.stderr
    assert wages.path.read_bytes() == before
    one = absorb(wages.path, tmp_path / "data" / "part-0.parquet", "--task", "2019", "--json", *where)
    assert json.loads(one.stdout)[0]["n_samples"] == 9000


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a.parquet", "--workers", 2], "Name it with --task"),
        (["a.parquet", "--workers", 2, "--task-column", "year"], "Name it with --task"),
        (["-", "--workers", 2, "--task", "2019"], "pass files, not standard input"),
        (["a.parquet", "--task", "2019", "--workers", 0], "the number of workers must be 1 or more; got 0"),
        (["a.parquet", "--task", "2019", "--workers", 1, "--scheduler", "tcp://127.0.0.1:1"], "Pass only one of them"),
        (["a.parquet", "--task", "2019", "--scheduler", "nonsense://1"], "there is no scheduler at 'nonsense://1'"),
        (["s3://bucket/a.parquet", "--task", "2019"], "only workers can read addresses; got s3://bucket/a.parquet"),
    ],
)
def test_refusals(tmp_path, words, said):
    wages = made(tmp_path / "wages.rw")
    done = absorb(wages.path, *words)
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
