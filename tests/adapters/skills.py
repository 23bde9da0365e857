"""Skills that the tests make by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from eval_skills.core.models import Skill


def make_skill(adapter_type: str, entrypoint: str, config: dict[str, Any], folder: Path) -> Skill:
    data = {"id": "probe", "name": "Probe", "version": "1.2.3", "adapterType": adapter_type, "entrypoint": entrypoint}
    return Skill.model_validate(data | {"adapterConfig": config}).located_in(folder)
