"""Merging files whose tasks have the same names."""

import numpy as np
import pytest
from store.tables import task

from ridgeway import store
from ridgeway.errors import InvalidParameterError, MergeError


@pytest.fixture
def sites(tmp_path, rng):
    made = [store.create(tmp_path / f"{name}.rw", features=["a", "b", "c"], target="y") for name in ("north", "south")]
    tasks = [task(rng), task(rng)]
    for site, (X, y) in zip(made, tasks, strict=True):
        site.absorb("2024-01", X, y)
    return made, tasks


def test_tasks_of_one_name_get_prefixes(sites, tmp_path):
    (north, south), tasks = sites
    with pytest.raises(MergeError, match=r"both have the task '2024-01' \(give the ids of each file a prefix"):
        north.merge(south, tmp_path / "both.rw")
    both = north.merge(south, tmp_path / "both.rw", prefixes=("north-", "south-"))
    assert [record.task_id for record in both.history()] == ["north-2024-01", "south-2024-01"]
    X, y = (np.concatenate(parts) for parts in zip(*tasks, strict=True))
    expected = np.linalg.lstsq(np.column_stack([np.ones(len(X)), X]), y, rcond=None)[0]
    np.testing.assert_allclose(both.model().coef_, expected[1:], rtol=1e-10)
    assert both.check().n_tasks == 2
    assert both.remove("south-2024-01", *tasks[1]).record.task_id == "south-2024-01"


def test_the_same_rows_are_recognised_under_any_name(sites, tmp_path):
    (north, south), tasks = sites
    south.absorb("again", *tasks[0])
    with pytest.raises(MergeError, match="the same rows are in both, as 'n-2024-01' and 's-again'"):
        north.merge(south, tmp_path / "both.rw", prefixes=("n-", "s-"))
    with pytest.raises(InvalidParameterError, match="path or control characters"):
        north.merge(south, tmp_path / "both.rw", prefixes=("n/", "s/"))
    assert not (tmp_path / "both.rw").exists()
