"""Tasks from the schemas of a skill: its input's edges, and what its output must look like."""

from __future__ import annotations

from pathlib import Path

from eval_skills.core.errors import InputError
from eval_skills.core.models import Skill
from eval_skills.core.text import plural
from eval_skills.engine.task_making.drafts import Made, TaskDraft, answer_schema, draft_of
from eval_skills.engine.task_making.schema_values import SCHEMA, InputSchema, Variant, inputs_of

MUST_REFUSE = "the schema forbids this input: say what the skill must answer, or delete the task"
"""No evaluator can say that a skill must end in an error: an item that does has no answer to be judged."""

NO_RIGHT_ANSWER = "say what the right answer is"


def input_schema(skill: Skill) -> InputSchema:
    """The schema of the skill's input.

    Raises:
        InputError: it has none, or no input can be made from it.
    """
    source = (skill.folder or Path(skill.id)) / "skill.json"
    if not skill.input_schema:
        message = "the skill says nothing of its input; write an inputSchema, or take tasks --from store"
        raise InputError(message, source=source, path=SCHEMA)
    return InputSchema(skill.input_schema, source)


def made_from_schema(skill: Skill, count: int, seed: int) -> Made:
    """At most `count` tasks, the same for the same seed.

    A valid input is expected to get an answer that the output schema allows, where there is one. Of an invalid one nothing is
    expected.

    Raises:
        InputError: as `input_schema`.
    """
    variants = inputs_of(input_schema(skill), count, seed)
    drafts = [_draft(skill, each, seed) for each in variants]
    few = f"the input schema gives no more than {plural(len(drafts), 'input')}" if len(drafts) < count else ""
    refused = sum(not each.may_be_asked for each in drafts)
    why = "no evaluator can say that a skill must end in an error, so nothing is expected yet"
    invalid = f"{plural(refused, 'input')} {'is' if refused == 1 else 'are'} invalid: {why}"
    return Made(drafts, [remark for remark in (few, invalid if refused else "") if remark])


def _draft(skill: Skill, variant: Variant, seed: int) -> TaskDraft:
    what, schema = variant.what[:1].upper() + variant.what[1:], answer_schema(skill)
    if not variant.is_valid:
        draft = draft_of("schema", variant.value, f"{what}: invalid", ["invalid"], None, MUST_REFUSE, seed=seed)
        return TaskDraft(draft.name, draft.data, draft.lacks, may_be_asked=False)
    if schema is None:
        return draft_of("schema", variant.value, what, [variant.sort], None, NO_RIGHT_ANSWER, seed=seed)
    expects = {"expectedOutput": {"type": "json_schema", "schema": schema}}
    return draft_of("schema", variant.value, what, [variant.sort], expects, seed=seed)
