"""Does a file that the agent left hold what it should?"""

from __future__ import annotations

import asyncio
import codecs
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Annotated, Any

import regex
from pydantic import Field

from eval_skills.core.documents.patterns import compiled_pattern
from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask, Reason, SkillResponse
from eval_skills.core.models.base import Text
from eval_skills.core.text import comparable, excerpt
from eval_skills.scorers.builtin.json_schema import JsonSchema
from eval_skills.scorers.builtin.regex import search
from eval_skills.scorers.files.exists import missing, refuse_nothing
from eval_skills.scorers.files.rows import ROW_SUFFIXES, NoRows, Rows, count_rows, json_lines, json_of
from eval_skills.scorers.files.workspace import Workspace, asked_text, checked_path
from eval_skills.scorers.registry import scorer
from eval_skills.scorers.score import Score
from eval_skills.scorers.settings import ScoringSettings

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


class _Unreadable(Exception):
    """The file is not text of its encoding."""


class _Open(str):
    """Why it could not be found out whether a part holds."""


@scorer("file_content")
@dataclass(frozen=True, slots=True, kw_only=True)
class FileContent:
    """Share of what is asked of the file `path` that holds; passes when all does. A file that is not there gets 0.

    `contains` is a text or several that it must hold, `notContains` such that it must not (without case, accents composed);
    `equals` is all of its text, `pattern` a regular expression that occurs in it (both with case; ``caseSensitive`` sets it for
    all four), `schema` a JSON Schema of the value that it spells (``true``: any JSON; of each line in ``.jsonl`` and
    ``.ndjson``). `rows` is the number of its data rows, or ``{"min": 1, "max": 9}``: of CSV and TSV without the header (unless
    ``header`` is false) and blank lines, of a JSON list, of JSON Lines, or of Parquet, by the file's ending.

    Text is UTF-8, or what a byte order mark says, or `encoding`; lines end in ``\\n`` or ``\\r\\n``, which is the same here, and
    so is a line break at the end of the whole. Each `pattern` has ``timeoutMs``, and so has the `schema`: what needs longer does
    not hold, and in a set of evaluators it is unknown.

    A file whose content was not kept for its size, one in a folder that is not looked at (``node_modules``, ``.venv``,
    ``__pycache__``), and an answer that does not say what changed in a workspace, are errors of the item, never a verdict.

    Raises:
        InputError: nothing is asked; the path leads out of the workspace; a text is empty, the pattern, the schema or the
            encoding is not valid; rows of such a file cannot be counted.
    """

    path: Text
    contains: str | tuple[str, ...] = ()
    not_contains: str | tuple[str, ...] = ()
    equals: str | None = None
    pattern: Text | None = None
    schema: dict[str, Any] | bool | None = None
    rows: Rows | None = None
    case_sensitive: bool | None = None
    header: bool = True
    encoding: Text | None = None
    timeout_ms: Annotated[int, Field(gt=0, le=600_000)] = 5_000
    task: EvalTask
    settings: ScoringSettings
    _path: str = field(init=False, repr=False, compare=False)
    _pattern: regex.Pattern[str] | None = field(init=False, repr=False, compare=False)
    _schema: JsonSchema | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        asked: dict[str, object] = {
            "contains": self.contains, "notContains": self.not_contains, "equals": self.equals, "pattern": self.pattern,
            "schema": self.schema, "rows": self.rows,
        }  # fmt: skip
        refuse_nothing(asked)
        for name, texts in (("contains", self.contains), ("notContains", self.not_contains)):
            if "" in asked_text(texts) or texts == "":
                raise InputError("an empty text is found in every file; remove it", path=name)
        object.__setattr__(self, "_path", checked_path(self.path))
        flags = regex.IGNORECASE if self.case_sensitive is False else 0
        object.__setattr__(self, "_pattern", None if self.pattern is None else compiled_pattern(self.pattern, "pattern", flags))
        schema = None if self.schema is None else JsonSchema(schema=self.schema, timeout_ms=self.timeout_ms)
        object.__setattr__(self, "_schema", schema)
        if self.rows is not None and not self._path.lower().endswith(ROW_SUFFIXES):
            raise InputError(f"rows are counted in files that end in {', '.join(ROW_SUFFIXES)}", path="rows")
        _check_encoding(self.encoding)

    async def score(self, response: SkillResponse) -> Score:
        """What holds / what is asked, in [0, 1]; one reason for each part that does not hold.

        Raises:
            ScorerError: what the agent changed is unknown, or the content was not kept.
        """
        workspace = Workspace.of(response, self.task, self.settings)
        if not workspace.holds(self._path):
            return missing(self._path, workspace)
        data = await asyncio.to_thread(workspace.content, self._path)
        parts = [part async for part in self._parts(data)]
        wrong = [part for part in parts if part is not None]
        reasons = tuple(Reason(code="FILE_CONTENT", message=f"{self._path}: {each}", where="files") for each in wrong)
        held = f"{self._path} holds what is asked of it ({len(data):,} bytes)"
        value = (len(parts) - len(wrong)) / len(parts)
        open_ = sum(isinstance(each, _Open) for each in wrong)
        highest = (len(parts) - len(wrong) + open_) / len(parts) if open_ else None
        return Score(value, passed=not wrong, reasons=reasons, reason="" if wrong else held, highest=highest)

    async def _parts(self, data: bytes) -> AsyncIterator[str | None]:
        """What is wrong with each part that is asked; None where it holds."""
        for text in asked_text(self.contains):
            yield self._of_text(data, text, wanted=True)
        for text in asked_text(self.not_contains):
            yield self._of_text(data, text, wanted=False)
        if self.equals is not None:
            yield self._of_equal(data, self.equals)
        if self._pattern is not None:
            yield await asyncio.to_thread(self._of_pattern, data, self._pattern)
        if self._schema is not None:
            yield await self._of_schema(data, self._schema)
        if self.rows is not None:
            yield await asyncio.to_thread(self._of_rows, data, self.rows)

    def _of_text(self, data: bytes, wanted_text: str, *, wanted: bool) -> str | None:
        try:
            text = self._text(data)
        except _Unreadable as error:
            return str(error)
        case = bool(self.case_sensitive)
        found = comparable(_lines(wanted_text), case_sensitive=case) in comparable(text, case_sensitive=case)
        if found == wanted:
            return None
        return f"expected {'' if wanted else 'no '}{excerpt(wanted_text)} in it, got {excerpt(text)}"

    def _of_equal(self, data: bytes, wanted: str) -> str | None:
        try:
            text = self._text(data)
        except _Unreadable as error:
            return str(error)
        case = self.case_sensitive is not False
        same = comparable(_whole(text), case_sensitive=case) == comparable(_whole(_lines(wanted)), case_sensitive=case)
        return None if same else f"expected {excerpt(wanted)}, got {excerpt(text)}"

    def _of_pattern(self, data: bytes, pattern: regex.Pattern[str]) -> str | None:
        try:
            text = self._text(data)
        except _Unreadable as error:
            return str(error)
        found = search(pattern, text, self.timeout_ms / 1000)
        if found is None:
            return _Open(f"the pattern was stopped after {self.timeout_ms} ms; simplify it or raise timeoutMs")
        return None if found else f"expected a match of {excerpt(self.pattern)}, got {excerpt(text)}"

    async def _of_schema(self, data: bytes, schema: JsonSchema) -> str | None:
        try:
            text = self._text(data)
            is_lines = self._path.lower().endswith((".jsonl", ".ndjson"))
            values = await asyncio.to_thread(json_lines, text) if is_lines else [await asyncio.to_thread(json_of, text)]
        except (_Unreadable, NoRows) as error:
            return f"expected JSON, got {error}" if isinstance(error, NoRows) else str(error)
        open_ = None
        for number, value in enumerate(values, 1):
            if reasons := (score := await schema.of_value(value)).reasons:
                message = f"{f'line {number}: ' if is_lines else ''}{reasons[0].message}"
                if score.highest is None:
                    return message
                open_ = open_ or _Open(message)  # a later line may be wrong for certain
        return open_

    def _of_rows(self, data: bytes, wanted: Rows) -> str | None:
        try:
            found = count_rows(self._path, data, lambda: self._text(data), header=self.header)
        except (_Unreadable, NoRows) as error:
            return f"expected {wanted.words} rows, got {error}"
        return None if wanted.holds(found) else f"expected {wanted.words} rows, got {found:,}"

    def _text(self, data: bytes) -> str:
        """The text, with ``\\n`` at the ends of lines."""
        encoding = self.encoding or next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
        try:
            return _lines(data.decode(encoding))
        except UnicodeError as error:
            at = f" (byte {error.start})" if isinstance(error, UnicodeDecodeError) else ""
            raise _Unreadable(f"expected text in {encoding}, got something else{at}") from None


def _check_encoding(encoding: str | None) -> None:
    if encoding is None:
        return
    try:
        "".encode(encoding)
    except (LookupError, ValueError):
        known = "give one such as utf-8 or latin-1"
        raise InputError(f"{excerpt(encoding, 40)} is not an encoding of text; {known}", path="encoding") from None


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").removeprefix("\ufeff")


def _whole(text: str) -> str:
    return text.removesuffix("\n")
