"""Every statement, in the order of the paper, and the run over them."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from difflib import get_close_matches
from functools import partial

from ridgeway._checks import one_of, whole
from ridgeway.distributed import Executor, executor_of
from ridgeway.errors import InvalidParameterError
from ridgeway.research.verify._adaptive_statements import STATEMENTS as ADAPTIVE
from ridgeway.research.verify._approximation_remark_statements import STATEMENTS as APPROXIMATION_REMARKS
from ridgeway.research.verify._approximation_statements import STATEMENTS as APPROXIMATION
from ridgeway.research.verify._claimed_limit_statements import STATEMENTS as CLAIMED_LIMITS
from ridgeway.research.verify._closed_form_statements import STATEMENTS as CLOSED_FORMS
from ridgeway.research.verify._early_stopping_statements import STATEMENTS as EARLY_STOPPING
from ridgeway.research.verify._experiment_statements import STATEMENTS as EXPERIMENT
from ridgeway.research.verify._extension_statements import STATEMENTS as EXTENSION
from ridgeway.research.verify._findings import StatementResult
from ridgeway.research.verify._minimum_norm_statements import STATEMENTS as MINIMUM_NORM
from ridgeway.research.verify._outlook_statements import STATEMENTS as OUTLOOK
from ridgeway.research.verify._pooled_statements import STATEMENTS as POOLED
from ridgeway.research.verify._remark_statements import STATEMENTS as REMARKS
from ridgeway.research.verify._ridge_proof_statements import STATEMENTS as RIDGE_PROOF
from ridgeway.research.verify._ridge_statements import STATEMENTS as RIDGE
from ridgeway.research.verify._search import BUDGETS, Budget
from ridgeway.research.verify._statement import Statement

_PAPER = (
    MINIMUM_NORM
    | RIDGE
    | RIDGE_PROOF
    | REMARKS
    | ADAPTIVE
    | POOLED
    | APPROXIMATION
    | APPROXIMATION_REMARKS
    | EARLY_STOPPING
    | EXTENSION
    | OUTLOOK
    | CLAIMED_LIMITS
    | CLOSED_FORMS
    | EXPERIMENT
)
STATEMENTS = {name: replace(statement, name=name) for name, statement in _PAPER.items()}
"""The registry, by name."""


def select(names: Iterable[str] = ()) -> list[Statement]:
    """Return the statements with these names, or all of them if no name is given.

    Raises
    ------
    InvalidParameterError
        If a name is unknown.

    Examples
    --------
    >>> from ridgeway.research import verify
    >>> [statement.where for statement in verify.select(["oracle"])]
    ['Lemma (oracle)']
    """
    if isinstance(names, str):
        names = [names]
    chosen = []
    for name in dict.fromkeys(names):
        if name not in STATEMENTS:
            near = get_close_matches(name, STATEMENTS, n=3)
            remedy = f"Did you mean {' or '.join(near)}?" if near else f"Known statements: {', '.join(STATEMENTS)}."
            raise InvalidParameterError(f"unknown statement {name!r}. {remedy}")
        chosen.append(STATEMENTS[name])
    return chosen or list(STATEMENTS.values())


def verify(
    names: Iterable[str] = (), *, seed: int = 0, budget: Budget = "quick", workers: int | Executor = 1
) -> Iterator[StatementResult]:
    """Test statements of the paper. The results are the same for any `workers`, except for the running time.

    Parameters
    ----------
    names : iterable of str
        Which ones; all if empty.
    seed : int, default 0
        Seed of the random instances, ≥ 0.
    budget : {"quick", "full"}, default "quick"
        Seconds, or minutes with 10 to 50 times as many instances.
    workers : int or distributed.Executor, default 1
        The number of processes, -1 for one per core; or `distributed.DaskWorkers`.

    Yields
    ------
    StatementResult
        The verdict, the recorded one, and the evidence.

    Raises
    ------
    InvalidParameterError
        If a name, the seed, the budget or the number of workers is invalid.

    Examples
    --------
    >>> from ridgeway.research import verify
    >>> [
    ...     (result.name, str(result.verdict))
    ...     for result in verify.verify(["iteration", "order"])
    ... ]
    [('iteration', 'holds as corrected'), ('order', 'holds')]
    """
    statements = select(names)
    one_of(budget, BUDGETS, "budget")
    whole(seed, "seed", least=0)
    run = partial(Statement.run, seed=seed, full=budget == "full")
    return executor_of(workers).map(run, {statement.name: statement for statement in statements})
