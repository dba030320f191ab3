"""Calls that widen a store, or that follow a widening, with the files that are there before them."""

from pathlib import Path
from unittest import mock

from ridgeway import store
from ridgeway.store import _connection
from torture.growth import BOTH, FIRST_JOBS, HOURS, PAST, start, table
from torture.more_scenarios import command
from torture.scenarios import WIDE, Scenario, filled
from torture.tasks import name

EARLY_TASKS = range(3)
"""Tasks that were learned before the widening."""


def _early(folder: Path, file: str = "a.rw", tasks: range = EARLY_TASKS) -> store.Store:
    """Make a store that has absorbed tables."""
    made = start(folder / file)
    for number in tasks:
        made.absorb_table(table(number, FIRST_JOBS, frozenset(), ()), task_id=name(number))
    return made


def _some(folder: Path) -> None:
    _early(folder)


def _widened(folder: Path) -> None:
    _early(folder).widen(features=PAST)


def _wide(folder: Path) -> None:
    filled(folder / "a.rw", range(2), WIDE)


def _widen_wide(folder: Path) -> None:
    store.open(folder / "a.rw").widen(features={"late": 1.0})


def _widen_spilling(folder: Path) -> None:
    """Widen with a cache of two pages: SQLite writes to the file long before the commit."""
    with mock.patch.dict(_connection.SETTINGS, cache_size=-128):
        _widen_wide(folder)


def _absorb_unknown(folder: Path) -> None:
    opened = store.open(folder / "a.rw")
    opened.absorb_table(table(4, FIRST_JOBS + 2, BOTH, opened.schema.columns), task_id=name(4))


def _remove_early(folder: Path) -> None:
    store.open(folder / "a.rw").remove_table(table(1, FIRST_JOBS, frozenset(), ()), task_id=name(1))


def _apart(folder: Path) -> None:
    """Make two stores that were widened in different orders, by different categories."""
    one, two = _early(folder), _early(folder, "b.rw", range(4, 6))
    one.widen(features=PAST)
    two.widen(features={"bonus": PAST["bonus"]})
    two.widen(categories={"job": ["smith"]})
    two.widen(features={"hours": PAST["hours"]})
    one.absorb_table(table(6, FIRST_JOBS + 2, HOURS, PAST), task_id=name(6))


def _merge_apart(folder: Path) -> None:
    store.open(folder / "a.rw").merge(folder / "b.rw", folder / "both.rw")


GROWING_SCENARIOS = (
    Scenario("widen, several pages", _wide, _widen_wide),
    Scenario("widen, small cache", _wide, _widen_spilling),
    Scenario("absorb unknown categories", _some, _absorb_unknown),
)
"""Those that every part of the campaign with scenarios runs."""
MORE_GROWING_SCENARIOS = (
    Scenario(
        "widen by a category (command)",
        _some,
        command("widen", "a.rw", "--category", "job=smith"),
    ),
    Scenario(
        "widen by a feature (command)",
        _some,
        command("widen", "a.rw", "--feature", "hours", "--past-value", "2"),
    ),
    Scenario("remove a task from before (widened)", _widened, _remove_early),
    Scenario("merge, widened differently", _apart, _merge_apart),
)
