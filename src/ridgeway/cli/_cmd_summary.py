"""`ridgeway summary`: standard errors and tests from a state file."""

from typing import TYPE_CHECKING, Any

import click

from ridgeway.cli._kept_tasks import plain
from ridgeway.cli._options import AnyCase, command, names, option, state_file
from ridgeway.cli._output import answer, lines_of, notes_on

if TYPE_CHECKING:
    from ridgeway.data import Encoding
    from ridgeway.retrospect import RobustSummary, Summary
    from ridgeway.store import Store


ERRORS = ("classical", "cluster", "CR0", "CR1", "CR2", "CR3", "HC0", "HC1")


@command(
    "ridgeway summary wages.rw",
    "ridgeway summary wages.rw --features age,tenure  # only these two",
    "ridgeway summary wages.rw --level 0.99           # wider intervals",
    "ridgeway summary wages.rw --errors cluster       # if tasks are clusters",
    "ridgeway summary wages.rw --errors HC1           # if some rows are noisier",
)
@state_file
@click.option("--features", help="Fit only these features, as if on all rows; names separated by commas.")
@option("--level", default=0.95, help="Confidence level of the intervals.")
@option(
    "--errors",
    type=AnyCase(ERRORS),
    default="classical",
    help="Standard errors; cluster is CR2. All but classical need a file that keeps its tasks, and HC0 and HC1 also "
    "need its fourth moments.",
)
def summary(file: str, features: str | None, level: float, errors: str, as_json: bool) -> None:
    """Print standard errors, tests and intervals.

    They are based on all rows absorbed so far. The rows themselves are not needed. With a prior, the numbers describe
    the posterior, and the table says so. Exits with 2 if the rows absorbed so far are not enough.
    """
    from ridgeway import store

    opened = store.open(file)
    found: Any
    if errors == "classical":
        found = opened.summary(features=names(features) or None, level=level)
        result = _as_dict(found, opened.schema.targets)
    else:
        found = _robust(opened, names(features), "CR2" if errors == "cluster" else errors, level)
        result = plain(found)
    lines, references = lines_of(found), _references(opened.schema.encoding, found.terms)
    if references:
        lines.append(f"Coefficients of categories are differences from a reference: {', '.join(references)}.")
    empty = {name: note for name, note in opened.empty_references().items() if name in references}
    answer(result | {"references": references}, *lines, *notes_on(empty), as_json=as_json)


def _references(encoding: "Encoding", terms: tuple[str, ...]) -> list[str]:
    """Return the reference level of each category that has a term, for example carrier=AA."""
    named = zip(encoding.references, encoding.categories, strict=True)
    return [name for name, key in named if any(name.removesuffix(encoding.levels[key][0]) in term for term in terms)]


def _robust(opened: "Store", features: list[str], kind: Any, level: float) -> "RobustSummary":
    """Return the table with errors that allow rows to resemble each other, or to have unequal variances."""
    from ridgeway import retrospect

    model = opened.model_by_task()
    errors = retrospect.heteroscedastic if kind.startswith("HC") else retrospect.clustered
    return errors(retrospect.submodel(model, features) if features else model, kind, level=level)


def _as_dict(found: "Summary", targets: tuple[str, ...]) -> dict[str, Any]:
    """Return the table as plain data, by target and term."""
    import numpy as np

    whole = (
        "n_tasks",
        "n_samples",
        "degrees_of_freedom",
        "level",
        "posterior",
        "assumption",
        "not_estimable",
        "rates",
    )
    parts = [
        name
        for name in ("r_squared", "noise_variance", "log_likelihood", "aic", "bic")
        if getattr(found, name) is not None
    ]
    columns = {"coef": found.coef, "standard_error": found.standard_errors, "t": found.t, "p_value": found.p_values}
    columns |= {"lower": found.intervals[..., 0], "upper": found.intervals[..., 1]}
    return {name: getattr(found, name) for name in whole} | {
        "targets": {
            target: {name: float(np.atleast_1d(getattr(found, name))[k]) for name in parts}
            | {
                "terms": {
                    term: {name: float(np.atleast_2d(values)[k, j]) for name, values in columns.items()}
                    for j, term in enumerate(found.terms)
                }
            }
            for k, target in enumerate(targets)
        }
    }
