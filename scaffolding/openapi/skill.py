"""The files of a skill that calls one operation: its skill.json, its README and its tests."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval_skills.adapters.config import read_config
from eval_skills.adapters.http.address import address_of
from eval_skills.adapters.http.config import HttpConfig
from eval_skills.core.models import Skill
from eval_skills.core.text import encodable
from eval_skills.reporting.escape import markdown
from eval_skills.scaffolding.draft import Draft, checked_skill
from eval_skills.scaffolding.names import SkillName
from eval_skills.scaffolding.openapi.call import Call, entrypoint, input_schema, output_schema, request_template
from eval_skills.scaffolding.openapi.document import Document, mapping, plain, sequence
from eval_skills.scaffolding.openapi.operation import Operation
from eval_skills.scaffolding.openapi.security import Auth
from eval_skills.scaffolding.openapi.starter import starter_tasks
from eval_skills.scaffolding.skill_templates import basic_benchmark, own_tests_command

_SEMVER = re.compile(r"\d{1,9}\.\d{1,9}\.\d{1,9}", re.ASCII)
_MAX_TAGS = 10
READS_ONLY = frozenset({"get"})


@dataclass(frozen=True, slots=True)
class Target:
    """The address of the service, how calls authenticate, and whether tests may expect the document's own answers there: not of
    a public service, which need not hold the data of any example."""

    base_url: str
    auth: Auth
    has_examples: bool = True


def draft_of(call: Call, name: SkillName, target: Target, folder: Path) -> Draft:
    """The folder of the skill `name`: ``skill.json``, its tests and a README, each checked to be readable.

    Raises:
        InputError: the operation does not make a skill that could be called.
    """
    inputs, output = input_schema(call), output_schema(call)
    skill = _skill(call, name, target, inputs, output)
    _refuse_unusable(skill)
    files = {
        "skill.json": _json(skill),
        "tests/basic.eval.json": _json(
            basic_benchmark(name.id, name.name, starter_tasks(call, inputs, output, has_examples=target.has_examples))
        ),
        "README.md": readme(call, name, target, folder / name.id),
    }
    return checked_skill(Draft(folder / name.id, files))


def name_of(operation: Operation, prefix: SkillName | None, *, alone: bool) -> SkillName:
    """`prefix` itself for the one operation that is wanted, else its own name, after the prefix if there is one."""
    if prefix is not None and alone:
        return prefix
    own = plain(operation.node.get("summary"), 100) or operation.operation_id or operation.title
    own = plain(own, 100) or operation.skill_id
    if prefix is None:
        return SkillName(own, operation.skill_id)
    return SkillName(f"{prefix.name}: {own}", f"{prefix.id}-{operation.skill_id}")


def _skill(call: Call, name: SkillName, target: Target, inputs: dict[str, Any], output: dict[str, Any]) -> dict[str, Any]:
    template = request_template(call)
    return {
        "id": name.id,
        "name": name.name,
        "version": _version(call.document),
        "description": description_of(call),
        "tags": _tags(call.operation),
        "inputSchema": inputs,
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


def _refuse_unusable(data: dict[str, Any]) -> None:
    skill = Skill.model_validate(data)
    address_of(skill, read_config(HttpConfig, skill))


def _json(value: Any) -> str:
    return encodable(_indented(value)) + "\n"


def _indented(value: Any, margin: str = "") -> str:
    """As ``json.dumps`` with an indent of 2, but each definition on a line of its own: most of a large schema would be margin."""
    if not isinstance(value, dict | list) or not value:
        return _on_a_line(value)
    inner = f"{margin}  "
    if isinstance(value, list):
        parts, (first, last) = [_indented(part, inner) for part in value], "[]"
    else:
        parts, (first, last) = [f"{_on_a_line(key)}: {_member(key, part, inner)}" for key, part in value.items()], "{}"
    return f"{first}\n{inner}" + f",\n{inner}".join(parts) + f"\n{margin}{last}"


def _member(key: str, value: Any, margin: str) -> str:
    if key != "$defs" or not isinstance(value, dict) or not value:
        return _indented(value, margin)
    lines = [f"{margin}  {_on_a_line(name)}: {_on_a_line(definition)}" for name, definition in value.items()]
    return "{\n" + ",\n".join(lines) + f"\n{margin}}}"


def _on_a_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def readme(call: Call, name: SkillName, target: Target, folder: Path) -> str:
    """Markdown in which everything that the document says is literal text."""
    return "\n".join(_lines(call, name, target, folder)) + "\n"


def _lines(call: Call, name: SkillName, target: Target, folder: Path) -> Iterator[str]:
    operation = call.operation
    yield f"# {markdown(name.name)}"
    if said := plain(operation.node.get("description")) or plain(operation.node.get("summary")):
        yield f"{markdown(said)}\n"
    yield f"{markdown(operation.title)} of {markdown(target.base_url)}, generated from {markdown(call.document.source.name)}."
    yield "`adapterConfig` in `skill.json` says how the input becomes a request. For another server, put its `baseUrl` in"
    yield "an `adapter.config.json` beside it, which wins."
    yield ""
    for variable, holds in target.auth.variables.items():
        yield f"Set the environment variable `{variable}` first; it holds {markdown(holds)}.\n"
    yield f"```bash\n{own_tests_command(folder)}\n```"
    if not target.has_examples:
        yield f"\nThe tests call {markdown(target.base_url)}, so they need an outside network, and they expect the form of an"
        yield "answer only. For the answers of the document, create the skill with `--base-url` and the address of a test server."
    if operation.method not in READS_ONLY:
        yield f"\n**{operation.method.upper()} changes data**, and every run of the tests really calls it: use a test server."
    if call.remarks:
        yield "\nNot taken over from the document:\n"
        yield from (f"- {markdown(remark)}" for remark in call.remarks)
