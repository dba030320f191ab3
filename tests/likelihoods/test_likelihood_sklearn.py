"""scikit-learn's own contract, for the estimators with a likelihood: no exception, no skip of ours."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from ridgeway import GeneralizedLogistic, GeneralizedPoisson, weights

PRIOR = weights.Accumulated(prior=1e-3)
"""Some of the checks have classes that a line separates."""


@parametrize_with_checks(
    [
        GeneralizedLogistic(PRIOR),
        GeneralizedLogistic(PRIOR, memory="cubic"),
        GeneralizedLogistic(weights.Isotropic(0.01)),
        GeneralizedPoisson(PRIOR),
        GeneralizedPoisson(PRIOR, memory="cubic"),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
