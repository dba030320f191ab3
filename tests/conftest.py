import gc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("fixed", derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
settings.load_profile("fixed")


def pytest_collection_finish():
    """Set aside what collecting made, so that no later garbage collection walks through thousands of tests again."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def rng():
    """Random numbers that do not depend on which tests ran before."""
    return np.random.default_rng(12)


class Blank:
    """Stands for a figure, and is written at once."""

    def savefig(self, file, **options):
        file.write(b"<svg/>") if hasattr(file, "write") else Path(file).write_bytes(b"<svg/>")


@pytest.fixture
def blank_figures(monkeypatch):
    """Reports without pictures, for tests that look at something else: drawing takes nine tenths of the time."""
    blank = [("forgetting", "the figure forgetting", Blank())]
    monkeypatch.setattr("ridgeway.report._figures.draw_all", lambda comparison: blank)
