"""What this folder compares with is there: no comparison is left out because a file has moved."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from published import DISCRETE, MODELS
from statsmodels.discrete.tests.results import results_count_robust_cluster
from statsmodels.genmod.tests import results as genmod_results
from statsmodels.genmod.tests.results import results_glm_poisson_weights
from statsmodels.regression.tests import results as regression_results
from statsmodels.regression.tests.results import (
    results_grunfeld_ols_robust_cluster,
    results_macro_ols_robust,
)
from statsmodels.stats.tests.results import results_meta

FILES = [
    DISCRETE / "ships.csv",
    Path(genmod_results.__file__).parent / "stata_lbw_glm.csv",
    Path(regression_results.__file__).parent / "dietox.csv",
]
TABLES = {
    results_count_robust_cluster: ["results_poisson_exposure_nonrobust"],
    results_glm_poisson_weights: [
        "results_poisson_none_nonrobust",
        "results_poisson_fweight_nonrobust",
        "results_poisson_aweight_nonrobust",
        "results_wls_aweight_robust",
        "results_wls_aweight_clu1",
        "results_wls_fweight_clu1",
    ],
    results_macro_ols_robust: ["results_hc0", "results_ivhc0_small", "results_ivhc0_large"],
    results_grunfeld_ols_robust_cluster: [
        "results_cluster",
        "results_cluster_large",
        "results_cluster_wls_small",
        "results_cluster_wls_large",
        "results_hc1_wls_small",
        "results_cluster_crv3_sandwich_r",
        "results_cluster_crv3_wls_sandwich_r",
    ],
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_data_are_installed(path):
    assert len(pd.read_csv(path)) > 30


@pytest.mark.parametrize(("module", "names"), TABLES.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_the_tables_are_installed(module, names):
    for name in names:
        table = getattr(module, name)
        assert len(table.params) == len(table.bse) == len(table.cov) >= 3


def test_the_figures_of_meta_analyses_are_installed():
    for name in ("exk1_metafor", "exk1_dl", "exk1_dl_hksj", "exk1_fe", "results_or_dl_hk"):
        assert hasattr(results_meta, name)


@pytest.mark.parametrize("name", MODELS)
def test_each_model_has_rows_and_figures_for_them(name):
    published = MODELS[name]()
    n, p = published.X.shape
    assert len(published.y) == len(published.units) == n
    assert published.coef.shape[0] == p + 1
    assert published.errors.shape == published.coef.shape
    assert np.isfinite([*published.coef.ravel(), *published.errors.ravel(), published.log_likelihood]).all()
