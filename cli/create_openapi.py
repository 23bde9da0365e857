"""``eval-skills create --from-openapi``: a skill for each operation of a document."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval_skills.cli.session import current

if TYPE_CHECKING:
    from eval_skills.scaffolding.draft import Draft
    from eval_skills.scaffolding.openapi import Imported


def create_from_openapi(
    document: Path, folder: Path, *, name: str | None, operation: str | None, base_url: str | None, force: bool
) -> int:
    """Write the skills of `document` into `folder`, and say what they need and what was left out."""
    from eval_skills.scaffolding.draft import write_drafts
    from eval_skills.scaffolding.openapi import import_openapi
    from eval_skills.scaffolding.skill_name import skill_name

    named = skill_name(name) if name is not None else None
    imported = import_openapi(document, folder, operation=operation, name=named, base_url=base_url)
    write_drafts(imported.drafts, force=force)
    _show_openapi(imported)
    return 0


def _show_openapi(imported: Imported) -> None:
    from eval_skills.cli.session import printable
    from eval_skills.cli.tables import print_json
    from eval_skills.scaffolding.skill_templates import own_tests_command, shown_path

    for remark in imported.remarks:
        current().remark(printable(remark))
    if current().json:
        skills = [_openapi_entry(draft) for draft in imported.drafts]
        print_json({"skills": skills, "variables": imported.variables, "remarks": imported.remarks})
        return
    for draft in imported.drafts:
        current().say(f"created {draft.folder.name}  {shown_path(draft.folder)}")
    if imported.variables:
        current().say(f"set first  {', '.join(imported.variables)}")
    current().say(f"test it    {own_tests_command(imported.drafts[0].folder)}")


def _openapi_entry(draft: Draft) -> dict[str, Any]:
    from eval_skills.scaffolding.skill_templates import own_tests_command

    files = [str(path) for path in draft.paths()]
    return {"id": draft.folder.name, "folder": str(draft.folder), "files": files, "next": own_tests_command(draft.folder)}
