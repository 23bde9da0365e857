"""The README of a skill that calls an operation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from eval_skills.reporting.escape import markdown
from eval_skills.scaffolding.openapi.call import Call
from eval_skills.scaffolding.openapi.security import Auth
from eval_skills.scaffolding.openapi.text import plain
from eval_skills.scaffolding.skill_name import SkillName
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
