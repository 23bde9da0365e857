"""``evals/evals.json`` of an Agent Skill: prompts, the files that they need, and assertions on what an agent makes of them."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from pydantic import Field, field_validator, model_validator

from eval_skills.agent_skills.documents import Document, Identifier, inner_path
from eval_skills.core.models.base import Text
from eval_skills.core.text import excerpt

EVALS_FILE = "evals/evals.json"
"""Where it lies in the folder of the skill."""


MAX_ASSERTIONS = 500
"""How many an eval may have: each is a question to a model, or a check, for every run."""

_NEARLY = 0.85
"""How alike a key must be to one of ours to be taken for that, misspelt: programs add keys of their own."""


class Assertion(Document):
    """A sentence that must hold, or a `check` by one of our scorers: ``{"type": "file_exists", "path": "a.csv"}``.

    Bare text is the sentence. A check may have a sentence beside it; without one it is called as it is written.
    """

    text: Text
    check: dict[str, Any] | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_text_or_check(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"text": value}
        if not isinstance(value, dict):
            raise ValueError(f"expected a text, or an object with text or type; got {excerpt(value, 80)}")
        if "type" not in value or "check" in value:
            return value
        if not isinstance(value["type"], str) or not value["type"].strip():
            raise ValueError(f"type names the scorer that checks it; got {excerpt(value['type'], 80)}")
        check = {key: part for key, part in value.items() if key != "text"}
        return {"text": value.get("text") or excerpt(check, 200), "check": check}


class Eval(Document):
    """One eval. `id` may be a number or a text; the list of assertions may be called `assertions` or `expectations`.

    `files` are relative to the skill's folder.
    """

    id: Identifier | None = None
    prompt: Text
    expected_output: str | None = None
    files: list[str] = Field(default_factory=list)
    assertions: list[Assertion] = Field(default_factory=list, max_length=MAX_ASSERTIONS)

    @model_validator(mode="before")
    @classmethod
    def _spelled(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        cls._refuse_misspelt(value)
        given = {key: part for key, part in value.items() if part is not None}
        if (named := given.get("expectations")) and given.get("assertions"):
            raise ValueError("assertions and expectations are two names of one list, and both are given; keep one")
        if named is not None and not given.get("assertions"):
            given["assertions"] = given.pop("expectations")
        if isinstance(given.get("files"), str):
            given["files"] = [given["files"]]
        return given

    @classmethod
    def _refuse_misspelt(cls, value: dict[str, Any]) -> None:
        """Refuse a key that is nearly one of ours which is missing: its assertions would never be checked."""
        missing = {*cls.model_fields, "expectations"} - value.keys()
        for key in value.keys() - {*cls.model_fields, "expectations"}:
            if close := get_close_matches(str(key), missing, n=1, cutoff=_NEARLY):
                raise ValueError(f"the key {excerpt(key, 80)} is not known; did you mean {close[0]!r}?")

    @field_validator("files")
    @classmethod
    def _within(cls, value: list[str]) -> list[str]:
        return [inner_path(name) for name in value]


class EvalsFile(Document):
    """The whole file; `skill_name` is missing in some."""

    skill_name: str | None = None
    evals: list[Eval]
