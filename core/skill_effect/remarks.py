"""What is to be said about an effect: errors of the set-up, with which no difference may be believed, and remarks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from eval_skills.core.models import SkillCompletionReport, TaskResult
from eval_skills.core.models.report import commonest_error, is_missing
from eval_skills.core.models.result import ANSWER_CUT
from eval_skills.core.skill_effect.figures import is_unanswered
from eval_skills.core.skill_effect.model import Arm, ArmFigures
from eval_skills.core.text import first_of, plural

_NAMED = 5


def problems_of(reports: Mapping[Arm, SkillCompletionReport], names: Sequence[str], sources: Sequence[str]) -> list[str]:
    """Why the arms do not differ as they should; `names` are the Agent Skills, `sources` the folders they were installed from."""
    return [*_loaded_without(reports, names), *_looks_elsewhere(reports, sources), *_silent_arms(reports)]


def _loaded_without(reports: Mapping[Arm, SkillCompletionReport], names: Sequence[str]) -> Iterator[str]:
    """That the arm without the Agent Skills loaded one of them all the same: then the arms do not differ as they should."""
    without = reports.get("without")
    loaded = [item for item in without.task_results if set(item.skills_loaded or ()) & set(names)] if without else []
    if loaded:
        yield (
            f"{plural(len(loaded), 'item')} of the arm without loaded the Agent Skill ({_named(loaded)}): the agent finds it "
            "elsewhere, so the difference says nothing; remove it from there"
        )


def _looks_elsewhere(reports: Mapping[Arm, SkillCompletionReport], sources: Sequence[str]) -> Iterator[str]:
    """That an agent of another arm called a tool with a path below a folder that the Agent Skills were installed from, other than
    ``evals/``, where the files of tasks are."""
    if not sources:
        return
    ways = "|".join(re.escape(source.rstrip("/")) for source in sources)
    named = re.compile(rf"(?:{ways})(?!/evals(?:/|\b))(?![\w.-])")
    for arm, report in reports.items():
        if arm == "with":
            continue
        found = [item for item in report.task_results if any(named.search(text) for text in _argument_texts(item))]
        if found:
            yield (
                f"{plural(len(found), 'item')} of the arm {arm} looked into the Agent Skill's own folder ({_named(found)}), so "
                "the difference says nothing; keep the agent from it, such as with --sandbox bwrap"
            )


def _argument_texts(item: TaskResult) -> Iterator[str]:
    for call in item.tool_calls or ():
        if call.error is None:
            yield call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments, ensure_ascii=False)


def _silent_arms(reports: Mapping[Arm, SkillCompletionReport]) -> Iterator[str]:
    """That an arm has no answer of the agent at all: it did not start, or its model was out of reach."""
    for arm, report in reports.items():
        items = report.task_results
        if items and all(is_unanswered(item) or item.error_kind == "infra" for item in items):
            yield (
                f"the agent answered no item of the arm {arm} ({commonest_error(items)}), so the difference says nothing; "
                "see that the agent runs, then use --resume with --retry-errors"
            )


def remarks_of(reports: Mapping[Arm, SkillCompletionReport], arms: Sequence[ArmFigures], copies: Mapping[str, str]) -> list[str]:
    """What is worth knowing and stops nothing; `copies` leads from a task to the one that it is a copy of."""
    return [*_loads(arms), *_unjudged(reports), *_cut(reports), *_unknown_costs(reports), *_copied(copies)]


def _loads(arms: Sequence[ArmFigures]) -> Iterator[str]:
    for each in (arm for arm in arms if arm.has_answers):
        unknown = each.items - each.known_loads
        if each.arm == "with" and each.never_loaded:
            yield "the Agent Skill was never loaded where it was installed: a difference is not its content's"
        elif unknown and each.arm != "without":
            yield f"{each.arm}: whether the Agent Skill was loaded is unknown in {plural(unknown, 'item')}"
        if each.arm == "with" and each.loaded < each.known_loads and not each.never_loaded:
            yield (
                f"with: the Agent Skill was loaded in {each.loaded:,} of {plural(each.known_loads, 'item')}; a difference in the "
                "others is not its content's"
            )


def _unjudged(reports: Mapping[Arm, SkillCompletionReport]) -> Iterator[str]:
    for arm, report in reports.items():
        if missing := [item for item in report.task_results if is_missing(item)]:
            yield f"{arm}: {plural(len(missing), 'item')} without a verdict ({commonest_error(missing)})"
        if found := [item for item in report.task_results if is_unanswered(item)]:
            yield (
                f"{arm}: {plural(len(found), 'item')} without an answer {'counts' if len(found) == 1 else 'count'} as not passed "
                f"({commonest_error(found)})"
            )
    if any(item.error_kind == "judge" for report in reports.values() for item in report.task_results):
        yield (
            "answers that were not judged are kept: eval-skills rescore RUN judges them and calls no agent; then skill-effect "
            "--of-run with the id that it prints shows the effect"
        )


def _cut(reports: Mapping[Arm, SkillCompletionReport]) -> Iterator[str]:
    """Where answers were cut: if that struck one arm more than another, the difference may be that of the limit."""
    for arm, report in reports.items():
        items = report.task_results
        if found := [item for item in items if any(reason.code == ANSWER_CUT for reason in item.reasons)]:
            yield (
                f"{arm}: the answer was cut in {len(found):,} of {plural(len(items), 'item')}, and judged as it is "
                f"({ANSWER_CUT}; {_named(found)})"
            )


def _unknown_costs(reports: Mapping[Arm, SkillCompletionReport]) -> Iterator[str]:
    """Where only some items know what they cost: a mean of those may not be that of all."""
    for arm, report in reports.items():
        items = report.task_results
        for what, known in (
            ("cost", sum(item.cost_usd is not None for item in items)),
            ("tokens", sum(item.tokens is not None for item in items)),
        ):
            if 0 < known < len(items):
                yield f"{arm}: {what} known of {known:,} of {plural(len(items), 'item')} only; the figures are theirs"


def _copied(copies: Mapping[str, str]) -> Iterator[str]:
    if copies:
        named = first_of([f"{copy} of {original}" for copy, original in copies.items()], _NAMED)
        count = "1 task asks" if len(copies) == 1 else f"{plural(len(copies), 'task')} ask"
        yield f"{count} the same as another one, and {'counts' if len(copies) == 1 else 'count'} as further runs of it: {named}"


def _named(items: Sequence[TaskResult]) -> str:
    return first_of([item.name for item in items], _NAMED)
