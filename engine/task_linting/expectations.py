"""Expectations that no answer meets, and answers that stand in the input already."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from eval_skills.core.text import comparable, excerpt, one_line
from eval_skills.engine.task_linting.case import NO_ANSWER_KNOWN, Case, Unchecked, answer_texts, right_answers
from eval_skills.engine.task_linting.finding import Finding
from eval_skills.scorers.answer import text_of

SHORTEST_LEAK = 4
"""Shorter answers occur in an input by chance."""

_OTHERS = 500
"""How many other answers of the benchmark are looked for in an input: some of them there make it a list to choose from."""

_TRUTHS = frozenset({"true", "false", "null", "none"})


async def impossible(case: Case) -> list[Finding]:
    """A finding where every answer that is written down as right fails; the fix names the evaluator's own reason.

    Raises:
        Unchecked: no answer is written down, or the evaluator failed.
    """
    answers = right_answers(case.expects)
    if not answers:
        raise Unchecked(NO_ANSWER_KNOWN)
    first = None
    for answer in answers:
        verdict = await case.verdict(answer)
        if verdict.passed:
            return []
        first = first or verdict
    why = first.reasons[0].message if first is not None and first.reasons else "without a reason"
    message = f"{case.place}the expected answer {excerpt(answers[0], 80)} fails its own evaluator: {one_line(why)}"
    fix = "correct the expected answer, or the evaluator's options"
    return [Finding("impossible-expectation", "error", case.task, message, fix)]


def leaked(cases: Sequence[Case]) -> Iterator[Finding]:
    """The cases whose expected answer stands, as whole words, in what is asked.

    An input that also holds the answers of other tasks is a list to choose from, and leaks nothing.
    """
    known = list(dict.fromkeys(text for case in cases for text in answer_texts(case.expects) if _tells(text)))[:_OTHERS]
    for case in cases:
        own = [text for text in answer_texts(case.expects) if _tells(text)]
        asked = comparable(text_of(case.expects.asked))
        found = next((text for text in own if _stands_in(text, asked)), None)
        same = {comparable(text.strip()) for text in own}
        others = (text for text in known if comparable(text.strip()) not in same)
        if found is None or any(_stands_in(text, asked) for text in others):
            continue
        message = f"{case.place}the expected answer {excerpt(found, 80)} stands in the input"
        fix = "reword the input; leave it where finding the answer in the input is the task"
        yield Finding("leaked-answer", "warning", case.task, message, fix)


def _tells(text: str) -> bool:
    return len(text.strip()) >= SHORTEST_LEAK and comparable(text.strip()) not in _TRUTHS


def _stands_in(text: str, asked: str) -> bool:
    wanted = comparable(text.strip())
    return wanted in asked and re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", asked) is not None


async def contradict(one: Case, other: Case) -> bool:
    """Whether each of two cases refuses every answer that the other one calls right; false where that is not known."""
    mine, theirs = right_answers(one.expects), right_answers(other.expects)
    if not mine or not theirs:
        return False
    return not (await _accepts(one, theirs) or await _accepts(other, mine))


async def _accepts(case: Case, answers: Sequence[Any]) -> bool:
    for answer in answers:
        if (await case.verdict(answer)).passed:
            return True
    return False
