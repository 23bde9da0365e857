"""Tables of any program: CSV, TSV, Parquet and Arrow, row by row."""

from __future__ import annotations

import csv
import datetime
import decimal
import io
import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval_skills.benchmarks.importers.rows import Row
from eval_skills.core.documents.loading import MAX_DOCUMENT_BYTES, read_text
from eval_skills.core.errors import InputError
from eval_skills.core.text import plural

if TYPE_CHECKING:
    import pyarrow as pa

TEXT_SUFFIXES = (".csv", ".tsv")
ARROW_SUFFIXES = (".parquet", ".arrow")
TABLE_SUFFIXES = (*TEXT_SUFFIXES, *ARROW_SUFFIXES)
WORKBOOKS = (".xlsx", ".xls", ".ods")
"""Tables that are not read: the refusal says which are."""

Cells = list[tuple[int, list[str]]]
"""The rows of a file of cells, each with the number of its first line."""


def read_table(path: Path) -> list[Row]:
    """The rows of a table by the names of its columns. In CSV every value is text, and an empty cell is empty text.

    Raises:
        InputError: the file is missing, unreadable, not UTF-8 or not such a table; it has no rows, a column without a name, or
            two of one name.
    """
    if path.suffix.lower() in TEXT_SUFFIXES:
        return rows_of_cells(path, read_cells(path))
    return _arrow_rows(path)


def read_cells(path: Path) -> Cells:
    """The cells of a CSV file (of a TSV file by its ending), its header among them; blank lines say nothing.

    Raises:
        InputError: as `read_table`.
    """
    text = read_text(path)
    usual = csv.field_size_limit(MAX_DOCUMENT_BYTES)  # the default would refuse a context of 130,000 characters
    reader = csv.reader(io.StringIO(text, newline=""), delimiter="\t" if path.suffix.lower() == ".tsv" else ",", strict=True)
    found: Cells = []
    line = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                found.append((line, cells))
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"not valid CSV: {error}", source=f"{path}:{line}") from None
    finally:
        csv.field_size_limit(usual)  # it holds for the whole process
    if not found:
        raise InputError("the file is empty", source=path)
    return found


def rows_of_cells(path: Path, cells: Cells) -> list[Row]:
    """The rows below the header.

    Raises:
        InputError: as `read_table`, or a row has another number of cells than the header.
    """
    (_, header), *rest = cells
    names = [name.strip() for name in header]
    _check_names(path, names)
    if not rest:
        raise InputError("the table has a header and no rows", source=path)
    rows = []
    for line, row in rest:
        if len(row) != len(names):
            found = plural(len(row), "cell")
            message = f"this row has {found}, and the header {len(names)}; quote cells that hold commas or line breaks"
            raise InputError(message, source=f"{path}:{line}")
        rows.append(Row(f"{path}:{line}", dict(zip(names, row, strict=True)), is_text=True))
    return rows


def _check_names(path: Path, names: list[str]) -> None:
    if len(names) == 1 and (other := next((sign for sign in (";", "\t", "|") if sign in names[0]), None)):
        sign = "tabs" if other == "\t" else f"{other!r}"
        raise InputError(
            f"the header is one cell, with {sign} in it; separate cells by commas, or by tabs in a .tsv file", source=path
        )
    if "" in names:
        raise InputError(f"column {names.index('') + 1} of the header has no name", source=path)
    if twice := next((name for name, count in Counter(names).items() if count > 1), None):
        raise InputError(f"two columns are named {twice!r}; rename one", source=path)


def _arrow_rows(path: Path) -> list[Row]:
    import pyarrow as pa

    try:
        table = _arrow_table(path)
    except FileNotFoundError:
        raise InputError("no such file", source=path) from None
    except (pa.ArrowException, OSError, ValueError) as error:
        first = str(error).partition("\n")[0]
        raise InputError(f"not readable as {path.suffix.lower().removeprefix('.')}: {first}", source=path) from None
    _check_names(path, table.column_names)
    if not table.num_rows:
        raise InputError("the table has no rows", source=path)
    rows = table.to_pylist()
    return [
        Row(f"{path}: row {number}", {key: _plain(value) for key, value in row.items()}) for number, row in enumerate(rows, 1)
    ]


def _arrow_table(path: Path) -> pa.Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if path.suffix.lower() == ".parquet":
        return pq.ParquetFile(path).read()
    with path.open("rb") as file:  # what `datasets` saves is a stream; a file of Feather's has another beginning
        is_file = file.read(6) == b"ARROW1"
        file.seek(0)
        return pa.ipc.open_file(file).read_all() if is_file else pa.ipc.open_stream(file).read_all()


def _plain(value: Any) -> Any:
    """JSON data: a missing number is null, a moment its ISO text. Bytes (images, sounds) stay, for whoever maps them."""
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return value
