"""Logs of Inspect, ``.eval`` and ``.json``: samples are tasks, and answers are recorded runs with Inspect's verdicts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from eval_skills.benchmarks.importers.rows import Row, Skip, Task
from eval_skills.benchmarks.importers.source import Source
from eval_skills.core.errors import InputError
from eval_skills.core.text import excerpt

_WORDS = {"c": 1.0, "p": 0.5, "i": 0.0, "n": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
"""Inspect's own texts for scores, and what each is worth there."""


def model_of(document: dict[str, Any], path: Path) -> str:
    """The model of a log, as the id of a skill.

    Raises:
        InputError: the log names none.
    """
    about = document.get("eval")
    model = about.get("model") if isinstance(about, dict) else None
    if not isinstance(model, str) or not model.strip():
        raise InputError("expected the model's name", source=path, path="eval.model")
    return re.sub(r"[^a-z0-9_-]+", "-", model.lower()).strip("-") or "model"


def is_log(source: Source) -> bool:
    """Whether it is a log of Inspect."""
    return {"eval", "samples"} <= source.keys


def log_entries(source: Source) -> list[Row]:
    """The first epoch of every sample; all of its epochs that were scored, or failed, become recorded runs."""
    if not isinstance(source.document, dict):
        raise InputError("not a log of Inspect, which is one object", source=source.path)
    skill = model_of(source.document, source.path)
    if isinstance(task := source.document["eval"].get("task"), str):
        source.name = task
    first: dict[str, Row] = {}
    epochs: dict[tuple[str, int], Row] = {}
    unscored = invalidated = 0
    for row in source.listed("samples"):
        try:
            source.runs.append(recorded_run(row, skill))
        except Skip:
            invalidated += row.has("invalidation")
            unscored += not row.has("invalidation")
        name, epoch = row.text("id"), row.data.get("epoch", 1)
        before = first.setdefault(name, row)
        if before.data["id"] != row.data["id"]:
            raise row.refusal(
                f"its id {name!r} is that of {before.place}, too, once a number and once text; make it unique", "id"
            )
        if (before := epochs.setdefault((name, epoch), row)) is not row:
            raise row.refusal(f"epoch {epoch} of the sample {name!r} is at {before.place}, too; keep one of them", "epoch")
    if (status := source.document.get("status")) not in ("success", None):
        source.say(f"Inspect's own run ended as {excerpt(status, 40)}: samples may be missing, and its results are not given")
    scorers = next((list(_scores(row)) for row in first.values() if row.has("scores")), [])
    if len(scorers) > 1:
        source.say(f"several scorers judged ({', '.join(scorers)}); a run passes where {scorers[0]} gave 1")
    if invalidated:
        source.say(f"{invalidated:,} of the samples' epochs were invalidated in Inspect and are not among the recorded runs")
    if reducers := [each for each in _reducers(source.document) if each != "mean"]:
        source.say(
            f"Inspect reduced the epochs of a sample by {', '.join(reducers)}: that is left out, each epoch counts as a run"
        )
    if unscored:
        source.say(f"{unscored:,} of the samples' epochs were not scored by Inspect and are not among the recorded runs")
    source.say("its tasks are for these recorded runs: a run passes where Inspect's scorer gave it the full score")
    return list(first.values())


def _reducers(document: dict[str, Any]) -> list[str]:
    """How Inspect made one score of a sample's epochs, as the log names it."""
    config = document["eval"].get("config")
    named = config.get("epochs_reducer") if isinstance(config, dict) else None
    return [str(each) for each in named] if isinstance(named, list) else []


def log_task(row: Row, source: Source) -> Task:
    """The task of a sample: it passes where Inspect's scorer said so.

    Raises:
        Skip: none of its epochs is among the recorded runs.
    """
    if all(run["taskId"] != row.text("id") for run in source.runs):
        raise Skip("it was invalidated in Inspect" if row.has("invalidation") else "Inspect did not score it")
    asked: dict[str, Any] = {"input": row.data.get("input")}
    if row.has("choices"):
        asked["choices"] = row.data["choices"]
    return {
        "id": row.text("id"),
        "inputData": asked,
        "expectedOutput": {"value": True},
        "evaluator": {"type": "exact"},
        "metadata": {"target": row.data.get("target")},
    }


def recorded_run(row: Row, skill: str) -> dict[str, Any]:
    """The line of a trace file for one epoch of a sample.

    Raises:
        Skip: it was not scored, or was invalidated.
        InputError: it is malformed.
    """
    if row.has("invalidation"):
        raise Skip("it was invalidated in Inspect")
    epoch = row.data.get("epoch", 1)
    if not isinstance(epoch, int) or isinstance(epoch, bool) or epoch < 1:
        raise row.refusal(f"expected a whole number from 1, got {excerpt(epoch, 80)}", "epoch")
    line: dict[str, Any] = {"taskId": row.text("id"), "skill": skill, "runIndex": epoch - 1, **_measured(row)}
    if row.has("error"):
        error = row.data["error"]
        message = error.get("message") if isinstance(error, dict) else error
        ended = {"kind": "skill", "message": str(message or "the sample ended in an error")}
        return line | {"error": ended, **_told(row)}
    if not row.has("scores"):
        raise Skip("Inspect did not score it")
    name, value = scored(row)
    answer = {"result": value == 1, "answer": _completion(row), "score": value, "scorer": name}
    cut = {"finishReason": why} if (why := _stop_reason(row)) is not None else {}
    return line | {"output": answer, **cut, **_told(row)}


def _told(row: Row) -> dict[str, Any]:
    """The messages of a sample, and the calls of its events where these have any that the messages have not."""
    messages = [_message(each) for each in row.listed("messages")] if row.has("messages") else []
    calls = [call for each in messages if isinstance(each, dict) for call in each.get("tool_calls", ())]
    asked = {str(call.get("id")) for call in calls if isinstance(call, dict)}
    called = list(_tool_events(row.data.get("events")))
    told = {"messages": messages} if messages else {}
    return told if asked.issuperset(call["id"] for call in called) else told | {"toolCalls": called}


def _tool_events(events: Any) -> Iterator[dict[str, Any]]:
    """The calls in a sample's events: those of sub-agents, too, which the sample's messages do not have."""
    for event in events if isinstance(events, list) else ():
        if not isinstance(event, dict):
            continue
        if event.get("event") == "tool" and isinstance(event.get("function"), str):
            yield {"id": str(event.get("id")), "name": event["function"], "arguments": event.get("arguments") or {}}
        yield from _tool_events(event.get("events"))


def scored(row: Row) -> tuple[str, float]:
    """The first scorer and its score as a number.

    Raises:
        Skip: it gave no score, or one that Inspect does not count.
        InputError: it is neither a number nor one of Inspect's words.
    """
    scores = _scores(row)
    if not scores:
        raise Skip("Inspect did not score it")
    name, value = next(iter(scores.items()))
    if value is None:
        raise Skip("Inspect did not score it")
    if isinstance(value, bool | int | float):
        return name, float(value)
    if isinstance(value, str) and value.lower() in _WORDS:
        return name, _WORDS[value.lower()]
    raise row.refusal(f"expected a number or one of C, P, I, N; got {excerpt(value, 80)}", f"scores.{name}.value")


def _scores(row: Row) -> dict[str, Any]:
    """What each scorer gave; a scorer that gave several values by name stands for as many: ``scorer.name``."""
    found: dict[str, Any] = {}
    for name, score in row.mapping("scores").items():
        value = score.get("value") if isinstance(score, dict) else score
        found |= {f"{name}.{each}": one for each, one in value.items()} if isinstance(value, dict) else {name: value}
    return found


def _measured(row: Row) -> dict[str, Any]:
    measured: dict[str, Any] = {}
    if isinstance(time := row.data.get("total_time"), int | float):
        measured["latencyMs"] = float(time) * 1000
    usage = row.data.get("model_usage")
    used = [each for each in usage.values() if isinstance(each, dict)] if isinstance(usage, dict) else []
    prompt, completion = (_whole(map(each, used)) for each in (_prompt_tokens, _completion_tokens))
    if known := {
        key: tokens for key, tokens in (("promptTokens", prompt), ("completionTokens", completion)) if tokens is not None
    }:
        measured["usage"] = known
    return measured


def _whole(counts: Iterable[int | None]) -> int | None:
    """The sum; None where there is nothing, or a part is unknown."""
    listed = list(counts)
    known = [count for count in listed if count is not None]
    return sum(known) if known and len(known) == len(listed) else None


def _completion_tokens(usage: dict[str, Any]) -> int | None:
    return _count(usage, "output_tokens")


def _prompt_tokens(usage: dict[str, Any]) -> int | None:
    """All tokens that a model read. Those of its cache are part of ``input_tokens`` with some providers and beside them with
    others: the total of Inspect's tells, and without one they are unknown.
    """
    read, written, total = (_count(usage, key) for key in ("input_tokens", "output_tokens", "total_tokens"))
    cached = sum(_count(usage, f"input_tokens_cache_{key}") or 0 for key in ("read", "write"))
    if not cached or read is None:
        return read
    if written is None or total is None:
        return None
    return read + cached if total >= read + cached + written else read


def _count(usage: dict[str, Any], key: str) -> int | None:
    count = usage.get(key)
    return count if isinstance(count, int) and not isinstance(count, bool) and count >= 0 else None


def _output(row: Row) -> dict[str, Any]:
    output = row.data.get("output")
    return output if isinstance(output, dict) else {}


def _choice(row: Row) -> dict[str, Any]:
    choices = _output(row).get("choices")
    return choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}


def _completion(row: Row) -> Any:
    if isinstance(completion := _output(row).get("completion"), str):
        return completion
    message = _choice(row).get("message")
    return message.get("content") if isinstance(message, dict) else None


def _stop_reason(row: Row) -> str | None:
    why = _choice(row).get("stop_reason")
    return why if isinstance(why, str) else None


def _message(message: Any) -> Any:
    """A message as chat completions have it: Inspect writes a call's name and arguments flat, a result's tool as `function`,
    and why a tool failed beside its content."""
    if not isinstance(message, dict):
        return message
    kept = {key: message[key] for key in ("role", "content", "tool_call_id", "name") if message.get(key) is not None}
    if message.get("role") == "tool" and isinstance(message.get("function"), str):
        kept["name"] = message["function"]
    if (error := message.get("error")) is not None:
        why = error.get("message") if isinstance(error, dict) else error
        kept |= {"content": kept.get("content") or why, "error": why, "status": "error"}
    calls = message.get("tool_calls")
    if isinstance(calls, list) and calls:
        kept["tool_calls"] = [_call(call) for call in calls]
    return kept


def _call(call: Any) -> Any:
    if not isinstance(call, dict) or not isinstance(call.get("function"), str):
        return call
    function = {"name": call["function"], "arguments": call.get("arguments") or {}}
    return {"id": call.get("id"), "type": "function", "function": function}
