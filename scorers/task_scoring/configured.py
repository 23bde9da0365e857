"""The scorers that a task asks for, one or a set of several, built with their options."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask, EvaluatorEntry, Expected, ExpectedOutput, ExpectedText, Reason, SkillResponse
from eval_skills.core.models.evaluators import SET, Rule, described
from eval_skills.core.text import comparable, excerpt
from eval_skills.scorers.answer import text_of, unwrapped
from eval_skills.scorers.options import EXPECTATIONS, ONE, Written, given_options, to_camel, written_in
from eval_skills.scorers.registry import Scorer, ScorerEntry, find_scorer
from eval_skills.scorers.score import Score
from eval_skills.scorers.settings import ScoringSettings
from eval_skills.scorers.task_scoring.combining import Combination
from eval_skills.scorers.task_scoring.entries import Entry, Group, Need, PlacedScorer
from eval_skills.scorers.task_scoring.evaluator_set import EvaluatorSet
from eval_skills.scorers.tools.accuracy import ToolAccuracy
from eval_skills.scorers.tools.forbidden import ForbiddenTools
from eval_skills.scorers.tools.sequence import Sequence
from eval_skills.scorers.trajectory.messages import read_trajectory
from eval_skills.scorers.trajectory.shapes import UnreadableTrajectory


def evaluator_of(
    task: EvalTask, settings: ScoringSettings, *, score_counts: bool = False
) -> tuple[str | None, Scorer | EvaluatorSet | None]:
    """The canonical name of a task's evaluator, and the evaluator with its options; (None, None) for a task that has none.

    `score_counts`: as that of `TaskScoring`.

    Raises:
        InputError: there is no such scorer, or its options are not valid; `path` names the option.
    """
    if task.evaluators is not None:
        return SET, evaluator_set_of(task, settings, score_counts=score_counts)
    named = task.evaluator_type
    if named is None and task.expected_output is None:
        return None, None
    place = "evaluator.type" if task.evaluator is not None else "expectedOutput.type"
    try:
        entry = find_scorer(named or settings.default_evaluator)
    except InputError as error:
        raise InputError(error.message, path=place if named else "the default evaluator") from error
    if task.expected is not None and task.expected.trajectory is not None and "task" not in entry.options:
        raise InputError(
            f"scorer {entry.name!r} does not compare it; name the evaluator trajectory_match", path="expected.trajectory"
        )
    return entry.name, built_scorer(entry, task, settings, written_in(task), ONE)


def forbidden_of(expected: Expected) -> ForbiddenTools | None:
    """The gate that an expectation asks for; None where it forbids nothing.

    Raises:
        InputError: the expected trajectory calls what is forbidden, or is not one.
    """
    if not expected.forbidden_tools:
        return None
    called = _reference_tools(expected)
    try:
        expected.refuse_forbidden(called)
    except ValueError as error:
        raise InputError(str(error), path="trajectory") from None
    return ForbiddenTools(tools=tuple(expected.forbidden_tools))


def dimensions_of(expected: Expected, settings: ScoringSettings) -> dict[str, ToolAccuracy | Sequence]:
    """The dimensions beside the evaluator that an expectation asks for, by name.

    Raises:
        InputError: a tool or a category cannot be expected.
    """
    dimensions: dict[str, ToolAccuracy | Sequence] = {}
    if expected.tools or expected.tool_categories:
        tools, categories = tuple(expected.tools), tuple(expected.tool_categories)
        dimensions["tool_accuracy"] = ToolAccuracy(
            tools=tools, tool_categories=categories, shell_needs_command=expected.shell_needs_command, settings=settings
        )
    if expected.tool_sequence:
        sequence = tuple(expected.tool_sequence)
        dimensions["sequence_correctness"] = Sequence(expected=sequence, mode=expected.sequence_mode, settings=settings)
    return dimensions


def _reference_tools(expected: Expected) -> list[str]:
    try:
        return [call.written for call in read_trajectory(expected.trajectory, "trajectory").calls]
    except UnreadableTrajectory as error:
        raise InputError(error.message, path=str(error.source)) from error


def built_scorer(entry: ScorerEntry, task: EvalTask, settings: ScoringSettings, written: Written, place: str) -> Scorer:
    """A scorer with the options that are written at its `place`, and what the task expects.

    Raises:
        InputError: the options are not valid; `path` names the option.
    """
    options = given_options(entry.name, entry.options, task, settings, written, place)
    try:
        return entry.build(options)
    except InputError as error:
        raise InputError(error.message, path=_path(error.path, task, written, place)) from error
    except ValueError as error:  # a plug-in may raise an error of its own
        raise InputError(str(error), path=place) from error


def _path(option: str, task: EvalTask, written: Written, place: str) -> str:
    """Where an option that a scorer refuses stands."""
    if option.startswith("expected."):
        return option
    name = option.partition("[")[0].partition(".")[0]
    if name in written:
        return f"{written[name][0]}{option.removeprefix(name)}"
    is_expected = task.expected_output is not None and (place == ONE or name in {to_camel(each) for each in EXPECTATIONS})
    return f"{'expectedOutput' if is_expected else place}.{option}"


def evaluator_set_of(task: EvalTask, settings: ScoringSettings, *, score_counts: bool = False) -> EvaluatorSet:
    """The evaluators of a task that names several.

    Raises:
        InputError: one of them cannot be built, or its model would never be asked; nothing compares the expected trajectory.
    """
    entries = task.evaluators or []
    limited = task.thresholds is not None and task.thresholds.min_score is not None  # the value decides, not the verdicts
    building = _Building(task, settings, Counter(each.type for each in task.named_scorers))
    evaluators = EvaluatorSet(
        group=building.group(entries, task.combine, task.threshold, "evaluators"),
        in_order=task.cost_order == "as-written",
        need=Need(value=True, gate=True) if limited else Need(verdict=True, value=score_counts),
    )
    if task.expected is not None and task.expected.trajectory is not None and not building.reads_task:
        message = "none of the evaluators compares it; name trajectory_match among them"
        raise InputError(message, path="expected.trajectory")
    if (needless := evaluators.needless) is not None:
        message = "no verdict needs it, so its model would never be asked; give it a weight, or set costOrder to as-written"
        raise InputError(message, path=needless.place)
    return evaluators


@dataclass(slots=True)
class _Building:
    """`types` counts the types of the scorers as they are written; `reads_task` says whether one of those built gets the task."""

    task: EvalTask
    settings: ScoringSettings
    types: Counter[str]
    reads_task: bool = False
    seen: Counter[str] = field(default_factory=Counter)

    def group(self, entries: Iterable[EvaluatorEntry], rule: Rule, threshold: float | None, place: str) -> Group:
        """A set, and those inside it."""
        built = [self._entry(entry, f"{place}[{index}]") for index, entry in enumerate(entries)]
        return Group(entries=tuple(built), combination=Combination(rule, threshold))

    def _entry(self, entry: EvaluatorEntry, place: str) -> Entry:
        evaluator: PlacedScorer | Group
        if entry.evaluators is not None:
            evaluator = self.group(entry.evaluators, entry.combine, entry.threshold, f"{place}.evaluators")
            label = entry.name or described(entry.evaluators, entry.combine)
        else:
            evaluator = self._scorer(entry, entry.type or "", place)
            alone = self.types[entry.type or ""] == 1
            label = entry.name or (evaluator.name if alone else f"{evaluator.name} ({place})")
        return Entry(
            evaluator=evaluator, label=label, name=entry.name,
            weight=entry.weight, required=entry.required, negated=entry.negated,
        )  # fmt: skip

    def _scorer(self, entry: EvaluatorEntry, named: str, place: str) -> PlacedScorer:
        try:
            found = find_scorer(named)
        except InputError as error:
            raise InputError(error.message, path=f"{place}.type") from error
        written, own = self._written(entry, found, place), entry.threshold
        if own is not None and written.get("threshold", ("", None))[0] == f"{place}.threshold":
            own = None  # the scorer's own threshold, which means the same
        self.reads_task |= "task" in found.options
        return PlacedScorer(
            place=place,
            name=found.name,
            scorer=built_scorer(found, _without(self.task, written), self.settings, written, place),
            threshold=own,
            prefix=self._prefix(entry, found.name),
        )

    def _written(self, entry: EvaluatorEntry, found: ScorerEntry, place: str) -> dict[str, tuple[str, Any]]:
        written = {name: (f"{place}.{name}", value) for name, value in entry.written_options.items()}
        for name, value in entry.options.items():
            if name in written:
                raise InputError(f"given in options and beside them; keep one of {name!r}", path=f"{place}.options.{name}")
            written[name] = (f"{place}.options.{name}", value)
        if entry.threshold is not None and "threshold" in found.options and "threshold" not in written:
            written["threshold"] = (f"{place}.threshold", entry.threshold)
        return written

    def _prefix(self, entry: EvaluatorEntry, scorer: str) -> str:
        """What keeps the dimensions of a scorer apart from those of another one of its kind."""
        self.seen[scorer] += 1
        if entry.name is not None:
            return f"{entry.name}."
        return "" if self.seen[scorer] == 1 else f"{scorer}-{self.seen[scorer]}."


def _without(task: EvalTask, written: Written) -> EvalTask:
    """The task as a scorer sees it that has something of its own in place of what the task expects."""
    if task.expected_output is None:
        return task
    own = {name for name in EXPECTATIONS if name in written or to_camel(name) in written}
    own |= {"value"} if "reference" in written else set()
    expected = task.expected_output.model_dump(exclude_unset=True)
    kept = {name: value for name, value in expected.items() if name not in {EXPECTATIONS[each] for each in own}}
    if len(kept) == len(expected):
        return task
    return task.model_copy(update={"expected_output": ExpectedOutput.model_validate(kept)})


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputText:
    """The checks of `expected.output`: each text of `contains` and `not_contains` is one check, in any case of letters,
    with accents composed or not.

    The value is checks met / checks, in [0, 1], and every check is a gate as well. An empty answer meets none of them, not even
    those of `not_contains`. An object answer is unwrapped, and its decoded values are searched.
    """

    contains: tuple[str, ...] = ()
    not_contains: tuple[str, ...] = ()

    @classmethod
    def of(cls, expected: ExpectedText) -> OutputText | None:
        """The checks of a task; None when it has none."""
        if not expected.contains and not expected.not_contains:
            return None
        return cls(contains=tuple(expected.contains), not_contains=tuple(expected.not_contains))

    def score(self, response: SkillResponse) -> Score:
        """The share of checks met, with one reason per check that is not."""
        text = text_of(unwrapped(response.output))
        reasons = self._failures(text)
        total = len(self.contains) + len(self.not_contains)
        return Score((total - len(reasons)) / total, reasons=tuple(reasons))

    def _failures(self, text: str) -> list[Reason]:
        searched = comparable(text)
        missing = [each for each in self.contains if comparable(each) not in searched]
        reasons = [_reason("OUTPUT_MISSING_TEXT", f"expected {excerpt(each)} in the answer", text) for each in missing]
        if not text.strip():
            return reasons + [
                _reason("OUTPUT_EMPTY", f"expected an answer without {excerpt(each)}", text) for each in self.not_contains
            ]
        present = [each for each in self.not_contains if comparable(each) in searched]
        return reasons + [
            _reason("OUTPUT_FORBIDDEN_TEXT", f"expected no {excerpt(each)} in the answer", text) for each in present
        ]


def _reason(code: str, expectation: str, got: Any) -> Reason:
    return Reason(code=code, message=f"{expectation}, got {excerpt(got)}", where="output")
