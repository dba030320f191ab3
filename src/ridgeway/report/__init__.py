"""The main job on a table of your own: play it as tasks through every method, and report who forgets.

`compare` returns a `Comparison`; `write_report` makes a folder of it: one HTML file that needs no network, the figures,
and the numbers. The command is `ridgeway compare`. Needs pyarrow and matplotlib (`pip install 'ridgeway[report]'`).
"""

from ridgeway.report._compare import compare
from ridgeway.report._encoding import Encoding
from ridgeway.report._result import Comparison, Result
from ridgeway.report._write import draw_figures, write_report

__all__ = ["Comparison", "Encoding", "Result", "compare", "draw_figures", "write_report"]
