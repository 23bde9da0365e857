"""How the answers of a conversation are judged: each turn of which something is expected, and the whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from eval_skills.core.documents.loading import validate
from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask, Evaluator, ExpectedOutput, Reason, SkillResponse, TurnResponse, Verdict
from eval_skills.core.models.result import TOOL_CALLS_UNKNOWN
from eval_skills.core.text import plural
from eval_skills.scorers.claims.evidence import seen_in
from eval_skills.scorers.options import EXPECTATIONS
from eval_skills.scorers.registry import find_scorer
from eval_skills.scorers.settings import ScoringSettings
from eval_skills.scorers.task_scoring.conversation_verdict import ScoredPart, joined_verdict
from eval_skills.scorers.task_scoring.scoring import TaskScoring
from eval_skills.scorers.tools.calls import in_order, in_turn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eval_skills.scorers.judging.model import JudgeIdentity

_LISTED = frozenset({"keywords", "patterns"})


class ConversationScoring(TaskScoring):
    """The scoring of a task with turns. Each turn is scored by what is expected of it, as an answer to a task would be; what the
    task expects itself is asked of the whole: the last output, with the messages, calls, tokens, cost and latency of all turns.

    With a simulated user there are as many turns as come, and only the whole is scored: by `goal_achieved`, unless the task has
    an evaluator or expects something that gives a score. The dimension `turns_left` is the share, in [0, 1], of the user's
    `maxTurns` that was not used.

    It passes where every scored part passes. A turn of which nothing is expected is not scored. See `joined_verdict`.

    Raises:
        InputError: as `TaskScoring`; the path names the turn.
    """

    __slots__ = ("_goal_alone", "_min_score", "_turns", "_whole")

    def __init__(self, task: EvalTask, settings: ScoringSettings | Mapping[str, Any] | None = None) -> None:
        self.task, self.settings = task, ScoringSettings.of(settings)
        self._goal_alone = False
        self._whole, self._min_score = self._of_whole()
        self._turns = [self._of_turn(place) for place in range(len(task.turns or ()))]
        scored = any(not part.only_gates or part.forbids_tools for part in self.parts)
        if not self.parts or (self._min_score and not scored):
            message = "minScore is set and nothing is scored; give an evaluator, or say what is expected"
            raise InputError(message, path=f"task {task.id!r}: thresholds.minScore")
        names = {part.scorer for part in self.parts if part.scorer is not None}
        self.scorer = self._whole.scorer if self._whole and self._whole.scorer else names.pop() if len(names) == 1 else None

    def _of_turn(self, place: int) -> TaskScoring | None:
        turn = (self.task.turns or [])[place]
        if turn.expects_nothing:
            return None
        with _naming(self.task, f"turns[{place}]"):
            asked = _with_short_expectation(self.task.of_turn(turn), self.settings)
            return TaskScoring(asked, self.settings, score_counts=bool(self._min_score))

    def _of_whole(self) -> tuple[TaskScoring | None, float | None]:
        """The scoring of the whole; and the least score of all parts together, where the whole has no score for the limit."""
        task = self.task.of_whole()
        if self.task.user is not None:
            return TaskScoring(self._with_judged_goal(task), self.settings), None
        least = task.thresholds.min_score if task.thresholds else None
        if task.thresholds is not None and least is not None:
            unlimited = task.model_copy(update={"thresholds": task.thresholds.model_copy(update={"min_score": None})})
            scoring = None if unlimited.expects_nothing else TaskScoring(unlimited, self.settings)
            if scoring is None or scoring.only_gates:
                return scoring, least
        return (None if task.expects_nothing else TaskScoring(task, self.settings)), None

    def _with_judged_goal(self, task: EvalTask) -> EvalTask:
        limits = task.thresholds.model_copy(update={"min_score": None}) if task.thresholds else None
        unlimited = task.model_copy(update={"thresholds": limits})
        if not unlimited.expects_nothing and TaskScoring(unlimited, self.settings).has_dimensions:
            return task
        self._goal_alone = True
        return task.model_copy(update={"evaluator": Evaluator(type="goal_achieved")})

    @property
    def judges_goal(self) -> bool:
        return self._goal_alone

    @property
    def parts(self) -> tuple[TaskScoring, ...]:
        return tuple(part for part in (*self._turns, self._whole) if part is not None)

    @property
    def panels(self) -> tuple[tuple[str | None, ...], ...]:
        return tuple(panel for part in self.parts for panel in part.panels)

    @property
    def questions(self) -> Counter[str | None]:
        return sum((part.questions for part in self.parts), Counter())

    @property
    def forbids_tools(self) -> bool:
        return any(part.forbids_tools for part in self.parts)

    @property
    def only_gates(self) -> bool:
        return all(part.only_gates for part in self.parts)

    @property
    def judge(self) -> JudgeIdentity | None:
        return next((part.judge for part in reversed(self.parts) if part.judge is not None), None)

    @property
    def claims_judge(self) -> JudgeIdentity | None:
        return next((part.claims_judge for part in reversed(self.parts) if part.claims_judge is not None), None)

    async def verdict(self, response: SkillResponse) -> Verdict:
        """The verdict of the answers in `response.turns`, with those of each turn.

        The forbidden gates of all parts come first and, when one fails, alone.
        """
        turns = in_order(with_inputs(self.task, response).turns or [])
        if (forbidden := self.violation(response)) is not None:
            return forbidden
        if not turns or (self.task.user is None and len(turns) != len(self._turns)):
            return self._incomplete(response, len(turns))
        scored: list[ScoredPart | None] = []
        for place, scoring in enumerate(self._of_each(turns)):
            scored.append(None if scoring is None else await _scored(scoring, turns[: place + 1], turns[place]))
        whole = None if self._whole is None else await _scored(self._whole, turns, response)
        verdict = joined_verdict(scored, whole, self.scorer, self._min_score)
        return self._with_turns_left(verdict, len(turns))

    def _with_turns_left(self, verdict: Verdict, used: int) -> Verdict:
        if self.task.user is None:
            return verdict
        share = max(0.0, 1 - used / self.task.user.max_turns)
        return verdict.model_copy(update={"dimensions": {**verdict.dimensions, "turns_left": share}})

    def _of_each(self, turns: Sequence[TurnResponse]) -> list[TaskScoring | None]:
        """How each of these turns is scored; of what a simulated user says nothing is known before."""
        return self._turns if self.task.user is None else [None] * len(turns)

    def violation(self, response: SkillResponse) -> Verdict | None:
        """As that of `TaskScoring`, with the turn of each call. What a turn forbids is not held against others."""
        if response.turns is None:
            return self._whole.violation(response) if self._whole else None
        reasons: list[Reason] = []
        scorings = [*self._of_each(response.turns), *(None for _ in response.turns)]  # of more turns than were planned, too
        for place, (turn, own) in enumerate(zip(response.turns, scorings, strict=False)):
            found = (gate.violation(turn) for gate in (own, self._whole) if gate is not None)
            called = {reason.message: reason for verdict in found if verdict is not None for reason in verdict.reasons}
            reasons += [in_turn(place, reason) for reason in called.values()]
        return Verdict(status="fail", score=0.0, passed=False, scorer=self.scorer, reasons=reasons) if reasons else None

    def open_question(self, known: SkillResponse | None) -> Reason | None:
        """As that of `TaskScoring`: turns that had not begun called nothing."""
        if known is None or known.turns is None:
            return next((question for part in self.parts if (question := part.open_question(known)) is not None), None)
        if self._whole is not None and (question := self._whole.open_question(known)) is not None:
            return question
        pairs = zip(in_order(known.turns), self._of_each(known.turns), strict=False)
        asked = (scoring.open_question(turn) for turn, scoring in pairs if scoring is not None)
        return next((question for question in asked if question is not None), None)

    def _incomplete(self, response: SkillResponse, found: int) -> Verdict:
        """The verdict where turns are missing, or there are too many: what was called in those that are missing is unknown."""
        wanted = f" of {plural(len(self._turns), 'turn')}" if self.task.user is None else ""
        message = f"expected the answers of a conversation{wanted}, got {found or 'none'}"
        reasons = [Reason(code="CONTRACT_ERROR", message=message, where="turns")]
        question = self._question_of_lost_turns() if found < len(self._turns) or not found else self.open_question(response)
        return Verdict(
            status="error",
            score=None,
            passed=False,
            scorer=self.scorer,
            reasons=reasons if question is None else [*reasons, question],
            error_kind="contract",
            forbidden_unknown=question is not None,
        )

    def _question_of_lost_turns(self) -> Reason | None:
        if not self.forbids_tools:
            return None
        message = "tools are forbidden, and which ones were called in the turns that are missing is unknown"
        return Reason(code=TOOL_CALLS_UNKNOWN, message=message, where="expected.forbiddenTools")


def with_inputs(task: EvalTask, response: SkillResponse) -> SkillResponse:
    """The answer of a conversation, with the task's inputs where its turns do not say what they answer."""
    if response.turns is None or task.turns is None:
        return response
    pairs = zip_longest(response.turns, task.turns[: len(response.turns)])
    turns = [
        turn.model_copy(update={"input": asked.input}) if asked is not None and turn.input is None else turn
        for turn, asked in pairs
    ]
    return response.model_copy(update={"turns": turns})


async def _scored(scoring: TaskScoring, turns: Sequence[TurnResponse], answer: SkillResponse) -> ScoredPart:
    """The verdict on an answer at the end of `turns`: whoever needs the input is shown the conversation up to there."""
    if len(turns) > 1 and scoring.reads_input:
        *before, last = turns
        shown = {"conversation": [{"input": turn.input, "output": turn.output} for turn in before], "input": last.input}
        # what the agent said itself is not evidence; of the whole the results of tools are in the answer
        results = [each for turn in before for each in seen_in(None, turn)]
        scoring = scoring.about(shown, given=[*(turn.input for turn in turns), *results])
    verdict, open_score = await scoring.judged(answer)
    return ScoredPart(verdict, only_gates=scoring.only_gates, open_score=open_score)


def _with_short_expectation(task: EvalTask, settings: ScoringSettings) -> EvalTask:
    """The task of a turn, with a bare expected answer under the name that its evaluator has for it: keywords, patterns …."""
    expected = task.expected_output
    if expected is None or not expected.has_value or expected.model_fields_set - {"value", "type"}:
        return task
    try:
        taken = find_scorer(task.evaluator_type or settings.default_evaluator).options
    except InputError:  # said where the scorer is built
        return task
    option = "value" if "value" in taken else next((name for name in EXPECTATIONS if name in taken), "value")
    if option == "value":
        return task
    value = [expected.value] if option in _LISTED and not isinstance(expected.value, list) else expected.value
    try:
        named = validate(ExpectedOutput, {"type": expected.type, option: value})
    except InputError as error:
        raise InputError(error.message, path=f"task {task.id!r}: expected") from None
    return task.model_copy(update={"expected_output": named})


@contextmanager
def _naming(task: EvalTask, place: str) -> Iterator[None]:
    own = f"task {task.id!r}"
    try:
        yield
    except InputError as error:
        inside = error.path.removeprefix(own).removeprefix(": ")
        path = f"{own}: {place}.{inside}" if inside else f"{own}: {place}"
        raise InputError(error.message, source=error.source, path=path) from error
