"""Each statement of the paper as a check with a verdict, such as "holds" or "holds as corrected".

`verify` runs them; `STATEMENTS` is the registry. Each statement computes its evidence, if possible in rational
arithmetic, and tries the printed and the corrected form on the same instances. docs/paper.md shows the results;
"corrections row N" in the code refers to a row of its table.
"""

from ridgeway.research.verify._approximation_statements import at_the_edge, room
from ridgeway.research.verify._experiment_statements import experiment
from ridgeway.research.verify._findings import StatementResult, Trial, Verdict
from ridgeway.research.verify._run import STATEMENTS, select, verify
from ridgeway.research.verify._search import BUDGETS, Budget, Search
from ridgeway.research.verify._statement import Claim, Statement

__all__ = [
    "BUDGETS",
    "STATEMENTS",
    "Budget",
    "Claim",
    "Search",
    "Statement",
    "StatementResult",
    "Trial",
    "Verdict",
    "at_the_edge",
    "experiment",
    "room",
    "select",
    "verify",
]
