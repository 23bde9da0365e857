"""A graded workspace of an Agent Skill: its evals are tasks, and its runs are recorded ones with the grader's verdicts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from eval_skills.agent_skills.workspaces.benchmark_file import BenchmarkFile, workspace_of
from eval_skills.agent_skills.workspaces.grading import GradedAssertion
from eval_skills.agent_skills.workspaces.layout import CONFIGURATIONS, Workspace, WorkspaceRun, configurations_in
from eval_skills.benchmarks.importers.agent_skills.evals import PART
from eval_skills.benchmarks.importers.rows import Row, Skip, Task
from eval_skills.benchmarks.importers.source import Source
from eval_skills.core.documents.loading import validate
from eval_skills.core.errors import InputError
from eval_skills.core.text import first_of, plural

RATE = "pass_rate"
"""The figure of runs whose assertions cannot be told apart."""

_ARMS = {configuration: arm for arm, configuration in CONFIGURATIONS.items()}


def is_graded_workspace(source: Source) -> bool:
    """Whether it is a folder of runs, or the ``benchmark.json`` of one."""
    return isinstance(source.document, Workspace) or {"runs", "run_summary"} <= source.keys


def workspace_entries(source: Source) -> list[Row]:
    """An entry for each eval; its runs become recorded ones of a skill for each configuration: ``csv-tools-with``.

    Raises:
        InputError: this is not a workspace.
    """
    workspace = _workspace(source)
    if workspace.others:
        more = first_of(workspace.others, 5)
        source.say(f"{workspace.folder.name} was read, the latest iteration; name the folder of another one to read it ({more})")
    source.say(f"recorded runs: {configurations_in(workspace.runs)}")
    by_eval: dict[str, list[WorkspaceRun]] = {}
    for run in workspace.runs:
        by_eval.setdefault(run.eval_name, []).append(run)
    _say_what_is_odd(source, workspace.runs)
    return [Row(f"{workspace.folder}: eval-{name}", {"name": name, "runs": runs}) for name, runs in by_eval.items()]


def _workspace(source: Source) -> Workspace:
    if isinstance(source.document, dict) and "runs" in source.document:
        source.document = workspace_of(validate(BenchmarkFile, source.document, source=source.path), source.path)
        source.name = source.document.skill
        source.say("of a benchmark.json alone neither prompts nor outputs are known; name its folder where that is there")
    if not isinstance(source.document, Workspace):
        raise InputError("not a workspace: name the folder that holds iteration-N/ or eval-<name>/", source=source.path)
    return source.document


def _say_what_is_odd(source: Source, runs: Sequence[WorkspaceRun]) -> None:
    ungraded = [run for run in runs if _rate_of(run) is None]
    if ungraded and len(ungraded) < len(runs):
        named = first_of([_named(run) for run in ungraded], 3)
        source.say(f"{plural(len(ungraded), 'run')} without a verdict, which count as errors and not as failures: {named}")
    odd = [f"{_named(run)}: {said}" for run in runs if run.grading and (said := run.grading.disagreement)]
    if odd:
        source.say(f"{plural(len(odd), 'grading')} whose summary is not what its assertions say; they count: {first_of(odd, 3)}")


def workspace_task(row: Row, source: Source) -> Task:
    """The eval: a run passes where all assertions held, and its score is the share that did.

    Where no run of it was graded, all of them are errors, and stay runs of the configuration.

    Raises:
        Skip: no run of the whole workspace was graded.
    """
    name, runs = str(row.data["name"]), list(row.data["runs"])
    graded = any(_rate_of(run) is not None for run in runs)
    if not graded and all(_rate_of(run) is None for run in source.document.runs):
        raise Skip("none of its runs was graded")
    texts = _texts_of(runs)
    if texts is None and graded:
        source.say("evals whose runs have other numbers of assertions are judged whole: a run passes where all of its own held")
    skill = source.document.skill
    for configuration in dict.fromkeys(run.configuration for run in runs):
        own = sorted((run for run in runs if run.configuration == configuration), key=lambda run: run.number)
        source.runs += [_line(run, place, f"eval-{name}", skill, texts) for place, run in enumerate(own)]
    prompt = next((run.metadata.prompt for run in runs if run.metadata.prompt), None)
    expected = next((run.metadata.expected_output for run in runs if (run.metadata.expected_output or "").strip()), None)
    figures = [RATE] if texts is None else [f"{PART}{number}" for number in range(1, len(texts) + 1)]
    task: Task = {
        "id": f"eval-{name}",
        "inputData": {"prompt": prompt} if prompt else {"eval": name},
        "evaluators": [{"type": "metrics", "metrics": {each: {"value": 1}}, "name": each} for each in figures],
        "metadata": {"assertions": list(texts or ())},
    }
    return task | ({"expectedOutput": {"value": expected}} if expected else {})


def _texts_of(runs: Iterable[WorkspaceRun]) -> tuple[str, ...] | None:
    """The assertions of an eval as its first graded run has them; None where the runs have different numbers, or only a rate."""
    graded = [run.grading.expectations for run in runs if run.grading is not None and _rate_of(run) is not None]
    if len({len(each) for each in graded}) != 1 or not graded[0]:
        return None
    return tuple(each.text for each in graded[0])


def _line(run: WorkspaceRun, place: int, task: str, skill: str, texts: tuple[str, ...] | None) -> dict[str, Any]:
    """The line of a trace file."""
    line: dict[str, Any] = {"taskId": task, "skill": skill_id(skill, run.configuration), "runIndex": place}
    if run.timing.seconds is not None:
        line["latencyMs"] = run.timing.seconds * 1000
    rate, judged = _rate_of(run), run.grading.expectations if run.grading is not None else []
    if rate is None or (texts is not None and any(each.passed is None for each in judged)):
        return line | {"error": {"kind": "infra", "message": f"{_named(run)} has no verdict"}}
    figures = {RATE: rate} if texts is None else _figures(judged, texts)
    shown = [each.model_dump(exclude_none=True) for each in judged]
    tokens = {} if run.timing.total_tokens is None else {"totalTokens": run.timing.total_tokens}
    return line | {"output": {**figures, "assertions": shown, **tokens}}


def _figures(judged: Sequence[GradedAssertion], texts: tuple[str, ...]) -> dict[str, int]:
    """1 for each assertion that held, else 0: by their texts, or by their order where a grader worded them anew."""
    by_text = {each.text: each for each in judged}
    ordered = [by_text[text] for text in texts] if by_text.keys() == set(texts) and len(by_text) == len(texts) else judged
    return {f"{PART}{number}": int(bool(each.passed)) for number, each in enumerate(ordered, 1)}


def skill_id(skill: str, configuration: str) -> str:
    """``csv-tools-with`` for ``with_skill``: as the arms of an evaluation are called."""
    arm = _ARMS.get(configuration, configuration)
    return re.sub(r"[^a-z0-9_-]+", "-", f"{skill}-{arm}".lower()).strip("-") or "skill"


def _rate_of(run: WorkspaceRun) -> float | None:
    return run.grading.pass_rate if run.grading is not None else None


def _named(run: WorkspaceRun) -> str:
    return f"eval-{run.eval_name}/{run.configuration}/run-{run.number}"
