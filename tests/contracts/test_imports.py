"""What an import brings along: whoever only scores, calls or reports waits for no Prefect."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import eval_skills

PURE = ("core", "adapters", "scorers", "benchmarks", "reporting", "scaffolding", "agent_skills", "engine", "viewer", "compat")
RUN_BY_PATH = ("eval_skills.adapters.process.guard", "eval_skills.adapters.python.host.main", "eval_skills.scorers.custom.host")


def brought_along(*modules: str) -> list[str]:
    heavy = {"prefect", "litellm", "pandas", "lark", "rapidfuzz", "sacrebleu", "opentelemetry.sdk", "scipy"}
    program = f"import sys, json, {', '.join(modules)}; print(json.dumps(sorted({heavy} & sys.modules.keys())))"
    found: list[str] = json.loads(subprocess.check_output([sys.executable, "-c", program], text=True))
    return found


def pure_modules() -> list[str]:
    root = Path(eval_skills.__file__).parent
    files = (file.relative_to(root) for room in PURE for file in (root / room).rglob("*.py"))
    names = {".".join(["eval_skills", *file.with_suffix("").parts]).removesuffix(".__init__") for file in files}
    return sorted(names.difference(RUN_BY_PATH))


@pytest.mark.slow
def test_no_pure_module_brings_prefect_litellm_or_a_measure_of_text() -> None:
    modules = [
        name for name in pure_modules() if not name.endswith((".dask", ".ray_driver"))
    ]  # which have an extra to themselves
    assert len(modules) > 200
    assert not {"prefect", "litellm", "rapidfuzz", "sacrebleu", "scipy"} & set(brought_along(*modules))


@pytest.mark.slow
def test_nothing_that_is_installed_makes_jsonschema_compile_grammars() -> None:
    # with rfc3987-syntax beside it, to import jsonschema takes longer than to import the rest of Prefect
    assert brought_along("jsonschema") == []


@pytest.mark.parametrize("name", ["cli.main", "flows"])
def test_the_command_line_starts_without_anything_heavy(name: str) -> None:
    assert brought_along(f"eval_skills.{name}") == []
