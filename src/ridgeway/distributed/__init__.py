"""Work on many cores or machines, with the same bits on any number of them.

`absorb` learns one task from many files into a state file; `fit` and `predict` take Dask collections. What the parts of
a task leave is merged in a fixed tree, and each part counts exactly once.

An `Executor` says where independent pieces of work run: `Processes` on this machine, `DaskWorkers` on a Dask cluster.
Simulations, `verify`, `report.compare` and the benchmarks take one as `workers`; a number means that many processes.
"""

from ridgeway.distributed._absorbing import absorb
from ridgeway.distributed._executor import DaskWorkers, Executor, Processes, executor_of
from ridgeway.distributed._fitting import fit, predict
from ridgeway.distributed._local import local_client, remote_client

__all__ = [
    "DaskWorkers",
    "Executor",
    "Processes",
    "absorb",
    "executor_of",
    "fit",
    "local_client",
    "predict",
    "remote_client",
]
