"""One answer: what a skill did in one run of a task, call by call and message by message, beside what was expected."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from eval_skills.core.differences import Changes, Difference
from eval_skills.core.messages.roles import role_in
from eval_skills.core.messages.tool_results import ToolResult, results_of
from eval_skills.core.models import ItemResult, ToolCall
from eval_skills.core.text import plural
from eval_skills.core.viewer_pages import NoSuchPageError, item_page, run_page, task_page
from eval_skills.engine.stored_runs.items import StoredItem
from eval_skills.engine.stored_runs.trajectories import AlignedCall, alignment_of
from eval_skills.reporting import numbers
from eval_skills.reporting.costs import attempts_text
from eval_skills.reporting.escape import visible
from eval_skills.reporting.html.differences import difference_json
from eval_skills.reporting.html.payload import LONG_TEXTS, answers_payload
from eval_skills.reporting.html.runs import TextTable, pointed_at
from eval_skills.viewer.items import items_of
from eval_skills.viewer.labels import labels_of, to_label
from eval_skills.viewer.page import AnswerPage

if TYPE_CHECKING:
    from eval_skills.viewer.site import Site

Json = dict[str, Any]

MOST = 500
"""How many calls or messages the page shows; ``eval-skills show --json`` has all."""

DEEPEST = 5
"""Messages of agents that nest deeper stand no further to the right."""

_MS = ("duration_ms", "durationMs", "latency_ms", "latencyMs")
_USD = ("cost_usd", "costUsd", "total_cost_usd")
_USED = ("usage", "usage_metadata", "tokens")
_TOKENS = (("prompt_tokens", "input_tokens", "promptTokens"), ("completion_tokens", "output_tokens", "completionTokens"))
_PARENT = ("parent_tool_use_id", "parentToolUseId", "parent_tool_call_id")


def item_page_of(site: Site, run_id: str, key: str) -> str:
    """The page as text.

    Raises:
        NoSuchPageError: the run has no item of that key, or the export does not have the run.
        UserError: the run cannot be read.
    """
    run = items_of(site, run_id)
    if key not in run.items_by_page:
        raise NoSuchPageError(f"run {run_id} has no answer of that page; {run_page(run_id)} lists its tasks")
    benchmark_id, task_id, skill, run_index = run.items_by_page[key]
    of_skill = run.items(benchmark_id, task_id, skill)
    item = next(each for each in of_skill if each.result.run_index == run_index)
    again = run.again(item) if site.is_live else None  # it names folders of this machine
    return AnswerPage(
        title=f"{task_id} · {skill} · run {run_index + 1}",
        data={
            **answers_payload(benchmark_id, item.task, [(skill, _without_steps(item))]),
            **_trajectory(item),
            "alignment": _alignment(item, alignment_of(item, run.request)),
            "turnDifferences": [difference_json(each) for each in item.turn_differences],
            "runs": [
                {"run": each.result.run_index, "page": item_page(run_id, benchmark_id, task_id, skill, each.result.run_index)}
                for each in of_skill
            ],
            "run": run_index,
            "labelling": to_label(f"{key}.html", run_id, labels_of(site.store, run_id)),
            "again": None if again is None else visible(shlex.join(again)),
        },
        facts=_facts(item.result),
        script="item_page",
        trail={f"Run {run_id}": run_page(run_id), f"All answers to {task_id}": task_page(run_id, benchmark_id, task_id)},
        remarks=run.remarks,
    ).render(site.navigation("Runs"))


def _without_steps(item: StoredItem) -> Any:
    """The item without calls and messages, which the page shows in sections of their own."""
    return item.shown.model_copy(update={"tool_calls": None, "messages": None})


def _facts(result: ItemResult) -> dict[str, str]:
    tokens = (result.prompt_tokens, result.completion_tokens)
    facts = {
        "Began": f"{result.started_at:%Y-%m-%d %H:%M:%S} UTC",
        "Latency": numbers.milliseconds(result.latency_ms),
        "Tokens": " + ".join(map(numbers.count, tokens)) if tokens != (None, None) else numbers.UNKNOWN,
        "Cost": numbers.usd(result.cost_usd),
        **({"Attempts": attempts_text(result.attempts) or ""} if len(result.attempts) > 1 else {}),
        "Tool calls": numbers.count(None if result.tool_calls is None else len(result.tool_calls)),
        "Turns of its model": numbers.count(result.steps),
    }
    if result.skills_loaded is not None:
        facts["Skills loaded"] = ", ".join(result.skills_loaded) or "none"
    if result.judge_requests is not None or result.judge_cost_usd is not None:
        facts["Judge"] = f"{numbers.usd(result.judge_cost_usd)}, {numbers.count(result.judge_tokens)} tokens"
    if result.user_requests is not None or result.user_cost_usd is not None:
        facts["Simulated user"] = f"{numbers.usd(result.user_cost_usd)}, {numbers.count(result.user_tokens)} tokens"
    return facts


def _trajectory(item: StoredItem) -> Json:
    """Calls, messages and files; texts are known by their index in ``stepTexts``."""
    result, texts = item.result, TextTable(LONG_TEXTS)
    calls, messages, files = result.tool_calls, result.messages, result.files
    durations = {
        each.get("tool_call_id"): _first(each, _MS) for each in messages or () if isinstance(each.get("tool_call_id"), str)
    }
    pointed = pointed_at(item.shown, "toolCalls")
    answered: dict[str | None, ToolResult] = {
        each.call_id: each for message in messages or () for each in results_of(message, role_in(message)) if each.call_id
    }
    rows = [
        {
            "name": visible(call.name),
            "arguments": texts.add(call.arguments),
            "result": texts.add(_result(call, answered)),
            "error": texts.add(call.error or _error(call, answered)),
            "ms": durations.get(call.id),
            "pointed": place in pointed,
        }
        for place, call in enumerate((calls or ())[:MOST])
    ]
    kept = [
        {
            "path": visible(file.path),
            "change": file.change,
            "size": file.size,
            "text": texts.add(file.content if file.encoding == "utf-8" else None),
        }
        for file in (files or ())[:MOST]
    ]
    return {
        "calls": None if calls is None else rows,
        "callsMore": max(0, len(calls or ()) - MOST),
        "messages": None if messages is None else _messages(messages[:MOST], texts, pointed_at(item.shown, "messages")),
        "messagesMore": max(0, len(messages or ()) - MOST),
        "files": None if files is None else kept,
        "stepTexts": texts.rows(),
    }


def _result(call: ToolCall, answered: Mapping[str | None, ToolResult]) -> Any:
    """What the call gave: its own result, or what the messages have of it."""
    if call.result is not None or call.id not in answered:
        return call.result
    return answered[call.id].content


def _error(call: ToolCall, answered: Mapping[str | None, ToolResult]) -> str | None:
    return answered[call.id].error or None if call.id in answered else None


def _messages(messages: Sequence[Mapping[str, Any]], texts: TextTable, pointed: frozenset[int]) -> list[Json]:
    depths: dict[str, int] = {}
    rows = []
    for place, message in enumerate(messages):
        depth = depths.get(str(_first_text(message, _PARENT)), 0)
        if (answer := str(message.get("tool_call_id"))) in depths:
            depth = max(depth, depths[answer] - 1)
        calls = [call for call in message.get("tool_calls") or () if isinstance(call, dict)]
        depths |= {str(call.get("id")): depth + 1 for call in calls if call.get("id")}
        content = message.get("content")
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") == "tool_use" and block.get("id"):
                depths[str(block["id"])] = depth + 1
        shown = content if isinstance(content, str) else {k: v for k, v in message.items() if k not in ("role", "tool_calls")}
        rows.append(
            {
                "role": visible(role_in(message) or str(message.get("role", message.get("type", "message")))),
                "text": texts.add(shown if shown not in ("", {}, {"content": None}) else None),
                "calls": [[visible(str(_named(call))), texts.add(_given(call))] for call in calls],
                "answers": visible(str(message["tool_call_id"])) if message.get("tool_call_id") else None,
                "depth": min(DEEPEST, depth),
                "pointed": place in pointed,
                "ms": _first(message, _MS),
                "tokens": _tokens(message),
                "usd": _first(message, _USD),
            }
        )
    return rows


def _named(call: Mapping[str, Any]) -> Any:
    function = call.get("function")
    return function.get("name") if isinstance(function, dict) else call.get("name")


def _given(call: Mapping[str, Any]) -> Any:
    function = call.get("function")
    return function.get("arguments") if isinstance(function, dict) else call.get("arguments", call.get("args"))


def _first(given: Mapping[str, Any], names: Sequence[str]) -> float | None:
    """The first of these that is a number; None where it is not known."""
    return next((given[name] for name in names if type(given.get(name)) in (int, float) and given[name] >= 0), None)


def _first_text(given: Mapping[str, Any], names: Sequence[str]) -> str | None:
    return next((given[name] for name in names if isinstance(given.get(name), str)), None)


def _tokens(message: Mapping[str, Any]) -> float | None:
    used: dict[str, Any] = next((message[name] for name in _USED if isinstance(message.get(name), dict)), {})
    known = [number for names in _TOKENS if (number := _first(used, names)) is not None]
    return sum(known) if known else None


def _alignment(item: StoredItem, alignment: Any) -> Json | None:
    if alignment is None:
        return None
    total = len(item.result.tool_calls or ())
    rows = [_aligned(call, total) for call in alignment.calls[:MOST]]
    more = max(0, len(alignment.calls) - MOST)
    matched = sum(call.kind == "match" for call in alignment.calls)
    expected = sum(call.expected is not None for call in alignment.calls)
    return {"how": alignment.how, "said": f"{matched:,} of {plural(expected, 'expected call')} made", "rows": rows, "more": more}


def _aligned(call: AlignedCall, total: int) -> Json:
    from eval_skills.core.text import excerpt

    def side(given: tuple[str, Any] | None) -> list[str] | None:
        return None if given is None else [visible(given[0]), "" if given[1] is None else visible(excerpt(given[1], 500))]

    return {
        "kind": call.kind,
        "expected": side(call.expected),
        "actual": side(call.actual),
        "place": call.place if call.place is not None and call.place < total else None,
        "difference": None if call.changes is None else difference_json(_difference(call.changes)),
    }


def _difference(changes: Changes) -> Difference | None:
    return Difference(changes=changes.changes, more=changes.more) if changes.changes else None
