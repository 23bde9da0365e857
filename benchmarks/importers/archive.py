"""The logs of Inspect as files: an archive of a header and one document for each epoch of a sample, or one JSON document."""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from pathlib import Path
from typing import Any

from eval_skills.core.errors import InputError

LOG_SUFFIX = ".eval"
MAX_LOG_BYTES = 1024 * 1024 * 1024
"""How much the parts of one log may hold when they are unpacked."""

_HEADERS = ("header.json", "_journal/start.json")
_ZSTANDARD = 93
"""The method that Inspect compresses with, which Python's own `zipfile` reads from 3.14 on (APPNOTE.TXT 6.3.10, 4.4.5)."""

_LOCAL_HEADER_BYTES = 30
_JSON_LOG = re.compile(r'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:\s*"\w+"\s*,\s*"eval"\s*:')
"""How a log begins that Inspect wrote as JSON."""


def read_log(path: Path) -> dict[str, Any]:
    """The header of a ``.eval`` file with its `samples`, as the ``.json`` format has them.

    Raises:
        InputError: it is missing, no such file, incomplete, or larger than 1 GiB.
    """
    try:
        with zipfile.ZipFile(path) as log:
            if (size := sum(part.file_size for part in log.infolist())) > MAX_LOG_BYTES:
                raise InputError(f"the log holds {size:,} bytes; at most {MAX_LOG_BYTES:,} are read", source=path)
            names = log.namelist()
            header = next((name for name in _HEADERS if name in names), None)
            if header is None:
                raise InputError("not a log of Inspect: it holds no header.json", source=path)
            samples = sorted(name for name in names if re.fullmatch(r"samples/[^/]+\.json", name))
            return {**_parsed(_part(log, header)), "samples": [_parsed(_part(log, name)) for name in samples]}
    except FileNotFoundError:
        raise InputError("no such file", source=path) from None
    except NotImplementedError:
        message = "its parts are compressed in a way that is not read; convert it: inspect log convert --to json"
        raise InputError(message, source=path) from None
    except (zipfile.BadZipFile, ValueError, TypeError, RecursionError, OSError) as error:
        raise InputError(f"not a readable log of Inspect: {error}", source=path) from None


def read_json_log(text: str) -> dict[str, Any] | None:
    """The log of Inspect that this JSON text is; None if it is something else.

    Raises:
        ValueError: it begins like one and is not valid JSON.
    """
    if not _JSON_LOG.match(text):
        return None
    log: dict[str, Any] = _parsed(text)
    return log


def _parsed(text: str | bytes) -> Any:
    """A document of a log. Inspect writes NaN for a score that it does not count, which is unknown: null."""
    return json.loads(text, parse_constant=lambda _: None)


def _part(log: zipfile.ZipFile, name: str) -> bytes:
    """The content of a part of the archive.

    Raises:
        BadZipFile: it is damaged.
        NotImplementedError: it is compressed in a way that is not known.
        ValueError: it does not unpack to the size that the archive states, which bounds what is unpacked.
    """
    part = log.getinfo(name)
    if part.compress_type != _ZSTANDARD:
        return log.read(part)
    from pyarrow import Codec, py_buffer

    assert log.filename is not None  # it was opened by its path
    with Path(log.filename).open("rb") as file:
        file.seek(part.header_offset)
        header = file.read(_LOCAL_HEADER_BYTES)
        if len(header) < _LOCAL_HEADER_BYTES:
            raise zipfile.BadZipFile(f"the archive ends within {name}")
        file.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), 1)
        packed = file.read(part.compress_size)
    content = Codec("zstd").decompress(py_buffer(packed), part.file_size).to_pybytes()
    if zlib.crc32(content) != part.CRC:
        raise zipfile.BadZipFile(f"Bad CRC-32 for file {name!r}")
    return bytes(content)
