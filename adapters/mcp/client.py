"""What a server may ask of its client, and the scripted answers that `adapterConfig.client` gives to it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BeforeValidator, Field, model_validator

from eval_skills.core.models import Model
from eval_skills.core.models.base import Text

R = TypeVar("R", bound="Scripted")


class Scripted(Model):
    """An answer to every request whose text has `contains` in it, in any case of letters; without that, to every request."""

    contains: Text | None = None

    def fits(self, asked: str) -> bool:
        """Whether it answers a request with this text."""
        return self.contains is None or self.contains.casefold() in asked.casefold()


class SamplingAnswer(Scripted):
    """What a model would have said: a `text`, under the name of a `model`."""

    text: str
    model: Text = "scripted"
    stop_reason: Text = "endTurn"


class ElicitationAnswer(Scripted):
    """What a user would have done: `accept`, with the `content` of the form, `decline` or `cancel`."""

    action: Literal["accept", "decline", "cancel"] = "accept"
    content: dict[str, str | int | float | bool | list[str] | None] | None = None

    @model_validator(mode="after")
    def _content_is_accepted(self) -> ElicitationAnswer:
        if self.content is not None and self.action != "accept":
            raise ValueError(f"content is what is accepted, and action is {self.action}; remove one of them")
        return self


class Root(Model):
    """A folder or a file that the server may work on: a `path` from the skill's folder, or a ``file://`` URI."""

    path: Text
    name: Text | None = None

    def uri(self, folder: Path | None) -> str:
        """Its URI; `folder` is the skill's."""
        place = self.place(folder)
        return self.path if place is None else place.resolve().as_uri()

    def place(self, folder: Path | None) -> Path | None:
        """Where its path is; None: it is a URI, whose place may be on the server's machine or in its container."""
        return None if self.path.startswith("file://") else (folder or Path()) / self.path


def _listed(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def _as_answers(value: Any) -> Any:
    return [{"text": each} if isinstance(each, str) else each for each in _listed(value)]


def _as_roots(value: Any) -> Any:
    return [{"path": each} if isinstance(each, str) else each for each in _listed(value)]


class ClientConfig(Model):
    """What has answers here is offered to the server, and declared as a capability; of several the first that fits counts.

    One answer may stand without a list, and a text alone is the answer of a model, or the path of a root.
    """

    sampling: Annotated[list[SamplingAnswer], BeforeValidator(_as_answers), Field(min_length=1)] | None = None
    elicitation: Annotated[list[ElicitationAnswer], BeforeValidator(_listed), Field(min_length=1)] | None = None
    roots: Annotated[list[Root], BeforeValidator(_as_roots)] | None = None


def first_that_fits(answers: Sequence[R], asked: str) -> R | None:
    """The answer to a request with this text; None where none fits."""
    return next((answer for answer in answers if answer.fits(asked)), None)
