"""Whether a skill's schemas tell a caller what to send and what to expect."""

from __future__ import annotations

from typing import Any

from eval_skills.adapters.finding import Finding
from eval_skills.core.models import Skill


def schema_findings(skill: Skill) -> list[Finding]:
    """For the input and the output: a valid JSON Schema with a type, properties, and a description of each."""
    return [*_findings("input", skill.input_schema), *_findings("output", skill.output_schema)]


def _findings(side: str, schema: dict[str, Any]) -> list[Finding]:
    name = f"{side}Schema"
    properties = schema.get("properties")
    named = properties if isinstance(properties, dict) else {}
    undescribed = [key for key, part in named.items() if not _is_described(part)]
    problem = _problem(schema)
    untold = f"{name} describes nothing" if not named else f"{name} does not describe {', '.join(undescribed)}"
    # A schema of something else than an object has no properties to name, only itself to describe.
    has_parts = bool(named) if schema.get("type") in {None, "object"} else True
    described = (bool(named) and not undescribed) or (not named and _is_described(schema))
    return [
        Finding(f"{side}-schema-valid", not problem, f"{name} {problem}"),
        Finding(f"{side}-schema-typed", "type" in schema, f"{name} names no type"),
        Finding(f"{side}-schema-properties", has_parts, f"{name} names no properties"),
        Finding(f"{side}-schema-described", described, untold),
    ]


def _is_described(part: Any) -> bool:
    description = part.get("description") if isinstance(part, dict) else None
    return isinstance(description, str) and bool(description.strip())


def _problem(schema: dict[str, Any]) -> str:
    """What is wrong with a schema, empty when it is valid; the draft is that of `$schema`, else 2020-12."""
    if not schema:
        return "is absent or empty"
    if not isinstance(schema.get("$schema", ""), str):
        return "is no JSON Schema: its $schema is no text"
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import Draft202012Validator, validator_for

    try:
        validator_for(schema, default=Draft202012Validator).check_schema(schema)
    except SchemaError as error:
        return f"is no JSON Schema: {error.message} at {error.json_path}"
    return ""
