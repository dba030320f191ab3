"""Rows on many machines: each part is learned where it is, and counts exactly once. Needs Dask.

`absorb` learns a task from many files into a state file; `fit` and `predict` take Dask collections. What the parts
leave is merged in a fixed tree, so that the result does not depend on the number of workers or on who finishes first.
"""

from ridgeway.distributed._absorbing import absorb
from ridgeway.distributed._fitting import fit, predict
from ridgeway.distributed._local import local_client, remote_client

__all__ = ["absorb", "fit", "local_client", "predict", "remote_client"]
