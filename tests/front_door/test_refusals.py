"""What cannot be done is said in one sentence, by an error of ours, before anything is called."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import eval_skills as es
from eval_skills.api import options
from eval_skills.core.errors import InputError, UsageError, UserError
from tests.tables import each_row

TASK = {"id": "a", "input": "x", "expected": "X"}


def never(_: Any) -> Any:
    raise AssertionError("a refused call must call nothing")


class Polars:
    """A table as Polars has it: without an index, and it gives its columns when it is iterated."""

    columns = ("input",)

    def to_dict(self) -> dict[str, Any]:
        return {"input": ["x"]}

    def to_dicts(self) -> list[dict[str, Any]]:
        return [{"input": "x"}]


class Hostile:
    def __repr__(self) -> str:
        raise RuntimeError("no")

    __str__ = __repr__


@each_row(
    ("skills", "message"),
    [
        pytest.param([], "no skill to evaluate; give at least one", id="empty-list"),
        pytest.param({}, "no skill to evaluate; give at least one", id="empty-dict"),
        pytest.param(None, "skills is a NoneType, which cannot be called; give a function", id="none"),
        pytest.param(3, "skills is an int, which cannot be called", id="number"),
        pytest.param([never, 3], r"skills\[1\] is an int", id="number-in-list"),
        pytest.param({"a": None}, r"skills\['a'\] is a NoneType", id="none-in-dict"),
        pytest.param({3: never}, "the keys of a dict are names; got 3", id="key-that-is-no-name"),
        pytest.param([Hostile()], r"skills\[0\] is a \S*Hostile, which cannot be called", id="hostile-repr"),
        pytest.param(Hostile, "skills is the class Hostile; give an instance of it", id="class"),
        pytest.param("", "the path is blank", id="blank-path"),
        pytest.param("nowhere/skill", "nowhere/skill: no such skill file or folder", id="missing-path"),
        pytest.param(lambda: 1, r"<lambda>\(\) takes no argument", id="no-argument"),
        pytest.param([lambda _: 1, lambda _: 2], "two skills are called 'lambda'; give each a name of its own", id="two-lambdas"),
        pytest.param({"A b": never, "a-b": lambda _: 1}, "two skills are called 'a-b'", id="two-names-that-read-alike"),
        pytest.param({"A": never, "a": never}, "two skills are called 'a'", id="two-names-of-one-function-that-read-alike"),
    ],
)
def test_skills(skills: Any, message: str) -> None:
    with pytest.raises(UserError, match=message) as refused:
        es.evaluate(skills, TASK)
    assert "\n" not in str(refused.value)


@each_row(
    ("tasks", "message"),
    [
        pytest.param(None, "no tasks were given; give a list of dicts", id="none"),
        pytest.param([], "no tasks were given: the list is empty", id="empty"),
        pytest.param(pd.DataFrame(), "no tasks were given: the list is empty", id="empty-table"),
        pytest.param(5, "tasks is an int; give a list of dicts", id="number"),
        pytest.param(Polars(), r"tasks is a \S*Polars; give its rows, as to_dicts\(\) returns them", id="polars"),
        pytest.param(pa.table({"input": ["x"]}), r"Table; give its rows, as to_pylist\(\) returns them", id="arrow"),
        pytest.param([5], r"tasks\[0\] is an int; give a dict", id="number-in-list"),
        pytest.param("no-such-benchmark", "unknown benchmark 'no-such-benchmark'", id="unknown-id"),
        pytest.param([TASK, TASK], "task id 'a' is used 2 times; make it unique", id="id-twice"),
        pytest.param(
            [{"input": "x", "target": "X"}],
            r"tasks\[0\]: unknown key 'target' \(did you mean 'expected'\?\)",
            id="elsewhere",
        ),
        pytest.param(
            [{**TASK, "expectd": "X"}], r"tasks\[0\]: unknown key 'expectd' \(did you mean 'expected'\?\)", id="misspelt"
        ),
        pytest.param([{**TASK, 5: "X"}], r"tasks\[0\]: unknown key 5", id="key-that-is-no-text"),
        pytest.param([{**TASK, "inputData": 1}], "input and inputData are the same key", id="input-twice"),
        pytest.param([{**TASK, "expectedOutput": {"value": 1}}], "expected and expectedOutput both say", id="expected-twice"),
        pytest.param(
            pd.DataFrame({"q": ["x"], "r": ["y"], "expected": ["X"]}),
            r"unknown column 'q'; .*: frame\.assign\(input=frame\[\['q', 'r'\]\]\.to_dict\('records'\)\)",
            id="parts-in-columns",
        ),
        pytest.param(
            pd.DataFrame({"input": ["x"], "topic": ["y"], "expected": ["X"]}), r"frame\.drop\(columns=\['topic'\]\)", id="column"
        ),
        pytest.param(
            pd.DataFrame({"input": ["x", np.nan], "expected": ["X", "Y"]}),
            r"tasks\[1\]: the cell of input is empty, so nothing would be asked",
            id="empty-input",
        ),
        pytest.param(
            pd.DataFrame([["x", "X", "Y"]], columns=["input", "expected", "expected"]),
            "tasks: two columns are called 'expected'; keep one of them",
            id="column-twice",
        ),
        pytest.param([{"input": "x"}], r"tasks\[0\]: nothing is expected of the answer", id="nothing-expected"),
        pytest.param([{"input": Hostile(), "expected": 1}], r"tasks\[0\]: input is a \S*Hostile", id="hostile-input"),
        pytest.param([{"input": 1, "expected": {1, 2}}], r"tasks\[0\]: expected is a set, .*; give text", id="set"),
        pytest.param([{**TASK, "timeoutMs": "5"}], r"tasks\[0\]: timeoutMs: give a whole number; got \"5\"", id="wrong-type"),
        pytest.param([{**TASK, "evaluator": "exat"}], r"tasks\[0\]: evaluator: unknown scorer 'exat'", id="unknown-scorer"),
        pytest.param([{"input": 1, "expected": {"output": 3}}], "to compare with this dict itself, give it as", id="agents-key"),
        pytest.param(pd.DataFrame({"input": pd.to_datetime(["2026-01-01"]), "expected": [1]}), "pandas.*Timestamp", id="date"),
        pytest.param(pd.DataFrame({"input": [1], "expected": [np.nan]}), "nothing is expected of the answer", id="empty-cell"),
        pytest.param(
            [{**TASK, "evaluator": "pii"}],
            r"tasks\[0\]: expected: pii does not compare the answer with it; leave it out, or name what compares with it, too, "
            r"as 'evaluators': \['pii', 'exact'\]",
            id="expected-that-nothing-reads",
        ),
        pytest.param([{**TASK, "evaluator": {"type": "latency", "limitMs": 9}}], "latency does not compare", id="latency"),
        pytest.param(
            [{**TASK, "expected": True, "evaluators": ["refusal", "pii"]}],
            r"refusal and pii do not compare the answer with it; give refusal its option, as {'type': 'refusal', 'expected': …}",
            id="expected-that-no-evaluator-reads",
        ),
        pytest.param([{**TASK, "evaluator": "refusal"}], r"expected: give true or false; got \"X\"", id="stance-that-is-text"),
        pytest.param(
            [{**TASK, "expected": True, "evaluator": {"type": "refusal", "expected": True}}],
            "given in the evaluator refusal, whose option it is, and in the task; keep one",
            id="stance-twice",
        ),
        pytest.param([{**TASK, "evaluator": "llm_judge"}], "no judging model is named", id="no-judge"),
    ],
)
def test_tasks(tasks: Any, message: str) -> None:
    with pytest.raises(UserError, match=message) as refused:
        es.evaluate(never, tasks)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        pytest.param({"max_workers": 3}, r"unknown option 'max_workers' \(did you mean 'concurrency'\?\)", id="elsewhere"),
        pytest.param({"run": 3}, r"unknown option 'run' \(did you mean 'runs'\?\); known are", id="misspelt"),
        pytest.param({"timeoutMs": 3}, r"unknown option 'timeoutMs' \(did you mean 'timeout_ms'\?\)", id="camel-case"),
        pytest.param({"runs": 0}, "runs: .* got 0", id="too-small"),
        pytest.param({"timeout_ms": 1.5}, "timeout_ms: give a whole number; got 1.5", id="wrong-type"),
        pytest.param({"llm": {"modl": "x"}}, r"llm: unknown key 'modl' \(did you mean 'model'\?\)", id="inside"),
        pytest.param({"evaluator": "exat"}, "evaluator: unknown scorer 'exat'", id="unknown-scorer"),
        pytest.param({"benchmark": "coding-easy"}, "benchmark is not an option of evaluate; give", id="benchmark"),
        pytest.param({"max_cost": 0}, "max_cost: input should be greater than 0; got 0", id="no-cost-at-all"),
        pytest.param({"fail_fast": True}, "add prefect=True, or leave it out", id="needs-prefect"),
        pytest.param({"task_ids": ["b"]}, "has no task 'b'", id="no-such-task"),
        pytest.param({"task_ids": []}, "task_ids is empty, so no task would be asked; leave it out to ask all", id="no-task"),
        pytest.param({"memory_mb": 100}, "limits of memory, CPU time and open files hold a process", id="limit-of-a-process"),
        pytest.param({"store": ""}, "store: blank text", id="blank-store"),
        pytest.param({"store": False}, "store is a bool; give a path or a Store, or None to keep nothing", id="no-path"),
        pytest.param({"store": __file__}, "is a file; name a folder", id="store-is-a-file"),
        pytest.param({"store": "memory://x"}, "begins with s3://, gs:// or az://", id="no-such-storage"),
        pytest.param({"store": f"{__file__}/x"}, r"^store \S+: results cannot be written here", id="store-below-a-file"),
        pytest.param({"store": f"{__file__}/x", "prefect": True}, r"^store \S+: results cannot be", id="store-with-prefect"),
        pytest.param({"record": __file__}, r"^record \S+: this file exists and is not a recording", id="record-over-a-file"),
        pytest.param({"prefect": True, "task_runner": "dask"}, "never is an object of this process", id="elsewhere"),
    ],
)
def test_options(given: Any, message: str) -> None:
    with pytest.raises(UsageError if "memory_mb" not in given else InputError, match=message):
        es.evaluate(never, TASK, **given)


def test_a_function_has_no_folder_to_inspect() -> None:
    with pytest.raises(InputError, match=r"never@0.0.0: there is no folder to inspect"):
        es.evaluate(never, "skill-quality")


@each_row(
    ("said", "in_python"),
    [
        pytest.param("raise --runs, or --max-cost-x 3", "raise runs, or --max-cost-x 3", id="options"),
        pytest.param("--output-bytes a--runs", "--output-bytes a--runs", id="no-options-of-ours"),
        pytest.param("--cache: try: eval-skills eval --cache", "cache: try: eval-skills eval --cache", id="command"),
        pytest.param("go on with --resume 20261127T233734Z-0a1b; x", 'go on with resume="20261127T233734Z-0a1b"; x', id="resume"),
        pytest.param("--timeout 5, and --task x", "timeout_ms 5, and task_ids x", id="other-names"),
        pytest.param("start anew without --resume", "start anew without resume", id="no-run-to-resume"),
    ],
)
def test_options_are_named_as_in_python(said: str, in_python: str) -> None:
    assert options.in_python(said) == in_python


def test_an_error_of_a_file_names_options_so_in_all_its_parts() -> None:
    with pytest.raises(InputError) as raised, options.python_words():
        raise InputError("record it anew with --record", source="--record.jsonl")
    assert (str(raised.value), raised.value.message) == (
        "--record.jsonl: record it anew with record",
        "record it anew with record",
    )


@pytest.mark.parametrize("path", [None, 5, b"x"])
def test_what_is_no_path(path: Any) -> None:
    with pytest.raises(UsageError, match=rf"^load_skill takes the path of .*; got a value of type {type(path).__name__}$"):
        es.load_skill(path)
    with pytest.raises(UsageError, match=rf"^load_benchmark takes the id of .*; got a value of type {type(path).__name__}$"):
        es.load_benchmark(path)
    with pytest.raises(UsageError, match=rf"^Store takes the path of .*; got a value of type {type(path).__name__}$"):
        es.Store(path)


@pytest.fixture(scope="module")
def two_results() -> list[es.EvaluationResult]:
    return [es.evaluate({"skill": made}, TASK) for made in (lambda text: text, lambda text: text.upper())]


def _nowhere() -> Any:
    return es.Store("nowhere")


SIDE = "give a result of evaluate, reports, the path of a JSON report, or a run id$"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        pytest.param(
            {"min_effect": "0"}, r"^min_effect: give a number; got \"0\" \(write 0 without quotes\)$", id="number-in-quotes"
        ),
        pytest.param({"min_effect": True}, "^min_effect: give a number; got true$", id="truth-value"),
        pytest.param({"min_effect": 2}, "^min_effect: input should be less than or equal to 1; got 2$", id="no-share"),
        pytest.param({"significance": None}, "^significance: give a number; got null$", id="none"),
        pytest.param({"significance": 0.5}, "^significance: input should be less than 0.5; got 0.5$", id="level-of-nothing"),
        pytest.param({"equivalence_margin": []}, r"^equivalence_margin: give a number; got \[\]$", id="list"),
        pytest.param(
            {"equivalence_margin": Hostile()}, "^equivalence_margin: give a number; got a value of type Hostile$", id="hostile"
        ),
        pytest.param({"missing": ["bounds"]}, "^missing: input should be 'bounds' or 'ignore'; got", id="rule-in-a-list"),
        pytest.param({"mapping": 1}, "^mapping: give an object; got 1$", id="mapping-that-is-a-number"),
        pytest.param({"mapping": ["skill"]}, "^mapping: give an object; got", id="mapping-that-is-a-list"),
        pytest.param({"mapping": {"skill": None}}, "^mapping.skill: give text; got null$", id="mapping-to-nothing"),
        pytest.param({"store": 5}, "^store is an int; give a path or a Store", id="store"),
        pytest.param({"result": None}, f"^result is a NoneType; {SIDE}", id="result-none"),
        pytest.param({"baseline": None}, f"^baseline is a NoneType; {SIDE}", id="baseline-none"),
        pytest.param({"baseline": b"x.json"}, f"^baseline is a bytes; {SIDE}", id="bytes"),
        pytest.param({"baseline": {}}, f"^baseline is a dict; {SIDE}", id="dict"),
        pytest.param({"baseline": [None]}, f"^baseline holds a NoneType; {SIDE}", id="list-of-none"),
        pytest.param({"baseline": "x" * 300}, rf"^baseline: 'x{{60}}'… is too long for the name of a file; {SIDE}", id="long"),
        pytest.param({"baseline": "a\0b"}, r"^baseline: 'a\\x00b' holds a character that no name of a file can hold", id="nul"),
    ],
)
def test_comparisons(two_results: list[es.EvaluationResult], given: Any, message: str) -> None:
    before, after = two_results
    with pytest.raises(UsageError, match=message):
        es.compare(**{"result": after, "baseline": before, **given})


def test_numbers_of_numpy_are_numbers(two_results: list[es.EvaluationResult]) -> None:
    before, after = two_results
    assert es.compare(after, before, min_effect=np.float32(0.5)).min_effect == 0.5  # type: ignore[arg-type]


@pytest.mark.parametrize("path", [None, 5, [], b"x.json"])
def test_a_result_is_saved_where_a_path_says(two_results: list[es.EvaluationResult], path: Any) -> None:
    with pytest.raises(UsageError, match=r"^path is an? .*; give the path of a file that ends in \.json, \.md, .*"):
        two_results[0].save(path)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        pytest.param("a\0.json", "holds a character that no name of a file can hold", id="nul"),
        pytest.param(f"{'x' * 300}.json", "is too long for the name of a file", id="too-long"),
        pytest.param("/dev/null", "^/dev/null: this is not a regular file; name another file$", id="device"),
        pytest.param(f"{__file__}/x.json", r"x.json: this file cannot be written: .*; name another$", id="below-a-file"),
    ],
)
def test_a_result_is_not_saved_where_no_file_can_be(two_results: list[es.EvaluationResult], path: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        two_results[0].save(path)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        pytest.param({"skills": None}, "^skills is a NoneType; give the folder of an Agent Skill, or several$", id="none"),
        pytest.param({"skills": [None]}, r"^skills\[0\] is a NoneType; give the folder", id="none-in-list"),
        pytest.param({"skills": {"a": "b"}}, "^skills is a dict; give the folder", id="dict"),
        pytest.param({"skills": []}, "^skills is empty; give the folder", id="empty"),
        pytest.param({"skills": " "}, "^skills: the path is blank; give the folder", id="blank"),
        pytest.param({"agent": None}, "^agent: give text; got null$", id="agent"),
        pytest.param({"model": 5}, "^model: give text; got 5$", id="model"),
        pytest.param({"agent_config": "x"}, "^agent_config: give an object; got", id="agent-config"),
        pytest.param({"arms": 5}, "^arms: give a list; got 5$", id="arms"),
        pytest.param({"arms": "with"}, '^arms: give a list; got "with"$', id="arms-that-are-a-text"),
        pytest.param({"arms": [None]}, r"^arms\[0\]: give text; got null$", id="arm"),
        pytest.param({"old": 5}, "^old is an int; give a git revision such as HEAD~1, or a folder$", id="old"),
        pytest.param({"store": 5}, "^store is an int; give a path or a Store", id="store"),
    ],
)
def test_effects(given: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        es.skill_effect(**{"skills": "no-folder", "agent": "custom", "tasks": [TASK], **given})


@each_row(
    ("call", "message"),
    [
        pytest.param(
            lambda: es.evaluate(never, "Why? " * 99),
            "^tasks: .* is too long for the name of a file; give the path of a benchmark",
            id="question",
        ),
        pytest.param(lambda: es.evaluate("skill" * 99, TASK), "^skills: .* is too long for the name of a file", id="skill"),
        pytest.param(lambda: es.load_skill("skill" * 99), "^skill: .* is too long for the name of a file", id="load-skill"),
        pytest.param(lambda: es.load_skill(""), "^the path is blank; give the path of a skill.json", id="load-no-skill"),
        pytest.param(lambda: es.load_benchmark("b\0"), "^benchmark: .* holds a character that no name", id="load-benchmark"),
        pytest.param(lambda: es.evaluate(never, TASK, replay="r\0"), "^replay: .* holds a character that no name", id="replay"),
        pytest.param(
            lambda: es.evaluate(never, TASK, record="r" * 300), "^record: .* is too long for the name of a file", id="record"
        ),
        pytest.param(lambda: es.Store(""), "^the store is blank; name a folder", id="blank-store"),
        pytest.param(lambda: es.Store("a\0"), "^the store .* holds a character that no name of a folder can", id="store"),
        pytest.param(
            lambda: es.evaluate(never, TASK, store=Path("s3://bucket/prefix")),
            r"^the store 's3:/bucket/prefix' has one slash where a URL has two; write s3://bucket/prefix, as text",
            id="path-of-a-url",
        ),
        pytest.param(
            lambda: _nowhere().items(run_id=5), "^run_id is text, or a list of texts; got a value of type int$", id="run-id"
        ),
        pytest.param(
            lambda: _nowhere().items(run_id="latest"),
            r"^run_id: 'latest' is not a run id; one looks like 2026\w+-3f9a; Store.latest_run\(\) returns the latest one, ",
            id="latest-run",
        ),
        pytest.param(lambda: _nowhere().reports(run_id=["20261121T2338"]), "^run_id: '20261121T2338' is not a run id", id="runs"),
        pytest.param(lambda: _nowhere().reports_of("latest"), "^run_id: 'latest' is not a run id", id="reports-of-a-run"),
        pytest.param(lambda: _nowhere().items(columns=5), "^columns is text, or a list of texts; got", id="columns"),
        pytest.param(
            lambda: _nowhere().items(skill_id=5), "^skill_id is the text of one id; got a value of type int$", id="skill-id"
        ),
        pytest.param(lambda: _nowhere().manifest(None), "^None is not a run id", id="manifest"),
    ],
)
def test_what_cannot_be_a_path_or_an_id(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        call()


def test_a_recording_may_be_named_by_a_path(tmp_path: Path) -> None:
    es.evaluate(str.upper, TASK, record=tmp_path / "answers.jsonl")
    assert es.evaluate({"upper": never}, TASK, replay=tmp_path / "answers.jsonl").completion == 1


def test_what_is_refused_starts_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    def started(**_: Any) -> None:
        raise AssertionError("no server is needed to refuse a call")

    monkeypatch.setattr("eval_skills.api.prefect_run.find_or_start", started)
    with pytest.raises(UserError, match="unknown benchmark"):
        es.evaluate(never, "no-such-benchmark", prefect=True)


def test_a_malformed_skill_among_others_is_a_remark(tmp_path: Path, examples: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "skill.json").write_text("{")
    (tmp_path / "calculator").symlink_to(examples / "calculator")
    (tmp_path / "whole").mkdir()
    for file in (examples / "calculator").iterdir():
        if file.is_file():
            (tmp_path / "whole" / file.name).write_bytes(file.read_bytes())
    result = es.evaluate(tmp_path, "coding-easy", task_ids=["evaluate-addition"])
    assert result.completion == 1
    assert [remark for remark in result.remarks if "broken" in remark]


def test_that_a_judging_model_is_missing_says_what_python_takes() -> None:
    judged = {**TASK, "evaluator": "llm_judge"}
    for call in (lambda: es.score("x", judged), lambda: es.evaluate(never, judged)):
        with pytest.raises(UserError, match=r'no judging model is named; name one with llm={"model": "PROVIDER/MODEL"}$'):
            call()


class Incomparable:
    def raised(self, *_: Any) -> Any:
        raise LookupError("not loaded")

    __eq__ = __hash__ = __repr__ = raised

    def __call__(self, text: str) -> str:
        return text.upper()


class Lazy:
    __name__ = property(Incomparable.raised)

    def __call__(self, text: str) -> str:
        return text.upper()


class Unsigned(Incomparable):
    __signature__ = property(Incomparable.raised)


@each_row(
    ("call", "message"),
    [
        pytest.param(lambda: es.evaluate(Lazy(), TASK), "^skills is a .*Lazy, which raises when it is asked what", id="skill"),
        pytest.param(
            lambda: es.evaluate([Lazy()], TASK), r"^skills\[0\] is a .*Lazy, .*\(LookupError: not loa", id="skill-of-list"
        ),
        pytest.param(lambda: es.evaluate(never, TASK, evaluator=Lazy()), "^evaluator is a .*Lazy, which raises", id="evaluator"),
        pytest.param(
            lambda: es.score("x", {"expected": "x", "evaluator": Lazy()}), "^task: evaluator is a .*Lazy, which", id="of-a-task"
        ),
        pytest.param(
            lambda: es.score("x", {"expected": "x", "evaluator": [Incomparable()]}),
            r"^task: evaluator is a list, which",
            id="repr",
        ),
        pytest.param(
            lambda: es.evaluate(never, TASK, evaluator=Unsigned()),
            "evaluator .*: its parameters are not known",
            id="parameters",
        ),
    ],
)
def test_an_object_whose_own_code_fails_is_named(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        call()


def test_an_object_that_cannot_be_compared_can_be_called() -> None:
    assert es.evaluate(Incomparable(), [{"input": "x", "expected": "X"}]).completion == 1
