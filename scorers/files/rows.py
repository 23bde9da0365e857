"""How many rows of data a file has: CSV and TSV, a JSON list, JSON Lines, Parquet."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from threading import Lock
from typing import Any

from pydantic import Field, model_validator

from eval_skills.core.documents.loading import refuse_constant
from eval_skills.core.models.base import Model
from eval_skills.core.text import excerpt

ROW_SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet")
"""The endings of files whose rows can be counted."""

_DELIMITERS = ",;\t|"
_QUOTED = re.compile(r'"[^"]*"')

_reading = Lock()
"""Held while the longest cell that `csv` reads, which is set for the whole process, is as long as a file."""


class Rows(Model):
    """How many there should be: a number, or a range with both ends included, of which one may be left out."""

    min: int | None = Field(default=None, ge=0)
    max: int | None = Field(default=None, ge=0)

    @model_validator(mode="before")
    @classmethod
    def _of_number(cls, value: Any) -> Any:
        if isinstance(value, int) and not isinstance(value, bool):
            return {"min": value, "max": value}
        return value

    @model_validator(mode="after")
    def _is_a_range(self) -> Rows:
        if self.min is None and self.max is None:
            raise ValueError("it holds neither min nor max; give at least one")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"min {self.min} is greater than max {self.max}")
        return self

    def holds(self, count: int) -> bool:
        """Whether so many are within it."""
        return (self.min is None or count >= self.min) and (self.max is None or count <= self.max)

    @property
    def words(self) -> str:
        """``12``, ``at least 3``, ``3 to 5``."""
        if self.min == self.max:
            return str(self.min)
        if self.max is None:
            return f"at least {self.min}"
        return f"at most {self.max}" if self.min is None else f"{self.min} to {self.max}"


class NoRows(Exception):
    """The file has no rows to be counted; the text says why, as the end of ``expected 3 rows, got``."""


def count_rows(name: str, data: bytes, text: Callable[[], str], *, header: bool) -> int:
    """The rows of a file by the ending of its name. In CSV and TSV blank lines do not count, nor does the first row with
    `header`.

    Raises:
        NoRows: it is not such a file, or a JSON file does not hold a list.
    """
    ending = name.lower()
    if ending.endswith(".parquet"):
        return _of_parquet(data)
    if ending.endswith((".csv", ".tsv")):
        return _of_cells(text(), tab=ending.endswith(".tsv"), header=header)
    if ending.endswith((".jsonl", ".ndjson")):
        return len(json_lines(text()))
    found = json_of(text())
    if not isinstance(found, list):
        raise NoRows(f"no list: {excerpt(found, 80)}")
    return len(found)


def json_of(text: str) -> object:
    """The value of a JSON text.

    Raises:
        NoRows: it is not JSON.
    """
    try:
        return json.loads(text, parse_constant=refuse_constant)
    except RecursionError:
        raise NoRows("JSON that is nested too deeply") from None
    except ValueError as error:
        raise NoRows(f"no valid JSON ({error})") from None


def json_lines(text: str) -> list[object]:
    """The values of JSON Lines; blank lines say nothing.

    Raises:
        NoRows: a line is not JSON.
    """
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                found.append(json_of(line))
            except NoRows as error:
                raise NoRows(f"{error} in line {number}") from None
    return found


def _of_cells(text: str, *, tab: bool, header: bool) -> int:
    with _reading:
        usual = csv.field_size_limit(len(text) + 1)
        try:
            return _counted(text, tab=tab, header=header)
        finally:
            csv.field_size_limit(usual)


def _counted(text: str, *, tab: bool, header: bool) -> int:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter="\t" if tab else _delimiter(text))
    try:
        rows = sum(any(cell.strip() for cell in row) for row in reader)
    except csv.Error as error:
        raise NoRows(f"no valid CSV ({error})") from None
    return max(0, rows - 1) if header else rows


def _delimiter(text: str) -> str:
    """The one of `_DELIMITERS` that the first line has most of, outside of quotes; commas where it has none."""
    first = _QUOTED.sub("", text.lstrip()).partition("\n")[0]
    return max(_DELIMITERS, key=first.count)


def _of_parquet(data: bytes) -> int:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        return int(parquet.ParquetFile(pa.BufferReader(data)).metadata.num_rows)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise NoRows(f"no valid Parquet ({excerpt(str(error), 120)})") from None
