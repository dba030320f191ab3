"""The scale of the weights is not a reason to refuse a task, or to stop early."""

import numpy as np
import pytest

from ridgeway import GeneralizedLogistic, GeneralizedPoisson
from ridgeway.errors import SeparationError


@pytest.mark.parametrize("scale", [1e-140, 1e-20, 1e-12, 1e-10, 1e-6, 1e6, 1e14, 1e20, 1e100])
@pytest.mark.parametrize("memory", ["quadratic", "cubic"])
@pytest.mark.parametrize("model", [GeneralizedLogistic, GeneralizedPoisson])
def test_coefficients_do_not_depend_on_the_scale_of_the_weights(model, memory, scale):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (rng.random(200) < 1.0 / (1.0 + np.exp(-X @ [1.0, -1.0, 0.0]))).astype(int)
    expected = model(memory=memory).fit(X, y)
    found = model(memory=memory).fit(X, y, sample_weight=np.full(200, scale))
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(found.standard_errors_ * np.sqrt(scale), expected.standard_errors_, rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e20])
def test_separated_classes_are_refused_whatever_the_scale_of_the_weights(scale):
    X = np.arange(10.0)[:, None]
    with pytest.raises(SeparationError, match="Give a prior"):
        GeneralizedLogistic().fit(X, (X[:, 0] > 4.5).astype(int), sample_weight=np.full(10, scale))
