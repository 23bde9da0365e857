"""The README of a skill that calls an operation.

Starter tasks of a generated skill: what the document's examples ask and answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval_skills.reporting.escape import markdown
from eval_skills.scaffolding.names import SkillName
from eval_skills.scaffolding.openapi.body import Auth
from eval_skills.scaffolding.openapi.call import Call, answer_examples
from eval_skills.scaffolding.openapi.example import Example, examples_of, sample
from eval_skills.scaffolding.openapi.operation import unique
from eval_skills.scaffolding.openapi.parameter import BODY_KEY
from eval_skills.scaffolding.openapi.text import plain
from eval_skills.scaffolding.skill_templates import own_tests_command

_READS_ONLY = frozenset({"get"})


def readme(call: Call, name: SkillName, base_url: str, auth: Auth, folder: Path) -> str:
    """Markdown in which everything that the document says is literal text."""
    return "\n".join(_lines(call, name, base_url, auth, folder)) + "\n"


def _lines(call: Call, name: SkillName, base_url: str, auth: Auth, folder: Path) -> Iterator[str]:
    operation = call.operation
    yield f"# {markdown(name.name)}"
    if said := plain(operation.node.get("description")) or plain(operation.node.get("summary")):
        yield f"{markdown(said)}\n"
    yield f"{markdown(operation.title)} of {markdown(base_url)}, generated from {markdown(call.document.source.name)}."
    yield "`adapterConfig` in `skill.json` says how the input becomes a request. For another server write its `baseUrl` into"
    yield "an `adapter.config.json` beside it, which wins."
    yield ""
    if auth.variable is not None:
        yield f"Set the environment variable `{auth.variable}` first; it holds {markdown(auth.holds)}.\n"
    yield f"```bash\n{own_tests_command(folder)}\n```"
    if operation.method not in _READS_ONLY:
        yield f"\n**{operation.method.upper()} changes data**, and every run of the tests really calls it: use a test server."
    if call.remarks:
        yield "\nNot taken over from the document:\n"
        yield from (f"- {markdown(remark)}" for remark in call.remarks)


MAX_TASKS = 10
TIMEOUT_MS = 10_000


@dataclass(frozen=True, slots=True)
class Source:
    """A part of the input: its examples by their names, and the value where none of them is meant."""

    key: str
    examples: dict[str, Any]
    fallback: Example | None

    def value(self, name: str) -> Example | None:
        """The example called `name`, else the first, else the fallback; None: the part is left out."""
        if self.examples:
            return Example(self.examples.get(name, next(iter(self.examples.values()))))
        return self.fallback


def starter_tasks(call: Call, output_schema: dict[str, Any]) -> list[dict[str, Any]]:
    """At most `MAX_TASKS` tasks, at least one.

    Examples of one name, in the request and in the answer, belong together; without such names the first of each do. Where
    the answer has an example, it is expected exactly. Where it has none, or a part of the input had to be made up, the
    answer has to fit its schema.
    """
    sources = _sources(call)
    answers = answer_examples(call)
    shared = [name for name in answers if name and any(name in source.examples for source in sources)]
    if shared:
        taken: set[str] = set()
        ids = [unique(_slug(name), taken) for name in shared[:MAX_TASKS]]
        named = zip(ids, shared, strict=False)
        return [_task(call, task_id, name, sources, Example(answers[name]), output_schema) for task_id, name in named]
    first = Example(next(iter(answers.values()))) if answers else None
    return [_task(call, "example", "", sources, first, output_schema)]


def _sources(call: Call) -> list[Source]:
    sources = [
        Source(each.key, _examples(call, each.node, each.name), _fallback(call, each.schema, each.name, each.required))
        for each in call.parameters
    ]
    if call.body is not None:
        examples = _examples(call, call.body.node, "requestBody")
        sources.append(Source(BODY_KEY, examples, _fallback(call, call.body.schema, "requestBody", call.body.required)))
    return sources


def _examples(call: Call, node: dict[str, Any], name: str) -> dict[str, Any]:
    return examples_of(call.document, node, f"{call.where}.{name}")


def _fallback(call: Call, schema: Any, name: str, required: bool) -> Example | None:
    """A value for what has no example; an optional part is sent only with a default, which changes nothing."""
    if required:
        return sample(call.document, schema, f"{call.where}.{name}")
    node = call.document.object_at(schema, call.where) if isinstance(schema, dict) else {}
    return Example(node["default"]) if "default" in node else None


def _task(
    call: Call, task_id: str, name: str, sources: list[Source], answer: Example | None, output_schema: dict[str, Any]
) -> dict[str, Any]:
    parts = {source.key: value for source in sources if (value := source.value(name)) is not None}
    made_up = [key for key, value in parts.items() if value.made_up]
    expected: dict[str, Any] = {"type": "json_schema", "schema": output_schema or True}
    if answer is not None and not made_up:
        expected = {"type": "exact_match", "value": answer.value}
    return {
        "id": task_id,
        "description": _description(call, made_up),
        "inputData": {key: value.value for key, value in parts.items()},
        "expectedOutput": expected,
        "evaluator": {"type": expected["type"]},
        "timeoutMs": TIMEOUT_MS,
        "tags": ["openapi"],
        "complexity": "simple",
    }


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9_]+", "-", name.lower())[:60].strip("-") or "example"


def _description(call: Call, made_up: list[str]) -> str:
    if not made_up:
        return f"{call.operation.title} with the document's example"
    return f"{call.operation.title}; made up, as the document has no example, and to be replaced: {', '.join(made_up)}"
