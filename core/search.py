"""Finding skills by text, tags, adapter and what they last achieved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eval_skills.core.errors import UsageError
from eval_skills.core.models import ADAPTER_TYPES, Skill
from eval_skills.core.models.skill import nearest_adapter

NAME_POINTS, DESCRIPTION_POINTS, TAG_POINTS = 3, 2, 1


def search(
    skills: Sequence[Skill],
    query: str | None = None,
    tags: Sequence[str] | None = None,
    adapter: str | None = None,
    min_completion: float | None = None,
    limit: int | None = None,
    history: Mapping[str, float | None] | None = None,
) -> list[Skill]:
    """The skills that match everything asked for, the best match first.

    `query` is one piece of text, in any case: found in the name it gives 3 points, in the description 2, in any tag 1, each
    once; skills without points are left out. `tags`: a skill has all of them. `history` maps ``id@version`` to the last
    completion rate; with `min_completion` a skill must be known to have reached it. Without a (non-blank) query the last
    completion rate decides, highest first, unknown ones last. Ties go by id, then version.

    Raises:
        UsageError: the adapter is unknown, `min_completion` is outside [0, 1], or `limit` is below 1.
    """
    _refuse_nonsense(adapter, min_completion, limit)
    text, rates = (query or "").strip().casefold(), history or {}
    points = {skill.key: _points(skill, text) for skill in skills} if text else {}
    found = [
        skill
        for skill in skills
        if (not text or points[skill.key])
        and set(tags or ()) <= set(skill.tags)
        and adapter in {None, skill.adapter_type}
        and _reached(rates.get(skill.key), min_completion)
    ]
    found.sort(key=lambda skill: (*_merit(points.get(skill.key), rates.get(skill.key)), skill.id, _version(skill)))
    return found[:limit]


def _refuse_nonsense(adapter: str | None, min_completion: float | None, limit: int | None) -> None:
    if adapter is not None and adapter not in ADAPTER_TYPES:
        raise UsageError(f"unknown adapter {adapter!r}{nearest_adapter(adapter)}; known are {', '.join(ADAPTER_TYPES)}")
    if min_completion is not None and not 0 <= min_completion <= 1:
        raise UsageError(f"the least completion rate must lie in [0, 1]; got {min_completion}")
    if limit is not None and limit < 1:
        raise UsageError(f"the limit must be 1 or more; got {limit}")


def _points(skill: Skill, text: str) -> int:
    in_tags = any(text in tag.casefold() for tag in skill.tags)
    in_name, in_description = text in skill.name.casefold(), text in skill.description.casefold()
    return NAME_POINTS * in_name + DESCRIPTION_POINTS * in_description + TAG_POINTS * in_tags


def _reached(rate: float | None, floor: float | None) -> bool:
    return floor is None or (rate is not None and rate >= floor)


def _merit(points: int | None, rate: float | None) -> tuple[bool, float]:
    """Points where there was a query, else the rate; what sorts first is smallest."""
    merit = rate if points is None else points
    return merit is None, -(merit or 0.0)


def _version(skill: Skill) -> list[int]:
    return [int(part) for part in skill.version.split(".")]
