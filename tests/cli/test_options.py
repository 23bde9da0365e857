"""Every option of `eval` and `run` has an effect that can be seen: in the plan of a dry run, or in what a real run leaves."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.cli.output.run import WHY_A_DRY_RUN_FAILS
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.plan import make_plan
from eval_skills.engine.evaluation.session import manifest_of

Run = Callable[..., Any]

OF_THE_BENCHMARK: list[tuple[list[str], str, Any]] = [
    (["--runs", "3"], "items", 60),
    (["--tasks", "own.json"], "benchmark", "own@0.0.0"),
    (["--benchmark", "skill-quality"], "benchmark", "skill-quality@1.0.0"),
    (["--benchmarks-dir", "mine", "--benchmark", "own"], "benchmark", "own@2.0.0"),
]
OF_THE_OPTIONS: list[tuple[list[str], str, Any]] = [
    (["--concurrency", "9"], "options.concurrency", 9),
    (["--timeout", "1234"], "options.timeoutMs", 1234),
    (["--retries", "2"], "options.retries", 2),
    (["--items-per-task", "5"], "options.itemsPerTask", 5),
    (["--evaluator", "contains"], "options.evaluator", "contains"),
    (["--fail-fast"], "options.failFast", True),
    (["--allow-custom-code"], "options.allowCustomCode", True),
    (["--min-completion", "0.9"], "options.minCompletion", 0.9),
    (["--format", "csv", "json"], "options.format", ["csv", "json"]),
    (["--output-dir", "out"], "options.outputDir", "{cwd}/out"),
    (["--store", "kept"], "options.store", "{cwd}/kept"),
]
"""Options, and what they change in the plan of a dry run."""


@pytest.fixture
def plan(place: Any, run_here: Run) -> Callable[..., Any]:
    """The plan of a call, as `--dry-run` prints it."""
    place.write("own.json", [task("one"), task("two")])
    place.write("mine/own.json", {"id": "own", "name": "Own", "version": "2.0.0", "tasks": [task("three")]})

    def call(*arguments: str) -> Any:
        before = place.files()
        result = run_here(*arguments, "--dry-run", "--json")
        assert (result.code, result.err) == (0, ""), result.err
        assert place.files() == before
        return result.json

    return call


@pytest.mark.slow
def test_a_folder_named_benchmarks_comes_before_the_built_in_ones_and_says_so(place: Any, run_here: Run) -> None:
    dry_run = ("eval", "--skills", "skills", "--dry-run", "--json")
    assert run_here(*dry_run).json["benchmark"] == "coding-easy@1.0.0"
    place.write("benchmarks/coding-easy.json", {"id": "coding-easy", "name": "Mine", "version": "2.0.0", "tasks": [task("one")]})
    result = run_here(*dry_run)
    assert result.json["benchmark"] == "coding-easy@2.0.0"
    assert any("it comes before the built-in benchmark of that id" in remark for remark in result.json["remarks"])
    assert run_here(*dry_run, "--benchmark", "gaia-v1").json["remarks"] == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(["--min-completion", "0.9"], True, id="alone"),
        pytest.param(["--min-completion", "0.9", "--exit-on-fail"], False, id="with-a-gate"),
        pytest.param([], False, id="nothing-asked"),
    ],
)
def test_a_completion_that_is_asked_for_without_a_gate_is_no_silent_pass(
    run_here: Run, monkeypatch: pytest.MonkeyPatch, arguments: list[str], says: bool
) -> None:
    monkeypatch.setattr("eval_skills.cli.commands.evaluate.run_flow", lambda *_, **__: 0)
    result = run_here("eval", "--skills", "skills", *arguments)
    assert ("no gate: nothing fails at --min-completion 0.9 without --exit-on-fail" in result.err) is says


@pytest.mark.parametrize("command", ["eval", "run"])
def test_a_resume_is_held_to_the_gate_that_its_run_began_with(place: Any, run_here: Run, command: str) -> None:
    place.write("own.json", [task("one")])
    asked = EvaluateRequest(skills=["skills"], tasks="own.json", store="kept", min_completion=0.9, exit_on_fail=True)
    plan = make_plan(asked)
    plan.write_manifest(manifest_of(plan))
    resumed = (command, "--resume", "latest", "--store", "kept", "--dry-run", "--json")
    kept = run_here(*resumed)
    assert (kept.code, kept.json["gate"]["minCompletion"]) == (1, 0.9), kept.err
    named = run_here(*resumed, "--min-completion", "0.2")
    assert (named.code, named.json["gate"]["minCompletion"]) == (1, 0.2), named.err
    none = run_here(*resumed, "--exit-on-fail=false")
    assert (none.code, none.json["gate"]) == (0, None), none.err


def value_at(document: Any, path: str) -> Any:
    for key in path.split("."):
        document = document[key]
    return document


@pytest.mark.slow
@pytest.mark.parametrize("base", [["eval", "--skills", "skills"], ["run"]], ids=["eval", "run"])
def test_p59_a_flag_reaches_the_run(place: Any, plan: Callable[..., Any], base: list[str]) -> None:
    without, together = plan(*base), plan(*base, *(word for words, *_ in OF_THE_OPTIONS for word in words))
    for words, path, expected in OF_THE_OPTIONS:
        expected = expected.replace("{cwd}", str(place.folder)) if isinstance(expected, str) else expected
        assert (value_at(together, path), value_at(without, path) != expected) == (expected, True), words
    for words, path, expected in OF_THE_BENCHMARK:
        assert (value_at(plan(*base, *words), path), value_at(without, path) != expected) == (expected, True), words


@pytest.mark.slow
def test_p58_a_flag_beats_a_variable_beats_the_file_beats_the_default(
    place: Any, plan: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    base = ["eval", "--skills", "skills"]
    assert plan(*base)["options"]["timeoutMs"] == 30_000
    place.write("eval-skills.config.yaml", "timeoutMs: 1000\nminCompletion: 0.6\n")
    assert plan(*base)["options"]["timeoutMs"] == 1000
    monkeypatch.setenv("EVAL_SKILLS_TIMEOUT_MS", "2000")
    assert plan(*base)["options"]["timeoutMs"] == 2000
    assert plan(*base, "--timeout", "3000")["options"]["timeoutMs"] == 3000
    assert plan(*base)["options"]["minCompletion"] == 0.6


@pytest.mark.slow
@pytest.mark.parametrize("spelling", [["-c"], ["--config"]], ids=["short", "long"])
@pytest.mark.parametrize("before", [True, False], ids=["before-the-command", "after-the-command"])
def test_a_named_configuration_is_used(place: Any, plan: Callable[..., Any], spelling: list[str], before: bool) -> None:
    place.write("ci.yaml", "runs: 4\n")
    named, command = [*spelling, "ci.yaml"], ["eval", "--skills", "skills"]
    assert plan(*(named + command if before else command + named))["runs"] == 4


@pytest.mark.slow
@pytest.mark.parametrize("option", ["-t", "--tag"])
def test_p59_eval_keeps_the_tasks_with_all_of_the_tags(plan: Callable[..., Any], option: str) -> None:
    everything, math = plan("eval", "--skills", "skills"), plan("eval", "--skills", "skills", option, "math")
    both = plan("eval", "--skills", "skills", option, "math", "precedence")
    assert 0 < both["tasks"] < math["tasks"] < everything["tasks"] == 20


@pytest.mark.parametrize(
    ("arguments", "skills"),
    [
        pytest.param([], ["calculator@1.0.0", "weather@2.0.0"], id="all"),
        pytest.param(["--query", "WEATH"], ["weather@2.0.0"], id="query"),
        pytest.param(["-q", "weath"], ["weather@2.0.0"], id="q"),
        pytest.param(["--skill-tag", "outside"], ["weather@2.0.0"], id="skill-tag"),
        pytest.param(["--adapter", "http"], ["weather@2.0.0"], id="adapter"),
        pytest.param(["-a", "subprocess"], ["calculator@1.0.0"], id="a"),
        pytest.param(["--skills-dir", "skills/calculator"], ["calculator@1.0.0"], id="skills-dir"),
    ],
)
def test_p59_run_evaluates_the_skills_that_match(
    place: Any, plan: Callable[..., Any], arguments: list[str], skills: list[str]
) -> None:
    weather(place)
    assert plan("run", *arguments)["skills"] == skills


@pytest.mark.parametrize("name", ["--tag", "-t"])
def test_the_earlier_name_of_skill_tag_works_and_says_so(place: Any, run_here: Callable[..., Any], name: str) -> None:
    weather(place)
    result = run_here("run", name, "outside", "--dry-run", "--json")
    assert (result.code, result.json["skills"]) == (0, ["weather@2.0.0"])
    assert result.err.startswith("--tag of run is now called --skill-tag")
    assert result.err.count("\n") == 1


STRATEGY = {"filters": {"minCompletionRate": 0.5}, "topK": 5, "sortBy": "latency"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "variable", "floor", "top_k"),
    [
        pytest.param([], None, 0.7, None, id="defaults"),
        pytest.param([], "0.8", 0.8, None, id="configured"),
        pytest.param(["--strategy", "s.json"], None, 0.5, 5, id="file-beats-default"),
        pytest.param(["--strategy", "s.json"], "0.8", 0.5, 5, id="file-beats-configured"),
        pytest.param(["--strategy", "s.json", "--min-completion", "0.6"], "0.8", 0.6, 5, id="flag-beats-file"),
        pytest.param(["--strategy", "s.json", "--top-k", "2"], None, 0.5, 2, id="top-k-beats-file"),
    ],
)
def test_p44_flag_over_strategy_file_over_configuration(
    place: Any,
    plan: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    variable: str | None,
    floor: float,
    top_k: int | None,
) -> None:
    place.write("s.json", STRATEGY)
    if variable:
        monkeypatch.setenv("EVAL_SKILLS_MIN_COMPLETION", variable)
    strategy = plan("run", *arguments)["strategy"]
    assert (strategy["filters"]["minCompletionRate"], strategy["topK"]) == (floor, top_k)
    assert strategy["sortBy"] == ("latency" if arguments else "compositeScore")


def test_p44_a_strategy_file_without_filters_is_fine(place: Any, plan: Callable[..., Any]) -> None:
    place.write("s.yaml", "topK: 1\n")
    assert plan("run", "--strategy", "s.yaml")["strategy"]["filters"]["minCompletionRate"] == 0.7


@pytest.mark.slow
def test_p47_a_malformed_skill_is_a_remark_and_its_neighbours_run(place: Any, plan: Callable[..., Any]) -> None:
    place.write("skills/broken/skill.json", "{")
    for base in (["run"], ["eval", "--skills", "skills"]):
        found = plan(*base)
        assert found["skills"] == ["calculator@1.0.0"]
        assert ["skipped" in remark and "broken/skill.json" in remark for remark in found["remarks"]] == [True]


@pytest.mark.slow
def test_p40_a_gate_over_a_dry_run_fails(place: Any, run_here: Run) -> None:
    result = run_here("eval", "--skills", "skills", "--dry-run", "--exit-on-fail", "--json")
    assert (result.code, result.json["gate"]) == (1, {"minCompletion": 0.7, "passed": False, "failures": [WHY_A_DRY_RUN_FAILS]})
    spoken = run_here("eval", "--skills", "skills", "--dry-run", "--exit-on-fail")
    assert spoken.code == 1
    assert "a dry run evaluates nothing" in spoken.out


def test_p40_a_plan_calls_and_writes_nothing(place: Any, run_here: Run) -> None:
    before = place.files()
    result = run_here("run", "--dry-run")
    assert result.code == 0
    assert "items      20" in result.out
    assert place.files() == before


def task(name: str) -> dict[str, Any]:
    return {"id": name, "inputData": {"expression": "1+1"}, "expectedOutput": {"type": "exact", "value": 2}}


def weather(place: Any) -> Path:
    skill = json.loads((place.folder / "skills/calculator/skill.json").read_text())
    skill |= {"id": "weather", "name": "Weather", "version": "2.0.0", "description": "Says if it rains.", "tags": ["outside"]}
    skill |= {"adapterType": "http", "entrypoint": "http://127.0.0.1:1/rain", "adapterConfig": {}}
    return Path(place.write("skills/weather/skill.json", skill))


@pytest.mark.slow
def test_p59_the_evaluator_judges_tasks_that_name_none(place: Any, run_here: Run) -> None:
    place.write("bare.json", [task("t") | {"expectedOutput": {"keywords": ["2"]}}])
    call = ["eval", "--skills", "skills", "--tasks", "bare.json", "--dry-run"]
    assert run_here(*call).code == 2  # exact has nothing to compare with
    assert run_here(*call, "--evaluator", "contains").code == 0


@pytest.mark.slow
def test_p11_code_of_a_benchmark_needs_to_be_allowed(place: Any, run_here: Run) -> None:
    place.write("score.py", "def score(response):\n    return 1.0\n")
    place.write("own.json", [task("t") | {"expectedOutput": {"type": "custom", "customScorerPath": "score.py"}}])
    call = ["eval", "--skills", "skills", "--tasks", "own.json", "--dry-run"]
    refused = run_here(*call)
    assert (refused.code, refused.out) == (2, "")
    assert "--allow-custom-code" in refused.err
    assert run_here(*call, "--allow-custom-code").code == 0


@pytest.mark.parametrize(
    ("limits", "flags", "said"),
    [
        pytest.param((10_000, 5_000), ("--timeout", "700"), "of their own: 2 of 2 tasks, up to 10000 ms", id="all"),
        pytest.param((None, 5_000), ("--timeout", "700"), "of their own: 1 of 2 tasks, up to 5000 ms", id="one"),
        pytest.param((None, None), ("--timeout", "700"), None, id="none"),
        pytest.param((10_000, 5_000), (), None, id="not-typed"),
    ],
)
@pytest.mark.parametrize("configured", [False, True], ids=["plain", "configured"])
def test_a_time_limit_that_tasks_override_is_pointed_out(
    run_here: Any, place: Any, limits: tuple[int | None, ...], flags: tuple[str, ...], said: str | None, configured: bool
) -> None:
    if configured:
        place.write("eval-skills.config.yaml", {"timeoutMs": 900})
    plain = {"inputData": {}, "expectedOutput": {"value": 1}}
    own = [{} if each is None else {"timeoutMs": each} for each in limits]
    path = place.write("tasks.json", [{"id": f"t{at}", **plain, **each} for at, each in enumerate(own)])
    result = run_here("eval", "--skills", "skills", "--tasks", str(path), "--dry-run", *flags)
    assert result.code == 0, result.err
    assert ("--timeout 700 does not hold" in result.out) is (said is not None)
    assert (said or "") in result.out
