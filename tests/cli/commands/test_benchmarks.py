"""`benchmarks`: what is listed, and what is shown of one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.tables import each_row

Run = Callable[..., Any]
BUILTIN = ["agent-skill-package", "coding-easy", "gaia-v1", "skill-quality", "toolbench-lite", "web-search-basic"]
OWN = {
    "id": "own", "name": "My own", "version": "1.2.3", "scoringMethod": "pass_at_k", "k": 3,
    "tasks": [
        {"id": "a", "expectedOutput": {"type": "contains", "keywords": ["x"]}, "tags": ["z", "b"], "complexity": "complex"},
        {"id": "b", "evaluator": "regex", "expectedOutput": {"patterns": ["x"]}, "tags": ["b"], "weight": 2, "timeoutMs": 5},
        {"id": "c", "expectedOutput": {"value": 1}},
        {"id": "d", "expected": {"tools": ["search"]}},
    ],
}  # fmt: skip


@pytest.fixture(autouse=True)
def own(place: Any) -> None:
    place.write("mine/own/benchmark.json", OWN)


def test_p63_the_built_in_benchmarks_are_listed_from_any_folder(run_here: Run) -> None:
    result = run_here("benchmarks", "list", "--json")
    assert [entry["id"] for entry in result.json["benchmarks"]] == BUILTIN
    package, easy, *_ = result.json["benchmarks"]
    assert (easy["tasks"], easy["subject"], easy["scoringMethod"], easy["k"]) == (20, "call", "mean", None)
    assert "math" in easy["tags"]
    assert (package["subject"], result.json["benchmarks"][3]["subject"]) == ("agent-skill", "package")


def test_p59_a_folder_of_ones_own_is_listed_beside_them(run_here: Run) -> None:
    result = run_here("benchmarks", "list", "--benchmarks-dir", "mine", "--json")
    [entry] = [entry for entry in result.json["benchmarks"] if entry["id"] == "own"]
    assert entry == {
        "id": "own", "version": "1.2.3", "name": "My own", "tasks": 4, "subject": "call", "scoringMethod": "pass_at_k", "k": 3,
        "tags": ["b", "z"], "tagCounts": {"b": 2, "z": 1}, "complexity": {"complex": 1, "unrated": 3},
    }  # fmt: skip
    assert len(result.json["benchmarks"]) == len(BUILTIN) + 1
    assert "pass_at_k (k = 3)" in run_here("benchmarks", "list", "--benchmarks-dir", "mine").out


def test_p58_the_folder_may_come_from_the_configuration(place: Any, run_here: Run) -> None:
    place.write("eval-skills.config.yaml", "benchmarksDir: mine\n")
    assert run_here("benchmarks", "show", "own", "--json").json["name"] == "My own"


@pytest.mark.parametrize("as_json", [[], ["--json"]], ids=["terminal", "json"])
@pytest.mark.parametrize("call", [["list"], ["show", "coding-easy"], ["lint", "coding-easy"]], ids=lambda call: call[0])
@pytest.mark.parametrize("own", ["benchmarks/coding-easy.yaml", "mine/coding-easy/benchmark.json"])
def test_what_stands_in_place_of_a_built_in_benchmark_is_named(
    place: Any, run_here: Run, call: list[str], own: str, as_json: list[str]
) -> None:
    assert "comes before" not in run_here("benchmarks", *call).err
    place.write(own, json.dumps({**OWN, "id": "coding-easy"}))
    folder = ["--benchmarks-dir", "mine"] if own.startswith("mine") else []
    result = run_here("benchmarks", *call, *folder, *as_json)
    said = f"{result.err}{result.out if as_json else ''}"
    assert f"{own}: it comes before the built-in benchmark of that id" in said


def test_a_malformed_benchmark_is_listed_with_its_reason_and_hides_no_other(place: Any, run_here: Run) -> None:
    place.write("mine/broken.json", {**OWN, "tasks": []})
    result = run_here("benchmarks", "list", "--benchmarks-dir", "mine")
    assert result.code == 0
    assert "own" in result.out
    [line] = [line for line in result.out.splitlines() if line.startswith("invalid")]
    assert "broken.json: tasks: a benchmark needs at least one task" in line


@pytest.mark.parametrize(
    "arguments",
    [["own", "--benchmarks-dir", "mine"], ["mine/own"], ["mine/own/benchmark.json"]],
    ids=["id", "folder", "file"],
)
def test_show_has_every_task_with_its_evaluator(run_here: Run, arguments: list[str]) -> None:
    shown = run_here("benchmarks", "show", *arguments, "--json").json
    assert (shown["id"], shown["domain"]) == ("own", "general")
    assert [(task["id"], task["evaluator"], task["tags"], task["complexity"]) for task in shown["tasks"]] == [
        ("a", "contains", ["z", "b"], "complex"),
        ("b", "regex", ["b"], None),
        ("c", "default", [], None),
        ("d", "agent run", [], None),
    ]
    assert (shown["tasks"][1]["weight"], shown["tasks"][1]["timeoutMs"]) == (2, 5)


def test_show_has_the_tasks_of_a_plain_list_and_of_another_programs_suite(place: Any, run_here: Run) -> None:
    place.write("tasks.json", OWN["tasks"])
    place.write("tests.csv", "q,__expected\n1+1,2\n")
    shown = {name: run_here("benchmarks", "show", name, "--json").json for name in ("tasks.json", "tests.csv")}
    assert [task["id"] for task in shown["tasks.json"]["tasks"]] == ["a", "b", "c", "d"]
    assert [task["evaluator"] for task in shown["tests.csv"]["tasks"]] == ["regex"]


def test_show_has_conversations(place: Any, run_here: Run) -> None:
    turns = [{"input": {"q": "Hi"}, "evaluator": "contains", "expectedOutput": {"keywords": ["Hi"]}}, {"input": {"q": "Bye"}}]
    place.write("talks.json", [{"id": "talk", "turns": turns}])
    [shown] = run_here("benchmarks", "show", "talks.json", "--json").json["tasks"]
    assert (shown["id"], shown["evaluator"]) == ("talk", "2 turns")


@pytest.mark.parametrize(
    "call",
    [
        ["benchmarks", "show", "dataset:my faq"],
        ["benchmarks", "lint", "dataset:my faq"],
        ["benchmarks", "import", "auto", "dataset:my faq", "--check"],
        ["eval", "--traces", "runs.jsonl", "--tasks", "dataset:my faq"],
        ["eval", "--traces", "runs.jsonl", "--benchmark", "dataset:my faq"],
    ],
    ids=" ".join,
)
def test_a_data_set_of_langsmith_is_no_file_and_what_reads_it_is_said(place: Any, run_here: Run, call: list[str]) -> None:
    place.write("runs.jsonl", '{"taskId": "a", "output": "x"}\n')
    result = run_here(*call)
    assert result.code == 2
    [line] = result.err.splitlines()
    assert "dataset:my faq: this is a data set of a LangSmith account" in line
    assert "eval-skills benchmarks import langsmith 'dataset:my faq' --output DIR" in line


def test_show_on_the_terminal(run_here: Run) -> None:
    lines = run_here("benchmarks", "show", "mine/own").out.splitlines()
    assert lines[:2] == ["own@1.2.3  My own", "4 tasks, subject call, scoring pass_at_k (k = 3), domain general"]
    assert lines[2:4] == ["complexity: complex 1, unrated 3", "tags: b 2, z 1"]
    assert lines[5].split() == ["a", "contains", "z,", "b", "complex"]


@pytest.mark.parametrize(
    ("chosen", "tasks"),
    [
        pytest.param(["--tag", "b"], ["a", "b"], id="tag"),
        pytest.param(["--tag", "b", "z"], ["a"], id="all-of-the-tags"),
        pytest.param(["--complexity", "simple", "complex"], ["a"], id="one-of-the-complexities"),
    ],
)
def test_the_tasks_that_match_are_counted_and_shown(run_here: Run, chosen: list[str], tasks: list[str]) -> None:
    shown = run_here("benchmarks", "show", "mine/own", *chosen, "--json").json
    assert ([task["id"] for task in shown["tasks"]], sum(shown["complexity"].values())) == (tasks, len(tasks))
    listed = run_here("benchmarks", "list", "--benchmarks-dir", "mine", *chosen, "--json").json["benchmarks"]
    assert {entry["id"]: entry["tasks"] for entry in listed}["own"] == len(tasks)
    assert all(entry["tasks"] == sum(entry["complexity"].values()) for entry in listed)


def test_the_list_counts_tags_and_complexities(run_here: Run) -> None:
    shown = run_here("benchmarks", "list", "--benchmarks-dir", "mine").out.splitlines()
    start = next(number for number, line in enumerate(shown) if "My own" in line)
    assert shown[start].split()[4:6] == ["4", "complex"]
    assert shown[start].rstrip().endswith("b 2, z 1")
    assert "unrated 3" in shown[start]


@pytest.mark.slow
@each_row(
    ("arguments", "says"),
    [
        pytest.param(["list", "--benchmarks-dir", "nope"], "nope: no such folder of benchmarks", id="list-missing-folder"),
        pytest.param(["list", "--benchmarks-dir", "file"], "file: this is a file; name a folder", id="list-file"),
        pytest.param(["show", "coding-eazy"], "(did you mean 'coding-easy'?)", id="show-unknown"),
        pytest.param(["show", "no/such.json"], "no such benchmark file", id="show-missing"),
        pytest.param(["show", "file"], "file: not valid JSON", id="show-no-benchmark"),
        pytest.param(["show"], "BENCHMARK", id="show-nothing"),
        pytest.param(["list", "--complexity", "simpel"], "'simpel' is unknown (did you mean 'simple'?)", id="list-complexity"),
        pytest.param(["show", "gaia-v1", "--complexity", ""], "--complexity is blank; give a value", id="show-blank-complexity"),
        pytest.param(["list", "--tag", "nope"], "no task of any benchmark matches", id="list-no-tag"),
        pytest.param(["show", "coding-easy", "--tag", "mth"], "(did you mean 'math'?)", id="show-no-tag"),
        pytest.param(
            ["show", "mine/own", "--tag", "b", "--complexity", "medium"],
            "no task of own with the tag b has the complexity medium; there are 1 complex, 1 unrated",
            id="show-no-complexity",
        ),
        pytest.param(["fly"], 'Unknown command "fly"', id="unknown-command"),
    ],
)
def test_p40_what_cannot_be_used_is_refused_in_one_line(place: Any, run_here: Run, arguments: list[str], says: str) -> None:
    place.write("file", "x")
    result = run_here("benchmarks", *arguments)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert says in result.err


def test_show_says_how_several_evaluators_are_combined(place: Any, run_here: Run) -> None:
    inner = {"evaluators": [{"type": "regex", "patterns": ["x"], "not": True}, "contains"], "combine": "any"}
    task = {"id": "a", "evaluators": ["exact", inner], "expectedOutput": {"value": 1, "keywords": ["x"]}}
    place.write("mine/several.json", OWN | {"tasks": [task]})
    [shown] = run_here("benchmarks", "show", "mine/several.json", "--json").json["tasks"]
    assert shown["evaluator"] == "all of exact, (any of not regex, contains)"


def test_a_wrong_evaluator_of_several_is_refused_with_its_place(place: Any, run_here: Run) -> None:
    task: dict[str, Any] = {"id": "a", "expectedOutput": {"value": 1}}
    task["evaluators"] = ["exact", {"type": "contains", "threshold": 2}]
    place.write("mine/several.json", OWN | {"tasks": [task]})
    result = run_here("benchmarks", "show", "mine/several.json")
    assert result.code == 2
    assert "several.json: tasks[0].evaluators[1].threshold: input should be less than or equal to 1; got 2" in result.err
    task["evaluators"][1] = {"type": "contains", "keyword": ["a"]}
    place.write("mine/several.json", OWN | {"tasks": [task]})
    result = run_here("benchmarks", "show", "mine/several.json")
    assert "tasks[0].evaluators[1].keyword: scorer 'contains' has no such option (did you mean 'keywords'?)" in result.err
