"""The files of a skill that calls one operation."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval_skills.adapters.config import read_config
from eval_skills.adapters.http.address import address_of
from eval_skills.adapters.http.config import HttpConfig
from eval_skills.core.models import Skill
from eval_skills.scaffolding.draft import Draft
from eval_skills.scaffolding.names import SkillName, checked_skill
from eval_skills.scaffolding.openapi.body import Auth
from eval_skills.scaffolding.openapi.call import Call, entrypoint, input_schema, output_schema, request_template
from eval_skills.scaffolding.openapi.document import Document, mapping, sequence
from eval_skills.scaffolding.openapi.files import readme, starter_tasks
from eval_skills.scaffolding.openapi.operation import Operation
from eval_skills.scaffolding.openapi.text import plain

_SEMVER = re.compile(r"\d{1,9}\.\d{1,9}\.\d{1,9}", re.ASCII)
_MAX_TAGS = 10


@dataclass(frozen=True, slots=True)
class Target:
    """Where the service is, and what it wants to see."""

    base_url: str
    auth: Auth


def draft_of(call: Call, name: SkillName, target: Target, folder: Path) -> Draft:
    """The folder of the skill `name`: ``skill.json``, its tests and a README, each checked to be readable.

    Raises:
        InputError: the operation does not make a skill that could be called.
    """
    output = output_schema(call)
    skill = _skill(call, name, target, output)
    _refuse_unusable(skill)
    tasks = starter_tasks(call, output)
    files = {
        "skill.json": _json(skill),
        "tests/basic.eval.json": _json(_benchmark(name, tasks)),
        "README.md": readme(call, name, target.base_url, target.auth, folder / name.id),
    }
    return checked_skill(Draft(folder / name.id, files))


def name_of(document: Document, operation: Operation, prefix: SkillName | None, *, alone: bool) -> SkillName:
    """`prefix` itself for the one operation that is wanted, else its own name, after the prefix if there is one."""
    if prefix is not None and alone:
        return prefix
    own = plain(operation.node.get("summary"), 100) or operation.operation_id or operation.title
    own = plain(own, 100) or operation.skill_id
    if prefix is None:
        return SkillName(own, operation.skill_id)
    return SkillName(f"{prefix.name}: {own}", f"{prefix.id}-{operation.skill_id}")


def _skill(call: Call, name: SkillName, target: Target, output: dict[str, Any]) -> dict[str, Any]:
    template = request_template(call)
    return {
        "id": name.id,
        "name": name.name,
        "version": _version(call.document),
        "description": description_of(call),
        "tags": _tags(call.operation),
        "inputSchema": input_schema(call),
        "outputSchema": output,
        "adapterType": "http",
        "entrypoint": entrypoint(call),
        "adapterConfig": {
            "baseUrl": target.base_url,
            "method": call.operation.method.upper(),
            "requestTemplate": template,
            **target.auth.config,
        },
        "metadata": _metadata(call),
    }


def description_of(call: Call) -> str:
    """What the document says the operation does, and what it is."""
    node = call.operation.node
    said = plain(node.get("description")) or plain(node.get("summary"))
    title = plain(call.document.info.get("title"), 100)
    api = f"the API {title}" if title else "an API without a title"
    return (
        f"{said}{'' if not said or said.endswith(('.', '!', '?', '…')) else '.'} Calls {call.operation.title} of {api}.".strip()
    )


def _version(document: Document) -> str:
    given = document.info.get("version")
    return given if isinstance(given, str) and _SEMVER.fullmatch(given) else "1.0.0"


def _tags(operation: Operation) -> list[str]:
    given = [plain(tag, 40) for tag in sequence(operation.node.get("tags"))]
    return list(dict.fromkeys(["openapi", *filter(None, given)]))[:_MAX_TAGS]


def _metadata(call: Call) -> dict[str, Any]:
    info, contact, license_ = (
        call.document.info,
        mapping(call.document.info.get("contact")),
        mapping(call.document.info.get("license")),
    )
    operation = call.operation
    known = {
        "author": plain(contact.get("name"), 100) or plain(info.get("title"), 100),
        "license": plain(license_.get("identifier"), 100) or plain(license_.get("name"), 100),
        "homepage": plain(contact.get("url"), 300),
        "deprecated": operation.node.get("deprecated") is True,
        "openapi": {
            "document": call.document.source.name,
            "apiVersion": plain(info.get("version"), 100),
            "operationId": operation.operation_id,
            "method": operation.method.upper(),
            "path": operation.path,
        },
    }
    return {key: value for key, value in known.items() if value}


def _benchmark(name: SkillName, tasks: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": f"{name.id}-basic",
        "name": f"{name.name}: the basics",
        "version": "1.0.0",
        "domain": "tool-use",
        "scoringMethod": "mean",
        "maxLatencyMs": 5000,
        "tasks": tasks,
    }


def _refuse_unusable(data: dict[str, Any]) -> None:
    skill = Skill.model_validate(data)
    address_of(skill, read_config(HttpConfig, skill))


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False).encode("utf-8", "backslashreplace").decode() + "\n"
