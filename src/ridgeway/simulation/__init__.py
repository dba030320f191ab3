"""The simulation lab: settings, methods, a runner whose numbers depend on the seed alone, and tidy results.

`Setting` says what is simulated, `METHODS` what can be compared, `run` does it, and `Results` holds what it found.
`reproduce` runs the paper's experiments; `figures` draws.
"""

from ridgeway.simulation import figures
from ridgeway.simulation._methods import DESCRIPTIONS as METHODS
from ridgeway.simulation._population import expected_oracle_error
from ridgeway.simulation._reproduction import reproduce
from ridgeway.simulation._results import Results
from ridgeway.simulation._runner import expectation, run
from ridgeway.simulation._setting import Setting

__all__ = ["METHODS", "Results", "Setting", "expectation", "expected_oracle_error", "figures", "reproduce", "run"]
