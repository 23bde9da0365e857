"""The examples of a data set in LangSmith, fetched where this is asked for: ``langsmith dataset:NAME``."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from eval_skills.benchmarks.importers.rows import row_of
from eval_skills.benchmarks.importers.source import Source
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.fingerprint import digest_of_json
from eval_skills.core.text import excerpt, one_line, plural

if TYPE_CHECKING:
    from langsmith import Client

PREFIX = "dataset:"
KEY = "LANGSMITH_API_KEY"
ENDPOINT = "LANGSMITH_ENDPOINT"
NOT_INSTALLED = "data sets of LangSmith are fetched by its package, which is not installed; pip install 'eval-skills[langsmith]'"

_PAGE = 100
"""How many examples one request asks for: the most that the API gives."""

_ERROR_CHARS = 200
_KEPT = ("id", "inputs", "outputs", "metadata")


def names_dataset(path: str | Path) -> bool:
    """Whether this is ``dataset:NAME``, and no file of that name."""
    return str(path).startswith(PREFIX) and not Path(path).exists()


def refuse_dataset(path: str | Path) -> None:
    """Raises UsageError for ``dataset:NAME`` where files are read and nothing is fetched."""
    if names_dataset(path):
        command = f"eval-skills benchmarks import langsmith {shlex.quote(str(path))} --output DIR"
        raise UsageError(
            f"{path}: this is a data set of a LangSmith account, and no file of that name is here; fetch it once with "
            f"{command}, and name DIR/benchmark.json in its place"
        )


def fetched_dataset(path: str | Path, *, split: str | None = None) -> Source:
    """The examples of the data set that ``dataset:NAME`` names, of one `split` or all, from the oldest to the newest.

    The key is that in ``LANGSMITH_API_KEY``, the address that in ``LANGSMITH_ENDPOINT``, else LangSmith's own. Attachments are
    not fetched. The digest is that of the examples.

    Raises:
        UsageError: no name or key is given, the key is refused, or the package is not installed.
        InputError: the data set is not found or has no examples, or LangSmith cannot be reached or answers with an error.
    """
    name = str(path).removeprefix(PREFIX).strip()
    if not name:
        raise UsageError(f"name the data set: {PREFIX}NAME")
    found, host = _examples(name, split)
    rows = [row_of({key: each.get(key) for key in _KEPT}, f"{PREFIX}{name}: example {each.get('id')}") for each in found]
    if not rows:
        raise InputError(
            f"it has no examples in the split {split!r}" if split else "it has no examples", source=f"{PREFIX}{name}"
        )
    source = Source(
        path=Path(path), files=(), read=lambda: rows, name=name, fetched=digest_of_json([dict(row.data) for row in rows])
    )
    source.say(f"{plural(len(rows), 'example')} fetched from {host}")
    return source


def _examples(name: str, split: str | None) -> tuple[list[dict[str, Any]], str]:
    """The examples as the API gives them, and the host that did."""
    key = os.environ.get(KEY, "").strip()
    if not key:
        raise UsageError(f"{KEY} is not set; set it to a key of LangSmith, or export the data set to a file and import that")
    try:
        from langsmith import Client
        from langsmith.utils import LangSmithAuthError, LangSmithConnectionError, LangSmithError
    except ImportError:
        raise UsageError(NOT_INSTALLED) from None
    try:
        client = Client(os.environ.get(ENDPOINT, "").strip() or None, api_key=key, auto_batch_tracing=False)
        host = urlsplit(client.api_url).hostname or client.api_url
        found = list(_pages(client, _dataset_id(client, name), split))
    except LangSmithAuthError:
        raise UsageError(
            f"LangSmith refuses the key in {KEY}; check it, and {ENDPOINT} if your workspace lies elsewhere"
        ) from None
    except LangSmithConnectionError:
        raise InputError(
            f"LangSmith cannot be reached at {host}; check the network and {ENDPOINT}", source=f"{PREFIX}{name}"
        ) from None
    except (LangSmithError, ValueError) as error:
        said = one_line(str(error).replace(key, "…"), _ERROR_CHARS)
        raise InputError(f"LangSmith answers with an error: {said}", source=f"{PREFIX}{name}") from None
    return sorted(found, key=lambda each: (str(each.get("created_at")), str(each.get("id")))), host


def _dataset_id(client: Client, name: str) -> str:
    found = client.request_with_retries("GET", "/datasets", params={"name": name, "limit": 1}).json()
    if not isinstance(found, list) or not found or not isinstance(found[0], dict) or "id" not in found[0]:
        raise InputError("LangSmith has no data set of this name that the key may read", source=f"{PREFIX}{name}")
    return str(found[0]["id"])


def _pages(client: Client, dataset_id: str, split: str | None) -> Iterator[dict[str, Any]]:
    """Every example, page by page; the client's own method for this would fetch attachments, and the workspace of each."""
    asked: dict[str, Any] = {"dataset": dataset_id, "limit": _PAGE, "offset": 0} | ({"splits": [split]} if split else {})
    while True:
        page = client.request_with_retries("GET", "/examples", params=asked).json()
        if not isinstance(page, list) or not all(isinstance(each, dict) for each in page):
            raise ValueError(f"expected a list of examples, got {excerpt(page, 80)}")
        yield from page
        if len(page) < _PAGE:
            return
        asked["offset"] += len(page)
