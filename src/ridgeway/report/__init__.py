"""Run every method on a table of your own, task by task, and report which ones forget.

`compare` returns a `MethodComparison`. `write_report` writes it to a folder: one HTML file that needs no network, the
figures, and the numbers. The command is `ridgeway compare`. `draw_forest`, `draw_path`, `draw_influence` and
`draw_segments` draw answers of `retrospect` about tasks, and `save_figure` writes them to files. `COLOURS` has
the colour of each estimator, and `STYLE` settings of matplotlib, for figures of your own. Needs pyarrow and
matplotlib (`pip install 'ridgeway[report]'`).
"""

from ridgeway._style import COLOURS, STYLE
from ridgeway.report._comparison import compare
from ridgeway.report._method_result import MethodResult
from ridgeway.report._result import MethodComparison
from ridgeway.report._task_figures import draw_forest, draw_influence, draw_path, draw_segments, save_figure
from ridgeway.report._write import check_folder, write_report

__all__ = [
    "COLOURS",
    "STYLE",
    "MethodComparison",
    "MethodResult",
    "check_folder",
    "compare",
    "draw_forest",
    "draw_influence",
    "draw_path",
    "draw_segments",
    "save_figure",
    "write_report",
]
