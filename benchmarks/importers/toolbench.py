"""ToolBench, StableToolBench and MCP-Bench: requests with the tools that are offered and, of some, those that are to be called.

Format and rules of names: OpenBMB/ToolBench (``G1_instruction.json`` and the like) and its ``server.py``/``rapidapi`` wrappers.
Its own metrics are a model's votes; the endpoints that its authors call relevant support tool accuracy only.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Any

from eval_skills.benchmarks.importers.rows import Row, Skip, Task
from eval_skills.benchmarks.importers.source import Source
from eval_skills.core.text import excerpt

MAX_NAME = 64
_RESERVED = frozenset({"from", "class", "return", "false", "true", "id", "and", "", "ID"})
_TYPES = {"NUMBER": "integer", "BOOLEAN": "boolean"}
_RELEVANT = ("relevant APIs", "relevant_apis")
_METRIC = (
    "the share of the relevant tools that were called is scored (tool_accuracy); ToolBench's own pass rate is a model's vote on "
    "the answer"
)

_NO_TOOLS_NAMED = (
    "a model judges the answers of MCP-Bench by its precise task description (llm_judge); name it with --judge-model. Its files "
    "do not say which tools have to be called"
)


def is_toolbench(source: Source) -> bool:
    """Whether the entries are queries of ToolBench."""
    return {"query", "api_list"} <= source.keys


def toolbench_task(row: Row, source: Source) -> Task:
    """A request, the functions on offer, and the names of those that are to be called."""
    source.say(_METRIC)
    offered = [_inside(row, f"api_list[{place}]", each) for place, each in enumerate(row.listed("api_list"))]
    functions = [_function(each) for each in offered]
    names = [function["name"] for function in functions]
    if (twice := next((name for name in names if names.count(name) > 1), None)) is not None:
        raise Skip(f"two of its endpoints have the same function name in ToolBench, such as {twice}")
    wanted = _relevant(row, dict(zip(map(_pair, offered), names, strict=True)))
    if not wanted:
        raise Skip("it does not say which endpoints are relevant")
    file = PurePath(source.files[0]).stem
    return {
        "id": f"{file}-{row.text('query_id')}" if row.has("query_id") else f"{file}-{row.place.rpartition('[')[2].rstrip(']')}",
        "inputData": {"instruction": row.text("query"), "tools_available": functions},
        "expected": {"tools": list(dict.fromkeys(wanted))},
        "tags": list(dict.fromkeys([file, *(each.text("category_name") for each in offered if each.has("category_name"))])),
    }


def is_mcp_bench(source: Source) -> bool:
    """Whether it is a file of MCP-Bench, which lists its tasks by their servers."""
    return "server_tasks" in source.keys


def mcp_bench_entries(source: Source) -> list[Row]:
    """The tasks of all servers, each with the names of its servers."""
    found: list[Row] = []
    for group in source.listed("server_tasks"):
        servers = group.texts("servers") if group.has("servers") else [group.text("server_name")]
        for place, each in enumerate(group.listed("tasks")):
            task = _inside(group, f"tasks[{place}]", each)
            found.append(Row(task.place, {**task.data, "servers": servers}))
    return found


def mcp_bench_task(row: Row, source: Source) -> Task:
    """A request as a person words it, the servers on offer, and what a model judges the answer by."""
    source.say(_NO_TOOLS_NAMED)
    key = row.first("fuzzy_description", "task_description") or "fuzzy_description"
    asked: Task = {"instruction": row.text(key), "servers": row.texts("servers")}
    if row.has("distraction_servers"):
        asked["servers"] = list(dict.fromkeys([*asked["servers"], *row.texts("distraction_servers")]))
    return {
        "id": row.text("task_id"),
        "inputData": asked,
        "expectedOutput": {"criteria": _fulfilled(row.text_or_empty("task_description") or row.text(key)), "type": "llm_judge"},
        "tags": row.texts("servers"),
    }


def _fulfilled(task: str) -> str:
    return f"The answer fulfils this task in full, and every figure in it comes from the results of tools:\n{task}"


def function_name(tool: str, api: str) -> str:
    """The name under which an agent of ToolBench sees an endpoint: both names normalised, the last 64 characters of them."""
    return f"{_api(_standard(api))}_for_{_standard(tool)}"[-MAX_NAME:]


def _standard(name: str) -> str:
    """Other characters than letters, digits, CJK and ``_`` are ``_``, one at a time; lower case; digits do not come first."""
    plain = re.sub(r"_+", "_", re.sub(r"[^a-zA-Z0-9_\u4e00-\u9fa5]", "_", name)).strip("_").lower()
    return f"get_{plain}" if plain[:1].isdigit() else plain


def _api(name: str) -> str:
    return f"is_{name}" if name in _RESERVED else name


def _pair(row: Row) -> tuple[str, str]:
    return row.text("tool_name"), row.text("api_name")


def _function(row: Row) -> Task:
    required = _parameters(row, "required_parameters")
    parameters = required | _parameters(row, "optional_parameters")
    return {
        "name": function_name(*_pair(row)),
        "description": str(row.data.get("api_description") or "").strip(),
        "parameters": {"type": "object", "properties": parameters, "required": list(required)},
    }


def _parameters(row: Row, key: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for place, each in enumerate(row.listed(key) if row.has(key) else []):
        parameter = _inside(row, f"{key}[{place}]", each)
        kind = _TYPES.get(str(parameter.data.get("type") or "").upper(), "string")
        described = str(parameter.data.get("description") or "").strip()
        found[parameter.text("name")] = {"type": kind, **({"description": described} if described else {})}
    return found


def _relevant(row: Row, names: dict[tuple[str, str], str]) -> list[str]:
    key = row.first(*_RELEVANT)
    if key is None:
        return []
    return [names.get(pair) or _unoffered(row, key, pair) for pair in (_named(row, key, each) for each in row.listed(key))]


def _named(row: Row, key: str, each: Any) -> tuple[str, str]:
    if isinstance(each, dict):
        return _pair(_inside(row, key, each))
    if isinstance(each, list) and len(each) == 2 and all(isinstance(part, str) for part in each):
        return each[0], each[1]
    raise row.refusal(f"expected the names of a tool and of one of its endpoints, got {excerpt(each, 80)}", key)


def _unoffered(row: Row, key: str, pair: tuple[str, str]) -> str:
    raise row.refusal(f"the endpoint {pair[1]!r} of {pair[0]!r} is relevant and not among those in api_list", key)


def _inside(row: Row, place: str, value: Any) -> Row:
    if not isinstance(value, dict):
        raise row.refusal(f"expected an object, got {excerpt(value, 80)}", place)
    return Row(f"{row.place}: {place}", value)
