"""CSV and TSV, from a file or a pipe."""

import codecs
import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from os import fsencode
from pathlib import Path
from typing import Any

from ridgeway.data._pipe import PipeBytes
from ridgeway.data._tables import Table, not_text, reading
from ridgeway.errors import CsvFormatError, InvalidDataError, InvalidParameterError

CSV_BYTES = 8 * 2**20
"""Bytes of a CSV file that are parsed at a time; a line must fit. Types are inferred from the first of them."""
DELIMITER = re.compile(r"[\t !#-/:-@\[-`{-~]")
"""Any ASCII character except letters, digits and the quotation mark."""
SEPARATORS = {";": "';'", "\t": "$'\\t'", "|": "'|'", ",": "','"}
"""What may separate columns, and how a shell spells it."""
REFUSED = re.compile(r"In CSV column #(\d+): CSV conversion error to double: invalid value '(.*?)'")
"""What pyarrow says about text in a column of numbers."""
COMMA_NUMBER = r"^\s*[+-]?\d*,\d+\s*$"
COMMA_OR_INTEGER = r"^\s*[+-]?(\d*,\d+|\d+)\s*$"
THOUSANDS = r"^\s*[+-]?\d{1,3}(,\d{3})+\s*$"
POINT_NUMBER = r"\s*[+-]?\d*\.\d+\s*"


@dataclass(frozen=True)
class CsvFormat:
    """How a CSV file is written.

    Parameters
    ----------
    delimiter : str or None
        What separates the columns. None for a comma, or for a tab if the name of the file ends in .tsv.
    decimal : "." or ","
        The decimal point.
    charset : str
        The character encoding, by any name that Python knows.

    Examples
    --------
    >>> from io import BytesIO
    >>> from ridgeway.data import CsvFormat, open_stream
    >>> german = CsvFormat(delimiter=";", decimal=",")
    >>> text = chr(10).join(["x;y", "1,5;2"])
    >>> open_stream(BytesIO(text.encode()), csv=german).read(["x"]).to_pydict()
    {'x': [1.5]}
    """

    delimiter: str | None = None
    decimal: str = "."
    charset: str = "utf-8"

    def __post_init__(self) -> None:
        mark = self.delimiter
        if mark is not None and not DELIMITER.fullmatch(str(mark)):
            raise InvalidParameterError(f"the delimiter must be a character such as ',' or ';'; got {mark!r}.")
        if self.decimal not in (".", ","):
            raise InvalidParameterError(f"the decimal mark must be '.' or ','; got {self.decimal!r}.")
        try:
            "a".encode(self.charset)
        except (LookupError, ValueError, TypeError):
            raise InvalidParameterError(
                f"the charset {self.charset!r} is unknown. Use a name such as 'utf-8' or 'latin-1'."
            ) from None


PLAIN = CsvFormat()


class CsvTable(Table):
    """A CSV file, or CSV from a pipe."""

    def __init__(self, source: str, pipe: PipeBytes | None, style: CsvFormat, delimiter: str = ",") -> None:
        import pyarrow as pa

        self.source, self.decimal, self._pipe = source, style.decimal, pipe
        self._opened: Callable[[], Any] = (lambda: pa.OSFile(fsencode(source))) if pipe is None else pipe.open
        self._charset = codecs.lookup(style.charset).name.removesuffix("-sig")
        self._delimiter = style.delimiter or delimiter
        with reading(source, self._charset):
            line = BytesIO(self._head()).readline().decode("utf-8-sig")
            columns = next(csv.reader([line], delimiter=self._delimiter), [])
        super().__init__(source, columns, None)
        if style.delimiter is None and len(columns) == 1:
            self._refuse_other_delimiter(columns[0])

    def types(self, columns: Sequence[str]) -> dict[str, Any]:
        import pyarrow as pa
        from pyarrow import csv as pacsv

        with reading(self.source, self._charset):
            head = pacsv.open_csv(pa.BufferReader(self._head()), **self._options(columns, {}, PLAIN.charset)).read_all()
        for name in columns:
            kind = head.schema.field(name).type
            if pa.types.is_binary(kind):
                raise not_text(self.source, self._charset)
            if pa.types.is_string(kind) and self.decimal == ".":
                self._refuse_commas(name, head.column(name).drop_null())
        return {name: head.schema.field(name).type for name in columns}

    def types_as_written(self, columns: Sequence[str]) -> dict[str, Any]:
        import pyarrow as pa

        return dict.fromkeys(columns, pa.string())

    def batches(self, columns: Sequence[str], *, rows: int, kinds: Mapping[str, Any] | None = None) -> Iterator[Any]:
        import pyarrow as pa
        from pyarrow import csv as pacsv

        types = {name: kind for name, kind in (kinds or {}).items() if name in columns}
        try:
            with reading(self.source, self._charset):
                try:  # with the first rows: a pipe cannot be opened again
                    head = pa.BufferReader(self._head())
                    pacsv.open_csv(head, **self._options(columns, types, PLAIN.charset))
                    known = len(types) == len(columns)
                except pa.ArrowInvalid:
                    known = False
                types = types if known else self._chosen(columns, types)
                yield from pacsv.open_csv(self._opened(), **self._options(columns, types, self._charset))
        except InvalidDataError as error:
            self._name_column(error)
            raise

    def read(self, columns: Sequence[str], *, text: Sequence[str] = ()) -> Any:
        import pyarrow as pa
        from pyarrow import csv as pacsv

        with reading(self.source, self._charset):
            kinds = {name: pa.string() for name in text}
            found = pacsv.read_csv(self._opened(), **self._options(columns, kinds, self._charset))
        if any(map(pa.types.is_binary, found.schema.types)):
            raise not_text(self.source, self._charset)
        return found

    def _chosen(self, columns: Sequence[str], kinds: Mapping[str, Any]) -> dict[str, Any]:
        """Return the types of columns: as given or, if not, as inferred, with integers as float64.

        Booleans are read as such if they are to be numbers.
        """
        import pyarrow as pa

        unsure = [name for name in columns if kinds.get(name, pa.float64()) == pa.float64()]
        found = self.types(unsure) if unsure else {}
        inferred = {name: kind for name, kind in found.items() if kind == pa.bool_() or name not in kinds}
        return {**kinds, **{name: pa.float64() if pa.types.is_integer(k) else k for name, k in inferred.items()}}

    def _head(self) -> bytes:
        """Return the first lines in UTF-8, about as many as are parsed at a time."""
        if self._pipe is None:
            with Path(self.source).open("rb") as file:
                raw = file.read(CSV_BYTES + 1)
        else:
            raw = self._pipe.head(CSV_BYTES + 1)
        head, whole = raw[:CSV_BYTES], len(raw) <= CSV_BYTES
        if self._charset != "utf-8":
            head = codecs.getincrementaldecoder(self._charset)().decode(head, final=whole).encode()
        return head if whole else head[: head.rfind(b"\n") + 1] or head

    def _options(self, columns: Sequence[str], kinds: Mapping[str, Any], charset: str) -> dict[str, Any]:
        from pyarrow import csv as pacsv

        return {
            "read_options": pacsv.ReadOptions(block_size=CSV_BYTES, encoding=charset),
            "parse_options": pacsv.ParseOptions(delimiter=self._delimiter),
            "convert_options": pacsv.ConvertOptions(
                column_types=dict(kinds),
                include_columns=list(columns),
                strings_can_be_null=True,
                decimal_point=self.decimal,
            ),
        }

    def _refuse_other_delimiter(self, header: str) -> None:
        """Raise if the only name seems to be several."""
        found = next((mark for mark in SEPARATORS if mark in header and mark != self._delimiter), None)
        if found is not None:
            raise CsvFormatError(
                f"{self.source} has only one column, {header[:80]!r}; {found!r} seems to separate columns. Pass "
                f"--delimiter {SEPARATORS[found]}."
            )

    def _refuse_commas(self, name: str, values: Any) -> None:
        """Raise if text looks like numbers with a decimal comma: some have one, and all others are integers."""
        from pyarrow import compute as pc

        commas = values.filter(pc.match_substring_regex(values, COMMA_NUMBER))
        if (
            len(commas)
            and pc.all(pc.match_substring_regex(values, COMMA_OR_INTEGER)).as_py()
            and not pc.all(pc.match_substring_regex(commas, THOUSANDS)).as_py()
        ):
            raise self._with_comma(name, commas[0].as_py())

    def _with_comma(self, name: str, value: str) -> CsvFormatError:
        return CsvFormatError(
            f"{self.source}: column {name!r} has {value!r}, which looks like a number with a decimal comma. Pass "
            "--decimal ','."
        )

    def _name_column(self, error: InvalidDataError) -> None:
        """Raise an error that names the column, if it is one of numbers and has something else."""
        found = REFUSED.search(str(error))
        if found is None:
            return
        name, value = self.columns[int(found[1])], found[2]
        if self.decimal == "." and re.match(COMMA_NUMBER, value) and not re.match(THOUSANDS, value):
            raise self._with_comma(name, value) from error
        if self.decimal == "," and re.fullmatch(POINT_NUMBER, value):
            raise CsvFormatError(
                f"{self.source}: column {name!r} has {value!r}, with a decimal point. Leave out --decimal ','."
            ) from error
        raise InvalidDataError(
            f"{self.source}: column {name!r} has {value!r}, which is not a number. Drop such rows, or fill or encode "
            "the values first."
        ) from error
