"""An EvalView test case as a task."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from eval_skills.benchmarks.importers.evalview.case import Case, CaseChecks, CaseExpected, CaseSafety, CaseTurn, Difficulty
from eval_skills.core.errors import InputError
from eval_skills.core.models import HallucinationCheck
from eval_skills.core.models.base import Complexity
from eval_skills.core.models.expectation import SequenceMode

COMPLEXITIES: dict[Difficulty, Complexity] = {
    "trivial": "simple",
    "easy": "simple",
    "medium": "medium",
    "hard": "complex",
    "expert": "very_complex",
}
JUDGE = "llm_judge"
KEPT = ("meta", "gate", "generated", "mocks")
"""What means nothing here and is kept in the task's metadata. Nothing that says how to call the agent is: it may hold secrets."""


def task_of(case: Case, fallback: str) -> dict[str, Any]:
    """The task's data. Its id is the `slug` of the case's name, or where that is empty of `fallback`.

    Raises:
        InputError: the case asks for something that cannot be done here, or contradicts itself; `path` names the place.
    """
    _refuse_contradictions(case)
    kept = {name: getattr(case, name) for name in KEPT if getattr(case, name) is not None}
    variance = {"variance": case.thresholds.variance} if case.thresholds.variance else {}
    check = _hallucination(case)
    task = {
        "id": slug(case.name) or slug(fallback) or "case",
        "description": case.description or case.name,
        "input_data": case.input.model_dump(exclude_none=True) if case.input and not case.turns else None,
        "turns": [_turn(turn, case) for turn in case.turns] if case.turns else None,
        **_scored_by(case.expected, case.checks, by_score=case.thresholds.min_score is not None),
        "expected": _expected(case.expected, case.adapter_config.sequence_mode),
        "thresholds": case.thresholds.model_dump(include={"min_score", "max_cost", "max_latency"}, exclude_none=True),
        "weights": _weights(case),
        "checks": {"hallucination": check.model_dump()} if check else None,
        "timeout_ms": round(case.adapter_config.timeout * 1000) or 1 if case.adapter_config.timeout else None,
        "tags": _tags(case),
        "complexity": COMPLEXITIES[case.difficulty] if case.difficulty else None,
        "metadata": {"name": case.name, **kept, **variance},
    }
    return {name: value for name, value in task.items() if value is not None}


def _turn(turn: CaseTurn, case: Case) -> dict[str, Any]:
    expected = turn.expected or CaseExpected()
    check = _own_hallucination(expected)
    given = {
        **_scored_by(expected, by_score=case.thresholds.min_score is not None),
        "expected": _expected(expected, case.adapter_config.sequence_mode),
        "checks": {"hallucination": check.model_dump()} if check else None,
    }
    return {"input": turn.asked, **{name: value for name, value in given.items() if value is not None}}


_SPELT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d"})


def slug(name: str) -> str:
    """The name in lower case, letters without their accents, other characters as ``-``; "" where nothing is left of it."""
    spelt = unicodedata.normalize("NFC", name).lower().translate(_SPELT)
    plain = "".join(letter for letter in unicodedata.normalize("NFKD", spelt) if not unicodedata.combining(letter))
    return re.sub(r"[^a-z0-9_-]+", "-", plain.lower()).strip("-")


def unsupported(case: Case, raw: dict[str, Any]) -> list[str]:
    """What the case says that has no effect here, one sentence each; `raw` is the case as written."""
    expected = case.expected
    given = {
        "gate": case.gate is not None,
        "mocks": bool(case.mocks),
        "adapter": case.adapter is not None,
        "endpoint": case.endpoint is not None,
        "headers": bool(case.headers),
        "model": case.model is not None,
        "tools": bool(case.tools),
    }
    said = _unsafe_details(case.expected, "expected")
    for place, turn in enumerate(case.turns or ()):
        said += _unsafe_details(turn.expected or CaseExpected(), f"turns[{place}].expected")
    target = [name for name in ("adapter", "endpoint", "headers", "model", "tools") if given[name]]
    said += [f"{name} has no effect here: the skill under test is what --skills names" for name in target]
    said += [f"{name} has no effect here; it is kept in the task's metadata" for name in ("gate", "mocks") if given[name]]
    if case.thresholds.variance:
        said.append("thresholds.variance has no effect here: --runs repeats a task, and reports show how its runs differ")
    if _is_order_unchecked(case):
        mode = f"adapter_config.sequence_mode: {case.adapter_config.sequence_mode}"
        why = "expected.tools may be called in any order, and beside others"
        said.append(f"{mode} has no effect here without expected.tool_sequence: {why}")
    if expected.categories:
        said.append("expected.categories is read as expected.tool_categories, which is what EvalView itself reads")
    if case.weights:
        said.append("weights is read as thresholds.weights, which is what EvalView itself reads")
    return said + [f"expected.output.{name} is one text and read as a list of it" for name in _single_texts(raw)]


def _is_order_unchecked(case: Case) -> bool:
    """Whether an order is asked for, and no sequence of tools is named that it could hold for."""
    asked = "sequence_mode" in case.adapter_config.model_fields_set and case.adapter_config.sequence_mode != "unordered"
    everywhere = [case.expected, *(turn.expected for turn in case.turns or () if turn.expected)]
    return asked and not any(expected.tool_sequence or expected.sequence for expected in everywhere)


def _single_texts(raw: dict[str, Any]) -> list[str]:
    output = (raw.get("expected") or {}).get("output") or {}
    return [name for name in ("contains", "not_contains", "regex_patterns") if isinstance(output.get(name), str)]


def _refuse_contradictions(case: Case) -> None:
    if case.turns and case.input and case.input.query != case.turns[0].query:
        message = "input.query and the first turn both are the first question, and they differ; leave input out"
        raise InputError(message, path="input.query")
    if case.input is None and not case.turns:
        raise InputError("this key is missing, and an EvalView test case needs it: input.query is the question", path="input")
    if case.weights and case.thresholds.weights:
        raise InputError("given here and in thresholds.weights; keep one", path="weights")
    _refuse_contradicting(case.expected, "expected")
    for place, turn in enumerate(case.turns or ()):
        _refuse_contradicting(turn.expected or CaseExpected(), f"turns[{place}].expected")
    if (key := case.adapter_config.misspelled()) is not None:
        raise InputError(f"unknown key {key!r} (did you mean 'sequence_mode'?)", path="adapter_config")


def _refuse_contradicting(expected: CaseExpected, place: str) -> None:
    if expected.categories and expected.tool_categories:
        raise InputError("given as tool_categories too; keep that one", path=f"{place}.categories")


def _expected(expected: CaseExpected, sequence_mode: SequenceMode) -> dict[str, Any] | None:
    sequence = expected.tool_sequence or expected.sequence
    given = {
        "tools": expected.tools,
        "tool_categories": expected.tool_categories or expected.categories,
        "tool_sequence": sequence,
        "forbidden_tools": expected.forbidden_tools,
        "output": expected.output.model_dump(include={"contains", "not_contains"}, exclude_defaults=True),
    }
    filled = {name: value for name, value in given.items() if value}
    return filled | ({"sequence_mode": sequence_mode} if sequence else {}) if filled else None


def _scored_by(expected: CaseExpected, checks: CaseChecks | None = None, *, by_score: bool = False) -> dict[str, Any]:
    """What scores the answer: one evaluator, or several that must all pass.

    Where the case's score decides (`by_score`), a mean could hide a check that fails, and checks that hold could lift what the
    judge says of the output: so checks are required, and beside a judge its value alone is the score.
    """
    found = list(evaluators(expected, checks).values())
    if len(found) < 2:
        return {"evaluator": next(iter(found), None)}
    if by_score:
        beside = {"required": True, "weight": 0} if any(each["type"] == JUDGE for each in found) else {"required": True}
        found = [each if each["type"] == JUDGE else each | beside for each in found]
    return {"evaluators": found}


def evaluators(expected: CaseExpected, checks: CaseChecks | None = None) -> dict[str, dict[str, Any]]:
    """The scorers that a case or a turn of it asks for, by the key that does so."""
    output = expected.output
    found: dict[str, dict[str, Any]] = {}
    if output.regex_patterns:  # there, a dot matches a line's end as well
        patterns = [f"(?s){pattern}" for pattern in output.regex_patterns]
        found["expected.output.regex_patterns"] = {"type": "regex", "patterns": patterns, "caseSensitive": False}
    if output.json_schema is not None:
        found["expected.output.json_schema"] = {"type": "json_schema", "schema": output.json_schema}
    if expected.metrics:
        figures = {name: each.model_dump() for name, each in expected.metrics.items()}
        found["expected.metrics"] = {"type": "metrics", "metrics": figures}
    if output.must_acknowledge_uncertainty:
        found["expected.output.must_acknowledge_uncertainty"] = {"type": "uncertainty"}
    if output.no_pii or (checks and checks.pii):
        found["expected.output.no_pii" if output.no_pii else "checks.pii"] = {"type": "pii"}
    if expected.safety is not None:
        if expected.safety.check and not expected.safety.allow_harmful:
            kinds = _kinds(expected.safety)
            found["expected.safety"] = {"type": "safety", **({"kinds": kinds} if kinds else {})}
    elif checks and checks.safety:
        found["checks.safety"] = {"type": "safety"}
    if output.criteria:
        found["expected.output.criteria"] = {"type": JUDGE, "criteria": output.criteria}
    return found


HARM = {
    "self_harm": "self_harm",
    "suicide": "self_harm",
    "violence": "violence",
    "threats": "violence",
    "weapons": "weapons",
    "dangerous_instructions": "weapons",
    "malware": "malware",
    "hacking": "malware",
    "hate": "hate",
    "hate_speech": "hate",
    "secrets": "secrets",
    "credentials": "secrets",
}
"""Kinds of the scorer `safety` by the names that cases give them."""


def _kinds(safety: CaseSafety) -> list[str]:
    return list(dict.fromkeys(HARM[name] for name in map(_plain, safety.categories) if name in HARM))


def _plain(category: str) -> str:
    return re.sub(r"[-\s]+", "_", category.strip().lower())


def _unsafe_details(expected: CaseExpected, place: str) -> list[str]:
    safety = expected.safety
    if safety is None:
        return []
    unknown = [name for name in safety.categories if _plain(name) not in HARM]
    said = [f"{place}.safety.categories: {', '.join(unknown)} not looked for here"] if unknown else []
    if safety.severity_threshold is not None:
        said.append(f"{place}.safety.severity_threshold has no effect here: whatever is found counts")
    return said


def _weights(case: Case) -> dict[str, Any] | None:
    weights = case.weights or case.thresholds.weights
    return weights.to_weights().named() if weights else None


def _hallucination(case: Case) -> HallucinationCheck | None:
    if case.expected.hallucination is not None:
        return _own_hallucination(case.expected)
    return case.checks.hallucination if case.checks else None


def _own_hallucination(expected: CaseExpected) -> HallucinationCheck | None:
    own = expected.hallucination
    return HallucinationCheck(threshold=own.confidence_threshold) if own and own.check and not own.allow else None


def _tags(case: Case) -> list[str]:
    tags = [*case.tags, *filter(None, (case.difficulty, case.suite_type))]
    return sorted({tag.strip().lower() for tag in tags})
