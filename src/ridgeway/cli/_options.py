"""What commands share: how one is made, arguments and options."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from ridgeway.cli._failures import guarded
from ridgeway.errors import InvalidParameterError

if TYPE_CHECKING:
    from ridgeway.distributed import Executor

    TextChoice = click.Choice[str]
else:
    TextChoice = click.Choice  # not generic before click 8.2

ROOM = 76
"""The width of an example: 80 columns less the margin."""

FAMILY_NAMES = ("gaussian", "binomial", "poisson", "multiclass")
"""The words of `data.FamilyName`, which help does not import: numpy would come with it. A test compares them."""

Command = TypeVar("Command", bound=Callable[..., Any])

option = partial(click.option, show_default=True)
"""An option that has a default value."""
out_option = partial(click.option, "--out", type=click.Path(), required=True)
state_file = click.argument("file", type=click.Path(), metavar="FILE.rw")
data_file = click.argument("data", type=click.Path(), metavar="DATA")


def command(*examples: str, more: str = "") -> Callable[[Callable[..., None]], click.Command]:
    """Return a decorator that makes a command of a function: with `--json`, and with errors as one line.

    Parameters
    ----------
    *examples, more : str
        The end of the help: examples that can be copied, and a text above them.
    """

    def decorated(function: Callable[..., None]) -> click.Command:
        name = function.__name__.strip("_").replace("_", "-")
        lines = [f"  {line}" for example in examples for line in _laid_out(example)]
        epilog = "\n".join([more, "\b", "Examples:", *lines])
        made = click.command(name, epilog=epilog)(guarded()(function))
        made.params.append(click.Option(["--json", "as_json"], is_flag=True, help="Print the result as JSON."))
        return made

    return decorated


def _laid_out(example: str) -> Iterator[str]:
    """Yield an example as lines that fit: a long one goes on before an option."""
    line, *options = re.split(" (?=--)", example) if len(example) > ROOM else [example]
    for option_text in options:
        if len(f"{line} {option_text} \\") > ROOM:
            yield f"{line} \\"
            line = f"    {option_text}"
        else:
            line += f" {option_text}"
    yield line


class AnyCase(TextChoice):
    """Fixed values that may be written in capitals or not; messages list them as they are."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the value as it is listed, or fail."""
        spelled = {choice.casefold(): choice for choice in self.choices}
        return super().convert(spelled.get(str(value).casefold(), value), param, ctx)


def choice(name: str, *values: str, words: str) -> Callable[[Command], Command]:
    """Return an option with fixed values, the first of which is the default."""
    return option(name, type=click.Choice(values), default=values[0], help=words)


def worker_options(default: int) -> Callable[[Command], Command]:
    """Return a decorator that adds `--workers` and `--scheduler`; the command gets `workers`, ready to use."""

    def decorated(function: Command) -> Command:
        @wraps(function)
        def wrapped(*args: Any, workers: int | None, scheduler: str | None, **options: Any) -> Any:
            with _opened(workers, scheduler, default) as found:
                return function(*args, workers=found, **options)

        shown = "one per core" if default == -1 else default
        for made in (
            click.option("--scheduler", help="Address of a Dask scheduler whose workers do the work: tcp://…"),
            click.option("--workers", type=int, help=f"Number of processes; -1 for one per core.  [default: {shown}]"),
        ):
            wrapped = made(wrapped)
        return cast(Command, wrapped)

    return decorated


@contextmanager
def opened_cluster(workers: int | None, scheduler: str | None) -> Iterator[Any]:
    """Yield a client of a Dask cluster: of processes that are started for it, or of one that is there already."""
    from ridgeway.distributed import local_client, remote_client

    if workers is not None and scheduler is not None:
        raise _both()
    with local_client(workers or 0) if scheduler is None else remote_client(scheduler) as client:
        yield client


def _both() -> InvalidParameterError:
    return InvalidParameterError("--workers starts processes, and --scheduler uses a cluster. Pass only one of them.")


@contextmanager
def _opened(workers: int | None, scheduler: str | None, default: int) -> Iterator["int | Executor"]:
    if workers == 0:
        raise InvalidParameterError("--workers must be 1 or more, or -1 for one per core; got 0.")
    if scheduler is None:
        yield default if workers is None else workers
        return
    if workers is not None:
        raise _both()
    from ridgeway.distributed import DaskWorkers

    with DaskWorkers(scheduler) as found:
        yield found


def names(value: str | None) -> list[str]:
    """Return the names in a comma-separated list."""
    return [] if value is None else [name.strip() for name in value.split(",")]


def pairs(given: Sequence[str], option_name: str) -> list[tuple[str, str]]:
    """Return what was given as NAME=VALUE, or raise."""
    found = [text.partition("=")[::2] for text in given]
    for text, (name, value) in zip(given, found, strict=True):
        if not name or not value:
            raise InvalidParameterError(
                f"{option_name} must have the form NAME=VALUE, such as carrier=UA; got {text!r}."
            )
    return found


def levels_by_column(given: Sequence[str], option_name: str) -> dict[str, str]:
    """Return what was given as COLUMN=LEVEL, one level for each column, or raise."""
    levels: dict[str, str] = {}
    for column, level in pairs(given, option_name):
        if levels.setdefault(column, level) != level:
            raise InvalidParameterError(
                f"{option_name} of {column!r} was given as {levels[column]!r} and as {level!r}. Give one of them."
            )
    return levels


def csv_options(function: Command) -> Command:
    """Add the options that say how a CSV file is written; the command gets them as `csv`."""

    @wraps(function)
    def wrapped(*args: Any, delimiter: str | None, decimal: str, charset: str, **options: Any) -> Any:
        from ridgeway.data import CsvFormat

        plain = delimiter is None and (decimal, charset) == (".", "utf-8")
        return function(*args, csv=None if plain else CsvFormat(delimiter, decimal, charset), **options)

    for made in (
        click.option("--delimiter", help="What separates the columns of a CSV file.  [default: a comma]"),
        option("--decimal", default=".", help="Decimal mark of a CSV file."),
        option("--charset", default="utf-8", help="Character encoding of a CSV file."),
    ):
        wrapped = made(wrapped)
    return cast(Command, wrapped)
