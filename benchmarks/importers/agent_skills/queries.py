"""``eval_queries.json`` of an Agent Skill: queries that should load the skill, and such that should not."""

from __future__ import annotations

from pathlib import Path

from eval_skills.agent_skills.queries_file import Query
from eval_skills.benchmarks.importers.rows import Row, Task
from eval_skills.benchmarks.importers.source import Source
from eval_skills.core.documents.loading import validate

SHOULD, SHOULD_NOT = "should-trigger", "should-not-trigger"
"""The tags of the two kinds of queries."""


def is_queries(source: Source) -> bool:
    """Whether the entries are queries of an Agent Skill."""
    return {"query", "should_trigger"} <= source.keys


def queries_entries(source: Source) -> list[Row]:
    """The queries; the benchmark is called as the skill is, with ``-triggers``."""
    rows = source.entries()
    skill = _skill_of(source)
    asked = [bool(row.data.get("should_trigger")) for row in rows]
    source.name = f"{skill}-triggers"
    source.say(f"tasks are judged by whether the agent loads the skill {skill!r} (skill_loaded), as its folder is called")
    for wanted, words in ((True, "should load the skill"), (False, "should not load it")):
        if asked and wanted not in asked:
            source.say(f"no query {words}: the tasks cannot tell a good description from one that always says the same")
    return rows


def queries_task(row: Row, source: Source) -> Task:
    """A query: the agent is asked it, and should load the skill or not. The answer does not count.

    Raises:
        InputError: it is malformed.
    """
    found = validate(Query, dict(row.data), source=row.place)
    return {
        "inputData": {"prompt": found.query},
        "evaluator": {"type": "skill_loaded", "skill": _skill_of(source), "loaded": found.should_trigger},
        "tags": [SHOULD if found.should_trigger else SHOULD_NOT],
    }


def _skill_of(source: Source) -> str:
    """The name of the skill's folder: the nearest one above the file with a ``SKILL.md``, else that of ``evals/`` or the file."""
    folder = source.folder.resolve()
    above = [folder, *folder.parents][:3]
    found = next((each for each in above if (each / "SKILL.md").is_file()), None)
    if found is None:
        found = folder.parent if folder.name == "evals" else folder
    return found.name or Path(source.name).name or "skill"
