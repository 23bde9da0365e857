"""What an agent did, as material for a judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eval_skills.scorers.judging.question import Material
from eval_skills.scorers.trajectory.transcript import steps_of

if TYPE_CHECKING:
    from eval_skills.core.models import SkillResponse


def run_materials(response: SkillResponse) -> tuple[Material, ...]:
    """The steps of a run, and results of tools that its messages do not hold; nothing where nothing is known."""
    steps = steps_of(response)
    if steps is None:
        return ()
    materials = [Material.of("steps of the agent", steps)]
    calls = response.tool_calls or []
    results = [each.model_dump(include={"name", "result", "error"}, exclude_none=True) for each in calls]
    if response.messages is not None and any(len(each) > 1 for each in results):
        materials.append(Material.of("tool results", results))
    return tuple(materials)


def has_results(response: SkillResponse) -> bool:
    """Whether any result of a tool is known, be it an error."""
    if any(call.result is not None or call.error is not None for call in response.tool_calls or ()):
        return True
    return any(_is_result(message) for message in response.messages or ())


def _is_result(message: dict[str, object]) -> bool:
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    in_block = any(isinstance(each, dict) and each.get("type") == "tool_result" for each in blocks)
    return in_block or message.get("role", message.get("type")) in ("tool", "function")
