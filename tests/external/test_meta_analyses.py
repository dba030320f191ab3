"""Studies as tasks: what Ridgeway knows of each, combined by statsmodels, is what R's metafor and meta have printed.

The figures are in `statsmodels.stats.tests.results.results_meta` (BSD-3): nine laboratories (Kacker 2004), and
seventeen trials with two arms, by `metabin(…, sm="OR", method="Inverse", method.tau="DL")` of R's meta.
"""

import numpy as np
import pytest
from statsmodels.stats.meta_analysis import combine_effects
from statsmodels.stats.tests.results import results_meta

from ridgeway import GeneralizedLogistic, GeneralizedRidge, retrospect

PAULE_MANDEL, DERSIMONIAN_LAIRD = results_meta.exk1_metafor, results_meta.exk1_dl


@pytest.fixture(scope="module")
def laboratories():
    """Each laboratory has two rows, whose mean and standard error of the mean are those that it reported."""
    model = GeneralizedRidge(information="by_task", fit_intercept=False)
    for number, (mean, variance) in enumerate(zip(PAULE_MANDEL.yi, PAULE_MANDEL.vi, strict=True)):
        spread = np.sqrt(variance)
        model.partial_fit(np.ones((2, 1)), [mean - spread, mean + spread], task=f"laboratory {number}")
    return retrospect.tasks(model)


def test_each_laboratory_has_its_mean_and_variance(laboratories):
    np.testing.assert_allclose(laboratories.coef[:, 0], PAULE_MANDEL.yi, rtol=1e-14)
    np.testing.assert_allclose(laboratories.standard_errors[:, 0] ** 2, PAULE_MANDEL.vi, rtol=1e-12)
    frame = laboratories.to_frame()
    np.testing.assert_allclose(frame["x0"], PAULE_MANDEL.yi, rtol=1e-14)
    np.testing.assert_allclose(frame["noise_variance"] / frame["n_samples"], PAULE_MANDEL.vi, rtol=1e-12)


@pytest.mark.parametrize(
    ("method", "options", "printed"),
    [
        ("pm", {"atol": 1e-12}, PAULE_MANDEL),
        ("dl", {}, DERSIMONIAN_LAIRD),
    ],
    ids=["Paule and Mandel", "DerSimonian and Laird"],
)
def test_laboratories_combined_are_those_of_metafor(laboratories, method, options, printed):
    frame = laboratories.to_frame()
    found = combine_effects(
        frame["x0"].to_numpy(), (frame["noise_variance"] / frame["n_samples"]).to_numpy(), method_re=method, **options
    )
    assert found.mean_effect_re == pytest.approx(printed.b, rel=1e-12)
    assert found.sd_eff_w_re == pytest.approx(printed.se, rel=1e-10)
    assert found.tau2 == pytest.approx(printed.tau2, rel=1e-9)  # metafor was told to stop at 1e-9
    assert found.q == pytest.approx(printed.QE, rel=1e-11)
    assert found.mean_effect_fe == pytest.approx(results_meta.exk1_fe.b, rel=1e-14)
    assert found.sd_eff_w_fe == pytest.approx(results_meta.exk1_fe.se, rel=1e-12)
    knapp_hartung = results_meta.exk1_dl_hksj
    if printed is DERSIMONIAN_LAIRD:
        assert found.sd_eff_w_re_hksj == pytest.approx(knapp_hartung.se, rel=1e-11)
    other = DERSIMONIAN_LAIRD if printed is PAULE_MANDEL else PAULE_MANDEL
    assert found.mean_effect_re != pytest.approx(other.b, rel=1e-5)  # the control


def test_one_mean_of_all_laboratories_is_the_fixed_effect():
    """Least squares with weights 1/variance: metafor's `rma(…, method="FE")`, whose error takes the noise as 1."""
    printed = results_meta.exk1_fe
    model = GeneralizedRidge(fit_intercept=False)
    for mean, variance in zip(PAULE_MANDEL.yi, PAULE_MANDEL.vi, strict=True):
        model.partial_fit([[1.0]], [mean], sample_weight=[1.0 / variance])
    found = retrospect.summary(model)
    assert found.coef[0] == pytest.approx(printed.b, rel=1e-14)
    assert found.standard_errors[0] / np.sqrt(found.noise_variance) == pytest.approx(printed.se, rel=1e-12)
    assert found.noise_variance * found.degrees_of_freedom == pytest.approx(printed.QE, rel=1e-11)


def test_odds_ratios_of_trials_are_those_of_meta():
    """A logistic regression of each trial alone: the logarithm of its odds ratio, and its variance."""
    trials = results_meta.results_or_dl_hk
    effects, variances = [], []
    for treated, n_treated, controls, n_controls in zip(
        trials.event_e, trials.n_e, trials.event_c, trials.n_c, strict=True
    ):
        counts = [n_controls - controls, controls, n_treated - treated, treated]
        model = GeneralizedLogistic().fit([[0], [0], [1], [1]], [0, 1, 0, 1], sample_weight=counts)
        effects.append(model.coef_[0])
        variances.append(model.standard_errors_[0] ** 2)
    np.testing.assert_allclose(effects, trials.TE, rtol=1e-11)
    np.testing.assert_allclose(np.sqrt(variances), trials.seTE, rtol=1e-11)
    found = combine_effects(np.array(effects), np.array(variances), method_re="dl")
    assert found.mean_effect_fe == pytest.approx(trials.TE_fixed, rel=1e-11)
    assert found.sd_eff_w_fe == pytest.approx(trials.seTE_fixed, rel=1e-11)
    assert found.mean_effect_re == pytest.approx(trials.TE_random, rel=1e-11)
    assert found.q == pytest.approx(trials.Q, rel=1e-11)
    assert found.tau2 == pytest.approx(trials.tau2, rel=1e-9)
    reversed_arms = GeneralizedLogistic().fit([[1], [1], [0], [0]], [0, 1, 0, 1], sample_weight=counts)  # the control
    assert reversed_arms.coef_[0] == pytest.approx(-trials.TE[-1], rel=1e-11)
    assert reversed_arms.coef_[0] != pytest.approx(trials.TE[-1], rel=1e-3)
