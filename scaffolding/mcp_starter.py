"""Starter tests of a skill that is an MCP tool: what the tool's own schema gives as examples."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval_skills.core.errors import InputError
from eval_skills.core.models import Skill
from eval_skills.scaffolding.openapi.document import Document, mapping, sequence
from eval_skills.scaffolding.openapi.example import sample

MAX_TASKS = 10
TIMEOUT_MS = 10_000


def starter_benchmark(skill: Skill) -> dict[str, Any] | None:
    """A task for each example of the input, or one where every required part has an example, a default or a choice; where none
    is required, one with all defaults.

    Any answer that is no error will do, if the tool has an output schema one that fits it. None where the schema gives too
    little: a value that was made up would test nothing but the tool's refusal.
    """
    if not (inputs := _Given.of(skill.input_schema).inputs):
        return None
    tasks = [_task(f"example-{number}", given, skill) for number, given in enumerate(inputs[:MAX_TASKS], 1)]
    return {
        "id": f"{skill.id}-basic",
        "name": f"{skill.name}: the basics",
        "version": "1.0.0",
        "domain": "tool-use",
        "scoringMethod": "mean",
        "maxLatencyMs": 5000,
        "tasks": tasks,
    }


def why_no_starter(skill: Skill) -> str:
    """What the tool's schema lacks for a test; "" where there is one."""
    return _Given.of(skill.input_schema).lack


@dataclass(frozen=True, slots=True)
class _Given:
    """The inputs that a schema gives, or what it lacks for one."""

    inputs: list[dict[str, Any]]
    lack: str = ""

    @classmethod
    def of(cls, schema: dict[str, Any]) -> _Given:
        listed = schema.get("examples")
        if isinstance(listed, list) and (whole := [each for each in listed if isinstance(each, dict)]):
            return cls(whole)
        if not mapping(schema.get("properties")):
            return cls([], "it takes no arguments, and nothing says what a call may do")
        document = Document(Path("inputSchema"), {**schema, "openapi": "3.1.0"})
        try:
            return cls._put_together(document, schema)
        except InputError:
            return cls([], "its schema refers to what is not in it")

    @classmethod
    def _put_together(cls, document: Document, schema: dict[str, Any]) -> _Given:
        found = sample(document, schema, "inputSchema")
        missing = [str(name) for name in sequence(schema.get("required")) if _is_missing(document, schema, name)]
        if found.made_up or missing or not isinstance(found.value, dict):
            return cls([], f"its schema gives no example, default or choice for {', '.join(missing) or 'its parts'}")
        if given := found.value or _defaults(document, schema):
            return cls([given])
        return cls([], "its schema gives no example or default for any argument")


def _is_missing(document: Document, schema: dict[str, Any], name: Any) -> bool:
    return sample(document, mapping(schema["properties"]).get(name, {}), "inputSchema").made_up


def _defaults(document: Document, schema: dict[str, Any]) -> dict[str, Any]:
    parts = {name: document.object_at(part, "inputSchema") | part for name, part in mapping(schema["properties"]).items()}
    return {name: part["default"] for name, part in parts.items() if "default" in part}


def _task(task_id: str, given: dict[str, Any], skill: Skill) -> dict[str, Any]:
    return {
        "id": task_id,
        "description": f"{skill.name} with what its schema gives",
        "inputData": given,
        "expectedOutput": {"type": "json_schema", "schema": skill.output_schema or True},
        "evaluator": {"type": "json_schema"},
        "timeoutMs": TIMEOUT_MS,
        "tags": ["mcp"],
        "complexity": "simple",
    }
