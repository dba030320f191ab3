"""Clusters: one of threads for what is computed, one of processes for who computes it."""

import pytest
from distributed import Client, LocalCluster

from ridgeway.distributed._local import QUIET

ONE = {"threads_per_worker": 1, **QUIET}


@pytest.fixture(scope="session")
def threads():
    """A client of two workers in this process."""
    with LocalCluster(n_workers=2, processes=False, **ONE) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def processes():
    """A cluster of processes on the loopback interface."""
    with LocalCluster(n_workers=1, processes=True, host="127.0.0.1", **ONE) as cluster:
        yield cluster
