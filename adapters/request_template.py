"""How the input of a task becomes a request in the service's own shape."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from eval_skills.adapters.header import FRAMING, HeaderName, HeaderValue
from eval_skills.adapters.placeholder import refuse_malformed
from eval_skills.core.models import Model
from eval_skills.core.models.base import Text


class RequestTemplate(Model):
    """Where the parts of the input go; every text may hold ``{{input.key}}`` (see `eval_skills.adapters.placeholder`).

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
