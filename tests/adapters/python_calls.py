"""A skill that is asked once or a few times, by an adapter of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from eval_skills.adapters import open_adapter
from eval_skills.core.errors import ItemError
from eval_skills.core.models import Skill, SkillResponse
from tests.adapters.programs import PATIENCE_S

MakeSkill = Callable[..., Skill]
Running = Callable[[], list[str]]


async def ask(skill: Skill, *inputs: Any) -> list[SkillResponse]:
    async with open_adapter(skill) as adapter:
        return [await adapter.call(each, PATIENCE_S) for each in inputs or (None,)]


async def output(skill: Skill, value: Any = None) -> Any:
    return (await ask(skill, value))[0].output


async def failure(skill: Skill, value: Any = None) -> ItemError:
    with pytest.raises(ItemError) as caught:
        await ask(skill, value)
    return caught.value
