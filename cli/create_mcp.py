"""``eval-skills create --from-mcp``: a skill for each tool of a server."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval_skills.cli.session import current, printable

if TYPE_CHECKING:
    from eval_skills.scaffolding.draft import Draft


def create_from_mcp(
    server: str,
    folder: Path,
    *,
    name: str | None,
    pass_env: Sequence[str] | None,
    force: bool,
    auth_token_env: str | None = None,
) -> int:
    """Write a ``skill.json`` for each tool of `server` into `folder`, or for the one tool `name`."""
    from eval_skills.cli.mcp_offer import offered_skills
    from eval_skills.core.errors import UsageError, nearest
    from eval_skills.scaffolding.draft import write_drafts
    from eval_skills.scaffolding.mcp_starter import why_no_starter
    from eval_skills.scaffolding.mcp_tools import draft_tool_skills

    skills = offered_skills("--from-mcp", server, pass_env, auth_token_env)
    chosen = [skill for skill in skills if name in {None, skill.id, skill.adapter_config.get("tool")}]
    if not chosen:
        ids = [skill.id for skill in skills]
        raise UsageError(f"--name {name!r} is no tool of the server{nearest(str(name), ids)}; it offers {', '.join(ids)}")
    drafts = draft_tool_skills(chosen, folder)
    write_drafts(drafts, force=force)
    _show_mcp(drafts, [why_no_starter(skill) for skill in chosen])
    return 0


def _show_mcp(drafts: Sequence[Draft], lacks: Sequence[str]) -> None:
    from eval_skills.cli.tables import print_json
    from eval_skills.scaffolding.skill_templates import TESTS_FILE, own_tests_command, shown_path

    if current().json:
        print_json({"skills": [_mcp_entry(draft, lack) for draft, lack in zip(drafts, lacks, strict=True)]})
        return
    for draft, lack in zip(drafts, lacks, strict=True):
        without = f"  (without tests: {lack})" if lack else ""
        current().say(printable(f"created {draft.folder.name}  {shown_path(draft.folder)}{without}"))
    if tested := next((draft for draft in drafts if TESTS_FILE in draft.files), None):
        current().say(printable(f"test it  {own_tests_command(tested.folder)}"))


def _mcp_entry(draft: Draft, lack: str) -> dict[str, Any]:
    files = [str(path) for path in draft.paths()]
    return {"id": draft.folder.name, "folder": str(draft.folder), "files": files, "whyNoTests": lack or None}
