"""Dask collections: the same models as from all rows in memory, and predictions in partitions."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask import delayed
from spread import FEATURES, made, rows

from ridgeway import GeneralizedRidge, GeneralizedRidgeClassifier, distributed
from ridgeway.errors import InvalidDataError, WorkError
from ridgeway.weights import Accumulated


@pytest.fixture
def frame(rng):
    return rows(rng, 1000)


@pytest.mark.parametrize("kind", ["square_root", "moments"])
def test_an_array_gives_the_model_of_all_rows(threads, frame, kind):
    X, y = frame[FEATURES].to_numpy(), frame["y"].to_numpy()
    weight = np.linspace(0.5, 2.0, 1000)
    model = GeneralizedRidge(Accumulated(prior=0.1), information=kind)
    spread = [da.from_array(array, chunks=chunks) for array, chunks in ((X, (300, 2)), (y, 450), (weight, 1000))]
    fitted = distributed.fit(model, *spread, client=threads)
    whole = model.fit(X, y, weight)
    np.testing.assert_allclose(fitted.coef_, whole.coef_, rtol=1e-10)
    assert (fitted.n_tasks_, fitted.n_samples_seen_) == (1, 1000)
    assert fitted.get_params()["information"] == kind
    predicted = distributed.predict(fitted, spread[0])
    assert predicted.chunks == ((300, 300, 300, 100),)
    np.testing.assert_allclose(threads.compute(predicted).result(), fitted.predict(X), rtol=1e-12, atol=1e-12)


def test_a_table_is_learned_by_name(threads, frame):
    table = dd.from_pandas(frame, npartitions=4)
    fitted = distributed.fit(GeneralizedRidge(), table, "y", client=threads)
    np.testing.assert_allclose(fitted.coef_, GeneralizedRidge().fit(frame[FEATURES], frame["y"]).coef_, rtol=1e-10)
    assert fitted.feature_names_in_.tolist() == FEATURES
    again = distributed.fit(GeneralizedRidge(), table[FEATURES], table["y"], client=threads)
    assert again.coef_.tobytes() == fitted.coef_.tobytes()
    predicted = distributed.predict(fitted, table[FEATURES])
    found = threads.compute(predicted).result()
    pd.testing.assert_series_equal(found, pd.Series(fitted.predict(frame[FEATURES]), frame.index, name="prediction"))


def test_several_targets(threads, frame):
    Y = np.column_stack([frame["y"], -frame["a"]])
    X = da.from_array(frame[FEATURES].to_numpy(), chunks=(400, 3))
    fitted = distributed.fit(GeneralizedRidge(), X, da.from_array(Y, chunks=(1000, 1)), client=threads)
    np.testing.assert_allclose(fitted.coef_, GeneralizedRidge().fit(frame[FEATURES].to_numpy(), Y).coef_, atol=1e-10)
    predicted = distributed.predict(fitted, X)
    assert threads.compute(predicted).result().shape == predicted.shape == (1000, 2)
    named = distributed.fit(
        GeneralizedRidge(),
        dd.from_pandas(frame[FEATURES], npartitions=2),
        [delayed(Y[:500]), delayed(Y[500:])],
        client=threads,
    )
    found = threads.compute(distributed.predict(named, dd.from_pandas(frame[FEATURES], npartitions=2))).result()
    assert found.columns.tolist() == ["prediction 0", "prediction 1"]


def test_delayed_tables_and_futures(threads, frame):
    pieces = [frame[:300], frame[300:300], frame[300:]]
    futures = threads.scatter(pieces)
    one = distributed.fit(GeneralizedRidge(), [delayed(piece) for piece in pieces], "y", client=threads)
    two = distributed.fit(GeneralizedRidge(), futures, "y", client=threads)
    assert one.coef_.tobytes() == two.coef_.tobytes()
    found = threads.compute(distributed.predict(one, [piece[FEATURES] for piece in pieces[::2]]))
    np.testing.assert_array_equal(np.concatenate([each.result() for each in found]), one.predict(frame[FEATURES]))


def test_a_classifier_learns_the_classes_of_all_partitions(threads, frame):
    labels = np.where(frame["y"] > 0, "up", "down")
    labels[900:] = "late"
    X, y = frame[FEATURES], pd.Series(labels)
    spread = [[delayed(part[:500]), delayed(part[500:])] for part in (X, y)]
    fitted = distributed.fit(GeneralizedRidgeClassifier(), *spread, client=threads)
    whole = GeneralizedRidgeClassifier().fit(X, y)
    assert fitted.classes_.tolist() == ["down", "late", "up"]
    np.testing.assert_allclose(fitted.coef_, whole.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("model", [GeneralizedRidge(Accumulated(decay=0.5)), GeneralizedRidge(information="by_task")])
def test_models_that_cannot_learn_in_parts(threads, frame, model):
    with pytest.raises(WorkError, match=r"partition 0 failed: .* cannot learn a task in parts"):
        distributed.fit(model, [delayed(frame)], "y", client=threads)


def test_bad_collections(threads, frame):
    table = dd.from_pandas(frame, npartitions=4)
    with pytest.raises(InvalidDataError, match="X has 4 partitions; y has 2"):
        distributed.fit(GeneralizedRidge(), table[FEATURES], [delayed(1), delayed(2)], client=threads)
    with pytest.raises(InvalidDataError, match="all partitions are empty"):
        distributed.fit(GeneralizedRidge(), [delayed(frame[:0])], "y", client=threads)
    with pytest.raises(TypeError, match="cannot take partitions from DataFrame"):
        distributed.fit(GeneralizedRidge(), frame, "y", client=threads)


def test_a_state_file_absorbs_a_collection(threads, tmp_path, rng):
    frame = rows(rng, 20000)
    one, two = (made(tmp_path / name) for name in ("one.rw", "two.rw"))
    spread = distributed.absorb(one, dd.from_pandas(frame, npartitions=3), "2019", client=threads)
    assert one.absorb("2019", frame[FEATURES], frame["y"]).already
    assert spread.record.n_samples == 20000
    pieces = threads.scatter([frame[:5], frame[5:12000], frame[12000:]])
    assert distributed.absorb(two, pieces, "2019", client=threads).record.digest == spread.record.digest
    wrong = frame.assign(b="text")
    with pytest.raises(WorkError, match="begins in partition 0 failed: partition 1: column 'b'"):
        distributed.absorb(two, [delayed(frame), delayed(wrong)], "2020", client=threads)
