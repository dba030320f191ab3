"""Merging widened files: rows are recognised whatever columns they were learned with, and past values must agree."""

import numpy as np
import pandas as pd
import pytest

from ridgeway import store
from ridgeway.errors import MergeError


def rows(seed, hours=None):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"age": rng.standard_normal(9), "pay": rng.standard_normal(9)})
    return table if hours is None else table.assign(hours=hours)


@pytest.fixture
def make(tmp_path):
    def made(name, past, before=(), after=()):
        """Make a file that absorbs some tasks, is widened by hours, and absorbs others."""
        file = store.create(tmp_path / f"{name}.rw", features=["age"], target="pay")
        for seed in before:
            file.absorb_table(rows(seed), task_id=f"{name}-{seed}")
        file.widen(features={"hours": past})
        for seed, hours in after:
            file.absorb_table(rows(seed, hours), task_id=f"{name}-{seed}")
        return file

    return made


@pytest.mark.parametrize("turned", [False, True])
def test_rows_learned_with_and_without_a_column_count_once(make, tmp_path, turned):
    files = make("north", 2.0, after=[(1, 2.0), (2, 2.0)]), make("south", 2.0, before=[1])
    one, two = reversed(files) if turned else files
    with pytest.raises(MergeError, match="the same rows are in both"):
        one.merge(two, tmp_path / "both.rw")
    assert not (tmp_path / "both.rw").exists()


def test_rows_that_differ_in_the_new_column_alone_are_different(make, tmp_path):
    one, two = make("north", 2.0, after=[(1, 3.0), (2, 2.0)]), make("south", 2.0, before=[1])
    assert len(one.merge(two, tmp_path / "both.rw").history()) == 3


def test_different_past_values_are_refused(make, tmp_path):
    one, two = make("north", 2.0, before=[1]), make("south", 0.0, before=[2])
    with pytest.raises(MergeError, match=r"'hours' was added with the past value 2\.0 in north\.rw and 0\.0 in south"):
        one.merge(two, tmp_path / "both.rw")
