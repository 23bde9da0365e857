"""p60: what is wrong with a file is said in its writer's words: the place, the value, and what would be valid."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.core.documents.loading import validate
from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask
from tests.tables import each_row

TASK = {"id": "a", "inputData": {}, "expectedOutput": {"value": 1}}


@each_row(
    ("fields", "says"),
    [
        ({"expectedOutput": "x"}, 'expectedOutput: give an object such as {"value": "Bern"}; got "x"'),
        ({"expected": 2000}, "(an answer belongs under expectedOutput.value); got 2000"),
        ({"expectedOutput": {"criteria": 5}}, "expectedOutput.criteria: give text or a list; got 5"),
        ({"expectedOutput": {"criteria": ["x", 5]}}, "expectedOutput.criteria[1]: give text; got 5"),
        ({"expectedOutput": {"schema": [1]}}, "expectedOutput.schema: give an object or true or false; got [1]"),
        ({"expected": {"trajectory": "x"}}, 'expected.trajectory: give a list or an object; got "x"'),
        ({"expected": ["x"]}, 'expected: give an object of what an agent does, such as {"tools": ["search"]} ('),
        ({"thresholds": {"minScore": "80"}}, 'thresholds.minScore: give a number; got "80" (write 80 without quotes)'),
        ({"thresholds": {"maxCost": "cheap"}}, 'thresholds.maxCost: give a number; got "cheap"'),
        ({"timeoutMs": " 5000 "}, 'timeoutMs: give a whole number; got " 5000 " (write 5000 without quotes)'),
        ({"timeoutMs": 1.5}, "timeoutMs: give a whole number; got 1.5"),
        ({"checks": {"hallucination": {"failedTools": "no"}}}, 'checks.hallucination.failedTools: give true or false; got "no"'),
        ({"checks": {"hallucination": {"threshold": "0.5"}}}, "checks.hallucination.threshold: give a number"),
        (
            {"checks": {"hallucination": {"threshold": 5}}},
            "hallucination.threshold: input should be less than or equal to 1; got 5",
        ),
        ({"checks": {"hallucination": {"kinds": "number"}}}, 'checks.hallucination.kinds: give a list; got "number"'),
        ({"checks": {"hallucination": {"kinds": ["nummber"]}}}, "kinds[0]: input should be 'number'"),
        ({"checks": {"hallucination": {"kinds": ["nummber"]}}}, "got \"nummber\" (did you mean 'number'?)"),
        ({"checks": {"hallucination": {"kinds": []}}}, "checks.hallucination.kinds: give at least 1 item; got []"),
        ({"checks": {"hallucination": "yes"}}, "checks.hallucination: give true, false or an object with mode, threshold, kinds"),
        ({"checks": {"hallucination": [1]}}, "; got [1]"),
        ({"evaluator": 5}, "evaluator: give a scorer's name, or an object with its type and options; got 5"),
        ({"evaluator": ["exact"]}, 'evaluator: give a scorer\'s name, or an object with its type and options; got ["exact"]'),
        ({"evaluator": {"keywords": []}}, "evaluator.type: this key is required and missing"),
        ({"tags": "a", "weight": "b", "expectedOutput": {"criteria": 5}}, "(and 2 more problems)"),
    ],
)
def test_p60_a_task_is_refused_in_words(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError) as refusal:
        validate(EvalTask, TASK | fields)
    assert says in str(refusal.value)
    assert not [word for word in ("dictionary", "instance", "str:", "list[") if word in str(refusal.value)]
