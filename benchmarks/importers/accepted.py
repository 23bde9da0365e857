"""Several right answers to one question, as a pattern of the scorer ``regex``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from eval_skills.benchmarks.importers.rows import Row, Skip, Task

_ARTICLE = "(?:the|an|a)"


def one_of(answers: Sequence[str]) -> dict[str, Any]:
    """The evaluator that passes exactly these answers, whatever their case, outer white space, leading article and full stop."""
    told = dict.fromkeys(" ".join(answer.split()).rstrip(".") for answer in answers)
    return _whole(rf"(?:{_ARTICLE}\s+)?(?:{'|'.join(_words(_without_article(answer)) for answer in told)})")


def _whole(pattern: str) -> dict[str, Any]:
    """The evaluator that passes an answer which is nothing but this pattern."""
    return {"type": "regex", "patterns": [rf"\A\s*(?:{pattern})\.?\s*\Z"], "caseSensitive": False}


def _without_article(answer: str) -> str:
    return re.sub(rf"^{_ARTICLE}\s+(?=\S)", "", answer, flags=re.IGNORECASE)


def _words(answer: str) -> str:
    return r"\s+".join(re.escape(word) for word in answer.split())


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def choice_task(row: Row, question: str, choices: Sequence[tuple[str, str]], right: int) -> Task:
    """A question with labelled choices; the label passes, and so do the right choice's text and both together.

    Where that text names another choice, too (it is its label or its text, whatever the case), the label alone passes.

    Raises:
        InputError: there are fewer than two choices, or the right one is not among them.
        Skip: two choices have one label.
    """
    if len(choices) < 2:
        raise row.refusal(f"expected at least two choices, got {len(choices)}")
    if not 0 <= right < len(choices):
        raise row.refusal(f"the right choice is number {right + 1} of {len(choices)}")
    if len({label.casefold() for label, _ in choices}) < len(choices):
        raise Skip("two of its choices have the same label (whatever its case), so that a label does not say which is meant")
    label, text = choices[right]
    named = rf"\(?{re.escape(label)}\)?[.:]?"
    pattern = rf"{named}|(?:{named}\s+)?{_words(text.rstrip('.'))}" if text.strip(" .") else named
    if any(_passes(pattern, name) for other in (*choices[:right], *choices[right + 1 :]) for name in _names(*other)):
        pattern = named
    return {
        "description": " ".join(question.split())[:80],
        "inputData": {"question": question, "choices": dict(choices), "instruction": "Answer with the label of one choice."},
        "expectedOutput": {"value": label},
        "evaluator": _whole(pattern),
    }


def _names(label: str, text: str) -> tuple[str, ...]:
    """What an answer may call a choice."""
    return (text, *(each + more for each in (label, f"({label})") for more in ("", ".", ":", f" {text}", f". {text}")))


def _passes(pattern: str, answer: str) -> bool:
    return re.search(_whole(pattern)["patterns"][0], answer, re.IGNORECASE) is not None


def right_choice(row: Row, key: str, labels: Sequence[str]) -> int:
    """The place of the right choice, which is given as its label or by its number from 0.

    Raises:
        InputError: it is neither.
        Skip: it is not published.
    """
    value = row.data.get(key)
    if not row.has(key) or value in (-1, "-1", "?"):
        raise Skip("the right choice is not published")
    text = str(value).strip()
    if text in labels and not isinstance(value, int):
        return list(labels).index(text)
    if isinstance(value, bool) or not text.isdecimal():
        raise row.refusal(f"expected one of {', '.join(labels)}, or a number from 0; got {text[:40]!r}", key)
    if int(text) >= len(labels):
        raise row.refusal(f"the right choice is {text}, and there are {len(labels)}, counted from 0", key)
    return int(text)
