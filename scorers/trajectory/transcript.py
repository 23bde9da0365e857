"""A trajectory as a judging model reads it: each message with its words and its tool calls, without the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eval_skills.core.message_blocks import blocks_of, is_text, text_of
from eval_skills.core.message_items import in_turns
from eval_skills.core.tool_results import results_of
from eval_skills.scorers.call_notations import call_in, raw_calls
from eval_skills.scorers.trajectory.calls import read_call
from eval_skills.scorers.trajectory.message_shapes import UnreadableTrajectory, message_of, messages_in, role_of
from eval_skills.scorers.trajectory.messages import OUTPUT

if TYPE_CHECKING:
    from eval_skills.core.models import SkillResponse

Step = dict[str, Any]


def transcript(given: Any, side: str = OUTPUT) -> list[Step]:
    """The messages in `given` as plain JSON: role, content, and calls by name and arguments; see `message_shapes` for its shapes.

    Arguments that are no JSON object stay as they are. `side` names `given` in errors.

    Raises:
        UnreadableTrajectory: it is no trajectory, or a role is unknown.
    """
    return [_step(raw, f"{side}: message {number}") for number, raw in enumerate(in_turns(messages_in(given, side)), start=1)]


def steps_of(response: SkillResponse) -> list[Step] | None:
    """What an agent did, from its messages, else its tool calls; None when neither is known.

    Messages that nobody can read are shown as they came: a model may understand them.
    """
    calls = [call.model_dump(exclude_none=True) for call in response.tool_calls or ()]
    if response.messages is None:
        return calls if response.tool_calls is not None else None
    try:
        steps = transcript(response.messages, "messages")
    except UnreadableTrajectory:
        steps = list(response.messages)
    # messages of the conversation alone say nothing of calls that are reported beside them
    return steps if any("tool_calls" in step for step in steps) else [*steps, *calls]


def _step(raw: Any, where: str) -> Step:
    message = message_of(raw, where)
    step: Step = {"role": role_of(message, where)}
    if (content := _words(blocks_of(message) or message.get("content"))) not in (None, "", []):
        step["content"] = content
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
