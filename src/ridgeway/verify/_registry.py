"""Every statement, in the order of the paper, and the run over them."""

from collections.abc import Iterable, Iterator

from threadpoolctl import threadpool_limits

from ridgeway.errors import InvalidParameterError
from ridgeway.verify import _adaptive
from ridgeway.verify._findings import Result
from ridgeway.verify._statement import BUDGETS, Statement

__all__ = ["STATEMENTS", "select", "verify"]

STATEMENTS: dict[str, Statement] = {
    statement.name: statement for group in (_adaptive,) for statement in group.STATEMENTS
}
