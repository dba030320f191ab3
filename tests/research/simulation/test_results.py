"""Tidy tables, their Parquet files and their pictures."""

import json

import numpy as np
import polars
import pyarrow
import pytest
from pyarrow import parquet

import ridgeway
from ridgeway import weights
from ridgeway.errors import InvalidDataError, InvalidParameterError, MissingPackageError
from ridgeway.research import simulation
from ridgeway.research.simulation import Results, Setting, figures

SETTING = Setting(3, [4, 5, 6], 8, (1.0, 2.0), covariance=np.linspace(0.1, 2.0, 8), order="repeated:2")


@pytest.fixture(scope="module")
def results():
    return simulation.run(SETTING, "mn,crr:1/2/3,crr:0.5,gr,es:7,gr:diagonal,oracle", 4, averaging="drawn")


def test_one_row_per_repetition_level_method_and_task(results):
    table = results.to_pandas()
    assert list(table.columns) == ["repetition", "noise_variance", "method", "task", "error"]
    assert len(table) == results.errors.size
    assert not table.duplicated(["repetition", "noise_variance", "method", "task"]).any()
    for (r, level, method, task), error in table.set_index(list(table.columns[:4]))["error"].items():
        assert results.of(method, level)[r, task - 1] == error
    assert results.to_polars().equals(
        polars.from_pandas(table.astype({"method": str})).cast(results.to_polars().schema)
    )


def test_unknown_methods_and_noise_levels(results):
    with pytest.raises(
        InvalidParameterError, match=r"no method 'orcale' .* Did you mean 'oracle'\? They have: mn, crr:1"
    ):
        results.of("orcale")
    with pytest.raises(InvalidParameterError, match=r"no noise variance 3\.0 in these results\. They have: 1, 2\.$"):
        results.of("gr", 3.0)


def test_directions(results):
    table = results.directions_to_arrow().to_pandas()
    assert list(table.columns) == ["repetition", "noise_variance", "method", "direction", "information", "error"]
    total = table.groupby(["repetition", "noise_variance", "method"], observed=True)["error"].sum()
    last = results.to_pandas().query("task == 3").set_index(["repetition", "noise_variance", "method"])["error"]
    np.testing.assert_allclose(total.sort_index(), last.sort_index(), rtol=1e-12)
    assert table["information"].to_numpy()[:8] == pytest.approx(15 * SETTING.covariance[0])


def test_parquet_holds_all_of_it(results, tmp_path):
    results.save(tmp_path)
    again = Results.load(tmp_path)
    assert again.description == results.description
    for name in ("errors", "direction_errors", "information"):
        np.testing.assert_array_equal(getattr(again, name), getattr(results, name))
    inside = json.loads(parquet.read_schema(tmp_path / "results.parquet").metadata[b"ridgeway"])
    assert inside["version"] == ridgeway.__version__
    assert Setting.from_dict(inside["setting"]) == SETTING


def test_a_folder_whose_name_is_not_utf_8(results, tmp_path):
    folder = tmp_path / "\udcff"
    folder.mkdir()
    results.save(folder)
    assert Results.load(folder).to_arrow().equals(results.to_arrow())


def test_what_is_no_run_is_refused(results, tmp_path):
    with pytest.raises(InvalidDataError, match="does not contain a finished run"):
        Results.load(tmp_path)
    results.save(tmp_path)
    table = parquet.read_table(tmp_path / "results.parquet")
    later = json.loads(table.schema.metadata[b"ridgeway"]) | {"format": 2}
    for metadata, message in (
        ({}, "do not belong to one run"),
        ({b"ridgeway": b"{}"}, "do not belong to one run"),
        ({b"ridgeway": json.dumps(later)}, "has format 2"),
    ):
        for name in ("results", "directions") if message == "has format 2" else ("results",):
            path = tmp_path / f"{name}.parquet"
            parquet.write_table(parquet.read_table(path).replace_schema_metadata(metadata), path)
        with pytest.raises(InvalidDataError, match=message):
            Results.load(tmp_path)
    (tmp_path / "results.parquet").write_bytes(b"PAR1 but not really")
    with pytest.raises(InvalidDataError, match="cannot be read"):
        Results.load(tmp_path)


def test_missing_packages_name_the_extra(results, monkeypatch, tmp_path):
    monkeypatch.setattr("ridgeway._optional.find_spec", lambda package: None)
    extras = {results.to_arrow: "simulation", results.to_pandas: "frame", results.to_polars: "frame"}
    for act, extra in {**extras, lambda: figures.draw_errors(results): "simulation"}.items():
        with pytest.raises(MissingPackageError, match=rf"pip install 'ridgeway\[{extra}\]'"):
            act()
    with pytest.raises(MissingPackageError, match="pyarrow"):
        simulation.run(SETTING, "gr", 2, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def lines(axis):
    return {line.get_label(): line for line in axis.get_lines()}


def test_error_figure_shows_means_bands_and_theory(results):
    expected = simulation.expectation(results)
    figure = figures.draw_errors(results, expected)
    assert [axis.get_title() for axis in figure.axes] == ["σ² = 1", "σ² = 2"]
    for axis, level in zip(figure.axes, (1.0, 2.0), strict=True):
        assert axis.get_yscale() == "log"
        shown = lines(axis)
        np.testing.assert_allclose(shown["MN"].get_ydata(), results.of("mn", level).mean(axis=0))
        assert {"CRR, λ by schedule", "CRR, λ = 0.5", "GR, H̃", "ES, 7 steps", "oracle"} < set(shown)
        dashed = [line.get_ydata() for line in axis.get_lines() if line.get_label().startswith("_")]
        np.testing.assert_allclose(dashed[0], expected.of("mn", level).mean(axis=0))
        band = axis.collections[0].get_paths()[0].vertices[:, 1]
        spread = 2.0 * results.of("mn", level).std(axis=0, ddof=1) / 2.0
        assert band.max() == pytest.approx((results.of("mn", level).mean(axis=0) + spread).max())
    assert figure.get_supxlabel() == "dashed: expected error"
    assert not figure.legends
    assert {text.get_text() for text in figure.axes[-1].texts} == set(map(figures._label, results.description.methods))
    last = {method: results.of(method, 2.0)[:, -1].mean() for method in results.description.methods}
    best = min((method for method in last if method != "oracle"), key=last.get)
    assert figure.get_suptitle().startswith(f"{figures._label(best)} ends with the smallest error")


def dashes(axis):
    """The lines of the theory, the long dashes and the short ones."""
    unnamed = [line for line in axis.get_lines() if line.get_label().startswith("_")]
    long = [line.get_ydata() for line in unnamed if line.get_linewidth() == 1.0]
    short = [line.get_ydata() for line in unnamed if line.get_linewidth() == 0.8]
    assert len(long) + len(short) == len(unnamed)
    return long, short


def test_exact_results_have_the_wishart_mean_dashed():
    found = simulation.run(Setting(3, 9, 4), "gr,oracle", 3)
    assert simulation.expectation(found) is None
    figure = figures.draw_errors(found)
    long, short = dashes(figure.axes[0])
    assert not short
    for line in long:
        np.testing.assert_allclose(line, simulation.expected_oracle_error(Setting(3, 9, 4), 1.0))
    assert figure.get_supxlabel() == "dashed: expected error of GR and oracle over all designs"
    alone = figures.draw_errors(simulation.run(Setting(3, 9, 4), "crr:1", 3))
    np.testing.assert_allclose(dashes(alone.axes[0])[0], long[:1])
    assert alone.get_supxlabel() == "dashed: expected error of oracle over all designs"


def test_closed_forms_have_long_dashes_and_averages_over_designs_short_ones():
    plain, shifted = Setting(3, 5, 12), Setting(3, 5, 12, shift="paper")
    panels = []
    for setting in (plain, shifted):
        drawn = simulation.run(setting, "mn,crr:1,gr", 4, averaging="drawn")
        panels.append(figures.Panel("", drawn, 1.0, simulation.expectation(drawn)))
    figure = figures.draw_panels(panels, ["mn", "crr:1", "gr"])
    long, short = dashes(figure.axes[0])
    np.testing.assert_array_equal(long[0], simulation.expected_minimum_norm_error(plain, 1.0))
    np.testing.assert_array_equal(long[1], simulation.expected_oracle_error(plain, 1.0))
    np.testing.assert_array_equal(short, [panels[0].expected.of("crr:1").mean(axis=0)])
    long, short = dashes(figure.axes[1])
    assert not long
    assert len(short) == 3
    assert figure.get_supxlabel() == (
        "dashed: expected error. Long dashes: MN and GR without a shift, over all designs; "
        "short: others, over 4 designs"
    )
    only = figures.draw_panels(panels[1:], ["mn", "crr:1", "gr"])
    assert only.get_supxlabel() == "dashed: expected error"


def test_a_closed_form_that_leaves_out_tasks_gives_way_to_an_average():
    """With a covariance other than I the pooled error is known once the rows outnumber the features."""
    setting = Setting(3, 5, 8, covariance=np.linspace(0.5, 2.0, 8))
    drawn = simulation.run(setting, "gr", 4, averaging="drawn")
    expected = simulation.expectation(drawn)
    long, short = dashes(figures.draw_errors(drawn, expected).axes[0])
    assert not long
    np.testing.assert_array_equal(short, [expected.of("gr").mean(axis=0)])


def test_forgetting_and_directions(results):
    for axis in figures.draw_forgetting(results).axes:
        assert axis.get_yscale() == "symlog"
    figure = figures.draw_directions(results)
    shown = lines(figure.axes[0])["GR, H̃"]
    np.testing.assert_allclose(shown.get_xdata(), 15 * SETTING.covariance[0])
    np.testing.assert_allclose(shown.get_ydata(), results.direction_errors[:, 0, 3].mean(axis=0))
    with pytest.raises(InvalidDataError, match="at least two tasks"):
        figures.draw_forgetting(simulation.run(Setting(1, 4, 3, 0.0), "gr", 1))


def test_directions_are_grouped_where_there_are_many():
    setting = Setting(2, 30, 40, 0.0, covariance=np.append(np.geomspace(0.1, 10.0, 39), 0.0))
    (axis,) = figures.draw_directions(simulation.run(setting, "gr", 2)).axes
    (line,) = axis.get_lines()
    assert 15 <= len(line.get_xdata()) <= 20
    assert (np.diff(line.get_xdata()) > 0).all()


def test_the_same_figure_is_the_same_bytes(results, tmp_path):
    for name in ("one", "two"):
        figures.save(figures.draw_errors(results), tmp_path, name)
    for kind in ("png", "svg"):
        assert (tmp_path / f"one.{kind}").read_bytes() == (tmp_path / f"two.{kind}").read_bytes()


def test_arrow_table_has_the_setting(results):
    assert isinstance(results.to_arrow(), pyarrow.Table)
    assert b"ridgeway" in results.to_arrow().schema.metadata


def test_methods_of_your_own_have_a_line_and_a_label():
    methods = ["gr:2", "crr", weights.Isotropic(0.5), weights.Zero(), "es:gr"]
    found = simulation.run(Setting(3, 4, 3), methods, 2)
    (axis,) = figures.draw_errors(found).axes
    labels = ["GR, prior 2", "CRR, λ = 1", "Isotropic(penalty=0.5)", "Zero", "ES matched to GR"]
    shown = lines(axis)
    assert [label for label in shown if not label.startswith("_")] == labels
    assert len({shown[label].get_color() for label in labels}) == len(labels)
