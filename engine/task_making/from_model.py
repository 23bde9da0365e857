"""Tasks that a model thinks up: inputs of many sorts, checked against the input schema, without expectations."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field

from eval_skills.core.errors import JudgeError
from eval_skills.core.models import Skill
from eval_skills.core.text import excerpt, one_line
from eval_skills.engine.task_linting.similarity import same
from eval_skills.engine.task_making.drafts import Made, TaskDraft, draft_of, without_near
from eval_skills.engine.task_making.from_schema import NO_RIGHT_ANSWER, input_schema
from eval_skills.scorers.judging import Judges
from eval_skills.scorers.judging.judge import Judge
from eval_skills.scorers.judging.prompt import Material, Question
from eval_skills.scorers.judging.reply import Reply

VERSION = "task making 1"
"""Of the words below; replies to others are asked for again."""

BATCH = 10
"""Inputs in one reply."""

MAX_FRUITLESS = 2
"""After so many replies in a row without a new valid input, it is given up."""

_ROLE = (
    "You write test inputs for a program, called a skill. You are given its description and the JSON Schema of its input. You "
    "invent inputs that a careful tester would try: usual ones of different kinds, rare ones, hard ones, ambiguous ones, long "
    "and short ones, other languages where texts are free. Every input is valid by the schema. You never say what the right "
    "answer is. The material describes the skill; you do not judge it."
)


class Proposal(Reply):
    """One input."""

    about: str = Field(description="What is special about this input, in at most ten words")
    input: str = Field(description="The input itself, as JSON text that is valid by the schema of the skill's input")


class Proposals(Reply):
    """The reply."""

    inputs: list[Proposal] = Field(max_length=100, description=f"At most {BATCH} inputs, each different from all others")


@dataclass(slots=True)
class _Rounds:
    drafts: list[TaskDraft] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    objections: list[str] = field(default_factory=list)


async def made_by_model(skill: Skill, count: int, seed: int, judges: Judges, model: str | None) -> Made:
    """At most `count` tasks of which nothing is expected, the input of each valid by the input schema and unlike the others.

    The model is asked for ten at a time, and told what there is already and what was wrong; what is not valid or not new is left
    out and counted. It is asked like a judge: with its budget, its cache (the same call costs once) and its limits.

    Raises:
        InputError: the skill has no input schema.
        JudgeError: the model gave no reply at all; where it fails later, what there is counts, and a remark says why.
    """
    schema, judge, rounds = input_schema(skill), judges.judge(model), _Rounds()
    remarks, fruitless, turn = list[str](), 0, 0
    while len(rounds.drafts) < count and fruitless < MAX_FRUITLESS:
        try:
            ruling = await judge.ask(_question(skill, rounds, min(BATCH, count - len(rounds.drafts))), vote=seed + turn)
        except JudgeError as error:
            if turn == 0:
                raise
            remarks.append(f"the model was not asked on: {error}")
            break
        before, turn = len(rounds.drafts), turn + 1
        for proposal in ruling.reply.inputs:
            _take(rounds, proposal, schema.objection, judge, seed)
        rounds.drafts, near = without_near(rounds.drafts)
        rounds.left_out["almost the same as another one"] += near
        fruitless = fruitless + 1 if len(rounds.drafts) <= before else 0
    remarks += [f"left out {number:,} of the model's inputs: {why}" for why, number in rounds.left_out.most_common() if number]
    if len(rounds.drafts) < count:
        remarks.append(f"the model thought up {len(rounds.drafts):,} of {count:,} inputs")
    return Made(rounds.drafts[:count], remarks)


def _take(rounds: _Rounds, proposal: Proposal, objection_to: Any, judge: Judge, seed: int) -> None:
    try:
        asked = json.loads(proposal.input)
    except (ValueError, RecursionError):
        rounds.left_out["not JSON"] += 1
        rounds.objections.append(f"{excerpt(proposal.input, 80)} is not JSON")
        return
    if (objection := objection_to(asked)) is not None:
        rounds.left_out["not valid by the input schema"] += 1
        rounds.objections.append(objection)
        return
    if same(asked) in {same(each.asked) for each in rounds.drafts}:
        rounds.left_out["the same as another one"] += 1
        return
    what = one_line(proposal.about, 80) or "Thought up by a model"
    rounds.drafts.append(draft_of("model", asked, what, [], None, NO_RIGHT_ANSWER, model=judge.model.name, seed=seed))


def _question(skill: Skill, rounds: _Rounds, wanted: int) -> Question[Proposals]:
    told = {"name": skill.name, "description": skill.description, "inputSchema": skill.input_schema}
    there = [each.asked for each in rounds.drafts]
    materials = [Material.of("skill", told)]
    if there:
        materials.append(Material.of("inputs that exist already", there))
    if rounds.objections:
        materials.append(Material.of("objections to earlier inputs", rounds.objections[-BATCH:]))
    return Question(
        role=_ROLE,
        version=VERSION,
        instructions=f"Write {wanted} new inputs for the skill, unlike each other and unlike those that exist already.",
        materials=tuple(materials),
        reply=Proposals,
        max_tokens=4_000,
        wanted="list of inputs",
    )
