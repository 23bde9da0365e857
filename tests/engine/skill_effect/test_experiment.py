from __future__ import annotations

from typing import Any

import pytest

from eval_skills.core.models import Benchmark
from eval_skills.engine.skill_effect.experiment import Experiment, copies_in
from tests.tables import each_row


def task(name: str, prompt: str, expected: str = "1", **more: Any) -> dict[str, Any]:
    return {"id": name, "inputData": {"prompt": prompt}, "expectedOutput": {"value": expected}, **more}


@each_row(
    ("second", "copies"),
    [
        pytest.param(task("b", "Sum x."), {"b": "a"}, id="same"),
        pytest.param(task("b", "Sum x.", tags=["easy"], description="again"), {"b": "a"}, id="called-otherwise"),
        pytest.param(task("b", "Sum y."), {}, id="asks-otherwise"),
        pytest.param(task("b", "Sum x.", expected="2"), {}, id="expects-otherwise"),
    ],
)
def test_a_copy_asks_and_expects_the_same(second: dict[str, Any], copies: dict[str, str]) -> None:
    tasks = [task("a", "Sum x."), second]
    assert copies_in(Benchmark.model_validate({"id": "b", "name": "B", "version": "1.0.0", "tasks": tasks})) == copies


def test_the_labels_of_an_item_name_its_arm_and_every_agent_skill() -> None:
    arms = {"with": "csv-and-1-more-with@1.0.0", "without": "csv-and-1-more-without@1.0.0"}
    found = Experiment.model_validate({"names": ["csv", "sql"], "arms": arms, "runtime": "custom"})
    assert found.labels_of("csv-and-1-more-without@1.0.0") == {"arm:without", "skill:csv", "skill:sql"}
    assert found.labels_of("another@1.0.0") == frozenset()
