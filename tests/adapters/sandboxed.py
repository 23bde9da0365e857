"""Skills that are asked inside the sandbox."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from eval_skills.adapters import Adapter, Confinement, open_adapter
from eval_skills.adapters.sandbox.bubblewrap import why_no_sandbox
from eval_skills.core.models import Skill
from tests.adapters.programs import PATIENCE_S

MakeSkill = Callable[..., Skill]

needs_sandbox = pytest.mark.skipif(bool(why_no_sandbox()), reason=f"no sandbox here: {why_no_sandbox()}")
HELD = Confinement(sandbox="bwrap")

TRY = """
def tried(attempt):
    try:
        return ["did", attempt()]
    except OSError as error:
        return ["failed", error.errno]
"""


def sandboxed(skill: Skill, **more: Any) -> Adapter:
    return open_adapter(skill, confinement=Confinement(**{"sandbox": "bwrap", **more}))


async def ask(skill: Skill, params: Any = None, timeout_s: float = PATIENCE_S, **more: Any) -> Any:
    async with sandboxed(skill, **more) as adapter:
        return (await adapter.call(params, timeout_s)).output
