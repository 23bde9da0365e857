"""What a report says of where its run comes from, and the command that repeats it."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.cli.app import app
from eval_skills.core.store.manifest import Manifest
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.stored_runs.provenance import provenance_of, repeating_words
from tests.tables import each_row

SKILL = {"key": "a@1.0.0", "digest": "sha256:12", "path": "skills/a", "adapter": "http"}


def manifest(**fields: Any) -> Manifest:
    told = {
        "runId": "20261121T233824Z-3f9a", "createdAt": "2026-11-21T23:38:24Z", "skills": [SKILL], "plannedItems": 1,
        "benchmark": {"id": "words", "version": "1.2.0", "digest": "sha256:34"}, "versions": {"python": "3.11.7"},
        "gitCommit": "abc123", **fields,
    }  # fmt: skip
    return Manifest.model_validate(told)


@pytest.mark.slow
@each_row(
    ("request_fields", "words"),
    [
        pytest.param({}, "--benchmark words", id="plain"),
        pytest.param({"runs": 3, "task_tags": ["math"]}, "--benchmark words --tag math --runs 3", id="narrowed"),
        pytest.param({"own_tests": True}, "--own-tests", id="own-tests"),
        pytest.param(
            {"tasks": "t.csv", "map": ["input=q"], "task_ids": ["x"]}, "--tasks t.csv --map input=q --task x", id="tasks"
        ),
        pytest.param({"first": 2, "runs": 3}, "--benchmark words --first 2 --runs 3", id="first"),
        pytest.param({"timeout_ms": 5, "llm": {"model": "m"}}, "--benchmark words --timeout 5 --judge-model m", id="options"),
    ],
)
def test_the_command_repeats_what_was_asked_and_is_one(request_fields: dict[str, Any], words: str) -> None:
    asked = EvaluateRequest.model_validate(
        {"skills": ["skills/a"], "benchmark": "words", "benchmarks_dir": None, **request_fields}
    )
    found = repeating_words(manifest(), asked)
    assert found == ["eval-skills", "eval", "--skills", "skills/a", *words.split()]
    app.parse_args(found[1:], exit_on_error=False, print_error=False)


def test_recorded_runs_are_judged_again() -> None:
    asked = EvaluateRequest(traces="runs.jsonl", benchmark="words", benchmarks_dir=None, trace_skill="a")
    words = repeating_words(manifest(), asked)
    assert words == ["eval-skills", "eval", "--traces", "runs.jsonl", "--trace-skill", "a", "--benchmark", "words"]


@each_row(
    "fields",
    [
        pytest.param({"skills": [SKILL, {"key": "b@1.0.0"}]}, id="a-function"),
        pytest.param({"request": {"origin": "rescore"}}, id="later-work"),
    ],
)
def test_what_the_command_line_cannot_repeat_has_no_command(fields: dict[str, Any]) -> None:
    found = provenance_of(manifest(**fields), EvaluateRequest(benchmark="words"))
    assert found is not None
    assert found.command is None


def test_digests_commit_and_versions_are_named_and_what_is_not_known_is_said() -> None:
    facts = provenance_of(manifest(), None).facts  # type: ignore[union-attr]
    assert facts["Benchmark"] == "words@1.2.0, sha256:34"
    assert facts["Skill a@1.0.0"] == "http, sha256:12"
    assert (facts["Git commit"], facts["Versions"], facts["Platform"]) == ("abc123", "python 3.11.7", "unknown")
