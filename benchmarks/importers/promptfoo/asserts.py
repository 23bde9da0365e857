"""Assertions of promptfoo as evaluators that give its verdict.

A test passes where all of its assertions do. Where it has a threshold, the weighted mean of their scores must reach it instead,
whatever the verdict of each is; the same holds for an ``assert-set`` and its own threshold. An assertion of weight 0 cannot fail.

Source: promptfoo 0.123, ``src/assertions``.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eval_skills.benchmarks.importers.promptfoo.patterns import python_pattern
from eval_skills.benchmarks.importers.promptfoo.templates import spelled
from eval_skills.benchmarks.importers.rows import Row, Skip, Spoken, Task
from eval_skills.core.documents.patterns import compiled_pattern
from eval_skills.core.documents.yaml_documents import parse_yaml
from eval_skills.core.errors import InputError
from eval_skills.core.models.evaluators import RESERVED_NAMES
from eval_skills.core.text import excerpt

SET = "assert-set"

_CODE = ("javascript", "python", "ruby", "webhook")
_DRAFT = "http://json-schema.org/draft-07/schema#"
"""What a schema is there, unless it says otherwise: the draft that Ajv reads."""

_ASKS_MODELS = ("llm_judge", "similarity")
_NAME_CHARS = 50
_JUDGED = (
    "llm-rubric is judged by a model (llm_judge), which --judge-model names; without a threshold it passes from 0.7 on here, and "
    "there where the model itself says so"
)
_EMBEDDED = "similar is judged by an embedding model (similarity), which llm.embeddingModel names; cosines differ between models"
_TOKENS = "rouge-n is scored by rouge_n, which counts words; promptfoo counts punctuation marks, too"
OWN_MODELS = "provider and rubricPrompt of judges are left out: the models are those of the run, and have their own prompts"
_IDLE = "assertions of weight 0 that ask a model are left out: they decide nothing"


def scored_by(asserts: list[Any], threshold: float | None, row: Row, say: Spoken, *, defaults: Sequence[str] = ()) -> Task:
    """The part of the task that says how it is scored; `threshold` is the score that the test must reach.

    The first of the assertions are those of the default test; `defaults` are the places of these.

    Raises:
        Skip: there is nothing to score, or something that cannot be done here.
        InputError: an assertion is malformed.
    """
    if not asserts:
        raise Skip("it has no assertions, so nothing is expected of the answer")
    found = _Reading(say).set_of(asserts, threshold, row, defaults)
    entries = found["evaluators"]
    alone = threshold is None and len(entries) == 1 and not entries[0].keys() & {"evaluators", "not", "weight", "name"}
    return {"evaluator": entries[0]} if alone else found


@dataclass(slots=True)
class _Reading:
    """The assertions of one test as they are read; `names` are the metrics that were named so far."""

    say: Spoken
    names: set[str] = field(default_factory=set)

    def set_of(self, asserts: list[Any], threshold: float | None, row: Row, defaults: Sequence[str] = ()) -> Task:
        """A set of evaluators: those of the test, or of one assert-set."""
        if threshold == 0:
            raise Skip("its threshold is 0, which any answer reaches")
        places = [*defaults, *(f"{row.place}.assert[{index}]" for index in range(len(asserts) - len(defaults)))]
        rows = [_assertion(each, place) for each, place in zip(asserts, places, strict=True)]
        entries = [entry for each in rows if (entry := self._entry(each, by_mean=threshold is not None)) is not None]
        if not any(entry.get("weight", 1) for entry in entries):
            raise Skip("all of its assertions weigh 0, so any answer passes")
        return {"evaluators": entries} | ({"combine": "weighted", "threshold": threshold} if threshold is not None else {})

    def _entry(self, row: Row, *, by_mean: bool) -> dict[str, Any] | None:
        """One assertion, or a set; None where it could decide nothing. `by_mean`: its score decides, not its verdict."""
        given = row.data
        kind = given["type"]
        weight = 0.0 if given.get("metricOnly") is True else _number(row, "weight", 1.0)
        entry = self._inner_set(row) if kind == SET else self._evaluator(row)
        if not weight and (by_mean if kind == SET else entry["type"] in _ASKS_MODELS):
            self.say(_IDLE)
            return None
        more: dict[str, Any] = {"not": True} if kind.startswith("not-") else {}
        if weight != 1:
            more["weight"] = int(weight) if weight.is_integer() else weight
        if kind == SET and not weight:
            more["required"] = True  # the score of such a set does not count there, and its verdict does
        if isinstance(metric := given.get("metric"), str) and (name := self._name(metric)):
            more["name"] = name
        return entry | more

    def _inner_set(self, row: Row) -> dict[str, Any]:
        inner = row.listed("assert")
        if any(isinstance(each, dict) and each.get("type") == SET for each in inner):
            raise Skip("it has an assert-set in an assert-set, which promptfoo does not have")
        return self.set_of(inner, share(row, "threshold") if row.data.get("threshold") is not None else None, row)

    def _evaluator(self, row: Row) -> dict[str, Any]:
        kind = row.data["type"].removeprefix("not-")
        if "transform" in row.data:
            raise Skip("an assertion transforms the answer with code first")
        if kind in _CODE:
            raise Skip(f"its assertion {kind} is code")
        if kind not in _EVALUATORS:
            raise Skip(f"its assertion {row.data['type']} has no equivalent here")
        is_blank = "value" in row.data and not row.has("value") and (kind != "equals" or row.data["value"] is None)
        if is_blank and kind not in _VALUELESS:
            raise Skip(f"its assertion {row.data['type']} has no value")
        _refuse_files(kind, row.data.get("value"))
        if row.data.keys() & {"provider", "rubricPrompt"}:
            self.say(OWN_MODELS)
        if (remark := _REMARKS.get(kind)) is not None:
            self.say(remark)
        return _EVALUATORS[kind](kind, row)

    def _name(self, metric: str) -> str:
        """The metric as the name of a dimension, told apart from those before it; "" where nothing is left of it."""
        name = re.sub(r"[^A-Za-z0-9_]+", "-", metric)[:_NAME_CHARS].strip("-")
        name = f"metric-{name}" if name in RESERVED_NAMES else name
        found, number = name, 1
        while found in self.names:
            number += 1
            found = f"{name}-{number}"
        self.names.add(found)
        return found


def _assertion(value: Any, place: str) -> Row:
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        raise InputError(f"expected an object with a type, got {excerpt(value, 80)}", source=place)
    return Row(place, value)


def _refuse_files(kind: str, value: Any) -> None:
    values = value if isinstance(value, list) else [value]
    if any(isinstance(each, str) and each.startswith("file://") for each in values):
        raise Skip(f"the value of its assertion {kind} is a file")


def _equals(_: str, row: Row) -> dict[str, Any]:
    if isinstance(value := row.data.get("value"), dict | list):
        return {"type": "json_schema", "schema": {"const": value}}
    value = row.data.get("value")
    text = value if isinstance(value, str) else _text(row)  # an empty one is an empty answer
    return _regex(rf"\A{re.escape(text)}\Z")


def _contains(kind: str, row: Row) -> dict[str, Any]:
    return _regex(_literal(kind, _text(row)))


def _contains_several(kind: str, row: Row) -> dict[str, Any]:
    found = [_literal(kind, each) for each in _texts(row)]
    if len(found) == 1:
        return _regex(found[0])
    if kind.endswith("-any"):
        return _regex("|".join(found))
    return _regex(rf"(?s)\A{''.join(f'(?=.*{each})' for each in found)}")  # one pattern, since the score is 1 or 0


def _starts_with(_: str, row: Row) -> dict[str, Any]:
    return _regex(rf"\A{re.escape(_text(row))}")


def _matches(_: str, row: Row) -> dict[str, Any]:
    pattern = python_pattern(row.text("value"))
    try:
        if pattern is not None:
            compiled_pattern(pattern, "value")
            return _regex(pattern)
    except InputError:
        pass  # it is skipped
    raise Skip("its regular expression is one of JavaScript's that Python does not read")


def _is_json(_: str, row: Row) -> dict[str, Any]:
    schema = row.data.get("value") if row.has("value") else None
    if isinstance(schema, str):
        try:
            schema = parse_yaml(schema)
        except (ValueError, RecursionError):
            raise row.refusal(f"expected a JSON Schema as JSON or YAML, got {excerpt(schema, 80)}", "value") from None
    if schema is None:
        return {"type": "is_json"}
    if not isinstance(schema, dict | bool):
        raise row.refusal(f"expected a JSON Schema, got {excerpt(schema, 80)}", "value")
    return {"type": "is_json", "schema": {"$schema": _DRAFT, **schema} if isinstance(schema, dict) else schema}


def _rubric(_: str, row: Row) -> dict[str, Any]:
    if isinstance(row.data.get("value"), dict | list):
        raise Skip("the rubric of its assertion llm-rubric is an object")
    floor = {"threshold": share(row, "threshold")} if row.data.get("threshold") is not None else {}
    return {"type": "llm_judge", "criteria": row.text("value"), **floor}


def _similar(_: str, row: Row) -> dict[str, Any]:
    several = isinstance(row.data.get("value"), list)
    value = _texts(row) if several else _text(row)
    return {"type": "similarity", "value": value, "threshold": share(row, "threshold", 0.75)}


def _rouge(_: str, row: Row) -> dict[str, Any]:
    return {"type": "rouge_n", "value": _text(row), "threshold": share(row, "threshold", 0.75)}


def _levenshtein(_: str, row: Row) -> dict[str, Any]:
    return {"type": "levenshtein", "value": _text(row), "maxEdits": math.floor(_number(row, "threshold", 5.0))}


def _latency(_: str, row: Row) -> dict[str, Any]:
    return {"type": "latency", "limitMs": _number(row, "threshold")}


def _cost(_: str, row: Row) -> dict[str, Any]:
    return {"type": "cost", "limitUsd": _number(row, "threshold")}


_EVALUATORS: Mapping[str, Callable[[str, Row], dict[str, Any]]] = {
    "equals": _equals,
    "contains": _contains,
    "icontains": _contains,
    "contains-all": _contains_several,
    "contains-any": _contains_several,
    "icontains-all": _contains_several,
    "icontains-any": _contains_several,
    "starts-with": _starts_with,
    "regex": _matches,
    "is-json": _is_json,
    "llm-rubric": _rubric,
    "similar": _similar,
    "similar:cosine": _similar,
    "rouge-n": _rouge,
    "levenshtein": _levenshtein,
    "latency": _latency,
    "cost": _cost,
}
_VALUELESS = ("is-json", "latency", "cost")
_REMARKS = {"llm-rubric": _JUDGED, "similar": _EMBEDDED, "similar:cosine": _EMBEDDED, "rouge-n": _TOKENS}


def _regex(pattern: str) -> dict[str, Any]:
    return {"type": "regex", "patterns": [pattern]}


def _literal(kind: str, text: str) -> str:
    literal = re.escape(text)
    return f"(?i:{literal})" if kind.startswith("icontains") else literal


def _text(row: Row) -> str:
    value = row.data.get("value")
    return spelled(value) if isinstance(value, bool | int | float) else row.text("value")


def _texts(row: Row) -> list[str]:
    """The texts of a list, or of a text with commas, in which quotes keep a text with commas together."""
    value = row.data.get("value")
    if isinstance(value, str):
        found = next(csv.reader([" ".join(value.splitlines())], skipinitialspace=True), [])
        texts = [each.strip() for each in found if each.strip()]
    else:
        texts = [_text(Row(row.place, {"value": each})) for each in row.listed("value")]
    if not texts:
        raise row.refusal("the list is empty", "value")
    return texts


def share(row: Row, key: str, default: float | None = None) -> float:
    """The number from 0 to 1 under `key`, or `default`.

    Raises:
        InputError: it is not such a number.
    """
    value = row.data.get(key)
    if value is None and default is not None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise row.refusal(f"expected a number from 0 to 1, got {excerpt(value, 80)}", key)
    return float(value)


def _number(row: Row, key: str, default: float | None = None) -> float:
    value = row.data.get(key)
    if value is None and default is not None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise row.refusal(f"expected a number from 0, got {excerpt(value, 80)}", key)
    return float(value)
