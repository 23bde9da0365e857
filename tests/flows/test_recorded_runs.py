"""Recorded runs through the real flows: judged, landed, selected and reported, with nothing called."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.store import Store
from eval_skills.engine.definition.request import EvaluateRequest, PipelineRequest
from eval_skills.flows import evaluate, pipeline

TASKS = [
    {"id": "bern", "complexity": "simple", "expected": {"tools": ["search"], "forbiddenTools": ["pay"]}},
    {"id": "tour", "complexity": "complex", "expectedOutput": {"value": "x"}, "thresholds": {"maxCost": 0.1, "maxLatency": 100}},
]
LINES: list[dict[str, Any]] = [
    {"taskId": "bern", "output": "a", "toolCalls": [{"name": "search"}], "skill": "good@1.0.0", "latencyMs": 40, "costUsd": 0.1},
    {"taskId": "tour", "output": "x", "skill": "good@1.0.0", "latencyMs": 100, "costUsd": 0.1},
    {"taskId": "bern", "output": "a", "toolCalls": [{"name": "Pay"}], "skill": "bad@1.0.0", "latencyMs": 9000},
]


@pytest.fixture
def recorded(tmp_path: Path, prefect_url: str) -> dict[str, Any]:
    """The fields of a request to judge the lines above."""
    (tmp_path / "trips.json").write_text(json.dumps(TASKS))
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LINES))
    places = {"tasks": tmp_path / "trips.json", "traces": tmp_path / "runs.jsonl", "output_dir": tmp_path / "out"}
    return {name: str(path) for name, path in places.items()} | {"store": str(tmp_path / "store")}


def test_they_land_with_their_own_latency_cost_and_origin(recorded: dict[str, Any]) -> None:
    summary = evaluate(EvaluateRequest(**recorded, format=[]))
    items = Store(recorded["store"]).items(run_id=summary.run_id)
    rows = items.sort_values(["skill_id", "task_id"])[["skill_id", "task_id", "status", "latency_ms", "error_kind", "origin"]]
    assert rows.astype(object).where(rows.notna(), None).to_numpy().tolist() == [
        ["bad", "bern", "fail", 9000.0, None, "traces"],
        ["bad", "tour", "error", None, "contract", "traces"],
        ["good", "bern", "pass", 40.0, None, "traces"],
        ["good", "tour", "pass", 100.0, None, "traces"],
    ]
    good = next(report for report in summary.reports if report.skill_id == "good")
    assert (good.latency.p95_ms, good.token_cost.estimated_usd, good.summary.throughput) == (100, 0.2, None)
    assert Store(recorded["store"]).latest_run() is None


@pytest.mark.slow
def test_the_pipeline_searches_nothing_and_selects_from_them(recorded: dict[str, Any]) -> None:
    asked = {**recorded, "skills_dir": "nowhere", "format": ["json", "markdown", "html", "csv", "junit"]}
    summary = pipeline(PipelineRequest(**asked, min_completion=0.9))
    assert [(choice.skill.key, choice.rank) for choice in summary.selected or []] == [("good@1.0.0", 1)]
    files = {path.suffix: path.read_text() for path in summary.report_files}
    for report in json.loads(files[".json"]):
        assert list(report["byComplexity"]) == ["simple", "complex"]
    assert "### By complexity" in files[".md"]
    assert '"complexity":[{"tag":"simple"' in files[".html"].replace(": ", ":")
