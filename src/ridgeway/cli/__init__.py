"""The command line. Only this package uses click (`pip install 'ridgeway[cli]'`)."""

import io
import sys

from ridgeway._optional import require
from ridgeway.errors import MissingPackageError

__all__ = ["main"]


def main() -> None:
    """Run the command line.

    Examples
    --------
    >>> from unittest import mock
    >>> from ridgeway.cli import main
    >>> with mock.patch("sys.argv", ["ridgeway", "--version"]):
    ...     try:
    ...         main()
    ...     except SystemExit as end:
    ...         print("status", end.code)
    ridgeway, version ...
    status 0
    """
    try:
        require("click", extra="cli")
    except MissingPackageError as error:
        print(f"ridgeway: {error}", file=sys.stderr)
        sys.exit(2)
    from ridgeway.cli._commands import commands

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show Greek letters still gets the result
    commands()
