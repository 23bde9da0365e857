"""Models that are forms in Prefect's UI: what their fields are called there, and in which order they stand."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from eval_skills.core.models.base import Model

ORDER = (
    # what is asked, and how much of it at a time
    "skills", "skills_dir", "run_a", "run_b", "skill_a", "skill_b", "benchmark", "runs", "concurrency",
    # which skills and tasks
    "query", "tags", "adapter", "tasks", "map", "task_ids", "tasks_from", "task_tags", "complexity", "filter", "first",
    "own_tests", "benchmarks_dir", "skip_unreadable", "traces", "trace_skill", "record", "replay", "cache", "cache_runs",
    # how items are run
    "timeout_ms", "retries", "items_per_task", "task_runner", "fail_fast", "until", "against", "max_runs", "resume",
    "retry_errors", "max_cost", "max_tokens", "max_duration_s", "rate",
    # what becomes of the results
    "top_k", "strategy", "keep_ties", "min_completion", "exit_on_fail", "store", "format", "output_dir", "viewer", "secrets",
    # how answers are judged
    "evaluator", "llm", "criteria", "panel", "votes", "judge_concurrency", "max_judge_cost", "no_judge_cache", "no_judge_check",
    "weights", "tool_names", "tool_categories", "allow_custom_code",
    # what processes are held to
    "memory_mb", "cpu_seconds", "open_files", "max_output_bytes", "sandbox", "sandbox_network", "sandbox_paths",
    "sandbox_processes", "sandbox_mb",
    # what flows tell each other
    "at", "origin", "provenance",
)  # fmt: skip
"""The order of the fields that several forms share; what is not named here stands as its form declares it, before these."""


class Form(Model):
    """A model whose JSON schema makes a form that can be read: titles are words, and the fields that matter most come first.

    `form_first` are the names of the fields of this form that stand before all others, in their order.
    """

    form_first: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        made = handler(schema)
        form = handler.resolve_ref_schema(made)
        by_key: dict[str, Any] = form.get("properties", {})
        fields = {name: field.alias or name for name, field in cls.model_fields.items()}
        titles = {name: field.title or _words(name) for name, field in cls.model_fields.items()}
        form["properties"] = {
            fields[name]: {
                **by_key[fields[name]],
                "title": titles[name],
                "description": _of_a_form(cls.model_fields[name].description or "", titles),
                "position": position,  # Prefect's UI sorts by it, and its databases may not keep the order of keys
            }
            for position, name in enumerate(sorted(fields, key=cls._place))
        }
        return made

    @classmethod
    def _place(cls, name: str) -> tuple[int, int]:
        if name in cls.form_first:
            return 0, cls.form_first.index(name)
        return (2, ORDER.index(name)) if name in ORDER else (1, list(cls.model_fields).index(name))


def _of_a_form(description: str, titles: Mapping[str, str]) -> str:
    """The help text of an option of the command line, with the titles of other fields in place of their options."""

    def title(option: re.Match[str]) -> str:
        name = option[1].replace("-", "_")
        return f'"{titles[name]}"' if name in titles else option[0]

    return re.sub(r"--([a-z][a-z-]*[a-z])", title, description)


def _words(name: str) -> str:
    """``Tool names`` for ``tool_names``."""
    return name.strip("_").replace("_", " ").capitalize()
