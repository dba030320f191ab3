"""One clear line for what goes wrong, and an exit code."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import click

from ridgeway.errors import RidgewayError

__all__ = ["guarded"]

CANCELLED = r"\d+ tasks which were still being processed"
"""How joblib's word on what Ctrl-C ended begins; said here in our own."""


@contextmanager
def guarded(*, resumes: bool = False) -> Iterator[None]:
    """Let an error of Ridgeway or of the system end a command with one line on stderr and exit code 2, Ctrl-C with 130.

    Warnings are one line each. Around a command or, as `@guarded()`, on it.
    """
    name = f"ridgeway {click.get_current_context().info_name}"
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            warnings.filterwarnings("ignore", message=CANCELLED)
            try:
                yield
            finally:
                for warning in caught:
                    click.echo(f"{name}: warning: {_one_line(warning.message)}", err=True)
    except MemoryError as error:
        detail = f" ({_one_line(error)})" if str(error) else ""
        click.echo(f"{name}: not enough memory for this{detail}. Ask for less at a time.", err=True)
        sys.exit(2)
    except RidgewayError as error:
        click.echo(f"{name}: {_one_line(error)}", err=True)
        sys.exit(2)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        click.echo(f"{name}: {_one_line(f'{error.strerror or error}{where}')}.", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        warnings.filterwarnings("ignore", message=CANCELLED)  # which may come as late as Python's own end
        remedy = "What is done is kept; continue with --resume." if resumes else "Run it again."
        click.echo(f"{name}: interrupted. {remedy}", err=True)
        sys.exit(130)


def _one_line(message: object) -> str:
    """Return a message without line breaks and control characters."""
    text = " ".join(str(message).split()) or type(message).__name__
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)
