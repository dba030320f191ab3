"""The simulation lab: settings, methods, a runner whose numbers depend on the seed alone, and tidy results.

`Setting` says what is simulated, `METHODS` what can be compared, `run` does it, and `Results` holds what it found.
`reproduce` runs the paper's experiments; `figures` draws.
"""

from ridgeway.research.simulation import figures
from ridgeway.research.simulation._methods import DESCRIPTIONS as METHODS
from ridgeway.research.simulation._population import expected_oracle_error
from ridgeway.research.simulation._reproduction import reproduce
from ridgeway.research.simulation._results import Results
from ridgeway.research.simulation._runner import expectation, run
from ridgeway.research.simulation._setting import Setting

__all__ = ["METHODS", "Results", "Setting", "expectation", "expected_oracle_error", "figures", "reproduce", "run"]
