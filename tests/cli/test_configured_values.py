"""What a configured value means: where its paths start, who takes it back, and how a wrong one is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from eval_skills.cli.app import app, new_invocation
from eval_skills.cli.context import Invocation, begin
from eval_skills.cli.main import call
from eval_skills.cli.requests import request_options
from eval_skills.cli.requests import typed as typed_options
from eval_skills.core.errors import ConfigError
from tests.cli.option_cases import (
    FILE,
    called_with,
)


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        pytest.param("find: {limt: 3}", "find", "FILE: unknown key 'find.limt' (did you mean 'find.limit'?)", id="p60-unknown"),
        pytest.param("fnid: {limit: 3}", "find", "FILE: unknown key 'fnid' (did you mean 'find'?)", id="p60-unknown-command"),
        pytest.param("trend: {metrics: p95Ms}", "config list", "FILE: unknown key 'trend.metrics'", id="p60-of-another-command"),
        pytest.param("find: {limit: many}", "find", 'FILE: find.limit: give a whole number; got "many"', id="type"),
        pytest.param(
            "find: {limit: 0}", "find", "FILE: find.limit: input should be greater than or equal to 1; got 0", id="range"
        ),
        pytest.param("find: {tag: math}", "find", "FILE: find.tag: give a list", id="one-tag"),
        pytest.param(
            "trend: {since: soon}", "trend --skill a", "FILE: trend.since: give a day such as 2026-01-31", id="converter"
        ),
        pytest.param(
            "report: {diff: {failOn: bad}}", "report diff a b", "FILE: report.diff.failOn: input should be 'worse'", id="choice"
        ),
        pytest.param(
            "find: {adapter: htp}", "find", "FILE: find.adapter 'htp' is unknown (did you mean 'http'?)", id="in-the-body"
        ),
        pytest.param("find: 3", "find", "FILE: find: give an object", id="no-group"),
        pytest.param("evaluator: exakt", "eval --skills s --dry-run", "FILE: evaluator: unknown scorer 'exakt'", id="top-level"),
        pytest.param("report: {diff: {minEffect: 3}}", "report diff a b", "FILE: report.diff.minEffect: give a share", id="body"),
        pytest.param("json: true", "query --csv x", "--csv and FILE: json exclude each other", id="global"),
    ],
)
def test_p60_a_wrong_value_is_refused_where_it_stands(
    folder: Path,
    copy: Callable[..., Path],
    examples: Path,
    capsys: pytest.CaptureFixture[str],
    text: str,
    arguments: str,
    message: str,
) -> None:
    copy(examples / "calculator", folder / "s")
    copy(examples / "calculator", folder / "skills" / "calculator")
    (folder / "eval-store").mkdir()
    (folder / FILE).write_text(text)
    assert call(arguments.split()) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.replace(str(folder / FILE), "FILE").startswith(f"eval-skills: {message}")
    assert said.err.count("\n") == 1


def test_groups_of_other_commands_are_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / FILE).write_text("trend: {metrics: p95Ms}\nreport: {diff: {failOn: bad}}\nfind: {limit: 3}")
    monkeypatch.setenv("EVAL_SKILLS_HISTORY__LIMIT", "many")
    monkeypatch.setenv("EVAL_SKILLS_REPORT__CONVERT__NOTHING", "x")
    assert called_with(("find",), [])["limit"] == 3
    with pytest.raises(ConfigError, match=r"unknown key 'trend\.metrics'"):
        called_with(("trend",), ["--skill", "a"])
    with pytest.raises(ConfigError, match=r"report\.diff\.failOn"):
        called_with(("report", "diff"), ["a", "b"])


@pytest.mark.slow
def test_paths_start_at_the_folder_of_their_file(folder: Path) -> None:
    ci = folder / "ci"
    ci.mkdir()
    (ci / "c.yaml").write_text(
        "eval: {skills: [one, ~/two], store: here}\nreport: {convert: {input: latest, output: out/, format: [csv]}}\n"
    )
    begin(replace(new_invocation(), config_path=Path("ci/c.yaml")))
    found = app.parse_args(["eval"], exit_on_error=False, print_error=False)[1].arguments
    assert found["skills"] == [str(ci / "one"), str(folder / "home" / "two")]
    assert found["reports"].store == str(ci / "here")
    begin(replace(new_invocation(), config_path=Path("ci/c.yaml")))
    found = app.parse_args(["report", "convert"], exit_on_error=False, print_error=False)[1].arguments
    assert (found["input_"], found["output"]) == ("latest", f"{ci / 'out'}/")


def test_null_takes_back_what_a_lower_layer_says(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / FILE).write_text("find: {query: calc}")
    assert called_with(("find",), [])["query"] == "calc"
    monkeypatch.setenv("EVAL_SKILLS_FIND__QUERY", "null")
    assert "query" not in called_with(("find",), [])


@pytest.mark.slow
def test_completion_needs_no_configuration(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / FILE).write_text("nonsense: 1")
    assert call(["completion", "bash"]) == 0
    assert call(["find", "--help"]) == 0
    capsys.readouterr()
    with pytest.raises(ConfigError):
        called_with(("find",), [])


def test_a_resume_goes_on_as_its_run_began_whatever_is_configured(folder: Path) -> None:
    begin(Invocation(configured=dict.fromkeys(("--tasks", "--concurrency", "--store", "--skills"), "FILE")))
    given = {"tasks": "t.json", "concurrency": 9, "runs": 2, "store": "kept", "resume": "latest", "retry_errors": True}
    options = request_options(given, resuming=True)
    assert options == {
        "runs": 2, "store": str(folder / "kept"), "resume": "latest", "retry_errors": True,
    }  # fmt: skip
    assert typed_options({"skills": ["s"], "task_tags": ["t"]}) == {"task_tags": ["t"]}


@pytest.mark.parametrize(("file", "kept"), [("", None), ("exitOnFail: false", False), ("exitOnFail: true", True)])
def test_a_resume_keeps_the_gate_of_its_run_unless_a_layer_speaks_of_it(folder: Path, file: str, kept: bool | None) -> None:
    (folder / FILE).write_text(file)
    begin(new_invocation())
    always = ("exit_on_fail", "min_completion")
    options = request_options({"resume": "latest"}, resuming=True, always=always)
    assert (options.get("exit_on_fail"), "min_completion" in options) == (kept, False)
    assert request_options({"min_completion": 0.2, "resume": "latest"}, resuming=True, always=always)["min_completion"] == 0.2
    assert request_options({}, resuming=False)["exit_on_fail"] is bool(kept), "a new run has the default"


def test_what_is_configured_for_a_resume_is_nothing_to_another_call(folder: Path) -> None:
    begin(Invocation(configured={"--retry-errors": "FILE"}))
    options = request_options({"retry_errors": True, "tasks": "t.json", "concurrency": 9}, resuming=False)
    assert (options.get("retry_errors"), options["tasks"], options["concurrency"]) == (None, "t.json", 9)
