"""What a skill says about itself: its metadata, its description, and whether its schemas say what to send and to expect."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from eval_skills.core.models import Skill

MIN_WORDS = 5
"""A description of fewer words says too little to choose a skill by."""

_PLACEHOLDER = re.compile(
    r"^\W*(todo|tbd|fixme|xxx)\b|\b(todo|fixme|tbd):|\blorem ipsum\b|\bplaceholder\b|\bchange ?me\b|\bdoes something\b"
    r"|\b(your|a|my|the) description( goes)? here\b|<(your|insert|short|one|description)[^<>]*>",
    re.IGNORECASE,
)
_URL = re.compile(r"^https?://[^\s/]+\S*$")
_WORD = re.compile(r"\w+")
_LICENSE = re.compile(r"^[\w.+-]+( (WITH|AND|OR) [\w.+-]+)*$")


@dataclass(frozen=True, slots=True)
class Finding:
    """`code` names it (words joined by ``-``, no code inside another one), `met` says whether it is so.

    `otherwise` is the sentence for the case that it is not: what is wrong, and what would be right.
    """

    code: str
    met: bool
    otherwise: str


def metadata_findings(skill: Skill) -> list[Finding]:
    """Author, licence, homepage, a released version and tags."""
    return [
        Finding("has-author", bool(_text(skill, "author")), "metadata.author is absent or blank; name a person or a team"),
        Finding(
            "has-license", bool(_LICENSE.match(_text(skill, "license"))), "metadata.license is not an identifier such as MIT"
        ),
        Finding(
            "has-homepage", bool(_URL.match(_text(skill, "homepage"))), "metadata.homepage is not an http:// or https:// URL"
        ),
        Finding("has-version", skill.version != "0.0.0", "version is 0.0.0; give the release a number"),
        Finding("has-tags", any(tag.strip() for tag in skill.tags), "tags are empty; people search by them"),
    ]


def description_findings(skill: Skill) -> list[Finding]:
    """Whether the description is there, is long enough, is not a placeholder, and says more than the name does."""
    description = skill.description.strip()
    words = _words(description)
    fresh = words - _words(skill.name) - _words(skill.id)
    count = len(_WORD.findall(description))
    honest = bool(description) and not _PLACEHOLDER.search(description)
    return [
        Finding("has-description", bool(description), "description is absent or blank"),
        Finding("long-enough", count >= MIN_WORDS, f"description has {count} words; give at least {MIN_WORDS}"),
        Finding("no-placeholder", honest, "description holds placeholder text, or nothing"),
        Finding("more-than-name", len(fresh) >= 3, "description repeats the name; say what goes in and what comes out"),
    ]


def _text(skill: Skill, key: str) -> str:
    value = skill.metadata.get(key)
    return value.strip() if isinstance(value, str) else ""


def _words(text: str) -> set[str]:
    return {word for part in _WORD.findall(text.casefold()) for word in part.split("_") if word}


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
        Finding(f"{side}-schema-typed", "type" in schema, f"{name} does not give a type"),
        Finding(f"{side}-schema-properties", has_parts, f"{name} does not list its properties"),
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
        return "is not a JSON Schema: its $schema is not text"
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import Draft202012Validator, validator_for

    try:
        validator_for(schema, default=Draft202012Validator).check_schema(schema)
    except SchemaError as error:
        return f"is not a JSON Schema: {error.message} at {error.json_path}"
    return ""
