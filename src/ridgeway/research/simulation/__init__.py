"""The simulation lab: settings, methods, a runner whose numbers depend only on the seed, and tidy results.

`Setting` describes the tasks. `run` runs methods of the `catalogue`, your own policies, or forms (`Filter`, `Update`,
`PooledMethod`) on them and returns `Results`. `reproduce` runs the paper's experiments. `figures` draws.
"""

from ridgeway.research.simulation import figures
from ridgeway.research.simulation._claims import ExperimentClaim, Finding
from ridgeway.research.simulation._forms import Filter, PooledMethod, Update
from ridgeway.research.simulation._population import expected_minimum_norm_error, expected_oracle_error
from ridgeway.research.simulation._reproduction import REPRODUCED, reproduce
from ridgeway.research.simulation._results import Results
from ridgeway.research.simulation._runner import expectation, run
from ridgeway.research.simulation._setting import Setting
from ridgeway.research.simulation._shared_task import SharedTask

__all__ = [
    "REPRODUCED",
    "ExperimentClaim",
    "Filter",
    "Finding",
    "PooledMethod",
    "Results",
    "Setting",
    "SharedTask",
    "Update",
    "expectation",
    "expected_minimum_norm_error",
    "expected_oracle_error",
    "figures",
    "reproduce",
    "run",
]
