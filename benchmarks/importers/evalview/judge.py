"""Who judges the output of an EvalView case: a model, as there, where one is named; and what holds for all cases of a suite."""

from __future__ import annotations

from typing import Any, Literal

from eval_skills.benchmarks.importers.evalview.case import Case
from eval_skills.benchmarks.importers.evalview.config import SuiteDefaults
from eval_skills.benchmarks.importers.evalview.task import JUDGE
from eval_skills.core.errors import InputError

JudgeIs = Literal["named", "not named", "unknown"]
"""Whether a model judges in the run that the cases are read for; unknown: they are read for no run."""

QUALITY = (
    "It answers the question.",
    "What it says is accurate: nothing in it is made up.",
    "It is well structured.",
    "It follows the instructions in the question.",
)
"""What is asked of an output where the case has no criteria of its own: the four that EvalView documents."""

UNJUDGED = (
    "no model judges the output, for none is named (--judge-model PROVIDER/MODEL or llm.model): "
    "what else is expected makes the score"
)


def completed(task: dict[str, Any], case: Case, defaults: SuiteDefaults, judge: JudgeIs) -> dict[str, Any]:
    """The task's data with what the suite says for all of its cases, and with a model that judges where it needs one.

    Raises:
        InputError: nothing of the answer would be scored; `path` names the key.
    """
    weights = {**defaults.weights, **(task.get("weights") or {})}
    timeout = {"timeout_ms": round(defaults.timeout_s * 1000) or 1} if defaults.timeout_s and "timeout_ms" not in task else {}
    whole = {**task, **timeout, **({"weights": weights} if weights else {})}
    if (evaluator := _evaluator(whole, case, judge)) is not None:
        return {**whole, "evaluator": evaluator}
    if not _expects(whole) and not _only_limits(case):
        raise _nothing_scored(case)
    return whole


def is_unjudged(task: dict[str, Any], case: Case, judge: JudgeIs) -> bool:
    """Whether EvalView would have had a model judge the output, and here nothing does."""
    return judge == "not named" and case.thresholds.min_score is not None and not _scored_by(task)


def _evaluator(task: dict[str, Any], case: Case, judge: JudgeIs) -> dict[str, Any] | None:
    if _scored_by(task) or case.thresholds.min_score is None or judge == "not named":
        return None
    return None if judge == "unknown" and _expects(task) else {"type": JUDGE, "criteria": list(QUALITY)}


def _scored_by(task: dict[str, Any]) -> list[str]:
    """The scorers of the task's own answer, those of its turns left out."""
    return [each["type"] for each in (task.get("evaluators") or [task.get("evaluator")]) if each]


def _expects(task: dict[str, Any]) -> bool:
    """Whether anything of the answer is scored, or is forbidden."""
    return any(task.get(part) for part in ("evaluator", "evaluators", "expected", "checks", "turns"))


def _only_limits(case: Case) -> bool:
    """Whether the case bounds cost or latency, and asks for no score."""
    limits = case.thresholds
    return limits.min_score is None and (limits.max_cost is not None or limits.max_latency is not None)


def _nothing_scored(case: Case) -> InputError:
    other = "give expected.tools, expected.tool_sequence, expected.output.contains, .regex_patterns or .json_schema"
    if case.thresholds.min_score is None:
        others = f"{other}, thresholds.max_cost or .max_latency, or thresholds.min_score and a judge"
        return InputError(f"nothing is expected of the answer; {others}", path="expected")
    judge = "name it with --judge-model PROVIDER/MODEL or llm.model"
    return InputError(
        f"nothing of the answer is scored: EvalView has a model judge it, and none is named; {judge}, or {other}",
        path="thresholds.min_score",
    )
