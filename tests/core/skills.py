"""Skills that are only looked at, never called."""

from __future__ import annotations

from typing import Any

from eval_skills.core.models import Skill


def skill(skill_id: str, **fields: Any) -> Skill:
    """A skill of this id and name; `fields` are those of its file."""
    plain = {"name": skill_id, "version": "1.0.0", "adapterType": "http", "entrypoint": "http://127.0.0.1:9"}
    return Skill.model_validate({"id": skill_id, **plain, **fields})
