"""The command line. Only this package uses click and rich (`pip install 'ridgeway[cli]'`)."""

import io
import sys

from ridgeway._optional import require
from ridgeway.errors import MissingPackageError

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    try:
        require("click", "rich", extra="cli")
    except MissingPackageError as error:
        print(f"ridgeway: {error}", file=sys.stderr)
        sys.exit(2)
    from ridgeway.cli._commands import commands

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show Greek letters still gets the result
    commands()
