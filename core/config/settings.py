"""What can be configured: every key, its default and what it may hold."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, field_validator

from eval_skills.core.models.base import Model, Rate, Text
from eval_skills.core.models.task import Weights


def _is_variable_name(name: str) -> str:
    # The value is left out of the message: people paste the secret itself here.
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError("give the name of an environment variable (letters, digits and _), not its value")
    return name


VariableName = Annotated[str, AfterValidator(_is_variable_name)]
"""The name of an environment variable, never what it holds."""


def _as_path(value: Any) -> Path:
    if not isinstance(value, str | Path) or not str(value).strip():
        raise ValueError("give a path, as text that is not blank")
    return Path(value)


WrittenPath = Annotated[Path, BeforeValidator(_as_path)]
"""A path, written as text."""


class LlmSettings(Model):
    """The model that judges. `api_key_env` names the variable that holds its key; None: the provider's usual one."""

    model: Text | None = None
    api_base: Text | None = None
    api_key_env: VariableName | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)


class Config(Model):
    """Everything that a run can be told, whatever layer told it. Times are in ms, rates in [0, 1].

    `store` is a folder, a ``.db``/``.sqlite`` file, or an fsspec URL. `benchmark` is an id or a path. `strategy` is the file of a
    selection strategy, `top_k` beats the one in it. `secrets` are names of environment variables whose values are redacted
    wherever something is written. `tool_categories` adds to the built-in table: a category's name and the tools in it.
    """

    concurrency: int = Field(default=4, ge=1, le=1024)
    timeout_ms: int = Field(default=30_000, gt=0, le=86_400_000)
    retries: int = Field(default=0, ge=0, le=20)
    runs: int = Field(default=1, ge=1, le=1000)
    evaluator: Text = "exact"
    format: list[Text] = Field(default=["json", "markdown"], min_length=1)
    output_dir: WrittenPath = Path("reports")
    store: Text = "./eval-store"
    min_completion: Rate = 0.7
    exit_on_fail: bool = False
    fail_fast: bool = False
    skills_dir: WrittenPath = Path("skills")
    benchmark: Text = "coding-easy"
    benchmarks_dir: WrittenPath | None = None
    items_per_task: int = Field(default=1, ge=1, le=100_000)
    allow_custom_code: bool = False
    limit: int = Field(default=20, ge=1)
    top_k: int | None = Field(default=None, ge=1)
    strategy: WrittenPath | None = None
    weights: Weights = Field(default_factory=Weights)
    tool_categories: dict[str, list[Text]] = Field(default_factory=dict)
    tool_names: Literal["exact", "normalised"] = "exact"
    llm: LlmSettings = Field(default_factory=LlmSettings)
    secrets: list[VariableName] = Field(default_factory=list)

    @field_validator("weights")
    @classmethod
    def _weights_weigh_something(cls, weights: Weights) -> Weights:
        named = weights.named()
        if len(named) == len(Weights.model_fields) and not any(named.values()):
            raise ValueError("all of them are 0, so nothing would be scored; give at least one a value above 0")
        return weights
