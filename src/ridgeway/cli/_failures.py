"""Errors as one clear line and an exit code."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import click

from ridgeway.cli._output import PrintingError, say
from ridgeway.errors import RidgewayError

CANCELLED = r"\d+ tasks which were still being processed"
"""How joblib's warning after Ctrl-C begins; we print our own message."""


@contextmanager
def guarded() -> Iterator[None]:
    """Turn errors of Ridgeway and of the system into one line on stderr and exit code 2; Ctrl-C into 130.

    If only the result cannot be printed, the code is 1. Warnings become one line each. Use it around code, or as a
    decorator.
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
                    say(f"{name}: warning: {one_line(warning.message)}", err=True)
        return
    except MemoryError as error:
        code, said = 2, f"not enough memory{f' ({error})' if str(error) else ''}. Use less data at a time."
    except RidgewayError as error:
        code, said = 2, str(error)
    except PrintingError as error:
        if isinstance(error.__cause__, BrokenPipeError):  # the reader has seen enough, as `head` has; click is quiet
            raise error.__cause__ from None
        code, said = 1, f"done, but the result cannot be printed: {error}."
    except OSError as error:
        code, said = 2, f"{error.strerror or error}{f' ({error.filename})' if error.filename else ''}."
    except KeyboardInterrupt:
        warnings.filterwarnings("ignore", message=CANCELLED)  # it may come as late as the end of the interpreter
        code, said = 130, "interrupted. Run it again."
    say(f"{name}: {one_line(said)}", err=True)
    sys.exit(code)


def one_line(message: object) -> str:
    """Return a message without line breaks."""
    return " ".join(str(message).split()) or type(message).__name__
