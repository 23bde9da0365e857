"""EvalView test cases to start from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from eval_skills.benchmarks import load_benchmark
from eval_skills.core.models import EvalTask

STOCKS = """\
name: Stock Analysis Test
description: Apple
input:
  query: Analyze Apple stock performance
  context: {year: 2026}

expected:
  tools:
    - fetch_stock_data
    - analyze_metrics
  tool_categories: [web]
  tool_sequence: [fetch_stock_data, analyze_metrics]
  forbidden_tools: [edit_file]
  output:
    contains: [revenue]
    not_contains: [I don't know]
thresholds:
  min_score: 80
  max_cost: 0.50
  max_latency: 5000
weights:
  tool_accuracy: 0.5
checks:
  hallucination: true
adapter_config:
  sequence_mode: unordered
tags: [Finance, " us ", finance]
difficulty: hard
"""
SMALL: dict[str, Any] = {"name": "small", "input": {"query": "q"}, "expected": {"tools": ["a"]}}


def case(folder: Path, **fields: Any) -> EvalTask:
    """The task of one case, written as JSON, which is YAML."""
    (folder / "case.yaml").write_text(json.dumps({**SMALL, **fields}))
    return load_benchmark(folder / "case.yaml").tasks[0]
