"""An Agent Skill to start from: a folder with ``SKILL.md``, a script, a reference, and evals with their files."""

from __future__ import annotations

import json
import re
from pathlib import Path

from eval_skills.agent_skills.evals_file import EVALS_FILE, EvalsFile
from eval_skills.agent_skills.queries_file import QUERIES_FILE, Query
from eval_skills.core.documents.loading import validate
from eval_skills.core.errors import UsageError
from eval_skills.scaffolding.draft import Draft
from eval_skills.scaffolding.names import SkillName
from eval_skills.scaffolding.skill_templates import rendered

TEMPLATE = "agent_skill"

DESCRIPTION = (
    "Adds up a column of a CSV file by the values of another one and writes the totals as a table. Use when somebody asks for "
    "totals, subtotals or sums per group from a CSV file."
)
"""What an Agent Skill that was just created does."""

MAX_NAME, MAX_DESCRIPTION = 64, 1024
"""The standard's limits, in characters."""


def draft_agent_skill(name: SkillName, parent: Path, *, description: str = DESCRIPTION) -> Draft:
    """The Agent Skill `name` as a folder of its id in `parent`; the id's ``_`` are ``-``, as the standard has it.

    Raises:
        UsageError: its name or the description is too long for the standard.
    """
    own = re.sub(r"-{2,}", "-", name.id.replace("_", "-")).strip("-")
    if len(own) > MAX_NAME:
        raise UsageError(f"--name: {own} has {len(own)} characters; an Agent Skill's name has at most {MAX_NAME}")
    if len(description) > MAX_DESCRIPTION:
        raise UsageError(
            f"--description has {len(description):,} characters; that of an Agent Skill has at most {MAX_DESCRIPTION:,}"
        )
    files = rendered(TEMPLATE, {"name": name.name, "id": own, "description": description})
    validate(EvalsFile, json.loads(files[EVALS_FILE]), source=EVALS_FILE)
    for query in json.loads(files[QUERIES_FILE]):
        validate(Query, query, source=QUERIES_FILE)
    return Draft(parent / own, files)
