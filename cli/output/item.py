"""What `show` prints: one item of a run, whole."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from eval_skills.cli.context import current, print_json, printable
from eval_skills.core.differences import Difference, Words
from eval_skills.core.text import plural, skill_key_of
from eval_skills.reporting import numbers
from eval_skills.reporting.costs import attempts_text
from eval_skills.reporting.escape import json_text
from eval_skills.reporting.sections import reason_text
from eval_skills.scaffolding.skill_templates import shown_path

if TYPE_CHECKING:
    from eval_skills.core.models import ItemResult
    from eval_skills.core.models.result import Reason, TurnResult
    from eval_skills.engine.stored_runs.items import RunItems, StoredItem

WIDTH = 80
INDENT = "  "
TEXT_CHARS = 4_000
"""How much of one text is shown; ``--json`` has all of it."""

ENTRIES = 50
"""How many tool calls, turns or files are shown."""

_ENDS = {
    "pass": ("✔ passed", "green"),
    "fail": ("✘ failed", "red"),
    "error": ("! error", "yellow"),
    "timeout": ("◷ timeout", "yellow"),
}
_MARKS = {"removed": ("[-", "-]", "red"), "added": ("{+", "+}", "green"), "equal": ("", "", ""), "skipped": ("… ", " …", "dim")}


def show_item(items: RunItems, item: StoredItem) -> None:
    """The item on stdout, as JSON in a ``--json`` call."""
    if current().json:
        print_json(_document(items, item))
        return
    result = item.result
    runs = [row for row in items.identities if row["task_id"] == result.task_id and skill_key_of(row) == result.skill_key]
    _say(f"run {items.run_id} · {result.benchmark_id}@{result.benchmark_version}")
    _say(f"{result.skill_key} · {result.task_id} · run {result.run_index + 1} of {len(runs)}", "bold")
    _say(_ending(result), _ENDS[result.status][1])
    if len(runs) > 1:
        _say(f"{sum(row['passed'] for row in runs):,} of {plural(len(runs), 'run')} of this task passed")
    if item.task is not None:
        _section("input", _lines(item.task.asked))
        _section("expected", _lines(item.expected))
    _section("answer", _lines(result.output) if result.output is not None or result.error_kind is None else [])
    _section("difference: [-expected-] {+answered+}", _difference(item.difference))
    _sections_of_reasons(result)
    _section("turns", _turns(item))
    _section("tool calls", _calls(result))
    _section("files", [f"{each.change} {each.path}" for each in result.files or ()])
    _section("facts", _facts(result))
    if (again := items.again(item)) is not None:
        _say("ask it again", "bold")
        current().say(f"{INDENT}{_command(again)}")


def _ending(result: ItemResult) -> str:
    facts = [
        f"score {numbers.score(result.score)}" if result.score is not None else None,
        result.scorer,
        result.error_kind if result.error_kind != result.status else None,
        numbers.milliseconds(result.latency_ms) if result.latency_ms is not None else None,
        plural(len(result.attempts), "attempt") if len(result.attempts) > 1 else None,
    ]
    return " · ".join([_ENDS[result.status][0], *(fact for fact in facts if fact)])


def _sections_of_reasons(result: ItemResult) -> None:
    """The judge's reasoning stands apart; an error that no reason tells comes last."""
    judged = [reason for reason in result.reasons if _is_of_judge(reason)]
    said = [reason_text(reason) for reason in result.reasons if reason not in judged]
    if result.error_message and not any(result.error_message in each.message for each in result.reasons):
        said.append(f"{result.error_kind or result.status}: {result.error_message}")
    _section("reasons", _each(said))
    _section("judge", _each([reason_text(reason) for reason in judged]))


def _is_of_judge(reason: Reason) -> bool:
    return reason.code.startswith("JUDGE")


def _turns(item: StoredItem) -> list[Text | str]:
    lines: list[Text | str] = []
    for turn, difference in zip(item.result.turns or [], item.turn_differences, strict=False):
        lines += [
            f"{turn.turn}  {_of_turn(turn)}",
            *_indented(_lines(turn.input), "   > "),
            *_indented(_lines(turn.output), "   < "),
        ]
        lines += _indented(_difference(difference), "   ")
        lines += [f"   {reason_text(reason)}" for reason in turn.reasons]
        if turn.error_message and turn.status is None:
            lines.append(f"   {turn.error_kind}: {turn.error_message}")
    return _few(lines, 4 * ENTRIES)


def _of_turn(turn: TurnResult) -> str:
    facts: list[str] = [turn.status or turn.error_kind or "not judged"]
    if turn.latency_ms is not None:
        facts.append(numbers.milliseconds(turn.latency_ms))
    return " · ".join(facts)


def _calls(result: ItemResult) -> list[Text | str]:
    lines: list[Text | str] = []
    for index, call in enumerate(result.tool_calls or ()):
        given = "" if call.arguments is None else f" {_short(call.arguments)}"
        lines.append(f"[{index}] {call.name}{given}")
        if call.result is not None:
            lines.append(f"    → {_short(call.result)}")
        if call.error:
            lines.append(f"    ! {_short(call.error)}")
    return _few(lines, 3 * ENTRIES)


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json_text(value)
    return text if len(text) <= 400 else f"{text[:400]} … {len(text) - 400:,} more characters"


def _facts(result: ItemResult) -> list[str]:
    """What is known of it beside the answer; what is not known is a dash where others of its kind are known."""
    tokens = (result.prompt_tokens, result.completion_tokens)
    found = {
        "began": f"{result.started_at:%Y-%m-%d %H:%M:%S} UTC",
        "latency": numbers.milliseconds(result.latency_ms),
        "first token": _known(result.time_to_first_token_ms, numbers.milliseconds),
        "attempts": attempts_text(result.attempts),
        "tokens": " + ".join(map(numbers.count, tokens)) + " (prompt + completion)"
        if tokens != (None, None)
        else numbers.UNKNOWN,
        "cost": numbers.usd(result.cost_usd),
        "judge": _paid(result.judge_requests, result.judge_tokens, result.judge_cost_usd),
        "agreement": _known(result.judge_agreement, numbers.rate),
        "user": _paid(result.user_requests, result.user_tokens, result.user_cost_usd),
        "turns of its model": _known(result.steps, numbers.count),
        "skills loaded": None if result.skills_loaded is None else ", ".join(result.skills_loaded) or "none",
        "finish reason": result.finish_reason,
        "scores": ", ".join(f"{name} {numbers.score(value)}" for name, value in result.dimensions.items()) or None,
        "messages": f"{len(result.messages):,}" if result.messages else None,
    }
    shown = {name: text for name, text in found.items() if text is not None}
    width = max(map(len, shown))
    return [f"{name:<{width}}  {text}" for name, text in shown.items()]


def _known(value: Any, written: Any) -> str | None:
    return None if value is None else written(value)


def _paid(requests: int | None, tokens: int | None, cost_usd: float | None) -> str | None:
    if requests is None and tokens is None and cost_usd is None:
        return None
    asked = f"{numbers.UNKNOWN} requests" if requests is None else plural(requests, "request")
    return f"{numbers.usd(cost_usd)}, {numbers.count(tokens)} tokens, {asked}"


def _difference(difference: Difference | None) -> list[Text | str]:
    if difference is None:
        return []
    lines: list[Text | str] = [] if difference.words is None else _of_words(difference.words)
    for change in difference.changes:
        lines.append(Text(printable(change.text), style={"missing": "red", "extra": "green"}.get(change.kind, "")))
        if change.words is not None:
            lines += _indented(_of_words(change.words), "  ")
    if difference.more:
        lines.append(f"and {difference.more:,} more")
    return [*lines, *difference.notes]


def _of_words(words: Words) -> list[Text | str]:
    shown = Text()
    for kind, text in words.parts:
        before, after, style = _MARKS[kind]
        safe = "\n".join(map(printable, text.split("\n")))
        shown.append(f"{before}{safe}{after}" if kind != "equal" else safe, style)
    return list(shown.split("\n", allow_blank=True))


def _lines(value: Any) -> list[Text | str]:
    """Text as it is, other JSON indented where it is long; an empty text is said."""
    if value is None:
        return ["–"]
    text = value if isinstance(value, str) else json_text(value)
    if not isinstance(value, str) and len(text) > WIDTH - 4 and len(text) <= TEXT_CHARS:
        text = json_text(value, indent=2)
    more = len(text) - TEXT_CHARS
    shown = text[:TEXT_CHARS].split("\n") if text else ["(empty text)"]
    return [*shown, *([f"… {more:,} more characters; --json has them"] if more > 0 else [])]


def _each(sentences: Iterable[str]) -> list[Text | str]:
    return [line for sentence in sentences for line in _lines(sentence)]


def _indented(lines: Iterable[Text | str], before: str) -> list[Text | str]:
    return [Text.assemble(before, line) if isinstance(line, Text) else f"{before}{line}" for line in lines]


def _few(lines: list[Text | str], most: int) -> list[Text | str]:
    more = len(lines) - most
    return lines if more <= 0 else [*lines[:most], f"… {more:,} more lines; --json has them"]


def _section(title: str, lines: Sequence[Text | str]) -> None:
    """A title, and below it lines that are folded at the width there is; no character of them steers a terminal."""
    if not lines:
        return
    _say(title, "bold")
    out = current().out(pipe_width=WIDTH)
    for line in lines:
        text = line if isinstance(line, Text) else Text(printable(line))
        for row in text.wrap(out, max(20, out.width - len(INDENT)), overflow="fold"):
            row.rstrip()
            out.print(Text.assemble(INDENT, row), soft_wrap=True)


def _say(line: str, style: str = "") -> None:
    current().out(pipe_width=WIDTH).print(Text(printable(line), style=style), overflow="fold")


def _command(words: Sequence[str]) -> str:
    """As people type it: paths below the current folder from there, and no ``--store`` that is the default one."""
    *others, option, store = words
    words = others if option == "--store" and Path(store).absolute() == Path("eval-store").absolute() else words
    return shlex.join(map(_from_here, words))


def _from_here(word: str) -> str:
    path = Path(word)
    return shown_path(path) if path.is_absolute() and path.is_relative_to(Path.cwd()) else word


def _document(items: RunItems, item: StoredItem) -> dict[str, Any]:
    difference, again = item.difference, items.again(item)
    return {
        "item": item.result.to_json(),
        "input": None if item.task is None else item.task.asked,
        "expected": item.expected,
        "difference": None if difference is None else difference.to_json(),
        "turnDifferences": [None if each is None else each.to_json() for each in item.turn_differences] or None,
        "again": None if again is None else shlex.join(again),
        "remarks": items.remarks,
    }
