"""Work on many cores or machines, with the same bits on any number of them.

An `Executor` says where independent pieces of work run: `Processes` on this machine, `DaskWorkers` on a Dask cluster.
Simulations, `verify` and the benchmarks take one as `workers`; a number means that many processes.
"""

from ridgeway.distributed._executor import DaskWorkers, Executor, Processes, executor_of

__all__ = ["DaskWorkers", "Executor", "Processes", "executor_of"]
