"""Answers that know nothing, and how many tasks they pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eval_skills.core.fingerprint import canonical_json
from eval_skills.core.text import excerpt, plural
from eval_skills.engine.task_linting.case import Case, Unchecked, right_answers
from eval_skills.engine.task_linting.finding import Finding, Severity
from eval_skills.scorers.answer import text_of

FEWEST_CASES = 3
"""Of fewer tasks the share that a trivial answer passes says nothing."""

TOO_MANY = 0.5
"""A trivial answer that passes more than this share is a finding."""


@dataclass(frozen=True, slots=True)
class Share:
    """How many of `cases` an answer passed that knows nothing; `what` is the answer in words."""

    what: str
    passed: int
    cases: int


async def trivial_shares(cases: Sequence[Case]) -> tuple[dict[str, Share], set[str]]:
    """The share of cases that each trivial answer passes, and the labels of those that an empty answer does.

    The answers: an empty text (or null), the input again (as it is, or as text), and the one that is right most often.
    """
    constant = _commonest(cases)
    answers: dict[str, tuple[str, list[Any] | None]] = {
        "empty": ("an empty answer", ["", None]),
        "echo": ("the input as the answer", None),
        "constant": (f"the same answer always ({excerpt(constant, 60)})", [constant]),
    }
    if not cases or constant is None:
        answers.pop("constant")
    shares, empty = {}, set[str]()
    for name, (what, given) in answers.items():
        passed = [case for case in cases if await _passes_any(case, _echo(case) if given is None else given)]
        shares[name] = Share(what, len(passed), len(cases))
        empty |= {case.label for case in passed} if name == "empty" else set()
    return shares, empty


async def _passes_any(case: Case, answers: Sequence[Any]) -> bool:
    for answer in answers:
        try:
            if (await case.verdict(answer)).passed:
                return True
        except Unchecked:
            continue
    return False


def _echo(case: Case) -> list[Any]:
    asked = case.expects.asked
    return [asked, text_of(asked)]


def _commonest(cases: Sequence[Case]) -> Any:
    """The answer that most cases call right; None where none is written down."""
    firsts = [answers[0] for case in cases if (answers := right_answers(case.expects))]
    counts = Counter(map(canonical_json, firsts))
    return next((answer for answer in firsts if canonical_json(answer) == counts.most_common(1)[0][0]), None)


def no_negative_cases(shares: dict[str, Share]) -> list[Finding]:
    """A finding for each trivial answer that passes more than half of the cases; an error where it passes all."""
    found = []
    for share in shares.values():
        if share.cases < FEWEST_CASES or share.passed <= TOO_MANY * share.cases:
            continue
        passes = "all" if share.passed == share.cases else f"{share.passed:,} of"
        message = f"{share.what} passes {passes} {plural(share.cases, 'expectation')} ({share.passed / share.cases:.0%})"
        fix = "add tasks that it fails: other right answers, or stricter evaluators"
        severity: Severity = "error" if share.passed == share.cases else "warning"
        found.append(Finding("no-negative-case", severity, None, message.replace("%", " %"), fix))
    return found


def empty_answers(cases: Sequence[Case], empty: set[str]) -> list[Finding]:
    """The cases that an empty answer passes, though it is not what they expect."""
    fix = "expect something that only a right answer has, or remove the task"
    return [
        Finding("empty-answer-passes", "warning", case.task, f"{case.place}an empty answer passes", fix)
        for case in cases
        if case.label in empty and not any(each in ("", None, [], {}) for each in right_answers(case.expects))
    ]
