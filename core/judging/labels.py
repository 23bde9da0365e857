"""Labels that people gave answers: a CSV file, one label a line."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from pydantic.alias_generators import to_snake

from eval_skills.core.errors import InputError
from eval_skills.core.text import nearest

COLUMNS = ("task_id", "run_index", "skill_id", "label", "answer", "comment")
"""`task_id` and `label` must be there. `run_index` counts from 0, as in reports; `skill_id` is an id or ``id@version``."""

WORDS = {"pass": 1.0, "fail": 0.0, "true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}


@dataclass(frozen=True, slots=True)
class Label:
    """One label: a score in [0, 1]. None is not given; `line` is its line in the file."""

    line: int
    task_id: str
    score: float
    run_index: int | None = None
    skill: str | None = None
    answer: str | None = None


def read_labels(path: Path) -> list[Label]:
    """The labels of a file. A label is ``pass`` or ``fail`` (``yes``, ``no``, ``true``, ``false``), or a number from 0 to 1.

    Cells are separated by commas, or by the semicolons or tabs that spreadsheets write in some countries; a number may have a
    decimal comma then.

    Raises:
        InputError: it cannot be read, a column is missing, unknown or repeated, a line is malformed, or there is no label.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("not UTF-8 text; save it as CSV in UTF-8", source=path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", source=path) from None
    sign = _delimiter(text)
    rows = csv.DictReader(StringIO(text, newline=""), delimiter=sign, strict=True)
    try:
        names = _columns(rows.fieldnames or (), path)
        labels = [_label(rows.line_num, dict(zip(names, row.values(), strict=False)), row, path, sign) for row in rows]
    except csv.Error as error:
        raise InputError(f"not CSV from line {rows.line_num + 1} on: {error}", source=path) from None
    if not labels:
        raise InputError("the file has no labels; a line looks like: add-1,pass", source=path)
    return labels


def _delimiter(text: str) -> str:
    """What separates the names of the columns in the first line, where it stands outside of quotes."""
    first = re.sub(r'"[^"]*"', "", re.split(r"[\r\n]", text.lstrip(), maxsplit=1)[0])
    return next((sign for sign in (",", ";", "\t") if sign in first), ",")


def _columns(found: object, path: Path) -> list[str]:
    names = [to_snake(str(name).strip()) for name in found] if isinstance(found, list | tuple) else []
    known = ", ".join(COLUMNS)
    for name in names:
        if name not in COLUMNS:
            raise InputError(f"unknown column {name!r}{nearest(name, COLUMNS)}; known are {known}", source=path)
        if names.count(name) > 1:
            raise InputError(f"the column {name} is given twice; keep one", source=path)
    for name in ("task_id", "label"):
        if name not in names:
            raise InputError(f"no column {name}; the first line names the columns: {known}", source=path)
    return names


def _label(line: int, cells: Mapping[str, str | None], row: Mapping[str | None, object], path: Path, sign: str) -> Label:
    if None in row or None in cells.values():
        raise InputError(
            f"line {line} has {'more' if None in row else 'fewer'} cells than the first line has columns", source=path
        )
    given = {name: (value or "").strip() for name, value in cells.items()}
    if not given["task_id"]:
        raise InputError(f"line {line} names no task", source=path)
    return Label(
        line=line,
        task_id=given["task_id"],
        score=_score(given["label"], line, path, sign),
        run_index=_index(given.get("run_index", ""), line, path),
        skill=given.get("skill_id") or None,
        answer=cells.get("answer"),
    )


def _score(text: str, line: int, path: Path, sign: str) -> float:
    if (known := WORDS.get(text.lower())) is not None:
        return known
    try:
        score = float(text if sign == "," else text.replace(",", "."))
    except ValueError:
        score = math.nan
    if not 0 <= score <= 1 or "_" in text:  # Python reads 0_1 as 1
        raise InputError(f"line {line}: the label {text!r} is neither pass or fail nor a number from 0 to 1", source=path)
    return score


def _index(text: str, line: int, path: Path) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise InputError(f"line {line}: the run_index {text!r} is not a whole number from 0 on", source=path)
    return int(text)
