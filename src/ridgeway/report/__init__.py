"""Run every method on a table of your own, task by task, and report which ones forget.

`compare` returns a `MethodComparison`. `write_report` writes it to a folder: one HTML file that needs no network, the
figures, and the numbers. The command is `ridgeway compare`. Needs pyarrow and matplotlib
(`pip install 'ridgeway[report]'`).
"""

from ridgeway.report._comparison import as_table, compare
from ridgeway.report._result import MethodComparison, MethodResult, short
from ridgeway.report._standardized import StandardizedEncoding
from ridgeway.report._write import check_folder, draw_figures, write_report

__all__ = [
    "MethodComparison",
    "MethodResult",
    "StandardizedEncoding",
    "as_table",
    "check_folder",
    "compare",
    "draw_figures",
    "short",
    "write_report",
]
