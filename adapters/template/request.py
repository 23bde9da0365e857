"""How the input of a task becomes a request in the service's own shape.

``{name}`` marks in the path of an address.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

from pydantic import Field, model_validator

from eval_skills.adapters.headers import FRAMING, HeaderName, HeaderValue
from eval_skills.adapters.template.placeholder import refuse_malformed
from eval_skills.core.models import Model
from eval_skills.core.models.base import Text


class RequestTemplate(Model):
    """Where the parts of the input go; every text may hold ``{{input.key}}`` (see `eval_skills.adapters.template.placeholder`).

    `path` fills the ``{name}`` marks in the address; a mark it does not name is filled from the input's key of that name.
    A list in `query` or `form` is sent as a parameter for each item. `body` is sent as JSON, `form` as a form; without
    either there is no body. What the input does not hold is left out, but a mark in the path must be filled.
    """

    path: dict[Text, Text] = Field(default_factory=dict)
    query: dict[Text, Any] = Field(default_factory=dict)
    headers: dict[HeaderName, HeaderValue] = Field(default_factory=dict)
    body: Any = None
    form: dict[Text, Any] | Text | None = None

    @property
    def has_body(self) -> bool:
        """Whether a body was given, be it null."""
        return "body" in self.model_fields_set

    @model_validator(mode="after")
    def _can_be_sent(self) -> RequestTemplate:
        if self.has_body and self.form is not None:
            raise ValueError("body and form are two bodies; give one")
        if own := sorted(name for name in self.headers if name.lower() in FRAMING):
            raise ValueError(f"the header {own[0]} is set by the transport; remove it")
        for part in (self.path, self.query, self.headers, self.body, self.form):
            refuse_malformed(part)
        return self


_MARK = re.compile(r"\{([^{}/]+)\}")


def path_marks(url: str) -> list[str]:
    """The names of the marks in the path of `url`, in order."""
    return _MARK.findall(urlsplit(url).path)


def filled_path(url: str, text_of_mark: Callable[[str], str]) -> str:
    """`url` with every mark in its path replaced by its text, percent-encoded: a text never leaves its segment.

    Raises:
        ValueError: a segment with a mark became empty, ``.`` or ``..``, which would lead to another place.
    """
    parts = urlsplit(url)
    segments = [_segment(segment, text_of_mark) for segment in parts.path.split("/")]
    return urlunsplit(parts._replace(path="/".join(segments)))


def _segment(segment: str, text_of_mark: Callable[[str], str]) -> str:
    if not _MARK.search(segment):
        return segment
    filled = _MARK.sub(lambda mark: quote(text_of_mark(mark[1]), safe=""), segment)
    if filled in {"", ".", ".."}:
        raise ValueError(f"{segment} in the path became {filled!r}, which would lead elsewhere")
    return filled
