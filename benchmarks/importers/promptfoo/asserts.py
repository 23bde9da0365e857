"""Assertions of promptfoo as scorers of ours.

Those about the text of the answer become patterns of one scorer ``regex``, which passes when all are found and whose score is
the share, as promptfoo's is where weights are equal. Cost and latency are thresholds. What asks a model, or checks JSON, can
stand alone beside these; whatever else is skipped with its reason.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from eval_skills.benchmarks.importers.rows import Row, Skip, Task
from eval_skills.core.documents.patterns import compiled_pattern
from eval_skills.core.errors import InputError
from eval_skills.core.text import excerpt

_JSON = {"type": ["object", "array", "number", "boolean", "null"]}
_CODE = ("javascript", "python", "ruby", "webhook")
_OF_LISTS = ("contains-all", "contains-any", "icontains-all", "icontains-any")
_OF_TEXT = ("equals", "contains", "icontains", "starts-with", "regex")


@dataclass(slots=True)
class Checks:
    """What the assertions of one test come to: patterns, at most one other evaluator, and thresholds."""

    patterns: list[str] = field(default_factory=list)
    evaluator: dict[str, Any] | None = None
    thresholds: dict[str, float] = field(default_factory=dict)

    def task(self, threshold: float | None) -> Task:
        """The part of the task that says how it is scored; `threshold` is the score that the test must reach.

        Raises:
            Skip: there is nothing that can be scored, or more than one task can hold.
        """
        if self.patterns and self.evaluator is not None:
            raise Skip("it has assertions of several sorts, and a task has one evaluator")
        evaluator = self.evaluator or ({"type": "regex", "patterns": self.patterns} if self.patterns else None)
        limits = dict(self.thresholds)
        if threshold is not None and evaluator is not None and (len(self.patterns) > 1 or self.evaluator):
            if limits:
                raise Skip("it has a threshold over assertions of cost or latency, which are gates here")
            limits["minScore"] = threshold * 100
        if evaluator is None and not limits:
            raise Skip("it has no assertions, so nothing is expected of the answer")
        return ({"evaluator": evaluator} if evaluator else {}) | ({"thresholds": limits} if limits else {})


def checks_of(asserts: list[Any], row: Row) -> Checks:
    """The checks of a test's assertions.

    Raises:
        Skip: one of them cannot be done here, or they weigh differently.
        InputError: one of them is malformed.
    """
    checks = Checks()
    given = [_assertion(row, each, index) for index, each in enumerate(asserts)]
    if len({each.get("weight", 1) for each in given}) > 1:
        raise Skip("its assertions have different weights, and a task has one evaluator")
    for index, each in enumerate(given):
        _add(checks, each, Row(f"{row.place}.assert[{index}]", each))
    return checks


def _assertion(row: Row, value: Any, index: int) -> dict[str, Any]:
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        raise row.refusal(f"expected an object with a type, got {excerpt(value, 80)}", f"assert[{index}]")
    return value


def _add(checks: Checks, given: dict[str, Any], row: Row) -> None:
    name = given["type"].removeprefix("not-")
    refused = given["type"].startswith("not-")
    if "transform" in given:
        raise Skip("an assertion transforms the answer with code first")
    if name == "equals" and not refused and isinstance(given.get("value"), dict | list):
        _evaluate(checks, {"type": "exact", "value": given["value"]})
    elif name in _OF_LISTS or name in _OF_TEXT:
        checks.patterns += _patterns(name, refused, given.get("value"), row)
    elif name in ("cost", "latency") and not refused:
        key = {"cost": "maxCost", "latency": "maxLatency"}[name]
        checks.thresholds[key] = min(_number(row, "threshold"), checks.thresholds.get(key, float("inf")))
    elif name in ("is-json", "llm-rubric") and not refused:
        _evaluate(checks, _json(given, row) if name == "is-json" else _rubric(given, row))
    elif name in _CODE:
        raise Skip(f"its assertion {name} is code")
    else:
        raise Skip(f"its assertion {given['type']} has no equivalent here")


def _evaluate(checks: Checks, evaluator: dict[str, Any]) -> None:
    if checks.evaluator is not None:
        raise Skip("it has assertions of several sorts, and a task has one evaluator")
    checks.evaluator = evaluator


def _json(given: dict[str, Any], row: Row) -> dict[str, Any]:
    schema = given.get("value")
    if isinstance(schema, str):
        raise Skip("the schema of its assertion is-json is a text or a file")
    if schema is not None and not isinstance(schema, dict):
        raise row.refusal(f"expected a JSON Schema, got {excerpt(schema, 80)}", "value")
    return {"type": "json_schema", "schema": schema or _JSON}


def _rubric(given: dict[str, Any], row: Row) -> dict[str, Any]:
    criteria = row.text("value")
    if criteria.startswith("file://"):
        raise Skip("the rubric of its assertion llm-rubric is a file")
    floor = {"threshold": _number(row, "threshold")} if "threshold" in given else {}
    return {"type": "llm_judge", "criteria": criteria, **floor}


def _patterns(name: str, refused: bool, value: Any, row: Row) -> list[str]:
    if name in _OF_LISTS:
        texts = [text for text in re.split(r"\s*,\s*", value.strip()) if text] if isinstance(value, str) else row.texts("value")
    else:
        texts = [str(value) if isinstance(value, int | float) and not isinstance(value, bool) else row.text("value")]
    if not texts:
        raise row.refusal("the list is empty", "value")
    if any(text.startswith("file://") for text in texts):
        raise Skip(f"the value of its assertion {name} is a file")
    found = [_pattern(name, text, row) for text in texts]
    if name.endswith("-any") or (refused and len(found) > 1):
        joined = "|".join(found)
        if refused and name.endswith("-all"):  # not all of them: at least one is missing
            return [rf"(?s)\A(?!{''.join(f'(?=.*(?:{each}))' for each in found)})"]
        return [rf"(?s)\A(?!.*(?:{joined}))" if refused else f"(?:{joined})"]
    return [_without(name, each) for each in found] if refused else found


def _without(name: str, pattern: str) -> str:
    return rf"(?s)\A(?!{pattern})" if name in ("equals", "starts-with") else rf"(?s)\A(?!.*(?:{pattern}))"


def _pattern(name: str, text: str, row: Row) -> str:
    if name == "regex":
        try:
            compiled_pattern(text, "value")
        except InputError:
            raise Skip("its regular expression is one of JavaScript's that Python does not read") from None
        return text
    literal = re.escape(text)
    if name == "equals":
        return rf"\A\s*{re.escape(text.strip())}\s*\Z"
    if name == "starts-with":
        return rf"\A{literal}"
    return rf"(?i:{literal})" if name.startswith("icontains") else literal


def _number(row: Row, key: str) -> float:
    value = row.data.get(key)
    if not isinstance(value, int | float) or isinstance(value, bool) or value < 0:
        raise row.refusal(f"expected a number from 0, got {excerpt(value, 80)}", key)
    return float(value)
