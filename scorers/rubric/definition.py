"""A rubric: the dimensions of an answer, what their levels mean, and how much each counts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, field_validator, model_validator

from eval_skills.core.documents import DOCUMENT_SUFFIXES
from eval_skills.core.documents.loading import read_document, validate
from eval_skills.core.errors import InputError
from eval_skills.core.models.base import Model, Rate, Text, text_like
from eval_skills.scorers.answer import file_of_benchmark
from eval_skills.scorers.task_scoring.verdict import weighted_mean

NOT_JUDGED = "na"
"""What a model says of a dimension that cannot be judged; no level has this name."""

MAX_DIMENSIONS, MAX_LEVELS = 20, 12
TOLERANCE = 1e-9
"""What float arithmetic may lose of a score."""

DimensionName = Annotated[
    str, text_like(r"^[a-z][a-z0-9_]{0,59}$", "a name of at most 60 lower-case letters, digits and _ that begins with a letter")
]
LevelName = Annotated[str, text_like(r"^\S(.{0,58}\S)?$", "a name of 1 to 60 characters, without blanks around it")]


class Level(Model):
    """One level of a dimension: what an answer on it is worth, and what such an answer is like. A number stands for its score."""

    score: Rate
    description: str = ""


class RubricDimension(Model):
    """One dimension of a rubric.

    `floor` is the score below which the answer fails (equality passes). With `by_claims` the score is the share of the answer's
    claims that hold, where there is anything to verify them by. `required`: the model must not leave it unjudged.
    """

    weight: Annotated[float, Field(ge=0, le=1e6)]
    description: Text
    guidance: str = ""
    levels: dict[LevelName, Level] = Field(min_length=2, max_length=MAX_LEVELS)
    floor: Rate = 0.0
    by_claims: bool = False
    required: bool = False

    @field_validator("levels", mode="before")
    @classmethod
    def _levels_by_score(cls, levels: Any) -> Any:
        if not isinstance(levels, dict):
            return levels
        return {name: {"score": each} if type(each) in (int, float) else each for name, each in levels.items()}

    @field_validator("levels")
    @classmethod
    def _can_be_told_apart(cls, levels: dict[str, Level]) -> dict[str, Level]:
        folded = [name.casefold() for name in levels]
        if NOT_JUDGED in folded:
            raise ValueError(
                f"a level cannot be named {NOT_JUDGED!r}, which says that nothing can be judged; choose another name"
            )
        if len({each.score for each in levels.values()}) < 2:
            raise ValueError("all levels have the same score; give at least two scores")
        return levels

    @property
    def best_first(self) -> list[tuple[str, Level]]:
        """The levels from the highest score to the lowest."""
        return sorted(self.levels.items(), key=lambda each: -each[1].score)


class Rubric(Model):
    """Dimensions by name, and the overall score from which on an answer passes."""

    name: str = ""
    pass_at: Rate = 0.7
    dimensions: dict[DimensionName, RubricDimension] = Field(min_length=1, max_length=MAX_DIMENSIONS)

    @model_validator(mode="after")
    def _something_counts(self) -> Self:
        if not any(each.weight for each in self.dimensions.values()):
            raise ValueError(f"every dimension weighs 0 ({', '.join(self.dimensions)}); give at least one a weight above 0")
        return self

    def overall(self, scores: Mapping[str, float]) -> float | None:
        """Σ score · weight / Σ weight over the dimensions in `scores`; None when they weigh nothing."""
        return weighted_mean(scores, {name: each.weight for name, each in self.dimensions.items()})

    def below_floor(self, scores: Mapping[str, float]) -> list[str]:
        """The dimensions in `scores` that do not reach their own floor, in the rubric's order."""
        return [name for name, each in self.dimensions.items() if name in scores and scores[name] < each.floor - TOLERANCE]


def rubric_of(written: str | Mapping[str, Any] | None, folder: Path | None) -> Rubric:
    """The rubric of a benchmark: a file in its folder, an object, or None for the default one.

    Raises:
        InputError: the file cannot be found or read, lies outside the folder, or is not a rubric; `path` is ``rubric``.
    """
    if written is None:
        return default_rubric()
    if isinstance(written, Mapping):
        return _checked(dict(written), "")
    _, path = file_of_benchmark(written, folder, option="rubric", what="rubric")
    if path.suffix.lower() not in DOCUMENT_SUFFIXES:
        raise InputError(f"{written!r} is not a rubric file; name a .json, .yaml or .yml file", path="rubric")
    try:
        return _checked(read_document(path), written)
    except InputError as error:
        raise InputError(error.message if error.path else f"{written}: {error.message}", path="rubric") from None


@cache
def default_rubric() -> Rubric:
    """The rubric of benchmarks that have none of their own: five dimensions of an agent's answer."""
    path = Path(__file__).with_name("default_rubric.json")
    return validate(Rubric, read_document(path), source=path)


def _checked(data: Any, file: str) -> Rubric:
    try:
        return validate(Rubric, data)
    except InputError as error:
        place = ": ".join(part for part in (file, error.path) if part)
        raise InputError(f"{place}: {error.message}" if place else error.message, path="rubric") from None
