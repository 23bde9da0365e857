"""`config`: what is in force, where it comes from, and setting it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.config import LlmSettings
from tests.tables import each_row

Run = Callable[..., Any]


@pytest.fixture
def home(place: Any) -> Path:
    """The file of the person's own settings."""
    return Path(place.environ["HOME"], ".eval-skills", "config.yaml")


@pytest.mark.slow
def test_p58_list_merges_every_layer_and_tells_the_origin(
    place: Any, home: Path, run_here: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = place.write("eval-skills.config.yaml", "runs: 3\nllm: {model: m}\n")
    home.parent.mkdir(parents=True)
    home.write_text("runs: 5\nretries: 2\nllm: {temperature: 0.5}\n")
    monkeypatch.setenv("EVAL_SKILLS_CONCURRENCY", "9")
    shown = run_here("config", "list", "--show-origin", "--json").json
    assert shown["runs"] == {"value": 3, "origin": str(project)}
    assert shown["retries"] == {"value": 2, "origin": str(home)}
    assert shown["llm.model"] == {"value": "m", "origin": str(project)}
    assert shown["llm.temperature"] == {"value": 0.5, "origin": str(home)}
    assert shown["concurrency"] == {"value": 9, "origin": "EVAL_SKILLS_CONCURRENCY"}
    assert shown["timeoutMs"] == {"value": 30_000, "origin": "default"}


def test_list_shows_every_key_in_a_line_of_its_own(run_here: Run) -> None:
    lines = run_here("config", "list").out.splitlines()
    keys = run_here("config", "list", "--json").json
    assert [line.split()[0] for line in lines] == list(keys)
    assert [line for line in lines if line.endswith("default")] == []
    assert all(line.endswith("default") for line in run_here("config", "list", "--show-origin").out.splitlines())


@pytest.mark.slow
@each_row(
    ("key", "text", "value"),
    [
        pytest.param("timeoutMs", "30000", 30_000, id="number"),
        pytest.param("timeout_ms", "30000", 30_000, id="snake-case"),
        pytest.param("benchmark", "coding-easy", "coding-easy", id="text-without-quotes"),
        pytest.param("format", '["json", "markdown"]', ["json", "markdown"], id="list"),
        pytest.param("llm.model", "null", None, id="null"),
        pytest.param("exitOnFail", "false", False, id="bool"),
    ],
)
def test_get_prints_the_value(run_here: Run, key: str, text: str, value: Any) -> None:
    assert run_here("config", "get", key).out == f"{text}\n"
    assert run_here("config", "get", key, "--json").json == {"key": key, "value": value, "origin": "default"}


def test_get_of_a_group_is_an_object(run_here: Run) -> None:
    group = run_here("config", "get", "llm", "--json").json["value"]
    assert set(group) == {field.alias for field in LlmSettings.model_fields.values()}
    assert group["apiKeyEnv"] is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "where"), [([], "home"), (["--project"], "project"), (["-c", "other.yaml"], "other")], ids=lambda it: str(it)
)
def test_p59_set_writes_the_file_that_is_meant_and_no_other(
    place: Any, home: Path, run_here: Run, arguments: list[str], where: str
) -> None:
    files = {"home": home, "project": place.folder / "eval-skills.config.yaml", "other": place.write("other.yaml", "")}
    result = run_here("config", "set", "llm.model", "gpt-4o", *arguments, "--json")
    assert (result.code, result.json["value"]) == (0, "gpt-4o")
    assert {name: file.read_text() for name, file in files.items() if file.exists() and file.read_text()} == {
        where: "llm:\n  model: gpt-4o\n"
    }
    assert [path.name for path in files[where].parent.glob(".*config*")] == []


@pytest.mark.slow
def test_what_was_set_is_in_force_and_comments_stay(place: Any, run_here: Run) -> None:
    file = place.write("eval-skills.config.yaml", "# ours\nruns: 3  # thrice\nretries: 1\n")
    assert run_here("config", "set", "runs", "4", "--project").out == "runs = 4  in eval-skills.config.yaml\n"
    assert file.read_text() == "# ours\nruns: 4  # thrice\nretries: 1\n"
    assert run_here("config", "get", "runs").out == "4\n"


@pytest.mark.slow
def test_a_setting_that_the_key_of_a_command_hides_is_remarked(place: Any, run_here: Run) -> None:
    text = "eval: {timeoutMs: 100}\nrun: {timeoutMs: null, judgeModel: a/b}\ntriggers: {judgeModel: a/b}\n"
    file = place.write("eval-skills.config.yaml", text + "find: {minCompletion: 0.1}\n")
    over_model = f"run.judgeModel = a/b in {file}, triggers.judgeModel = a/b in {file} win there"
    assert run_here("config", "set", "timeoutMs", "5000", "--project").err == (
        f"timeoutMs has no effect on eval: eval.timeoutMs = 100 in {file} wins there\n"
    )
    assert run_here("config", "set", "llm.model", "c/d", "--project").err == (
        f"llm.model has no effect on run, triggers: {over_model}\n"
    )
    assert run_here("config", "set", "minCompletion", "0.5", "--project").err == ""  # that of find has another meaning
    assert run_here("config", "set", "eval.timeoutMs", "200", "--project").err == ""


@pytest.mark.slow
@pytest.mark.parametrize("layer", ["project", "variable"])
def test_a_setting_that_a_higher_layer_hides_is_remarked(
    place: Any, run_here: Run, monkeypatch: pytest.MonkeyPatch, layer: str
) -> None:
    if layer == "project":
        place.write("eval-skills.config.yaml", "runs: 3\n")
    else:
        monkeypatch.setenv("EVAL_SKILLS_RUNS", "3")
    result = run_here("config", "set", "runs", "4")
    assert result.code == 0
    assert result.err.startswith("runs stays 3 here: ")
    assert ("EVAL_SKILLS_RUNS" if layer == "variable" else "eval-skills.config.yaml") in result.err


@pytest.mark.slow
@pytest.mark.parametrize("json_flag", [(), ("--json",)], ids=["text", "json"])
def test_the_values_of_secrets_are_never_printed(
    place: Any, run_here: Run, monkeypatch: pytest.MonkeyPatch, json_flag: tuple[str, ...]
) -> None:
    monkeypatch.setenv("MY_TOKEN", "s3cret-token")
    monkeypatch.setenv("MY_KEY", "s3cret-key")
    place.write(
        "eval-skills.config.yaml",
        "secrets: [MY_TOKEN]\nllm: {apiKeyEnv: MY_KEY, apiBase: 'http://127.0.0.1/s3cret-key'}\nstore: s3cret-token\n",
    )
    calls = [
        ("list",), ("list", "--show-origin"), ("get", "llm"), ("get", "store"), ("set", "evaluator", "s3cret-token"),
        ("set", "runs", "s3cret-token"), ("set", "llm.apiKeyEnv", "s3cret-key"), ("set", "runs", "s3cret-key", "-v"),
    ]  # fmt: skip
    results = [run_here("config", *call, *json_flag) for call in calls]
    assert [result.code for result in results] == [0, 0, 0, 0, 0, 2, 2, 2]
    assert all("s3cret" not in result.out + result.err for result in results)
    assert "[redacted:MY_KEY]" in results[2].out
    assert run_here("config", "get", "secrets", "--json").json["value"] == ["MY_TOKEN"]


@pytest.mark.slow
@each_row(
    ("arguments", "says"),
    [
        pytest.param(["get", "llm.modl"], "unknown key 'llm.modl' (did you mean 'llm.model'?)", id="p60-get"),
        pytest.param(["set", "concurency", "3"], "unknown key 'concurency' (did you mean 'concurrency'?)", id="p60-set"),
        pytest.param(["set", "runs.x", "3"], "'runs' holds one value and has no keys below it", id="below-a-value"),
        pytest.param(["set", "runs", "lots"], "runs: give a whole number", id="type"),
        pytest.param(["set", "runs", "0"], "runs: input should be greater than or equal to 1; got 0", id="range"),
        pytest.param(["set", "format", "json,nope"], "unknown report format 'nope'", id="format"),
        pytest.param(["set", "minCompletion", "nan"], "minCompletion", id="nan"),
        pytest.param(["set", "llm", "gpt"], "llm is a group of keys", id="group"),
        pytest.param(["set", "runs"], "VALUE", id="no-value"),
        pytest.param(
            ["set", "runs", "3", "--project", "-c", "own.yaml"], "--config and --project name two files", id="two-files"
        ),
        pytest.param(["set", "runs", "3", "-c", "nope.yaml"], "nope.yaml: no such file", id="missing-config"),
        pytest.param(["set", "runs", "3", "-c", "typo.yaml"], "unknown key 'runz'", id="p60-file-with-a-typo"),
        pytest.param(["list", "-c", "typo.yaml"], "typo.yaml: unknown key 'runz'", id="p60-list"),
    ],
)
def test_p40_what_cannot_be_used_is_refused_and_nothing_is_written(
    place: Any, run_here: Run, arguments: list[str], says: str
) -> None:
    place.write("own.yaml", "# mine\n")
    place.write("typo.yaml", "runz: 3\n")
    before = place.files()
    result = run_here("config", *arguments)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert says in result.err
    assert place.files() == before
    assert not Path(place.environ["HOME"], ".eval-skills").exists()
