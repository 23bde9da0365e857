"""How the answers to one task are judged, prepared once."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, cast

from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask, Expected, Reason, SkillResponse, Thresholds, Verdict
from eval_skills.core.models.result import TOOL_CALLS_UNKNOWN
from eval_skills.core.text import is_long
from eval_skills.scorers.claims.questions import QUESTIONS_ABOUT_CLAIMS
from eval_skills.scorers.claims.scorer import Hallucination
from eval_skills.scorers.judging.budget import counted, questions_so_far
from eval_skills.scorers.judging.model import JudgeIdentity, identity_of, joint_identity
from eval_skills.scorers.registry import Scorer, asked_a_model, models_of, score_by
from eval_skills.scorers.score import Score, remark
from eval_skills.scorers.settings import ScoringSettings
from eval_skills.scorers.task_scoring.configured import OutputText, dimensions_of, evaluator_of, forbidden_of
from eval_skills.scorers.task_scoring.evaluator_set import EvaluatorSet
from eval_skills.scorers.task_scoring.verdict import Findings, Judged, effective_weights, forbidden_verdict, limit_reasons
from eval_skills.scorers.tools.calls import COMPARES_CALLS, calls_disagree, nothing_to_judge, unknown_calls, with_tool_calls

_NO_CLAIMS = remark("NO_CLAIMS", "the answer claims nothing that could be looked up", "checks.hallucination")

_NOT_JUDGED = remark("NOT_JUDGED", "a gate failed first, so no model was asked; the output counts as 0", "evaluator")

_NO_MODEL_NEEDED = remark("NOT_JUDGED", "the verdict was known before a model was asked, so none was", "evaluator")

_CLAIMS_NOT_JUDGED = remark("NOT_JUDGED", "a gate failed first, so no model verified the claims", "checks.hallucination")

NOT_REPORTED = "the skill reported none while it worked"

_NOTHING_EXPECTED, _NO_THRESHOLDS = Expected(), Thresholds()

HALLUCINATION = "hallucination"
_READS_INPUT = frozenset({HALLUCINATION, "set"})

HUGE_CHARS = 65_536
"""A longer answer is judged in a thread, so that other items go on."""


class TaskScoring:
    """One task's evaluator, gates, dimensions and weights, checked when it is built; it judges any number of answers.

    `scorer` is the canonical name of the evaluator, ``set`` for several, or None for a task that has none. `settings` may be a
    mapping, in camelCase or snake_case. `score_counts`: of an answer that passes the whole score must be known, since another
    limit than the task's applies to it.

    That of a conversation is a `ConversationScoring`, which judges the turns of an answer, too.

    Raises:
        InputError: something that the task asks for cannot be done: an unknown scorer, option or category, a missing or empty
            expectation, weights that are all 0. `path` names the task's id and the option.
    """

    __slots__ = (
        "_dimensions", "_evaluator", "_forbidden", "_hallucination", "_output_text", "_score_counts", "_sequence_gate",
        "_thresholds", "_weights", "scorer", "settings", "task",
    )  # fmt: skip

    def __new__(
        cls, task: EvalTask, settings: ScoringSettings | Mapping[str, Any] | None = None, *, score_counts: bool = False
    ) -> Self:
        """The scoring of its kind."""
        if not task.is_conversation:
            return super().__new__(cls)
        from eval_skills.scorers.task_scoring.conversation import ConversationScoring  # which is made of these

        return cast(Self, object.__new__(ConversationScoring))

    def __init__(
        self, task: EvalTask, settings: ScoringSettings | Mapping[str, Any] | None = None, *, score_counts: bool = False
    ) -> None:
        self.task, self.settings = task, ScoringSettings.of(settings)
        self._score_counts = score_counts
        expected = task.expected or _NOTHING_EXPECTED
        self._thresholds = task.thresholds or _NO_THRESHOLDS
        place = ""
        if task.lacks_expectation:
            raise InputError("nothing is expected of it yet; review it: eval-skills benchmarks review", path=f"task {task.id!r}")
        try:
            self.scorer, self._evaluator = evaluator_of(task, self.settings, score_counts=score_counts)
            place = "expected"
            self._forbidden = forbidden_of(expected)
            self._output_text = OutputText.of(expected.output)
            self._dimensions = dimensions_of(expected, self.settings)
            self._sequence_gate = expected.sequence_gate
            place = "checks.hallucination"
            check = task.checks.hallucination if task.checks else None
            self._hallucination = Hallucination.of(check, task, self.settings) if check else None
            place = ""
            self._weights = effective_weights(self._configured(), self.settings.weights, task.weights)
        except InputError as error:
            raise _named(error, task, place) from error

    def _configured(self) -> set[str]:
        """The dimensions that have a weight."""
        configured = {*self._dimensions, *(("output_quality",) if self._evaluator or self._output_text else ())}
        if self._thresholds.min_score and not configured and self._forbidden is None and self._hallucination is None:
            raise InputError(
                "minScore is set and nothing is scored; give an evaluator, or say what is expected", path="thresholds.minScore"
            )
        return configured

    @property
    def parts(self) -> tuple[TaskScoring, ...]:
        """The scorings that it is made of: itself; of a conversation those of its turns and of the whole, as far as they are
        scored."""
        return (self,)

    @property
    def has_dimensions(self) -> bool:
        """Whether an evaluator, or something expected of tools or texts, gives a score."""
        return bool(self._weights)

    @property
    def only_gates(self) -> bool:
        """Whether nothing has a score of its own: an answer passes, or does not."""
        return not self._weights and self._hallucination is None

    @property
    def reads_input(self) -> bool:
        """Whether the verdict may depend on what the skill was asked, and not on its answer alone."""
        return bool(self.models) or self._hallucination is not None or self.scorer in _READS_INPUT

    def about(self, shown: Any, given: Any) -> TaskScoring:
        """The same scoring of an answer to another input: judges are shown `shown`, and claims are looked up in `given`."""
        asked = self.task.model_copy(update={"input_data": given if self.scorer == HALLUCINATION else shown})
        other = TaskScoring(asked, self.settings, score_counts=self._score_counts)
        if self._hallucination is not None:
            other._hallucination = replace(self._hallucination, task=self.task.model_copy(update={"input_data": given}))
        return other

    @property
    def models(self) -> tuple[str | None, ...]:
        """The judging models that are asked, None being the run's; empty where none is."""
        return tuple(dict.fromkeys(model for panel in self.panels for model in panel))

    @property
    def panels(self) -> tuple[tuple[str | None, ...], ...]:
        """The judging models that decide together: on the verdict of each evaluator, and on the claims."""
        claims = self._hallucination.models if self._hallucination else ()
        return tuple(panel for panel in (*(models_of(judge) for _, judge in self._judged), claims) if panel)

    @property
    def questions(self) -> Counter[str | None]:
        """About how many questions each of these models gets about one answer; one whose reply cannot be read is asked again."""
        found = Counter[str | None]()
        for _, judge in self._judged:
            votes = getattr(getattr(judge, "panel", None), "votes", 1)
            found.update({model: votes * getattr(judge, "questions", 1) for model in models_of(judge)})
        if self._hallucination is not None:
            found.update(dict.fromkeys(self._hallucination.models, QUESTIONS_ABOUT_CLAIMS))
        return found

    @property
    def simulators(self) -> tuple[str | None, ...]:
        """The models that play the user of the task, None being the run's; empty where none does."""
        return () if self.task.user is None else (self.task.user.model,)

    @property
    def user_questions(self) -> Counter[str | None]:
        """The most questions that each of these models gets in one conversation; those that are asked again not counted."""
        user = self.task.user
        return Counter() if user is None else Counter({user.model: user.max_turns - (user.opening is not None)})

    @property
    def judges_goal(self) -> bool:
        """Whether a model judges if the goal of the simulated user was reached, because the task names no other evaluator."""
        return False

    @property
    def forbids_tools(self) -> bool:
        """Whether the task forbids any tool."""
        return self._forbidden is not None

    @property
    def judge(self) -> JudgeIdentity | None:
        """Who gives the evaluator's verdict, where models do."""
        if not (judged := self._judged):
            return None
        return joint_identity(identity_of(judge, name, self.settings.llm) for name, judge in judged)

    @property
    def claims_judge(self) -> JudgeIdentity | None:
        """Who verifies the claims of an answer for ``checks.hallucination``, where that is a model."""
        return identity_of(self._hallucination, None, self.settings.llm) if self._hallucination else None

    @property
    def scorers(self) -> tuple[str, ...]:
        """The canonical names of the scorers that give the evaluator's verdict, each once."""
        return tuple(dict.fromkeys(name for name, _ in self._named))

    @property
    def code_files(self) -> tuple[Path, ...]:
        """The files of the benchmark that these scorers run."""
        return tuple(path for _, each in self._named for path in getattr(each, "code_files", ()))

    @property
    def _named(self) -> tuple[tuple[str, Any], ...]:
        """The evaluator, or those of the set, by name."""
        if isinstance(self._evaluator, EvaluatorSet):
            return tuple((each.name, each.scorer) for each in self._evaluator.scorers)
        return () if self.scorer is None else ((self.scorer, self._evaluator),)

    @property
    def _judged(self) -> tuple[tuple[str, Any], ...]:
        """Those that ask models."""
        return tuple((name, each) for name, each in self._named if models_of(each))

    async def verdict(self, response: SkillResponse) -> Verdict:
        """The verdict of one answer, which is left as it was.

        The forbidden gate comes first and, when it fails, alone. A judging model is not asked about an answer that failed another
        gate already. A scorer that fails gives status `error`; nothing is raised.
        """
        return (await self.judged(response)).verdict

    async def judged(self, response: SkillResponse) -> Judged:
        """The verdict of one answer, with what missing votes leave open of its score."""
        if not self.models:
            return await self._uncounted(response)
        with counted() as spending:
            found = await self._uncounted(response)
        return found._replace(verdict=found.verdict.model_copy(update=spending.fields())) if spending.happened else found

    def violation(self, response: SkillResponse) -> Verdict | None:
        """The verdict of a run that called a forbidden tool, however it ended; None where it is not known to have called one."""
        return forbidden_verdict(self._forbidden, response, self.scorer)

    def open_question(self, known: SkillResponse | None) -> Reason | None:
        """Why it is not known whether a run without an answer called a forbidden tool; None where it is, or none is forbidden.

        `known` is what the run is known to have done.
        """
        if self._forbidden is None:
            return None
        unknown = unknown_calls(known or SkillResponse())
        if unknown is None:
            return None
        reports_any = known is not None and (known.messages is not None or known.tool_calls is not None)
        why = unknown.message if reports_any else NOT_REPORTED
        message = f"tools are forbidden, and which ones were called before is unknown: {why}"
        return Reason(code=TOOL_CALLS_UNKNOWN, message=message, where="expected.forbiddenTools")

    async def _uncounted(self, response: SkillResponse) -> Judged:
        if (forbidden := self.violation(response)) is not None:
            return Judged(forbidden)
        findings = Findings(self._weights, self._thresholds.min_score, self.scorer)
        self._check_calls(response, findings)
        if response.messages is not None or response.turns is not None:
            response = with_tool_calls(response)
        huge = is_long(response.output, HUGE_CHARS)
        if huge:
            await asyncio.to_thread(self._check_gates, response, findings)
        else:
            self._check_gates(response, findings)
        try:
            self._score_dimensions(response, findings)
            await self._check_claims(response, findings)
            await self._evaluate(response, findings, huge)
        except Exception as error:  # noqa: BLE001 - a scorer may be anyone's code: its exception becomes the item's status
            findings.error = error
        return Judged(findings.verdict(), findings.open_score)

    def _check_calls(self, response: SkillResponse, findings: Findings) -> None:
        """Before anything is filled in: whether the calls are known, and whether both sources report the same ones."""
        compared = self._forbidden is not None or bool(self._dimensions)
        if compared and (unknown := unknown_calls(response)) is not None:
            findings.output_gates.append(unknown)
            findings.forbidden_unknown = self._forbidden is not None
        if (compared or not {*self.scorers}.isdisjoint(COMPARES_CALLS)) and (
            disagreement := calls_disagree(response)
        ) is not None:
            findings.remarks.append(disagreement)

    def _check_gates(self, response: SkillResponse, findings: Findings) -> None:
        if self._output_text is not None:
            text = self._output_text.score(response)
            findings.output_gates += text.reasons
            if self._evaluator is None:
                findings.scores["output_quality"] = text.value
        findings.limits += limit_reasons(self._thresholds, response)

    def _score_dimensions(self, response: SkillResponse, findings: Findings) -> None:
        for name, dimension in self._dimensions.items():
            if (score := dimension.score(response)) is None:
                continue
            if name == "sequence_correctness" and self._sequence_gate:
                findings.output_gates += score.reasons
                score = replace(score, reasons=())
            findings.add_dimension(name, score)

    async def _check_claims(self, response: SkillResponse, findings: Findings) -> None:
        check = self._hallucination
        findings.claims_share = 0.0 if check is not None else None
        if check is not None and check.models and (findings.output_gates or findings.limits):
            findings.remarks.append(_CLAIMS_NOT_JUDGED)
            check = check.without_model()
        if check is None:
            return
        score = await check.score(response)
        if score is None:
            findings.claims_share = 1.0
            findings.remarks.append(_NO_CLAIMS)
        else:
            findings.claims_share = score.value
            findings.add_gate("hallucination", score)

    async def _evaluate(self, response: SkillResponse, findings: Findings, in_thread: bool) -> None:
        if self._evaluator is None:
            return
        if self._judged and (findings.output_gates or findings.limits):
            await self._evaluate_freely(response, findings, in_thread)
            return
        is_one = bool(self._judged) and not isinstance(self._evaluator, EvaluatorSet)  # a set says itself what was asked
        before = questions_so_far() if is_one else 0
        score = await self._scored(self._evaluator, response, in_thread)
        if score is not None:
            findings.add_evaluation(score)
        elif (reason := nothing_to_judge(self.scorer, response)) not in findings.output_gates:
            findings.output_gates.append(reason)
        if is_one and not asked_a_model(self._evaluator, before) and not findings.says("OUTPUT_EMPTY"):
            findings.remarks.append(_NO_MODEL_NEEDED)

    async def _evaluate_freely(self, response: SkillResponse, findings: Findings, in_thread: bool) -> None:
        """What can be said of an answer that failed a gate, without asking a model."""
        evaluator = self._evaluator
        free = evaluator.score_freely(response, in_thread=in_thread) if isinstance(evaluator, EvaluatorSet) else None
        if free is not None and (score := await free) is not None:
            findings.add_evaluation(score)
        else:
            findings.scores["output_quality"] = 0.0
            findings.remarks.append(_NOT_JUDGED)

    @staticmethod
    async def _scored(evaluator: Scorer | EvaluatorSet, response: SkillResponse, in_thread: bool) -> Score | None:
        if isinstance(evaluator, EvaluatorSet):
            return await evaluator.score(response, in_thread=in_thread)
        return await score_by(evaluator, response, in_thread=in_thread)


def _named(error: InputError, task: EvalTask, place: str) -> InputError:
    path = ".".join(part for part in (place, error.path) if part)
    return InputError(error.message, source=error.source, path=f"task {task.id!r}: {path}" if path else f"task {task.id!r}")
