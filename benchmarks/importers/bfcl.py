"""The Berkeley Function-Calling Leaderboard (BFCL): questions with functions, joined with the calls that are accepted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from eval_skills.benchmarks.importers.rows import Row, Skip, Task, row_of
from eval_skills.benchmarks.importers.source import BFCL_FILE, Source
from eval_skills.core.documents.loading import numbered_json_lines
from eval_skills.core.text import excerpt, one_line

ANSWERS = "possible_answer"
"""The folder beside a data file that holds a file of the same name with the accepted calls."""

_SINGLE = ("simple_python", "simple", "multiple", "parallel", "parallel_multiple", "irrelevance")
_LIVE = ("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple", "live_irrelevance", "live_relevance")
_WITHOUT_ANSWERS = ("irrelevance", "live_irrelevance", "live_relevance")

_OTHER_LANGUAGE = "its arguments are Java or JavaScript code, and only the rules for Python are there"
_EXECUTED = "its calls are executed by programs of the leaderboard, and no answer can be judged without them"
_SKIPPED = {
    "simple_java": _OTHER_LANGUAGE,
    "java": _OTHER_LANGUAGE,
    "simple_javascript": _OTHER_LANGUAGE,
    "javascript": _OTHER_LANGUAGE,
    "multi_turn": "it has several turns, whose calls are executed by simulated programs of the leaderboard",
    "memory": "it needs the leaderboard's memory, which an agent fills in other conversations before",
    "web_search": "it needs the leaderboard's web search",
    "exec": _EXECUTED,
    "rest": _EXECUTED,
    "sql": "no rule for its answers was published in this format",
    "chatable": "no rule for its answers was published in this format",
}
"""Why a category, or those that begin so, cannot be tasks here."""

_JSON_SCHEMA = {
    "dict": "object",
    "float": "number",
    "tuple": "array",
    "integer": "integer",
    "boolean": "boolean",
    "array": "array",
}
"""What the leaderboard shows a model for a type of its own; text for all others, ``any`` too."""


def is_bfcl(source: Source) -> bool:
    """Whether the entries are BFCL's, by their keys or by the file's name."""
    return {"id", "question", "function"} <= source.keys or BFCL_FILE.fullmatch(source.files[0].name) is not None


def bfcl_entries(source: Source) -> Iterator[Row]:
    """The questions, each with its accepted calls as `ground_truth` where there are any."""
    rows = source.rows or [row_of(source.document, str(source.path))]
    data = source.files
    answers = {file: file.parent / ANSWERS / file.name for file in data}
    found = tuple(path for path in answers.values() if path.is_file())
    source.files = (*data, *found)
    accepted = {row.data.get("id"): row.data.get("ground_truth") for path in found for row in _lines(path)}
    for row in rows:
        if "ground_truth" in row.data or row.data.get("id") not in accepted:
            yield row
        else:
            yield Row(row.place, {**row.data, "ground_truth": accepted[row.data["id"]]}, is_text=row.is_text)


def bfcl_task(row: Row, source: Source) -> Task:
    """A question with the functions that are offered, scored by the published rule.

    Raises:
        Skip: the category needs what is not here, or nobody says which calls are accepted.
        InputError: the entry is malformed, or its id names no category.
    """
    category = _category(row)
    if category not in (*_SINGLE, *_LIVE):
        raise Skip(_why_skipped(row, category))
    turns = row.listed("question")
    if len(turns) != 1:
        raise Skip("it has several turns, and the rules are about one")
    messages = _messages(row, turns[0])
    functions = _functions(row)
    return {
        "id": row.text("id"),
        "description": one_line(str(messages[-1].get("content")), 80),
        "inputData": {"messages": messages, "tools": [_tool(each) for each in functions]},
        "evaluator": _evaluator(row, category, functions),
        "tags": [category],
    }


def _lines(path: Path) -> list[Row]:
    return [row_of(value, f"{path}:{number}") for number, value in numbered_json_lines(path)]


def _category(row: Row) -> str:
    """``live_simple`` of the id ``live_simple_0-0-0``."""
    named = re.match(r"([a-z_]+?)_\d", row.text("id"))
    return named[1] if named else ""


def _why_skipped(row: Row, category: str) -> str:
    reason = next((why for name, why in _SKIPPED.items() if category == name or category.startswith(f"{name}_")), None)
    if reason is None:
        known = ", ".join((*_SINGLE, *_LIVE))
        raise row.refusal(
            f"expected a category and a number, as in simple_python_0, got {excerpt(row.text('id'), 80)}; categories are {known}",
            "id",
        )
    return f"{category}: {reason}"


def _messages(row: Row, turn: Any) -> list[dict[str, Any]]:
    if not isinstance(turn, list) or not turn or not all(isinstance(each, dict) and "content" in each for each in turn):
        raise row.refusal(
            f"expected a list of turns, which are lists of messages, got {excerpt(row.data['question'], 80)}", "question"
        )
    return turn


def _functions(row: Row) -> list[dict[str, Any]]:
    functions = row.listed("function")
    for number, each in enumerate(functions):
        if not isinstance(each, dict) or not isinstance(each.get("name"), str) or not isinstance(each.get("parameters"), dict):
            raise row.refusal(f"expected a function with name and parameters, got {excerpt(each, 80)}", f"function[{number}]")
    shown = [shown_name(each["name"]) for each in functions]
    if twice := next((name for name in shown if shown.count(name) > 1), None):
        raise row.refusal(f"two functions are called {twice!r} where dots are written as _; rename one", "function")
    return functions


def shown_name(name: str) -> str:
    """The name of a function as it is offered: interfaces of models allow no dots."""
    return name.replace(".", "_")


def _tool(function: Mapping[str, Any]) -> dict[str, Any]:
    """The function as chat completions take it, its types in JSON Schema."""
    shown = {"name": shown_name(function["name"]), "description": function.get("description", "")}
    return {"type": "function", "function": {**shown, "parameters": json_schema(function["parameters"])}}


def json_schema(document: Mapping[str, Any]) -> dict[str, Any]:
    """A type of BFCL as JSON Schema: ``dict`` is an object, ``float`` a number, ``tuple`` an array, and ``any`` text.

    That is what the leaderboard shows to models. Types within are translated at any depth; `optional`, which says the same as not
    being `required`, is left out.
    """
    schema = {key: value for key, value in document.items() if key != "optional"}
    written = document.get("type")
    schema["type"] = _JSON_SCHEMA.get(written, "string") if isinstance(written, str) else "string"
    if isinstance(properties := document.get("properties"), dict):
        schema["properties"] = {name: json_schema(each) if isinstance(each, dict) else each for name, each in properties.items()}
    if isinstance(items := document.get("items"), dict):
        schema["items"] = json_schema(items)
    if not isinstance(schema.get("required", []), list):
        del schema["required"]
    return schema


def _evaluator(row: Row, category: str, functions: list[dict[str, Any]]) -> dict[str, Any]:
    kind = category.removeprefix("live_").removesuffix("_python")
    if category in _WITHOUT_ANSWERS:
        return {"type": "bfcl", "category": kind}
    if not row.has("ground_truth"):
        raise Skip(f"nobody says which calls are accepted: no entry of its id in {ANSWERS}/ beside the data file")
    accepted = row.listed("ground_truth")
    named = {name for each in accepted if isinstance(each, dict) for name in each}
    documents = [_types_of(each) for each in functions if each["name"] in named]
    return {"type": "bfcl", "category": kind, "functions": documents, "groundTruth": accepted}


def _types_of(function: Mapping[str, Any]) -> dict[str, Any]:
    """Of a function's document what its calls are judged by: names and types, in BFCL's own words."""
    parameters = function["parameters"]
    given = parameters.get("properties")
    properties = {name: _type_of(each) for name, each in given.items()} if isinstance(given, dict) else given
    return {"name": function["name"], "parameters": {"properties": properties, "required": parameters.get("required", [])}}


def _type_of(document: Any) -> Any:
    if not isinstance(document, dict):
        return document
    items = document.get("items")
    kept = {"type": document.get("type")}
    return {**kept, "items": {"type": items.get("type")}} if isinstance(items, dict) else kept
