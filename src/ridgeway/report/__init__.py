"""Run every method on a table of your own, task by task, and report which ones forget.

`compare` returns a `MethodComparison`. `write_report` writes it to a folder: one HTML file that needs no network, the
figures, and the numbers. The command is `ridgeway compare`. Needs pyarrow and matplotlib
(`pip install 'ridgeway[report]'`).
"""

from ridgeway.report._comparison import compare
from ridgeway.report._method_result import MethodResult
from ridgeway.report._result import MethodComparison
from ridgeway.report._write import check_folder, write_report

__all__ = [
    "MethodComparison",
    "MethodResult",
    "check_folder",
    "compare",
    "write_report",
]
