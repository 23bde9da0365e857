"""The score of a set of evaluators from what each of them said: one reason for each that fails, and the rest as remarks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from eval_skills.core.errors import JudgeError
from eval_skills.core.models import AtLeast, Reason
from eval_skills.core.text import exact, one_line
from eval_skills.scorers.score import Score, remark
from eval_skills.scorers.task_scoring.combining import Outcome
from eval_skills.scorers.task_scoring.entries import Entry, Found, Group, PlacedScorer, Results, said_of
from eval_skills.scorers.task_scoring.verdict import distinct

_MESSAGE_CHARS = 1_000


def score_of_set(group: Group, results: Results, why_not_asked: str) -> Score:
    """The score of a set of which something was scored; `why_not_asked` is said of models that were not."""
    outcome = group.outcome(results)
    passed = bool(outcome.passed)
    failed = [] if passed else [entry for entry in group.entries if entry.outcome(results).passed is False]
    gates = [each for each in failed if outcome.gated and (each.required or each.outcome(results).gated)]
    rule = [] if passed else _rule_reasons(group, outcome, results, explained=bool(failed))
    return Score(
        _value(outcome, results),
        passed=passed,
        gates=tuple(_failure(each, results) for each in gates),
        reasons=(
            *(_failure(each, results) for each in failed if each not in gates),
            *rule,
            *_remarks(group, failed, results),
            *_unasked(group, results, why_not_asked),
        ),
        dimensions=dict(_dimensions(group, results)),
        metadata=_metadata(group, results),
    )


def _value(outcome: Outcome, results: Results) -> float:
    """The value of the set; where nothing that weighs was scored, the mean of what was, else the least it may be."""
    if outcome.value is not None:
        return outcome.value
    scored = [found.score.value for found in results.values() if found.score is not None and found.is_known]
    return math.fsum(scored) / len(scored) if scored else outcome.low


def _failure(entry: Entry, results: Results) -> Reason:
    """The one reason of an entry that fails."""
    return _said(entry, results, f"{entry.label}: ")


def _said(entry: Entry, results: Results, label: str) -> Reason:
    evaluator = entry.evaluator
    if isinstance(evaluator, Group):
        return _said_of_group(entry, evaluator, results, label)
    score = results[evaluator.place].score
    assert score is not None  # it has a verdict
    own = [each for each in (*score.gates, *score.reasons) if entry.negated or not each.informational]
    message = "; ".join(each.message for each in own) or score.reason or f"its score is {score.value:.6g}"
    if entry.negated:
        message = f"expected that it does not pass, and it does: {message}"
    elif evaluator.threshold is not None and not score.gates:
        got = distinct(score.value, evaluator.threshold)
        message = f"expected a score of at least {exact(evaluator.threshold)}, got {got}: {message}"
    first = own[0] if own else Reason(code="OUTPUT_REJECTED", message="", where="output")
    code = "EXPECTED_NOT_TO_PASS" if entry.negated else first.code
    return Reason(code=code, message=one_line(f"{label}{message}", _MESSAGE_CHARS), where=first.where)


def _said_of_group(entry: Entry, group: Group, results: Results, label: str) -> Reason:
    if entry.negated:
        message = f"{label}expected that it does not pass, and it does"
        return Reason(code="EXPECTED_NOT_TO_PASS", message=message, where="evaluators")
    failed = [each for each in group.entries if each.outcome(results).passed is False]
    rule = _rule_reasons(group, group.outcome(results), results, explained=False)
    inner = [*rule, *(_failure(each, results) for each in failed)]
    message = "; ".join(each.message for each in inner)
    return Reason(code=inner[0].code, message=one_line(f"{label}{message}", _MESSAGE_CHARS), where=inner[0].where)


def _rule_reasons(group: Group, outcome: Outcome, results: Results, *, explained: bool) -> list[Reason]:
    """What the rule asked for and got, where that is not the verdict of each; a remark where entries explain the failure."""
    rule, threshold = group.combination.rule, group.combination.threshold
    if isinstance(rule, AtLeast):
        counted = [each.outcome(results).passed for each in group.entries if each.weight > 0]
        if len(counted) - counted.count(False) >= rule.at_least:
            return []
        message = f"expected at least {rule.at_least} of {len(counted)} evaluators to pass, got {counted.count(True)}"
        found = Reason(code="TOO_FEW_PASSED", message=message, where="evaluators")
    elif threshold is not None and outcome.value is not None and outcome.high < threshold:
        rest = "" if outcome.is_whole else f" of what was scored, and at most {distinct(outcome.high, threshold)} of all"
        message = f"expected a weighted mean of at least {exact(threshold)}, got {distinct(outcome.value, threshold)}{rest}"
        found = Reason(code="MEAN_BELOW_THRESHOLD", message=message, where="evaluators")
    else:
        return []
    return [found.as_remark() if explained else found]


def _remarks(group: Group, failed: list[Entry], results: Results) -> Iterator[Reason]:
    """What else was said: all of it by entries that did not fail, and only remarks by those that did."""
    for entry in group.entries:
        explained = entry in failed
        for scorer, label in _labelled(entry):
            if (found := results.get(scorer.place)) is not None:
                yield from _said_beside(scorer, label, found, explained=explained)


def _said_beside(scorer: PlacedScorer, label: str, found: Found, *, explained: bool) -> Iterator[Reason]:
    if found.score is None or not (found.is_known or explained):
        yield remark(_code_of(found), one_line(f"{label}: not known: {said_of(found)}", _MESSAGE_CHARS), scorer.place)
        return
    said = [*found.score.gates, *found.score.reasons]
    if not said and found.score.reason and not explained:
        code = "OUTPUT_ACCEPTED" if found.score.passed else "OUTPUT_REJECTED"
        said = [Reason(code=code, message=found.score.reason, where="output")]
    for each in said:
        if each.informational or not explained:
            yield remark(each.code, f"{label}: {each.message}", each.where)


def _code_of(found: Found) -> str:
    """The code of what is not known."""
    if found.nothing is not None:
        return found.nothing.code
    if found.score is not None and found.score.reasons:
        return found.score.reasons[0].code
    return found.error.code if isinstance(found.error, JudgeError) else "SCORER_ERROR"


def _labelled(entry: Entry) -> Iterator[tuple[PlacedScorer, str]]:
    if isinstance(entry.evaluator, PlacedScorer):
        yield entry.evaluator, entry.label
    else:
        for inner in entry.evaluator.entries:
            yield from _labelled(inner)


def _unasked(group: Group, results: Results, why: str) -> Iterator[Reason]:
    """A remark on the models that gave no verdict; its code says whether any did."""
    judged = {scorer.place: label for entry in group.entries for scorer, label in _labelled(entry) if scorer.models}
    skipped = [label for place, label in judged.items() if place not in results]
    heard = any(results[place].score is not None and results[place].by_a_model for place in judged if place in results)
    if skipped:
        yield remark("NOT_ASKED" if heard else "NOT_JUDGED", f"not asked: {', '.join(skipped)}; {why}", "evaluators")
    elif judged and not heard:
        yield remark("NOT_JUDGED", "no model gave a verdict, and that of the set needs none", "evaluators")


def _dimensions(group: Group, results: Results) -> Iterator[tuple[str, float]]:
    for entry in group.entries:
        value = entry.outcome(results).value
        if entry.name is not None and value is not None:
            yield entry.name, value
        if isinstance(entry.evaluator, Group):
            yield from _dimensions(entry.evaluator, results)
        elif (found := results.get(entry.evaluator.place)) is not None and found.score is not None:
            yield from ((f"{entry.evaluator.prefix}{name}", share) for name, share in found.score.dimensions.items())


def _metadata(group: Group, results: Results) -> dict[str, Any]:
    """What each scorer said, and beside it what the only judge said of its own work, if there is just one."""
    scored = [
        (each, score)
        for each in group.scorers
        if (found := results.get(each.place)) is not None and (score := found.score) is not None and found.is_known
    ]
    entries = [
        {"place": each.place, "scorer": each.name, "value": score.value, "passed": score.passed, **_own(score)}
        for each, score in scored
    ]
    judges = [score.metadata["judge"] for each, score in scored if each.models and "judge" in score.metadata]
    return {"evaluators": entries, **({"judge": judges[0]} if len(judges) == 1 else {})}


def _own(score: Score) -> dict[str, Any]:
    return {"metadata": dict(score.metadata)} if score.metadata else {}
