"""What the mark `eval_skills` asks for."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

import pytest

from eval_skills.core.errors import UsageError
from eval_skills.core.text import nearest


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a mark asks for; marks with the same `key` share one evaluation.

    `baseline` is what the results are compared with, `margin` the loss that must be proven not to be there; without a margin it
    is enough that no loss is found.
    """

    skill: str
    options: dict[str, Any]
    min_completion: float | None
    baseline: str | None
    margin: float | None
    key: str


def declared(mark: pytest.Mark) -> Declaration:
    """What `mark` asks for.

    Raises:
        UsageError: it names no skill, `min_completion` or `margin` is not a number in [0, 1], `margin` has no baseline, or an
            option cannot be said in JSON.
    """
    options: dict[str, Any] = dict(mark.kwargs)
    if len(mark.args) > 1 or (mark.args and "skill" in options):
        raise UsageError(f"everything but the skill is named, as in benchmark=…; got {', '.join(map(repr, mark.args))}")
    skill = mark.args[0] if mark.args else options.pop("skill", None)
    if skill is None:
        meant = next((f"; {name}= was given" for name in options if nearest(name, ["skill"])), "")
        raise UsageError(f"skill is missing: the path of a skill.json or of its folder{meant}")
    floor, margin = (_share(options, name) for name in ("min_completion", "margin"))
    baseline = options.pop("baseline", None)
    if margin is not None and baseline is None:
        raise UsageError("margin is the loss that baseline must rule out; give both, or neither")
    if baseline is not None and (not isinstance(baseline, str | os.PathLike) or str(baseline).strip() in {"", "latest"}):
        raise UsageError(f"baseline is a JSON report or a run id of the store; got {baseline!r}")
    try:
        key = json.dumps([str(skill), options], sort_keys=True, default=str)
    except (TypeError, ValueError):  # keys of several types, or a value that contains itself
        raise UsageError(f"options are values that JSON can say, whose keys are texts; got {options!r}") from None
    return Declaration(skill, options, floor, None if baseline is None else str(baseline), margin, key)


def _share(options: dict[str, Any], name: str) -> float | None:
    share = options.pop(name, None)
    if share is not None and (isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1):
        raise UsageError(f"{name} must be a number from 0 to 1; got {share!r}")
    return share
