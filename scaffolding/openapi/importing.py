"""From a document to the skills that call it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from eval_skills.core.errors import InputError
from eval_skills.scaffolding.draft import Draft
from eval_skills.scaffolding.openapi.call import call_of
from eval_skills.scaffolding.openapi.document import Document, read_openapi
from eval_skills.scaffolding.openapi.operation import Operation, chosen, operations_of
from eval_skills.scaffolding.openapi.security import auth_of
from eval_skills.scaffolding.openapi.server import base_url_of
from eval_skills.scaffolding.openapi.skill import Target, draft_of, name_of
from eval_skills.scaffolding.skill_name import SkillName


@dataclass(frozen=True, slots=True)
class Imported:
    """Skills to be written, the environment variables they read, and remarks about what was left out."""

    drafts: list[Draft]
    variables: list[str]
    remarks: list[str]


def import_openapi(
    path: Path, folder: Path, *, operation: str | None = None, name: SkillName | None = None, base_url: str | None = None
) -> Imported:
    """A skill in `folder` for every operation of the document, or for the one called `operation`.

    `name` is the name of a single skill, and goes before the names of several. What no skill can call is left out with a remark.

    Raises:
        InputError: the document cannot be used, the operation that was wanted cannot be called, or none can.
        UsageError: there is no such operation, or no address of the service.
    """
    document = read_openapi(path)
    operations, remarks = operations_of(document)
    wanted = operations if operation is None else [chosen(operations, operation)]
    alone = len(wanted) == 1
    drafts: list[Draft] = []
    variables: dict[str, None] = {}
    for each in wanted:
        target = Target(base_url_of(document, each, base_url), auth_of(document, each)[0])
        try:
            draft, said = _draft(document, each, name_of(document, each, name, alone=alone), target, folder)
        except InputError as error:
            if alone:
                raise
            remarks.append(f"left out {each.title}: {error.message}")
            continue
        drafts.append(draft)
        remarks += [f"{each.title}: {remark}" for remark in said]
        variables |= {target.auth.variable: None} if target.auth.variable is not None else {}
    if not drafts:
        raise document.error(f"no operation can become a skill: {'; '.join(remarks) or 'there is none'}", "paths")
    return Imported(drafts, list(variables), remarks if operation is None else [each for each in remarks if _about(each, wanted)])


def _draft(document: Document, operation: Operation, name: SkillName, target: Target, folder: Path) -> tuple[Draft, list[str]]:
    call = call_of(document, operation)
    call.remarks.extend(auth_of(document, operation)[1])
    draft = draft_of(call, name, target, folder)
    return draft, call.remarks


def _about(remark: str, wanted: list[Operation]) -> bool:
    return any(remark.startswith(f"{each.title}:") for each in wanted)
