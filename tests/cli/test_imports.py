"""What an import brings along: whoever only scores, calls or reports waits for no Prefect."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

CORE = ("core", "core.models", "core.metrics", "core.selection", "core.search", "core.diff", "core.store", "core.config")
PURE = (*CORE, "adapters", "scorers", "benchmarks", "reporting", "scaffolding")
PLAIN = (
    "tasks.checkup",
    "tasks.execution",
    "tasks.matching",
    "tasks.monitor_request",
    "tasks.monitoring",
    "tasks.places",
    "tasks.plan",
    "tasks.report_source",
    "tasks.request",
    "tasks.resume",
    "tasks.strategy",
)


def brought_along(module: str) -> list[str]:
    heavy = {"prefect", "litellm", "pandas", "lark"}
    program = f"import sys, json, {module}; print(json.dumps(sorted({heavy} & sys.modules.keys())))"
    found: list[str] = json.loads(subprocess.check_output([sys.executable, "-c", program], text=True))
    return found


@pytest.mark.parametrize("name", [*PURE, *PLAIN])
def test_a_pure_module_brings_no_prefect_and_no_litellm(name: str) -> None:
    assert not {"prefect", "litellm"} & set(brought_along(f"eval_skills.{name}"))


def test_nothing_that_is_installed_makes_jsonschema_compile_grammars() -> None:
    # with rfc3987-syntax beside it, to import jsonschema takes longer than to import the rest of Prefect
    assert brought_along("jsonschema") == []


@pytest.mark.parametrize("name", ["cli.main", "flows"])
def test_the_command_line_starts_without_anything_heavy(name: str) -> None:
    assert brought_along(f"eval_skills.{name}") == []
