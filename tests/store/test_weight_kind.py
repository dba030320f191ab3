"""State files whose weights count rows."""

import json

import numpy as np
import pandas as pd
import pytest
from runner import CliRunner

from ridgeway import retrospect, store
from ridgeway.cli._commands import commands
from ridgeway.errors import InvalidDataError, MergeError


def test_a_state_file_of_counted_rows_is_one_of_repeated_rows(tmp_path, rng):
    rows = pd.DataFrame(rng.normal(size=(24, 2)), columns=["a", "y"]).assign(times=rng.integers(1, 4, size=24))
    rows.to_csv(tmp_path / "rows.csv", index=False)
    path = str(tmp_path / "counted.rw")
    init = ["init", path, "--features", "a", "--target", "y", "--weight-column", "times", "--weight-kind", "frequency"]
    for command in (init, ["absorb", path, str(tmp_path / "rows.csv"), "--task", "one"]):
        said = CliRunner().invoke(commands, command)
        assert said.exit_code == 0, said.output
    found = json.loads(CliRunner().invoke(commands, ["summary", path, "--json"]).stdout)
    repeated = store.create(tmp_path / "repeated.rw", features=["a"], target="y")
    longer = rows.loc[rows.index.repeat(rows["times"])].reset_index(drop=True)
    repeated.absorb("one", longer[["a"]], longer["y"])
    theirs = retrospect.summary(repeated.model())
    assert found["n_samples"] == theirs.n_samples == rows["times"].sum()
    np.testing.assert_allclose(
        [term["standard_error"] for term in found["targets"]["y"]["terms"].values()], theirs.standard_errors, rtol=1e-10
    )
    counted = store.open(path)
    assert counted.check().n_samples == len(rows)
    with pytest.raises(InvalidDataError, match="whole numbers"):
        counted.absorb("two", rows[["a"]][:3], rows["y"][:3], [0.5, 1.0, 1.0])
    other = store.create(tmp_path / "other.rw", features=["a"], target="y", weight_column="times")
    other.absorb("two", rows[["a"]], rows["y"], rows["times"])
    with pytest.raises(MergeError, match="kind of weights"):
        counted.merge(other.path, tmp_path / "both.rw")
