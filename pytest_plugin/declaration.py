"""What the mark `eval_skills` asks for."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from eval_skills.core.errors import UsageError
from eval_skills.core.text import nearest


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a mark asks for; marks with the same `key` share one evaluation."""

    skill: str
    options: dict[str, Any]
    min_completion: float | None
    key: str


def declared(mark: pytest.Mark) -> Declaration:
    """What `mark` asks for.

    Raises:
        UsageError: it names no skill, or `min_completion` is not a number in [0, 1].
    """
    options: dict[str, Any] = dict(mark.kwargs)
    if len(mark.args) > 1 or (mark.args and "skill" in options):
        raise UsageError(f"everything but the skill is named, as in benchmark=…; got {', '.join(map(repr, mark.args))}")
    skill = mark.args[0] if mark.args else options.pop("skill", None)
    if skill is None:
        meant = next((f"; {name}= was given" for name in options if nearest(name, ["skill"])), "")
        raise UsageError(f"skill is missing: the path of a skill.json or of its folder{meant}")
    floor = options.pop("min_completion", None)
    if floor is not None and (isinstance(floor, bool) or not isinstance(floor, int | float) or not 0 <= floor <= 1):
        raise UsageError(f"min_completion must be a number from 0 to 1; got {floor!r}")
    return Declaration(skill, options, floor, json.dumps([str(skill), options], sort_keys=True, default=str))
