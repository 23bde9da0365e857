"""What an agent did, as a judging model reads it: each message with its text and its tool calls, without the rest."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from eval_skills.core.messages.blocks import blocks_of, is_text, refusal_in, text_of
from eval_skills.core.messages.responses_items import in_turns
from eval_skills.core.messages.tool_calls import call_in, raw_calls
from eval_skills.core.messages.tool_results import results_of
from eval_skills.core.models import SkillResponse
from eval_skills.scorers.judging.prompt import Material
from eval_skills.scorers.trajectory.calls import read_call
from eval_skills.scorers.trajectory.messages import OUTPUT
from eval_skills.scorers.trajectory.shapes import UnreadableTrajectory, message_of, messages_in, role_of

Step = dict[str, Any]


def transcript(given: Any, side: str = OUTPUT) -> list[Step]:
    """The messages in `given` as plain JSON: role, content, refusal, and calls by name and arguments; see `shapes`.

    Arguments that are not a JSON object stay as they are. `side` names `given` in errors.

    Raises:
        UnreadableTrajectory: it is not a trajectory, or a role is unknown.
    """
    return [_step(raw, f"{side}: message {number}") for number, raw in enumerate(in_turns(messages_in(given, side)), start=1)]


def text_of_steps(steps: Iterable[Step]) -> str:
    """The steps as a text, for prompts that a caller's function writes: each message in a tag of its role, and each call in
    it."""
    return "\n\n".join(f"<{step['role']}>\n{_text_of_step(step)}\n</{step['role']}>" for step in steps)


def _text_of_step(step: Step) -> str:
    content = step.get("content", "")
    parts = [content if isinstance(content, str) else _json(content)] if content else []
    parts += [f"<refusal>{step['refusal']}</refusal>"] if "refusal" in step else []
    calls = step.get("tool_calls", ())
    return "\n".join([*parts, *(f"<tool_call>{each['name']} {_json(each['arguments'])}</tool_call>" for each in calls)])


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def steps_of(response: SkillResponse) -> list[Step] | None:
    """What an agent did, from its messages, else its tool calls; None when neither is known.

    Unreadable messages are shown as they are: a model may understand them.
    """
    calls = [call.model_dump(exclude_none=True) for call in response.tool_calls or ()]
    if response.messages is None:
        return calls if response.tool_calls is not None else None
    try:
        steps = transcript(response.messages, "messages")
    except UnreadableTrajectory:
        steps = list(response.messages)
    # messages of the conversation alone do not hold calls that are reported beside them
    return steps if any("tool_calls" in step for step in steps) else [*steps, *calls]


def _step(raw: Any, where: str) -> Step:
    message = message_of(raw, where)
    step: Step = {"role": role_of(message, where)}
    if (content := _words(blocks_of(message) or message.get("content"))) not in (None, "", []):
        step["content"] = content
    if refusal := refusal_in({**message, "content": None}):  # one in a block of the content is there already
        step["refusal"] = refusal
    if step["role"] == "assistant" and (calls := [read_call(each) for each in raw_calls(message)]):
        step["tool_calls"] = [
            {"name": call.written, "arguments": call.raw if call.arguments is None else call.arguments} for call in calls
        ]
    return step


def _words(content: Any) -> Any:
    """Content without the blocks that are calls, which are shown as such; of those that hold their results, these."""
    if not isinstance(content, list):
        return content
    blocks = [shown for each in content for shown in ([each] if call_in(each) is None else _results_of_call(each))]
    return text_of(blocks) if len(blocks) == 1 and is_text(blocks[0]) else blocks


def _results_of_call(block: Any) -> list[Step]:
    results = results_of({"content": [block]}, "assistant")
    return [
        {"type": "tool_result", "name": each.name, **({"error": each.error} if each.error else {"content": each.content})}
        for each in results
    ]


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
    """Whether any result of a tool is known, or an error."""
    if any(call.result is not None or call.error is not None for call in response.tool_calls or ()):
        return True
    return any(_is_result(message) for message in response.messages or ())


def _is_result(message: dict[str, object]) -> bool:
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    in_block = any(isinstance(each, dict) and each.get("type") == "tool_result" for each in blocks)
    return in_block or message.get("role", message.get("type")) in ("tool", "function")
