"""The tools of an MCP server as skills, with starter tests from the examples of each tool's schema."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eval_skills.core.documents.json_schema import BoundedSchema
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.models import Skill
from eval_skills.core.skills import SKILL_FILE
from eval_skills.core.text import one_line
from eval_skills.scaffolding.draft import Draft
from eval_skills.scaffolding.names import MAX_NAME, skill_name, unique_id
from eval_skills.scaffolding.network import outside_addresses
from eval_skills.scaffolding.openapi.document import Document, mapping, sequence
from eval_skills.scaffolding.openapi.example import sample
from eval_skills.scaffolding.skill_templates import MAX_TASKS, TESTS_FILE, TIMEOUT_MS, basic_benchmark

FIRST_VERSION = "1.0.0"
_SEMVER = re.compile(r"\d+\.\d+\.\d+")
_ID = re.compile(r"[a-z0-9_-]+")

LONGEST_NAME = 128
"""Characters of a tool's name, by MCP. The skill of a tool with a longer name has an id of the first `_SHORT` of them: the id
names a folder."""
_SHORT = 60


@dataclass(frozen=True, slots=True)
class ToolDescription:
    """A tool as its server describes it; `open_world` is whether it deals with things outside, None where that is not said, and
    `may_destroy` whether the server's hints say that a call may destroy something."""

    name: str
    title: str = ""
    description: str = ""
    input_schema: Mapping[str, Any] = field(default_factory=dict)
    output_schema: Mapping[str, Any] = field(default_factory=dict)
    open_world: bool | None = None
    may_destroy: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolServer:
    """The server as a skill.json names it: the command or URL, the `adapterConfig` that reaches it, what it calls itself."""

    entrypoint: str
    adapter_config: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    version: str = ""


def tool_skills(tools: Sequence[ToolDescription], server: ToolServer) -> list[Skill]:
    """A skill for each tool, in order. A tool whose name is not an id gets one from its letters; equal ids are numbered.

    The version is the server's where it is ``X.Y.Z``, else `FIRST_VERSION`.
    """
    taken: set[str] = set()
    return [_skill(tool, unique_id(_id_of(tool.name), taken), server) for tool in tools]


def draft_tool_skills(skills: Sequence[Skill], folder: Path) -> list[Draft]:
    """Each skill as a folder of its id in `folder`: its ``skill.json``, and tests where its schema gives examples."""
    return [Draft(folder / skill.id, {SKILL_FILE: _text(skill)} | _tests(skill)) for skill in skills]


def _tests(skill: Skill) -> dict[str, str]:
    benchmark = starter_benchmark(skill)
    return {TESTS_FILE: json.dumps(benchmark, indent=2, ensure_ascii=False) + "\n"} if benchmark is not None else {}


def _skill(tool: ToolDescription, skill_id: str, server: ToolServer) -> Skill:
    own = {"tool": tool.name} if tool.name != skill_id else {}
    return Skill(
        id=skill_id,
        name=tool.title.strip() or tool.name.strip() or skill_id,
        version=server.version if _SEMVER.fullmatch(server.version) else FIRST_VERSION,
        description=tool.description.strip(),
        tags=["mcp"],
        input_schema=dict(tool.input_schema),
        output_schema=dict(tool.output_schema),
        adapter_type="mcp",
        entrypoint=server.entrypoint,
        adapter_config={**own, **server.adapter_config},
        metadata=({"mcpServer": server.name} if server.name else {}) | _hints(tool),
    )


OPEN_WORLD, MAY_DESTROY = "openWorld", "mayDestroy"
"""In the metadata of the skill: whether a tool deals with things outside, and whether it may destroy some, as its server says."""


def _hints(tool: ToolDescription) -> dict[str, Any]:
    world = {} if tool.open_world is None else {OPEN_WORLD: tool.open_world}
    return world | ({MAY_DESTROY: True} if tool.may_destroy else {})


def _id_of(name: str) -> str:
    short = name if len(name) <= LONGEST_NAME else name[:_SHORT]
    if _ID.fullmatch(short):
        return short
    try:
        return skill_name(re.sub(r"[^\w-]+", "-", short[:MAX_NAME]).strip("-") or "tool").id[:_SHORT]
    except UsageError:  # a name in another script
        return "tool"


def shortened_names(skills: Sequence[Skill]) -> list[str]:
    """A remark on each skill whose id is the beginning of a name that is too long for one."""
    names = ((skill, str(skill.adapter_config.get("tool", skill.id))) for skill in skills)
    return [
        f"the name of the tool {one_line(name, 40)} has {len(name)} characters, so its skill is called {skill.id}"
        for skill, name in names
        if len(name) > LONGEST_NAME
    ]


def _text(skill: Skill) -> str:
    held = {key: value for key, value in skill.to_json().items() if value not in ({}, [], "")}
    return json.dumps(held, indent=2, ensure_ascii=False) + "\n"


def starter_benchmark(skill: Skill) -> dict[str, Any] | None:
    """A task for each example of the input, or one where every required part has an example, a default or a choice; where none
    is required, one with all defaults.

    Any answer that is not an error passes, and with an output schema it must fit. None where the schema gives too little: an
    invented value would only test that the tool refuses it. None either where only an outside network could give an answer, or
    where a call may destroy something.
    """
    if not (inputs := _Given.of_skill(skill).inputs):
        return None
    tasks = [_task(f"example-{number}", _shortened(given), skill) for number, given in enumerate(inputs[:MAX_TASKS], 1)]
    return basic_benchmark(skill.id, skill.name, tasks)


_DURATION = re.compile(r"(duration|delay|sleep|wait)s?(_?(s|sec|secs|seconds|ms|millis|milliseconds))?", re.IGNORECASE)
_LONGEST_S = TIMEOUT_MS / 1000 / 5


def _shortened(given: dict[str, Any]) -> dict[str, Any]:
    """The input with how long the tool shall work well below the time limit of the task: a default of 10 s would never pass."""
    return {name: _at_most(name, value) if _DURATION.fullmatch(name) else value for name, value in given.items()}


def _at_most(name: str, value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    longest = int(_LONGEST_S * (1000 if re.search(r"(ms|millis|milliseconds)$", name, re.IGNORECASE) else 1))
    return min(value, longest)


def why_no_starter(skill: Skill) -> str:
    """What keeps the tool from a test, such as a lack of its schema; "" where there is one."""
    return _Given.of_skill(skill).lack


@dataclass(frozen=True, slots=True)
class _Given:
    """The inputs that a schema gives, or what it lacks for one."""

    inputs: list[dict[str, Any]]
    lack: str = ""

    @classmethod
    def of_skill(cls, skill: Skill) -> _Given:
        """The inputs with which a test can pass without an outside network or harm, as far as the tool's description tells."""
        if skill.metadata.get(MAY_DESTROY) is True:
            hints = "by its server's hints, a call may destroy something (destructiveHint, readOnlyHint)"
            return cls([], f"{hints}; write a test against a server whose data you can lose")
        given = cls.of(skill.input_schema)._usable(skill)
        advice = "write a test against a server of your own"
        if not given.inputs or skill.metadata.get(OPEN_WORLD) is False:
            return given
        if skill.metadata.get(OPEN_WORLD) is True:
            return cls([], f"its server says that it deals with things outside (openWorldHint); {advice}")
        inside = [each for each in given.inputs if not outside_addresses(each)]
        if inside:
            return cls(inside)
        [*_, address] = outside_addresses(given.inputs)
        return cls([], f"it would need an outside network, to reach {one_line(address, 80)}; {advice}")

    def _usable(self, skill: Skill) -> _Given:
        """Those of the inputs that a file can hold and the schema allows; none where no answer could be right."""
        if not self.inputs:
            return self
        try:
            BoundedSchema(skill.output_schema, formats=False)
        except InputError as error:
            return _Given([], f"its output schema cannot be used, so every answer is an error: {error}")
        problems = [_unfit(each, skill.input_schema) for each in self.inputs]
        kept = [each for each, problem in zip(self.inputs, problems, strict=True) if not problem]
        return _Given(kept) if kept else _Given([], f"what its schema gives breaks the schema: {problems[0]}")

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


_CHECK_S = 1.0


def _unfit(value: dict[str, Any], schema: dict[str, Any]) -> str:
    """Why a value cannot be the input of a tool with this schema; "" where it can, or where that cannot be found out."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return "NaN and Infinity are not JSON"
    try:
        reason = BoundedSchema(schema, formats=False).reason(value, _CHECK_S)
    except (InputError, TimeoutError):  # the tool itself decides
        return ""
    return "" if reason is None else reason.message


def _is_missing(document: Document, schema: dict[str, Any], name: Any) -> bool:
    return sample(document, mapping(schema["properties"]).get(name, {}), "inputSchema").made_up


def _defaults(document: Document, schema: dict[str, Any]) -> dict[str, Any]:
    parts = {name: document.object_at(part, "inputSchema") | part for name, part in mapping(schema["properties"]).items()}
    return {name: part["default"] for name, part in parts.items() if "default" in part}


def _task(task_id: str, given: dict[str, Any], skill: Skill) -> dict[str, Any]:
    fits = " and fits the output schema" if skill.output_schema else ""
    return {
        "id": task_id,
        "description": f"{skill.name} with what its schema gives; any answer passes that is not an error{fits}",
        "inputData": given,
        "expectedOutput": {"type": "json_schema", "schema": skill.output_schema or True},
        "evaluator": {"type": "json_schema"},
        "timeoutMs": TIMEOUT_MS,
        "tags": ["mcp"],
        "complexity": "simple",
    }
