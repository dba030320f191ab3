"""One clear line for what goes wrong, and an exit code."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import click

from ridgeway.errors import RidgewayError

__all__ = ["clear_failures"]


@contextmanager
def clear_failures(command: str, *, resumes: bool = False) -> Iterator[None]:
    """Turn an error of Ridgeway or of the system into one line on stderr and exit code 2, Ctrl-C into 130."""
    # joblib's word on what Ctrl-C ended; said here in our own.
    warnings.filterwarnings("ignore", message=r"\d+ tasks which were still being processed", category=UserWarning)
    try:
        yield
    except RidgewayError as error:
        click.echo(f"ridgeway {command}: {error}", err=True)
        sys.exit(2)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        click.echo(f"ridgeway {command}: {error.strerror or error}{where}.", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        remedy = "What is done is kept; continue with --resume." if resumes else "Run it again."
        click.echo(f"ridgeway {command}: interrupted. {remedy}", err=True)
        sys.exit(130)
