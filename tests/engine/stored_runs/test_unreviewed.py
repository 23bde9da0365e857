"""Generated tasks that nobody has reviewed are named wherever their results are."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from eval_skills.core.store import Store
from eval_skills.engine.definition.benchmark import benchmark_warnings, resolve_benchmark
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.stored_runs.reports import read_source
from eval_skills.reporting import json_report, markdown
from eval_skills.reporting.html import report as html

SAID = "1 of 2 tasks (50 %) is generated and not reviewed"
TASKS = [
    {"id": "own", "inputData": {}, "expectedOutput": {"value": "right"}},
    {
        "id": "made", "inputData": {"a": 1}, "expectedOutput": {"value": "right"},
        "metadata": {"generated": {"by": "schema", "seed": 0}, "reviewed": False},
    },
]  # fmt: skip


def test_every_report_says_how_many_tasks_nobody_has_read(tmp_path: Path, landed_run: Callable[..., str], store: Store) -> None:
    (tmp_path / "tasks.json").write_text(json.dumps(TASKS), encoding="utf-8")
    source = read_source(landed_run({"own": "right", "made": "wrong"}), store.path)
    assert [note for note in source.context.notes if SAID in note]
    assert SAID in markdown.render(source.reports, source.context)
    assert SAID in html.render(source.reports, source.context)
    [report] = json.loads(json_report.render(source.reports, source.context))
    assert (report["evaluatorMetadata"]["unreviewedTasks"], report["evaluatorMetadata"]["tasks"]) == (1, 2)


def test_a_run_says_so_before_it_begins(tmp_path: Path) -> None:
    (tmp_path / "tasks.json").write_text(json.dumps(TASKS), encoding="utf-8")
    request = EvaluateRequest(tasks=str(tmp_path / "tasks.json"))
    benchmark, _ = resolve_benchmark(request)
    assert [warning for warning in benchmark_warnings(benchmark, request) if SAID in warning]


def test_reviewed_tasks_need_no_word(tmp_path: Path, landed_run: Callable[..., str], store: Store) -> None:
    (tmp_path / "tasks.json").write_text(json.dumps(TASKS[:1]), encoding="utf-8")
    source = read_source(landed_run({"own": "right"}), store.path)
    assert source.context.notes == ()
    assert "unreviewedTasks" not in source.reports[0].evaluator_metadata
