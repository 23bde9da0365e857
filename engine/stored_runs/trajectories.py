"""What an agent did, call by call, beside what was expected of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eval_skills.core.differences import Changes, json_changes
from eval_skills.core.errors import EvalSkillsError
from eval_skills.core.models import EvalTask, SkillResponse
from eval_skills.engine.definition.benchmark import scoring_settings
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.stored_runs.items import StoredItem
from eval_skills.scorers.settings import ScoringSettings
from eval_skills.scorers.task_scoring.configured import evaluator_of
from eval_skills.scorers.task_scoring.evaluator_set import EvaluatorSet
from eval_skills.scorers.trajectory.alignment import aligned
from eval_skills.scorers.trajectory.edits import PairKind
from eval_skills.scorers.trajectory.match_scorer import TrajectoryMatch


@dataclass(frozen=True, slots=True)
class AlignedCall:
    """An expected call and the one that stands for it, each as its name and its arguments; None where there is none.

    `place` is that of the actual call among the calls of the item. `changes` are those of the arguments.
    """

    kind: PairKind
    expected: tuple[str, Any] | None
    actual: tuple[str, Any] | None
    place: int | None = None
    changes: Changes | None = None


@dataclass(frozen=True, slots=True)
class Alignment:
    """The calls of both sides, in the order expected, with extra ones where they were made. `how` says what aligned them."""

    how: str
    calls: tuple[AlignedCall, ...]


def alignment_of(item: StoredItem, request: EvaluateRequest | None) -> Alignment | None:
    """The calls of an item beside the expected ones, as the scorer of its task pairs them; without `trajectory_match`, beside the
    expected sequence of tools, or the expected tools.

    None where no calls are expected, or it is not known what was called.
    """
    if item.task is None or (item.result.tool_calls is None and item.result.messages is None):
        return None
    settings = ScoringSettings() if request is None else scoring_settings(request, item.task.folder)
    try:
        found = _by_scorer(item, item.task, settings)
    except EvalSkillsError:  # a trajectory that cannot be read, or a scorer that is gone: its names are compared all the same
        found = None
    return found or _by_names(item, item.task, settings)


def _by_scorer(item: StoredItem, task: EvalTask, settings: ScoringSettings) -> Alignment | None:
    if task.expected is None or task.expected.trajectory is None:
        return None
    _, evaluator = evaluator_of(task, settings)
    scorers = [each.scorer for each in evaluator.scorers] if isinstance(evaluator, EvaluatorSet) else [evaluator]
    scorer = next((each for each in scorers if isinstance(each, TrajectoryMatch)), None)
    if scorer is None:
        return None
    result = item.result
    output, reference, pairs = scorer.pairs(
        SkillResponse(output=result.output, messages=result.messages, tool_calls=result.tool_calls)
    )
    calls = []
    for pair in pairs:
        one = None if pair.output is None else output.calls[pair.output]
        other = None if pair.reference is None else reference.calls[pair.reference]
        changes = json_changes(other.arguments, one.raw if one.arguments is None else one.arguments) if one and other else None
        calls.append(
            AlignedCall(
                pair.kind,
                None if other is None else (other.written, other.arguments),
                None if one is None else (one.written, one.raw if one.arguments is None else one.arguments),
                pair.output,
                changes,
            )
        )
    return Alignment(f"paired as trajectory_match does, mode {scorer.mode}, arguments {scorer.tool_args_mode}", _in_order(calls))


def _by_names(item: StoredItem, task: EvalTask, settings: ScoringSettings) -> Alignment | None:
    if task.expected is None or not (names := task.expected.tool_sequence or task.expected.tools):
        return None
    called = item.result.tool_calls or []
    outputs, references = [settings.spelled(each.name) for each in called], [settings.spelled(name) for name in names]
    if task.expected.tool_sequence:
        how = f"the expected sequence of tools ({task.expected.sequence_mode}), laid along the calls"
        path = aligned(
            len(outputs),
            len(references),
            pair=lambda one, other: 0 if outputs[one] == references[other] else 3,
            extra=lambda _: 1,
            missing=lambda _: 1,
        )
    else:
        how = "the expected tools, each with its first call"
        first = {name: outputs.index(name) for name in references if name in outputs}
        path = [(first.get(name), place) for place, name in enumerate(references)]
        path += [(place, None) for place in range(len(outputs)) if place not in first.values()]
    calls = []
    for one, other in path:
        kind: PairKind = "extra" if other is None else "missing" if one is None else "match"
        actual = None if one is None else (called[one].name, called[one].arguments)
        calls.append(AlignedCall(kind, None if other is None else (names[other], None), actual, one))
    return Alignment(how, _in_order(calls))


def _in_order(calls: list[AlignedCall]) -> tuple[AlignedCall, ...]:
    """Extra calls behind the last one that was made before them."""
    ordered = [call for call in calls if call.kind != "extra"]
    for extra in (call for call in calls if call.kind == "extra"):
        before = (n for n, each in enumerate(ordered, 1) if each.place is not None and each.place < (extra.place or 0))
        ordered.insert(max(before, default=0), extra)
    return tuple(ordered)
