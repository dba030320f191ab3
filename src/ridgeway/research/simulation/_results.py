"""The results of a simulation as arrays, tidy tables and Parquet files."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from os import fsencode
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from ridgeway._checks import Array
from ridgeway._files import atomic_file
from ridgeway._optional import require
from ridgeway._text import did_you_mean
from ridgeway.errors import InvalidDataError, InvalidParameterError
from ridgeway.research.simulation._setting import Setting

TABLE, DIRECTIONS = "results.parquet", "directions.parquet"
KEY = b"ridgeway"
Averaging = Literal["exact", "drawn"]
FORMAT = 1


class RepetitionErrors(NamedTuple):
    """The errors of one repetition: L noise levels, M methods, T tasks, p directions; or of several, stacked.

    Attributes
    ----------
    errors : ndarray of shape (L, M, T)
        ‖ŵ_t − w_*‖², or its expectation given the designs.
    direction_errors : ndarray of shape (L, M, p)
        The same after the last task, direction by direction.
    information : ndarray of shape (p,)
        Σ_t n_tΣ_t of the population in each direction.
    """

    errors: Array
    direction_errors: Array
    information: Array


@dataclass(frozen=True)
class Description:
    """The description of a run: all that its numbers depend on.

    Attributes
    ----------
    setting : Setting
    methods : tuple of str
    repetitions, seed : int
    averaging : "exact" or "drawn"
    version : of Ridgeway
    """

    setting: Setting
    methods: tuple[str, ...]
    repetitions: int
    seed: int
    averaging: Averaging
    version: str

    def as_dict(self) -> dict[str, Any]:
        """Return the description in a form that JSON can store."""
        return {"format": FORMAT, **vars(self), "methods": list(self.methods), "setting": self.setting.as_dict()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Description":
        """Return the description from `as_dict`, or raise."""
        if values.get("format") != FORMAT:
            raise InvalidDataError(
                f"this run has format {values.get('format')!r}; this Ridgeway reads format {FORMAT}. Upgrade it."
            )
        given = {name: value for name, value in values.items() if name != "format"}
        given |= {"setting": Setting.from_dict(given["setting"]), "methods": tuple(given["methods"])}
        return cls(**given)


@dataclass(frozen=True, eq=False)
class Results:
    """The errors of R repetitions, L noise levels, M methods, T tasks and p directions.

    Attributes
    ----------
    description : Description
        Setting, methods, repetitions, seed, averaging and version.
    errors : ndarray of shape (R, L, M, T)
        ‖ŵ_t − w_*‖² after each task, or its expectation given the designs.
    direction_errors : ndarray of shape (R, L, M, p)
        The same after the last task, in each direction of the population.
    information : ndarray of shape (R, p)
        Σ_t n_tΣ_t of the population in each direction.

    Examples
    --------
    >>> from ridgeway.research import simulation
    >>> setting = simulation.Setting(n_tasks=3, n_samples=5, n_features=8)
    >>> found = simulation.run(setting, ["gr", "oracle"], repetitions=2, seed=1)
    >>> found.to_pandas().columns.tolist()
    ['repetition', 'noise_variance', 'method', 'task', 'error']
    >>> len(found.to_pandas())
    12
    """

    description: Description
    errors: Array
    direction_errors: Array
    information: Array

    def of(self, method: str, noise_variance: float | None = None) -> Array:
        """Return the errors of one method, of shape (R, T), at one noise level (the first if not given)."""
        levels, methods = self.description.setting.noise_variance, self.description.methods
        if method not in methods:
            near = did_you_mean(method, methods)
            raise InvalidParameterError(
                f"no method {method!r} in these results.{near} They have: {', '.join(methods)}."
            )
        if noise_variance is not None and noise_variance not in levels:
            known = ", ".join(f"{level:g}" for level in levels)
            raise InvalidParameterError(f"no noise variance {noise_variance!r} in these results. They have: {known}.")
        level = 0 if noise_variance is None else levels.index(noise_variance)
        return np.asarray(self.errors[:, level, methods.index(method)])

    def forgetting(self) -> Array:
        """Return F_t = 𝓛_t − (𝓛_1 + … + 𝓛_{t−1})/(t − 1), of the shape of `errors`; NaN for the first task."""
        before = np.arange(self.errors.shape[-1], dtype=np.float64)
        before[:1] = np.nan
        return self.errors - (np.cumsum(self.errors, axis=-1) - self.errors) / before

    def to_arrow(self) -> Any:
        """Return a pyarrow table: one row per repetition, noise level, method and task."""
        return self._tidy("task", error=self.errors)

    def directions_to_arrow(self) -> Any:
        """Return a pyarrow table: one row per repetition, noise level, method and direction, after the last task."""
        information = np.broadcast_to(self.information[:, np.newaxis, np.newaxis], self.direction_errors.shape)
        return self._tidy("direction", information=information, error=self.direction_errors)

    def to_pandas(self) -> Any:
        """Return `to_arrow` as a pandas DataFrame."""
        require("pandas", extra="frame")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """Return `to_arrow` as a polars DataFrame."""
        require("polars", extra="frame")
        import polars

        return polars.from_arrow(self.to_arrow())

    def save(self, folder: str | Path) -> None:
        """Write results.parquet and directions.parquet into an existing folder, each atomically."""
        require("pyarrow", extra="simulation")
        from pyarrow import parquet

        for name, table in ((DIRECTIONS, self.directions_to_arrow()), (TABLE, self.to_arrow())):
            with atomic_file(Path(folder) / name) as file:
                parquet.write_table(table, file)

    @classmethod
    def load(cls, folder: str | Path) -> "Results":
        """Read what `save` wrote, or raise."""
        require("pyarrow", extra="simulation")
        import pyarrow
        from pyarrow import parquet

        try:
            paths = [Path(folder) / name for name in (TABLE, DIRECTIONS)]
            tables = [parquet.read_table(pyarrow.OSFile(fsencode(path))) for path in paths]
        except FileNotFoundError:
            raise InvalidDataError(
                f"{folder} does not contain a finished run ({TABLE} and {DIRECTIONS}). Choose another folder."
            ) from None
        except (OSError, pyarrow.ArrowException) as error:
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise InvalidDataError(f"the run in {folder} cannot be read: {reason}") from None
        texts = [(table.schema.metadata or {}).get(KEY) for table in tables]
        if texts[0] is None or texts[0] != texts[1]:
            raise InvalidDataError(f"the tables in {folder} do not belong to one run of Ridgeway.")
        description = Description.from_dict(json.loads(texts[0]))
        shape = (description.repetitions, len(description.setting.noise_variance), len(description.methods), -1)
        errors, direction_errors, information = (
            table.column(name).to_numpy().reshape(shape)
            for table, name in ((tables[0], "error"), (tables[1], "error"), (tables[1], "information"))
        )
        return cls(description, errors, direction_errors, information[:, 0, 0])

    def _tidy(self, last: str, **values: Array) -> Any:
        """Return arrays of shape (R, L, M, …) as columns of a table, with the name of the last axis."""
        require("pyarrow", extra="simulation")
        import pyarrow

        description, shape = self.description, values["error"].shape

        def column(axis: int, entries: Any) -> Any:
            return np.broadcast_to(np.expand_dims(entries, [i for i in range(4) if i != axis]), shape).ravel()

        codes = column(2, np.arange(shape[2], dtype=np.int32))
        columns = {
            "repetition": column(0, np.arange(shape[0], dtype=np.int32)),
            "noise_variance": column(1, np.array(description.setting.noise_variance)),
            "method": pyarrow.DictionaryArray.from_arrays(codes, list(description.methods)),
            last: column(3, np.arange(1, shape[3] + 1, dtype=np.int32)),
            **{key: np.ascontiguousarray(value).ravel() for key, value in values.items()},
        }
        metadata = {KEY: json.dumps(description.as_dict(), sort_keys=True).encode()}
        return pyarrow.table(columns).replace_schema_metadata(metadata)
