"""One evaluation for all workers of pytest-xdist: what one hands to the others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import eval_skills as es
from eval_skills.core.documents import loading
from eval_skills.pytest_plugin.evaluation import as_skill_report
from eval_skills.pytest_plugin.shared import evaluated_once

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_report_may_be_larger_than_a_document_that_somebody_wrote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "MAX_DOCUMENT_BYTES", 1_000)
    [made] = es.evaluate(str.upper, [{"input": "größe", "expected": "GRÖSSE"}, {"input": "a", "expected": "B"}]).reports
    worker: Any = SimpleNamespace(config=SimpleNamespace(workerinput={}), nodeid="test_it.py::test_sums")
    folders: Any = SimpleNamespace(getbasetemp=lambda: tmp_path / "gw0")
    asked = []

    def evaluate() -> Any:
        asked.append(1)
        return as_skill_report(made)

    reports = [evaluated_once(worker, folders, "large", evaluate) for _ in range(2)]
    assert [report.to_json() for report in reports] == [made.to_json()] * 2
    assert [failure.task_id for failure in reports[1].failures] == ["task-2"]
    assert asked == [1]
