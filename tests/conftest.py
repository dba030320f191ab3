import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("fixed", derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
settings.load_profile("fixed")


@pytest.fixture
def rng():
    """Random numbers that do not depend on which tests ran before."""
    return np.random.default_rng(12)
