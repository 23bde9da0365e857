"""Answers of a reference skill, as what drafts expect."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from eval_skills.adapters import Adapter, Confinement, check_skill, open_adapter
from eval_skills.core.errors import ItemError
from eval_skills.core.models import Skill
from eval_skills.core.redaction import Redaction
from eval_skills.core.text import one_line, plural
from eval_skills.engine.task_making.drafts import TaskDraft
from eval_skills.engine.task_making.from_schema import NO_RIGHT_ANSWER


async def with_reference_answers(
    drafts: Sequence[TaskDraft],
    skill: Skill,
    *,
    timeout_s: float,
    confinement: Confinement,
    redaction: Redaction,
    concurrency: int,
) -> tuple[list[TaskDraft], list[str]]:
    """The drafts with the answers of `skill` as expected ones; and a remark on those that it did not answer.

    Tasks with an expectation from a benchmark keep that, conversations too; inputs that must be refused are not asked.

    Raises:
        InputError: the skill cannot be called at all.
    """
    check_skill(skill, "call", confinement)
    places, failures = asyncio.Semaphore(concurrency), Counter[str]()
    async with open_adapter(skill, "call", confinement) as adapter:

        async def answered(draft: TaskDraft) -> TaskDraft:
            if not _is_asked(draft):
                return draft
            async with places:
                try:
                    return _expecting(draft, await _answer(adapter, draft, timeout_s), skill, redaction)
                except ItemError as error:
                    why = one_line(redaction.text(str(error)), 120)
                    failures[why] += 1
                    return _unanswered(draft, f"{skill.key} did not answer it: {why}")

        done = list(await asyncio.gather(*map(answered, drafts)))
    first = failures.most_common(1)
    missing = f"{skill.key} did not answer {plural(failures.total(), 'input')}, such as: {first[0][0]}" if first else ""
    return done, [missing] if missing else []


def _is_asked(draft: TaskDraft) -> bool:
    is_known = draft.name == "store" and not draft.lacks
    return draft.may_be_asked and "inputData" in draft.data and not is_known


async def _answer(adapter: Adapter, draft: TaskDraft, timeout_s: float) -> Any:
    return (await adapter.call(draft.data["inputData"], timeout_s)).output


def _expecting(draft: TaskDraft, answer: Any, skill: Skill, redaction: Redaction) -> TaskDraft:
    metadata: Mapping[str, Any] = draft.data["metadata"]
    made = {name: fact for name, fact in metadata["generated"].items() if name != "needs" or fact != NO_RIGHT_ANSWER}
    data = {
        **draft.data,
        "expectedOutput": {"type": "exact_match", "value": redaction.data(answer)},
        "metadata": {**metadata, "generated": {**made, "reference": skill.key}},
    }
    return TaskDraft(draft.name, data)


def _unanswered(draft: TaskDraft, why: str) -> TaskDraft:
    """The draft with a word for the reviewer: perhaps no skill should answer this."""
    metadata = draft.data["metadata"]
    return replace(draft, data={**draft.data, "metadata": {**metadata, "generated": {**metadata["generated"], "needs": why}}})
