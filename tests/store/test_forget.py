"""Removing the only task that has a category: exactly as if it had never been absorbed."""

import numpy as np
import pandas as pd
import pytest

from ridgeway import store
from ridgeway.errors import RemovalError
from ridgeway.store import _forget


def month(seed, carriers, n=60):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"carrier": rng.choice(carriers, n), "distance": rng.uniform(1.0, 9.0, n)})
    return frame.assign(w=rng.integers(1, 4, n).astype(float), y=rng.normal(size=n))


MONTHS = [month(1, ["AA", "UA"]), month(2, ["AA", "UA", "ZZ"]), month(3, ["AA", "UA"])]


def made(path, months, **settings):
    encoding = store.encoding_of(
        pd.concat(MONTHS),
        features=["carrier", "distance", "carrier:distance"],
        leave_out=["y", "w"],
    )
    found = store.create(path, features=encoding, target="y", **settings)
    for number in months:
        found.absorb_table(MONTHS[number], task_id=str(number))
    return found


@pytest.mark.parametrize("information", ["square_root", "moments"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    "settings",
    [{}, {"prior": 0.5}, {"weight_column": "w"}, {"weight_column": "w", "weight_kind": "frequency"}],
    ids=["plain", "prior", "precision", "frequency"],
)
def test_the_only_task_with_a_category(tmp_path, information, fit_intercept, settings):
    settings = {**settings, "information": information, "fit_intercept": fit_intercept}
    all_of_them = made(tmp_path / "a.rw", [0, 1, 2], **settings)
    expected = made(tmp_path / "b.rw", [0, 2], **settings).model()
    without = all_of_them.model().remove(MONTHS[1].drop(columns=["y", "w"]), MONTHS[1]["y"], weight_of(settings))
    all_of_them.remove_table(MONTHS[1], task_id="1")
    for found in (all_of_them.model(), without):
        np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found.intercept_, expected.intercept_, rtol=1e-9, atol=1e-12)
    zero = [name for name in all_of_them.schema.features if "ZZ" in name]
    held = all_of_them.model().information_
    assert len(zero) == 2
    assert not any(held.peak[all_of_them.schema.features.index(name)] for name in zero)
    all_of_them.check()
    all_of_them.absorb_table(MONTHS[1], task_id="again")
    np.testing.assert_allclose(all_of_them.model().coef_, made(tmp_path / "c.rw", [0, 1, 2], **settings).model().coef_)


def weight_of(settings):
    return MONTHS[1]["w"] if "weight_column" in settings else None


def test_other_columns_still_need_rows(tmp_path):
    found = made(tmp_path / "a.rw", [0])
    found.absorb_table(MONTHS[1].head(40), task_id="1")
    before = found.path.read_bytes()
    with pytest.raises(RemovalError):
        found.remove_table(MONTHS[0], task_id="1")
    assert found.path.read_bytes() == before


def test_without_it_the_removal_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(_forget, "_gone", lambda state, schema, sums: np.zeros(len(sums), dtype=bool))
    found = made(tmp_path / "a.rw", [0, 1, 2])
    with pytest.raises(RemovalError, match="full rank"):
        found.remove_table(MONTHS[1], task_id="1")


def test_compare_task_with_what_remains(tmp_path):
    found = made(tmp_path / "a.rw", [0, 1, 2])
    again, new = found.compare_task(MONTHS[1]), made(tmp_path / "b.rw", [0, 2]).compare_task(MONTHS[1])
    assert (again.absorbed, new.absorbed) == (True, False)
    np.testing.assert_allclose(again.f, new.f)
    np.testing.assert_allclose(again.difference, new.difference)
