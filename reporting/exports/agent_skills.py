"""A graded workspace as skill-creator has them: a folder for each run with its grading, and ``benchmark.json`` over all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from eval_skills.agent_skills.documents import inner_path, written
from eval_skills.agent_skills.workspaces.benchmark_file import BENCHMARK_FILE, MeasuredRun, benchmark_content
from eval_skills.agent_skills.workspaces.grading import GRADING_FILE, GradedAssertion, grading_of
from eval_skills.agent_skills.workspaces.layout import CONFIGURATIONS, METADATA_FILE, OUTPUTS
from eval_skills.agent_skills.workspaces.timing import TIMING_FILE, timing_of
from eval_skills.core.errors import UsageError
from eval_skills.core.models import EvalTask, SkillCompletionReport, TaskResult, WorkspaceFile
from eval_skills.core.models.result import ERROR_STATUSES, ItemKey
from eval_skills.core.text import first_of, plural
from eval_skills.reporting.context import ReportContext
from eval_skills.reporting.exports.items import text, wanted, why, with_items

PART = "assertion-"
"""What the names of evaluators begin with that stand for assertions; a number follows, from 1."""

ANSWER, ERROR = "final_answer.md", "error.txt"


@dataclass(frozen=True, slots=True)
class WorkspaceExport:
    """What one Agent Skill's iteration holds: contents by path, and what could not be written of it."""

    skill: str
    files: dict[str, bytes] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)


def workspaces_of(
    reports: Sequence[SkillCompletionReport], context: ReportContext, left: Mapping[ItemKey, Sequence[WorkspaceFile]]
) -> list[WorkspaceExport]:
    """An iteration for each Agent Skill among the reports: ``csv-tools-with`` and ``csv-tools-without`` are one in two
    configurations, and a skill that is called otherwise is one, ``with_skill``.

    `left` is what agents left in their workspaces, as far as it is known. A run that ended in an error has no grading: it was
    not judged.

    Raises:
        UsageError: the reports hold figures only, or two are of one configuration of one skill.
    """
    with_items(reports, "a workspace")
    by_skill: dict[str, dict[str, SkillCompletionReport]] = {}
    for report in reports:
        skill, configuration = arm_of(report.skill_id)
        if (other := by_skill.setdefault(skill, {}).setdefault(configuration, report)) is not report:
            both = f"{other.skill_key} and {report.skill_key}"
            raise UsageError(f"{both} are both {configuration} of {skill}; choose one with --skill")
    return [_export(skill, arms, context, left) for skill, arms in by_skill.items()]


def arm_of(skill_id: str) -> tuple[str, str]:
    """The Agent Skill and the configuration: ``csv-tools`` and ``without_skill`` of ``csv-tools-without``."""
    for arm, configuration in CONFIGURATIONS.items():
        if skill_id.endswith(f"-{arm}") and skill_id != f"-{arm}":
            return skill_id.removesuffix(f"-{arm}"), configuration
    return skill_id, CONFIGURATIONS["with"]


def _export(
    skill: str, arms: Mapping[str, SkillCompletionReport], context: ReportContext, left: Mapping[ItemKey, Sequence[WorkspaceFile]]
) -> WorkspaceExport:
    export = WorkspaceExport(skill)
    names = _eval_names(dict.fromkeys(item.task_id for report in arms.values() for item in report.task_results))
    tasks = {task.id: task for task in context.benchmark.tasks} if context.benchmark is not None else {}
    measured: list[MeasuredRun] = []
    unjudged: list[MeasuredRun] = []
    for configuration, report in arms.items():
        for item in report.task_results:
            number, name = names[item.task_id]
            run = _measured(item, tasks.get(item.task_id), number, name, configuration)
            folder = f"eval-{name}/{configuration}/run-{run.number}"
            export.files.update(_of_run(run, item, folder, left.get((report.skill_key, item.task_id, item.run_index), ())))
            (measured if run.assertions else unjudged).append(run)
    for task_id, (number, name) in names.items():
        export.files[f"eval-{name}/{METADATA_FILE}"] = _bytes(_metadata(task_id, tasks.get(task_id), arms, number, name))
    notes = _notes(unjudged)
    export.remarks.extend(notes)
    about = _about(skill, context, measured, [number for number, _ in names.values()])
    export.files[BENCHMARK_FILE] = _bytes(benchmark_content(measured, about, notes))
    return export


def _eval_names(tasks: Mapping[str, None]) -> dict[str, tuple[int, str]]:
    """The number and the name of each task's eval: those of ``eval-7`` are 7, where all tasks are called so."""
    numbers = [int(found[1]) if (found := re.fullmatch(r"eval-(\d{1,9})", task)) else None for task in tasks]
    numbered = None not in numbers and len(set(numbers)) == len(numbers)
    names: dict[str, tuple[int, str]] = {}
    taken: set[str] = set()
    for place, (task, own) in enumerate(zip(tasks, numbers, strict=True), 1):
        plain = re.sub(r"[^\w.-]+", "-", task.removeprefix("eval-")).strip("-.")[:80] or str(place)
        name = plain if plain.lower() not in taken else f"{plain}-{place}"
        taken.add(name.lower())
        names[task] = (own if numbered and own is not None else place, name)
    return names


def _measured(item: TaskResult, task: EvalTask | None, number: int, name: str, configuration: str) -> MeasuredRun:
    tokens = None
    if item.prompt_tokens is not None and item.completion_tokens is not None:
        tokens = item.prompt_tokens + item.completion_tokens
    calls = item.tool_calls
    return MeasuredRun(
        eval_id=number,
        eval_name=name,
        configuration=configuration,
        number=item.run_index + 1,
        assertions=() if item.status in ERROR_STATUSES else tuple(_assertions(item, task)),
        seconds=None if item.latency_ms is None else round(item.latency_ms / 1000, 3),
        tokens=tokens,
        tool_calls=None if calls is None else len(calls),
        errors=None if calls is None else sum(call.error is not None for call in calls),
        notes=(why(item),) if item.status in ERROR_STATUSES and why(item) else (),
    )


def _assertions(item: TaskResult, task: EvalTask | None) -> Iterator[GradedAssertion]:
    """The assertions of the task that were judged; of a task without named ones its own verdict is the only one."""
    texts = _texts_of(task, item)
    if not texts:
        yield GradedAssertion(text=_sentence(item, task), passed=item.passed, evidence=why(item) or None)
        return
    for name, sentence in texts.items():
        value = item.dimensions.get(name)
        said = [reason.message.removeprefix(f"{name}: ") for reason in item.reasons if reason.message.startswith(f"{name}: ")]
        passed = None if value is None else value >= 1
        evidence = "; ".join(said) or ("not judged" if value is None else f"score {value:g}")
        yield GradedAssertion(text=sentence, passed=passed, evidence=evidence)


def _texts_of(task: EvalTask | None, item: TaskResult) -> dict[str, str]:
    """The sentence of each named evaluator that stands for an assertion; its name where the sentence is not known."""
    named = [each.name for each in (task.evaluators if task is not None else None) or () if each.name is not None]
    if not named:
        named = sorted((name for name in item.dimensions if re.fullmatch(rf"{PART}\d+", name)), key=_number)
    listed = task.metadata.get("assertions") if task is not None else None
    sentences = listed if isinstance(listed, list) and len(listed) == len(named) else named
    return {name: str(sentence) or name for name, sentence in zip(named, sentences, strict=True)}


def _number(name: str) -> int:
    return int(name.removeprefix(PART))


def _sentence(item: TaskResult, task: EvalTask | None) -> str:
    criteria = task.expected_output.criteria if task is not None and task.expected_output is not None else None
    words = " ".join(criteria) if isinstance(criteria, list | tuple) else criteria
    return words or f"The answer passes {item.scorer or 'what the task expects'}"


def _of_run(run: MeasuredRun, item: TaskResult, folder: str, left: Sequence[WorkspaceFile]) -> Iterator[tuple[str, bytes]]:
    timing = timing_of(run.seconds, run.tokens)
    yield f"{folder}/{TIMING_FILE}", _bytes(timing)
    if run.assertions:
        grading = grading_of(run.assertions, tool_calls=run.tool_calls, steps=None, errors=run.errors, timing=timing)
        yield f"{folder}/{GRADING_FILE}", _bytes(grading)
    outputs = dict(_outputs(left))
    name = ERROR if item.status in ERROR_STATUSES else ANSWER
    said = why(item) if item.status in ERROR_STATUSES else text(item.output)
    outputs[_free(name, outputs)] = said.encode("utf-8", "backslashreplace")
    yield from ((f"{folder}/{OUTPUTS}/{path}", content) for path, content in outputs.items())


def _free(name: str, taken: Iterable[str]) -> str:
    """The name, or the next one with a number where the agent left a file that is called so, in whatever letters."""
    lowered = {each.partition("/")[0].lower() for each in taken}
    stem, dot, ending = name.partition(".")
    return next(each for number in count(1) if (each := f"{stem}-{number}{dot}{ending}" if number > 1 else name) not in lowered)


def _outputs(left: Sequence[WorkspaceFile]) -> Iterator[tuple[str, bytes]]:
    """What the agent added or changed, as far as its content was kept, and its path stays in the folder."""
    for file in left:
        try:
            if (content := file.data) is not None and file.change != "deleted":
                yield inner_path(file.path), content
        except ValueError:
            continue


def _metadata(task_id: str, task: EvalTask | None, arms: Mapping[str, Any], number: int, name: str) -> dict[str, Any]:
    item = next(item for report in arms.values() for item in report.task_results if item.task_id == task_id)
    asked = item.input if item.input is not None else (task.input_data if task is not None else None)
    prompt = asked.get("prompt") if isinstance(asked, dict) else asked
    return {
        "eval_id": number,
        "eval_name": name,
        "prompt": prompt if isinstance(prompt, str) else text(asked),
        "expected_output": text(wanted(item)) or None,
        "assertions": list(_texts_of(task, item).values()),
    }


def _about(skill: str, context: ReportContext, runs: Sequence[MeasuredRun], evals: list[int]) -> dict[str, Any]:
    most = max((run.number for run in runs), default=0)
    return {
        "skill_name": skill,
        "skill_path": None,
        "executor_model": None,
        "analyzer_model": None,
        "timestamp": context.created_utc.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "evals_run": sorted(evals),
        "runs_per_configuration": most or None,
        "eval_skills_run": context.run_id,
    }


def _notes(unjudged: Sequence[MeasuredRun]) -> list[str]:
    if not unjudged:
        return []
    named = first_of([f"eval-{run.eval_name}/{run.configuration}/run-{run.number}" for run in unjudged], 5)
    return [f"{plural(len(unjudged), 'run')} ended without a verdict, and count nowhere: {named}"]


def _bytes(content: Any) -> bytes:
    return written(content).encode("utf-8", "backslashreplace")
