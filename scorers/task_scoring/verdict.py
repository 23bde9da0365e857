"""The limits of a task and the weights of its dimensions, and how the findings about one answer become its verdict."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from eval_skills.core.errors import InputError, ItemError, JudgeError
from eval_skills.core.models import Reason, SkillResponse, Thresholds, Verdict, Weights
from eval_skills.core.models.evaluators import SET
from eval_skills.core.models.result import ErrorKind
from eval_skills.core.text import exact, one_line, plural
from eval_skills.scorers.score import OpenValue, Score, remark

if TYPE_CHECKING:
    from eval_skills.scorers.tools.forbidden import ForbiddenTools


_NOTHING = remark("NOTHING_EXPECTED", "no dimension is configured, so the score is 1", "expected")


class Judged(NamedTuple):
    """The verdict on an answer, and between which values its score lies where a panel lacks votes that could change it."""

    verdict: Verdict
    open_score: OpenValue | None = None


@dataclass(slots=True)
class Findings:
    """What is known about one answer so far.

    `weights` are those of the configured dimensions; `scorer` is the evaluator's name, None without one. Reasons lie in five
    lists, in the order in which a report shows them: failed gates of the output, tools and sequence, the evaluator's, failed
    limits, remarks. A configured dimension that could not be computed counts as 0: an answer is never better for reporting less.
    `forbidden_unknown` is the same for the forbidden gate. `claims_share` is the score where only claims are checked (None: they
    are not). `open_score` is as in `Judged`.
    """

    weights: Mapping[str, float]
    min_score: float | None
    scorer: str | None
    scores: dict[str, float] = field(default_factory=dict)
    parts: dict[str, float] = field(default_factory=dict)
    output_gates: list[Reason] = field(default_factory=list)
    tools: list[Reason] = field(default_factory=list)
    evaluation: list[Reason] = field(default_factory=list)
    limits: list[Reason] = field(default_factory=list)
    remarks: list[Reason] = field(default_factory=list)
    evaluator_passed: bool | None = None
    error: Exception | None = None
    gates: dict[str, float] = field(default_factory=dict)
    forbidden_unknown: bool = False
    claims_share: float | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    open_score: OpenValue | None = None

    def add_dimension(self, name: str, score: Score) -> None:
        """A scored dimension of the agent's run."""
        self.scores[name] = score.value
        self.tools += [each for each in score.reasons if not each.informational]
        self.remarks += [each for each in score.reasons if each.informational]
        if score.metadata:
            self.metadata[name] = dict(score.metadata)

    def add_gate(self, name: str, score: Score) -> None:
        """A gate with a share of its own, which is shown among the dimensions and weighs nothing."""
        self.gates[name] = score.value
        self.metadata[name] = dict(score.metadata)
        informative = [each for each in score.reasons if score.passed or each.informational]
        self.output_gates += [each for each in score.reasons if each not in informative]
        self.remarks += (each.as_remark() for each in informative)

    def says(self, code: str) -> bool:
        """Whether a reason has this code."""
        return any(each.code == code for each in (*self.output_gates, *self.evaluation, *self.remarks))

    def add_evaluation(self, score: Score) -> None:
        """The evaluator's score, which is the dimension `output_quality`; its own dimensions are shown beside it.

        Raises:
            JudgeError: votes that a panel did not get could decide whether `min_score` is reached.
        """
        open_score = None if score.open_value is None or score.gates else self._open_mean(score.open_value)
        if open_score is not None and self.min_score is not None and could_decide(open_score, self.min_score):
            raise open_score.error
        self.open_score = open_score
        self.scores["output_quality"] = score.value
        self.parts = dict(score.dimensions)
        self.evaluator_passed = score.passed
        self.output_gates += score.gates
        self.metadata |= score.metadata
        reasons = score.reasons
        if not reasons and score.reason:
            code = "OUTPUT_ACCEPTED" if score.passed else "OUTPUT_REJECTED"
            reasons = (Reason(code=code, message=score.reason, where="output"),)
        informative = [each for each in reasons if score.passed or each.informational]
        self.evaluation += [each for each in reasons if each not in informative]
        self.remarks += (each.as_remark() for each in informative)

    def _open_mean(self, value: OpenValue) -> OpenValue:
        """Between which values the mean of all dimensions lies, where that of the output is open."""
        low, high = (self._mean(self.scores | {"output_quality": end}) for end in (value.low, value.high))
        return replace(value, low=low, high=high)

    def verdict(self) -> Verdict:
        """Status `error` if a scorer failed and no gate had failed, otherwise pass or fail with the weighted mean as score."""
        if self.error is not None and not self.output_gates and not self.limits:
            return self._error(self.error)
        if self.error is not None:
            self.remarks.append(error_reason(self.error, self.scorer).as_remark())
        score = self._score()
        enough = self._is_enough(score)
        passed = enough and not self.output_gates and not self.limits
        reasons = self._reasons(score, enough)
        return self._build("pass" if passed else "fail", score, reasons)

    def _score(self) -> float:
        if self.forbidden_unknown:
            return 0.0
        if self.weights:
            return self._mean(self.scores)
        if self.claims_share is not None:
            return self.claims_share
        self.remarks.append(_NOTHING)
        return 1.0

    def _mean(self, scores: Mapping[str, float]) -> float:
        return weighted_mean({**dict.fromkeys(self.weights, 0.0), **scores}, self.weights) or 0.0

    def _is_enough(self, score: float) -> bool:
        if self.min_score is not None:
            return reaches(score, self.min_score)
        if self.scorer is not None:
            return bool(self.evaluator_passed)
        if not self.weights and self.claims_share is not None:
            return True  # the check's own threshold is a gate
        return reaches(score, 100)

    def _reasons(self, score: float, enough: bool) -> list[Reason]:
        limits = list(self.limits)
        if self.min_score is not None and not enough:
            limits.insert(0, below_min(score, self.min_score))
        # without min_score the evaluator decides alone, so missing tools explain nothing
        tools_explain = not enough and (self.min_score is not None or self.scorer is None)
        failures = [*self.output_gates, *(self.tools if tools_explain else ()), *(() if enough else self.evaluation), *limits]
        informative = [*(() if tools_explain else self.tools), *(self.evaluation if enough else ()), *self.remarks]
        return [*failures, *(each.as_remark() for each in informative)]

    def _error(self, error: Exception) -> Verdict:
        kind: ErrorKind = error.kind if isinstance(error, JudgeError) else "scorer"
        reasons = [error_reason(error, self.scorer), *(each.as_remark() for each in (*self.tools, *self.remarks))]
        return self._build("error", None, reasons, kind)

    def _build(self, status: Any, score: float | None, reasons: Iterable[Reason], kind: ErrorKind | None = None) -> Verdict:
        return Verdict(
            status=status,
            score=score,
            passed=status == "pass",
            scorer=self.scorer,
            dimensions={**self.parts, **self.gates, **self.scores},
            reasons=list(reasons),
            error_kind=kind,
            forbidden_unknown=self.forbidden_unknown,
            metadata=self.metadata,
        )


def forbidden_verdict(gate: ForbiddenTools | None, response: SkillResponse, scorer: str | None) -> Verdict | None:
    """The verdict of a run that called a forbidden tool: 0, with nothing else computed. None where it called none."""
    violations = gate.violations_of(response) if gate is not None else ()
    return Verdict(status="fail", score=0.0, passed=False, scorer=scorer, reasons=list(violations)) if violations else None


def error_reason(error: Exception, scorer: str | None) -> Reason:
    """Why there is no score."""
    if isinstance(error, JudgeError):
        return Reason(code=error.code, message=one_line(str(error), 400), where="evaluator")
    kind = "" if isinstance(error, ItemError) else f"{type(error).__name__}: "
    who = f"scorer {scorer!r} failed" if scorer else "the scoring of tool calls failed"
    who = "the verdict of the evaluators is open" if scorer == SET else who
    return Reason(code="SCORER_ERROR", message=f"{who}: {kind}{one_line(str(error), 400)}", where="evaluator")


TOLERANCE = 1e-9
"""Points of score, and share of a cost, that float arithmetic may lose: 0.1 + 0.2 is at most 0.3."""


def reaches(score: float, min_score: float) -> bool:
    """Whether a score in [0, 1] reaches a limit in points of 100."""
    return score * 100 >= min_score - TOLERANCE


def could_decide(score: OpenValue, min_score: float) -> bool:
    """Whether a limit is reached at one end of an open score, and not at the other."""
    return reaches(score.low, min_score) != reaches(score.high, min_score)


def below_min(score: float, min_score: float) -> Reason:
    """The reason of a score that does not reach its limit."""
    message = f"expected a score of at least {exact(min_score)} of 100, got {distinct(score * 100, min_score)}"
    return Reason(code="SCORE_BELOW_MIN", message=message, where="thresholds.minScore")


def limit_reasons(thresholds: Thresholds, response: SkillResponse) -> list[Reason]:
    """The reasons of a cost, latency or number of turns beyond its limit. An unknown one fails: it may be beyond."""
    cost, latency = response.cost_usd, response.latency_ms
    reasons = [
        _limit("COST", "USD", thresholds.max_cost, cost, "the skill did not report costUsd", tolerance=TOLERANCE),
        _limit("LATENCY", "ms", thresholds.max_latency, latency, "it was not measured"),
        _too_many_turns(thresholds.max_turns_used, len(response.turns) if response.turns is not None else 1),
    ]
    return [reason for reason in reasons if reason is not None]


def _limit(what: str, unit: str, limit: float | None, value: float | None, unknown: str, tolerance: float = 0) -> Reason | None:
    if limit is None or (value is not None and value <= limit * (1 + tolerance)):
        return None
    name = what.lower()
    code, got = (
        (f"{what}_UNKNOWN", f"none: {unknown}") if value is None else (f"{what}_ABOVE_MAX", f"{distinct(value, limit)} {unit}")
    )
    message = f"expected a {name} of at most {exact(limit)} {unit}, got {got}"
    return Reason(code=code, message=message, where=f"thresholds.max{name.title()}")


def _too_many_turns(limit: int | None, used: int) -> Reason | None:
    if limit is None or used <= limit:
        return None
    message = f"expected a conversation of at most {plural(limit, 'turn')}, got {used:,}"
    return Reason(code="TURNS_ABOVE_MAX", message=message, where="thresholds.maxTurnsUsed")


def distinct(value: float, limit: float) -> str:
    """A number beside its limit, with as many digits as it takes to tell them apart."""
    short = f"{value:.6g}"
    return repr(value) if short == f"{limit:.6g}" else short


DEFAULT_WEIGHTS: Mapping[str, float] = {"tool_accuracy": 0.3, "output_quality": 0.5, "sequence_correctness": 0.2}


def effective_weights(configured: Collection[str], of_run: Weights, of_task: Weights | None) -> dict[str, float]:
    """The weights of the configured dimensions: defaults, then the run's, then the task's, key by key. They need not sum to 1.

    Raises:
        InputError: every configured dimension weighs 0, so there is no mean.
    """
    weights = {name: _weight(name, of_task, of_run) for name in DEFAULT_WEIGHTS if name in configured}
    if weights and not any(weights.values()):
        of_this_task = of_task is not None and any(getattr(of_task, name) is not None for name in weights)
        whose = "" if of_this_task else " by the run's weights in the configuration or the call"
        message = f"every configured dimension weighs 0{whose} ({', '.join(weights)}); give at least one a weight above 0"
        raise InputError(message, path="weights" if of_this_task else "")
    return weights


def _weight(name: str, *layers: Weights | None) -> float:
    given = (getattr(layer, name) for layer in layers if layer is not None)
    return next((weight for weight in given if weight is not None), DEFAULT_WEIGHTS[name])


def weighted_mean(scores: Mapping[str, float], weights: Mapping[str, float]) -> float | None:
    """Σ weight · score / Σ weight over the dimensions that have a score, in [0, 1]; None when those weigh nothing."""
    largest = max((weights[name] for name in scores), default=0.0)
    if not largest:
        return None
    exponent = -math.frexp(largest)[1]  # a power of two: no digit is lost, and neither sum leaves the range of floats
    share = {name: math.ldexp(weights[name], exponent) for name in scores}
    mean = sum(share[name] * score for name, score in scores.items()) / sum(share.values())
    return min(1.0, max(0.0, mean))  # renormalising may leave the range by the last binary digit
