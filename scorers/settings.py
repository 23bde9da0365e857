"""What a run sets for all scorers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from eval_skills.core.config.judging import JudgeOptions
from eval_skills.core.documents.loading import validate
from eval_skills.core.models import Weights
from eval_skills.core.text import normalise_tool_name
from eval_skills.scorers.judging.judges import Judges

ToolNames = Literal["exact", "normalised"]


class ScoringSettings(JudgeOptions):
    """The settings of scoring that hold for every task of a run.

    `weights` override the default weights of the dimensions and are overridden by a task's own, key by key.
    `tool_categories` add to the default table; see `tools.categories.category_table`. `tool_names` says whether expected tool
    names match exactly, or without case, ``-``, ``_``, dots and blanks (forbidden ones always match so).
    `default_evaluator` judges tasks whose expectation names no type. `allow_custom_code` lets a benchmark's own scorer files
    run; `benchmark_folder` is the folder they must lie in. `llm` and the other fields of `JudgeOptions` are about judging models;
    all scoring with the same settings object shares its `judges`: their cache, their budget, their limits.
    """

    weights: Weights = Field(default_factory=Weights)
    tool_categories: dict[str, list[str]] = Field(default_factory=dict)
    tool_names: ToolNames = "exact"
    default_evaluator: str = "exact"
    allow_custom_code: bool = False
    benchmark_folder: Path | None = Field(default=None, strict=False)

    @cached_property
    def judges(self) -> Judges:
        """The judging models of everything that is scored with these settings; none is asked or imported yet."""
        return Judges(self)

    def in_folder(self, folder: Path | None) -> ScoringSettings:
        """The same settings, with the same judges, for tasks whose files lie in `folder`; themselves where that is None."""
        if folder is None or folder == self.benchmark_folder:
            return self
        judges, moved = self.judges, self.model_copy(update={"benchmark_folder": folder})
        vars(moved)["judges"] = judges
        return moved

    def spelled(self, name: str) -> str:
        """A tool's name as it is compared: as it is for `exact`, without case and separators for `normalised`."""
        return normalise_tool_name(name) if self.tool_names == "normalised" else name

    @classmethod
    def of(cls, settings: ScoringSettings | Mapping[str, Any] | None) -> ScoringSettings:
        """Settings from themselves, from a mapping with camelCase or snake_case keys, or None for the defaults.

        Raises:
            InputError: a key is unknown or a value is not of its type.
        """
        if settings is None:
            return _DEFAULTS
        if isinstance(settings, ScoringSettings):
            return settings
        return validate(cls, dict(settings), source="scoring settings")


_DEFAULTS = ScoringSettings()
