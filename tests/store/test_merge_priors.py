"""Two files merge if their priors are the same matrix of the same features, whether or not they have tasks."""

import numpy as np
import pytest
from store.tables import same, task

from ridgeway import GeneralizedRidge, store, weights
from ridgeway.errors import MergeError
from ridgeway.store import encoding_of

FEATURES = ["a", "b", "c"]


@pytest.fixture
def make(tmp_path, rng):
    """Make files with a prior; `tasks` are the ids of the tasks that a file learns."""

    def made(name, prior, features=FEATURES, tasks=(), **settings):
        file = store.create(tmp_path / f"{name}.rw", features=features, target="y", prior=prior, **settings)
        for task_id in tasks:
            X, y = task(rng, p=len(features))
            file.absorb(task_id, X, np.round(np.abs(y)))  # counts, which every family takes
        return file

    return made


TASKS = {"both empty": ((), ()), "first": (["n"], ()), "second": ((), ["s"]), "both": (["n"], ["s"])}


@pytest.mark.parametrize("tasks", TASKS.values(), ids=TASKS)
@pytest.mark.parametrize(
    ("priors", "differs"),
    [
        (
            ([0, 500, 7], [500, 0, 7]),
            r"0\.0 in north\.rw and 500\.0 in south\.rw for 'a', 500\.0 .* and 0\.0 .* for 'b'",
        ),
        (([1, 1, 2], [1, 2, 2]), r"it is 1\.0 in north\.rw and 2\.0 in south\.rw for 'b'\)"),
        ((np.diag([0, 3, 3]), np.diag([3, 0, 3])), "for 'a', .* for 'b'"),
        (
            (np.array([[2, 1, 0], [1, 2, 0], [0, 0, 2]]), np.array([[2, 0, 0], [0, 2, 1], [0, 1, 2]])),
            r"1\.0 in north\.rw and 0\.0 in south\.rw for 'a' and 'b', 0\.0 .* and 1\.0 .* for 'b' and 'c'",
        ),
        ((1.0, 2.0), r"the prior differs \(it is 1\.0 in north\.rw and 2\.0 in south\.rw for 'a'"),
        ((np.diag([2, 3, 4]), [2, 4, 3]), r"it is 3\.0 in north\.rw and 4\.0 in south\.rw for 'b', 4\.0 .* and 3\.0"),
        ((5.0, [5, 5, 4]), r"it is 5\.0 in north\.rw and 4\.0 in south\.rw for 'c'\)"),
    ],
)
def test_priors_that_differ_are_refused(make, tmp_path, priors, differs, tasks):
    """The first ones have the same values, in other places."""
    north, south = (make(*both, tasks=ids) for *both, ids in zip(("north", "south"), priors, tasks, strict=True))
    with pytest.raises(MergeError, match=differs):
        north.merge(south, tmp_path / "out.rw")
    assert not (tmp_path / "out.rw").exists()


@pytest.mark.parametrize("tasks", TASKS.values(), ids=TASKS)
@pytest.mark.parametrize("prior", [2.0, [0, 500, 7], np.array([[2, 1, 0], [1, 2, 0], [0, 0, 5]])])
def test_features_in_another_order(make, tmp_path, prior, tasks):
    """The prior goes with its feature: these are the same priors, and their arrays differ."""
    order = [2, 0, 1]
    turned = np.asarray(prior) if np.ndim(prior) == 0 else np.asarray(prior)[order]
    turned = turned[:, order] if np.ndim(prior) == 2 else turned
    north = make("north", prior, tasks=tasks[0])
    south = make("south", turned, [FEATURES[j] for j in order], tasks=tasks[1])
    both = north.merge(south, tmp_path / "out.rw")
    assert len(both.history()) == len(tasks[0]) + len(tasks[1])
    if not tasks[1]:
        np.testing.assert_array_equal(both.snapshot().arrays["prior"], north.snapshot().arrays["prior"])


@pytest.mark.parametrize("tasks", TASKS.values(), ids=TASKS)
@pytest.mark.parametrize("family", ["gaussian", "poisson"])
def test_a_vector_and_a_matrix_may_be_the_same_prior(make, tmp_path, family, tasks):
    north = make("north", [0, 2, 3], tasks=tasks[0], family=family)
    south = make("south", np.diag([0, 2, 3]), tasks=tasks[1], family=family)
    for one, two in ((north, south), (south, north)):
        assert one.merge(two, tmp_path / f"{one.path.name} first.rw").schema.features == tuple(FEATURES)


@pytest.mark.parametrize("tasks", [(), ["s"]])
def test_the_same_place_is_not_the_same_feature(make, tmp_path, tasks):
    """Here the arrays are equal, and the priors differ."""
    north, south = make("north", [0, 500, 7]), make("south", [0, 500, 7], ["b", "a", "c"], tasks)
    with pytest.raises(MergeError, match="the prior differs"):
        north.merge(south, tmp_path / "out.rw")


@pytest.mark.parametrize(
    ("prior", "differs"), [(2.0, None), ([2, 2, 2], None), ([2, 2, 3], "site=z"), ([2, 3, 3], "site=y")]
)
def test_a_category_that_one_file_has_not_seen(make, tmp_path, prior, differs):
    """A file that has one number for all features has it for those that are added."""
    tables = ({"a": [1.0, 2.0], "site": ["x", "y"]}, {"a": [1.0, 2.0, 3.0], "site": ["x", "y", "z"]})
    north, south = (
        make(name, value, encoding_of(table))
        for name, value, table in zip(("north", "south"), (2.0, prior), tables, strict=True)
    )
    if differs is None:
        assert north.merge(south, tmp_path / "out.rw").schema.features == ("a", "site=y", "site=z")
    else:
        with pytest.raises(MergeError, match=rf"the prior differs.* for '{differs}'"):
            north.merge(south, tmp_path / "out.rw")


def test_a_prior_is_named_beside_other_differences(make, tmp_path):
    north, south = make("north", [1, 2, 3]), make("south", [2, 1], ["a", "b"], fit_intercept=False)
    with pytest.raises(MergeError, match=r"the intercept differs.*features only in north\.rw: 'c'; the prior differs"):
        north.merge(south, tmp_path / "out.rw")


@pytest.mark.parametrize("family", ["binomial", "poisson"])
def test_priors_of_families(make, tmp_path, family):
    north, south, turned = (
        make(name, prior, ["a", "b"], family=family)
        for name, prior in (("north", [0, 500]), ("south", [0, 500]), ("turned", [500, 0]))
    )
    assert north.merge(south, tmp_path / "both.rw").history() == ()
    with pytest.raises(MergeError, match="the prior differs"):
        north.merge(turned, tmp_path / "out.rw")


def test_priors_of_models(rng):
    """Two models are compared entry by entry as well."""
    one, two, turned = (
        GeneralizedRidge(weights.Accumulated(prior=prior)).fit(*task(rng))
        for prior in ([0, 1, 2], [0, 1, 2], [2, 1, 0])
    )
    assert one.merge(two).n_tasks_ == 2
    with pytest.raises(MergeError, match="differ in: prior"):
        one.merge(turned)
    matrix = GeneralizedRidge(weights.Accumulated(prior=np.diag([0, 1, 2]))).fit(*task(rng))
    assert one.merge(matrix).n_tasks_ == 2


def test_an_empty_file_changes_nothing(make, tmp_path):
    full, empty = make("full", [0, 500, 7], tasks=["n"]), make("empty", [0, 500, 7])
    assert same(full.merge(empty, tmp_path / "one.rw").model(), full.model())
    assert same(empty.merge(full, tmp_path / "two.rw").model(), full.model())
