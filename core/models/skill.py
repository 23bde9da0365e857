"""A skill: one callable capability of an agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import Field, PrivateAttr

from eval_skills.core.models.base import Identifier, Model, SemVer, Text
from eval_skills.core.text import nearest

AdapterType = Literal["http", "subprocess", "mcp", "langchain", "custom", "agent"]
ADAPTER_TYPES: tuple[str, ...] = get_args(AdapterType)

_ALSO_CALLED: dict[str, AdapterType] = {
    **dict.fromkeys(("python", "function", "callable"), "custom"),
    **dict.fromkeys(("rest", "api", "url"), "http"),
    **dict.fromkeys(("command", "script", "program", "json-rpc", "jsonrpc"), "subprocess"),
}
"""What people write who have not read the list."""


def nearest_adapter(word: str) -> str:
    """A suggestion to append to a message: the adapter that somebody means who writes this word, or nothing; see `nearest`."""
    meant = _ALSO_CALLED.get(word.casefold())
    return f" (did you mean {meant!r}?)" if meant else nearest(word, ADAPTER_TYPES)


class Skill(Model):
    """One callable capability, as its ``skill.json`` describes it.

    `key` (``id@version``) is its identity: two versions of one id are two skills everywhere.
    `folder` is where it was loaded from, its working directory and the subject of package benchmarks;
    None for a skill built in memory.
    """

    id: Identifier
    name: Text
    version: SemVer
    description: str = ""
    tags: list[str] = Field(default_factory=list)
    input_schema: dict[str, Any] = Field(default_factory=dict)
    output_schema: dict[str, Any] = Field(default_factory=dict)
    adapter_type: AdapterType
    entrypoint: Text
    adapter_config: dict[str, Any] = Field(default_factory=dict)
    metadata: dict[str, Any] = Field(default_factory=dict)

    _folder: Path | None = PrivateAttr(default=None)

    @property
    def key(self) -> str:
        """``id@version``."""
        return f"{self.id}@{self.version}"

    @property
    def folder(self) -> Path | None:
        """The folder the skill was loaded from."""
        return self._folder

    def located_in(self, folder: Path) -> Skill:
        """The same skill, knowing the folder it lives in."""
        located = self.model_copy()
        located._folder = folder
        return located
