"""Reading files that people write: JSON and YAML, with errors that say where and what to do."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Sequence
from math import isinf
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pydantic import ValidationError
from pydantic_core import to_json

from eval_skills.core.documents import YAML_SUFFIXES
from eval_skills.core.documents.validation_errors import path_of, problems_in, with_truth
from eval_skills.core.documents.yaml_documents import parse_yaml
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.models.base import Model
from eval_skills.core.text import excerpt, plural

M = TypeVar("M", bound=Model)

MAX_DOCUMENT_BYTES = 64 * 1024 * 1024
_TEXT_OR_NUMBER = re.compile(r'"(?:[^"\\]|\\.)*+"|NaN|-?Infinity|-?[0-9][0-9.eE+-]*')
_SHOWN_DIGITS = 40
_SHOWN_CHARS = 60
_LONGEST_NAME, _LONGEST_PATH = 255, 4096


def check_path(text: str, place: str, valid: str) -> None:
    """Refuse text that cannot be the path of a file, such as a question that was meant to be asked. `place` is what messages call
    it, `valid` what may be given there.

    Raises:
        UsageError: a name in it is too long, or holds what no name can.
    """
    try:
        written = os.fsencode(text)
    except UnicodeEncodeError:
        written = b"\0"
    if b"\0" in written:
        raise UsageError(f"{place}: {text[:_SHOWN_CHARS]!r} holds a character that no name of a file can hold; {valid}")
    if len(written) >= _LONGEST_PATH or max(map(len, written.split(os.sep.encode()))) > _LONGEST_NAME:
        raise UsageError(f"{place}: {text[:_SHOWN_CHARS]!r}… is too long for the name of a file; {valid}")


def from_home(path: str) -> str:
    """`path` with a leading ``~`` as the user's home, which a shell and the configuration make of it, too."""
    return os.path.expanduser(path) if path == "~" or path.startswith("~/") else path


def is_utf8(name: str) -> bool:
    """Whether the name of a file is UTF-8; Python has other bytes of it as halves of surrogate pairs, which JSON cannot hold."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_yaml(file: Path | str) -> bool:
    """Whether a file is YAML, by its ending."""
    return str(file).lower().endswith(YAML_SUFFIXES)


def read_document(path: Path, *, most_bytes: int = MAX_DOCUMENT_BYTES) -> Any:
    """The content of a JSON (or, by its ``.yaml``/``.yml`` ending, YAML) file; YAML is read as version 1.2.

    Raises:
        InputError: the file is missing, unreadable, larger than `most_bytes`, not UTF-8, or not valid;
            the message has line and column.
            A key that is given twice, NaN, Infinity and numbers beyond a float are refused too: they hide a mistake. So is YAML
            whose anchors stand for more than a million parts.
    """
    text = read_text(path, most_bytes=most_bytes)
    try:
        return parse_yaml(text) if is_yaml(path) else _parse_json(text)
    except json.JSONDecodeError as error:
        raise InputError(f"not valid JSON at line {error.lineno}, column {error.colno}: {error.msg}", source=path) from None
    except RecursionError:
        raise InputError("nested too deeply to read", source=path) from None
    except ValueError as error:
        raise InputError(str(error), source=path) from None


LINES_SUFFIXES = (".jsonl", ".ndjson")


def holds_lines(path: Path) -> bool:
    """Whether a file is JSON Lines, by its ending; a ``.json`` file is where its first line is an object and others follow."""
    if path.suffix.lower() in LINES_SUFFIXES:
        return True
    if path.suffix.lower() != ".json" or not path.is_file():  # a pipe would be waited for
        return False
    try:
        with path.open("rb") as content:
            first, more = content.readline(MAX_DOCUMENT_BYTES), content.read(1024)
        return first.lstrip(b"\xef\xbb\xbf \t").startswith(b"{") and bool(more.strip()) and isinstance(json.loads(first), dict)
    except (OSError, ValueError, RecursionError):
        return False


def folder_of(path: Path) -> Path:
    """The absolute folder that a file lies in; of a folder that itself."""
    absolute = path.resolve()
    return absolute if absolute.is_dir() else absolute.parent


def read_json_lines(path: Path) -> list[Any]:
    """The values in a file of JSON Lines, one a line; blank lines say nothing.

    Raises:
        InputError: as `read_document`, with the line that is wrong.
    """
    return [value for _, value in numbered_json_lines(path)]


def numbered_json_lines(path: Path) -> list[tuple[int, Any]]:
    """The values of `read_json_lines`, each with the number of its line, from 1."""
    values = []
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if line.strip():
            try:
                values.append((number, _parse_json(line)))
            except json.JSONDecodeError as error:
                raise InputError(f"not valid JSON at line {number}, column {error.colno}: {error.msg}", source=path) from None
            except RecursionError:
                raise InputError(f"line {number} is nested too deeply to read", source=path) from None
            except ValueError as error:
                raise InputError(f"line {number}: {error}", source=path) from None
    return values


def validate(model: type[M], data: Any, *, source: Path | str | None = None) -> M:
    """`data` as a `model`. Of a `source` in YAML, ``yes``, ``no``, ``on`` and ``off`` are read where a truth value is asked for.

    Raises:
        InputError: with the source, the path inside it, what was expected, what was given, and the nearest known key.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        if source is not None and is_yaml(source) and (read := with_truth(error, data)) is not None:
            return validate(model, read, source=source)
        first, *others = problems_in(error, data)
        more = f" (and {plural(len(others), 'more problem')})" if others else ""
        raise InputError(f"{first.message}{more}", source=source, path=first.path) from None


def validate_options(model: type[M], options: dict[str, Any]) -> M:
    """The options of a call as a `model`; messages name them as Python spells them.

    Raises:
        UsageError: one does not exist, or its value is not valid; the message names it, what was given, and what is valid.
    """
    try:
        return validate(model, options)
    except InputError as error:
        place, _, inside = error.path.partition(".")
        name = re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", place)
        where = f"{name}{'.' if inside else ''}{inside}: " if place else ""  # two options together have no place
        raise UsageError(f"{where}{error.message}") from None


def validate_known(model: type[M], data: Any, *, source: Path | str | None = None) -> tuple[M, list[str]]:
    """`data` as a `model` without the keys, at any depth, that it does not know, and where these are: a newer version wrote them.

    Raises:
        InputError: as `validate`; never for an unknown key.
    """
    unknown: list[str] = []
    while True:
        try:
            return model.model_validate_json(to_json(data)) if unknown else model.model_validate(data), unknown
        except ValidationError as error:
            found = [(*each["loc"], each["ctx"]["name"]) for each in error.errors() if each["type"] == "unknown_key"]
            if not found or not all(_is_there(data, place) for place in found):
                return validate(model, data, source=source), unknown
            for place in found:
                data = _without(data, place)
                unknown.append(path_of(place))


def _is_there(data: Any, place: Sequence[int | str]) -> bool:
    try:
        for part in place:
            data = data[part]
    except (LookupError, TypeError):
        return False
    return True


def _without(data: Any, place: Sequence[int | str]) -> Any:
    first, *rest = place
    if not rest:
        return {key: value for key, value in data.items() if key != first}
    copy = data.copy()
    copy[first] = _without(data[first], rest)
    return copy


def read_text(path: Path, *, most_bytes: int = MAX_DOCUMENT_BYTES) -> str:
    """The text of a file, without a byte order mark.

    Raises:
        InputError: the file is missing, unreadable, not a regular file, larger than `most_bytes`, or not UTF-8.
        UsageError: the path is too long for the system.
    """
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise InputError("not a regular file", source=path)
        if (size := path.stat().st_size) > most_bytes:
            raise InputError(f"the file has {size:,} bytes; at most {most_bytes:,} are read", source=path)
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError("no such file", source=path) from None
    except IsADirectoryError:
        raise InputError("this is a folder; name a file", source=path) from None
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text (byte {error.start}); save it as UTF-8", source=path) from None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise too_long_path(str(path)) from None
        raise InputError(f"cannot be read: {error.strerror}", source=path) from None


def too_long_path(text: str) -> UsageError:
    """The error about a text that was given as a path, and that the system refuses for its length."""
    return UsageError(f"{excerpt(text)}: too long for a path; give the name of a file, not what is in it")


def _parse_json(text: str) -> Any:
    if not text.strip():
        raise ValueError("the file is empty")

    def finite(number: str) -> float:
        if isinf(value := float(number)):
            raise ValueError(f"{_with_line(number, text)} is too large a number")
        return value

    def refused(constant: str) -> NoReturn:
        _refuse_with_remedy(_with_line(constant, text))

    return json.loads(text, object_pairs_hook=distinct_keys, parse_constant=refused, parse_float=finite)


def finite_json(text: str) -> Any:
    """The value of one JSON text, such as a line of a log. Of a key that is given twice, the last counts.

    Raises:
        ValueError: it is not JSON (`json.JSONDecodeError`), or holds NaN, Infinity or a number beyond a float.
    """

    def finite(number: str) -> float:
        if isinf(value := float(number)):
            raise ValueError(f"{number[:_SHOWN_DIGITS]} is too large a number")
        return value

    return json.loads(text, parse_constant=_refuse_with_remedy, parse_float=finite)


def _with_line(literal: str, text: str) -> str:
    """A number or constant with the line of its first place outside of texts; the first is what the decoder stopped at."""
    place = next(found.start() for found in _TEXT_OR_NUMBER.finditer(text) if found[0] == literal)
    return f"{literal[:_SHOWN_DIGITS]} (line {text.count(chr(10), 0, place) + 1})"


def distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these pairs, as a hook of a JSON decoder.

    Raises:
        ValueError: a key is given twice.
    """
    keys = dict(pairs)
    if len(keys) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"key {next(name for name in names if names.count(name) > 1)!r} is given twice in one object")
    return keys


def refuse_constant(name: str) -> NoReturn:
    """Refuse NaN and Infinity, which Python's decoder takes for JSON; as its `parse_constant`.

    Raises:
        ValueError: always.
    """
    raise ValueError(f"{name} is not JSON")


def _refuse_with_remedy(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON; give a finite number or null")
