"""Suites with references, criteria or targets: what is asked, what is expected, and by which scorer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval_skills.benchmarks.importers.importing import import_tasks
from eval_skills.benchmarks.importers.kinds import KINDS
from eval_skills.core.errors import InputError
from eval_skills.core.models import SkillResponse
from eval_skills.scorers import score_response
from tests.tables import each_row

GOLDEN = {
    "input": "Refunds?",
    "expected_output": "30 days",
    "context": ["the secret page"],
    "expected_tools": [{"name": "search"}],
}
RAGAS = {"user_input": "Refunds?", "reference": "30 days", "retrieved_contexts": ["x"], "response": "old"}
OLD_RAGAS = {"question": "Refunds?", "ground_truth": "30 days", "contexts": ["x"]}
LANGSMITH = {"id": "e1", "inputs": {"q": "Refunds?"}, "outputs": {"a": "30 days"}, "metadata": {"dataset_split": ["base"]}}
IDEAL = {"input": [{"role": "user", "content": "Capital?"}], "ideal": ["Paris", "City of Paris"]}
MT = {"question_id": 81, "category": "writing", "turns": ["Write.", "Rewrite."], "reference": ["like this"]}
INSPECT = {"id": 5, "input": "Capital?", "target": ["Paris", "paris, France"], "metadata": {"k": 1}}


def only(folder: Path, row: Any) -> Any:
    path = folder / "data.jsonl"
    path.write_text(json.dumps(row))
    return import_tasks(path)


@each_row(
    ("row", "kind", "asked", "reference"),
    [
        (GOLDEN, "deepeval", {"input": "Refunds?"}, "30 days"),
        (RAGAS, "ragas", {"question": "Refunds?"}, "30 days"),
        (OLD_RAGAS, "ragas", {"question": "Refunds?"}, "30 days"),
        (LANGSMITH, "langsmith", {"q": "Refunds?"}, "30 days"),
        (MT, "mt-bench", {"question": "Write."}, "like this"),
    ],
)
def test_a_reference_is_compared_by_a_model_and_never_asked(
    tmp_path: Path, row: Any, kind: str, asked: Any, reference: str
) -> None:
    found = only(tmp_path, row)
    [task] = found.benchmark.tasks
    assert (found.kind.name, task.input_data, task.expected_value) == (kind, asked, reference)
    assert task.evaluator_type == "llm_judge"


def test_what_is_left_out_of_goldens_is_said_and_notes_are_kept(tmp_path: Path) -> None:
    tool = {"name": "search", "input_parameters": {"q": "x"}}
    notes = {"retrieval_context": ["r"], "custom_column_key_values": {"team": "a"}}
    found = only(tmp_path, {**GOLDEN, "expected_tools": [tool, tool], "actual_output": "old", "context": None, **notes})
    [task] = found.benchmark.tasks
    assert task.metadata == notes
    assert ["recorded answers" in each or "compared by name alone" in each for each in found.remarks] == [True, True, False]
    assert len(only(tmp_path, {**GOLDEN, "actual_output": None, "tools_called": []}).remarks) == 1


def test_goldens_of_a_csv_file_name_tools_as_json_or_between_semicolons(tmp_path: Path) -> None:
    path = tmp_path / "goldens.csv"
    path.write_text('input,expected_tools,tools_called\na,search; read,[]\nb,"[{""name"": ""search""}]",\n')
    found = import_tasks(path)
    assert [task.expected.tools for task in found.benchmark.tasks if task.expected] == [["search", "read"], ["search"]]
    assert found.remarks == ()


@pytest.mark.parametrize("outputs", [{"a": None}, {"a": " ", "b": None}, {}], ids=str)
def test_an_example_without_a_reference_is_skipped_and_never_judged_by_nothing(tmp_path: Path, outputs: Any) -> None:
    path = tmp_path / "examples.json"
    path.write_text(json.dumps([{**LANGSMITH, "outputs": outputs}, {**LANGSMITH, "id": "e2", "attachments": {"x": {}}}]))
    found = import_tasks(path)
    assert [task.id for task in found.benchmark.tasks] == ["e2"]
    assert list(found.skipped) == ["it has no reference outputs"]
    assert any("attachments are left out" in each for each in found.remarks)


@each_row(
    ("kind", "message"),
    [
        ("deepeval", "input: this key is missing or empty; --map input=COLUMN says which column it is"),
        ("langsmith", "inputs: there is no such column; where each input has a column of its own, import a table"),
    ],
)
def test_a_table_with_other_columns_is_refused_with_the_way_to_name_them(tmp_path: Path, kind: str, message: str) -> None:
    (tmp_path / "x.csv").write_text("question,answer\na,b\n")
    with pytest.raises(InputError, match=message):
        import_tasks(tmp_path / "x.csv", kind)


def test_a_cell_that_nests_deeper_than_python_reads_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(f"inputs,outputs\n{'[' * 100_000},b\n")
    with pytest.raises(InputError, match="inputs: expected JSON in this cell"):
        import_tasks(tmp_path / "x.csv", "langsmith")


def test_a_sample_of_which_several_choices_are_right_is_skipped_alone(tmp_path: Path) -> None:
    asked = {"input": "Which?", "choices": ["a", "b", "c"]}
    (tmp_path / "x.json").write_text(
        json.dumps([asked | {"target": ["A", "C"]}, asked | {"target": ["B"]}, asked | {"target": "B"}])
    )
    found = import_tasks(tmp_path / "x.json", "inspect")
    assert list(found.skipped.items()) == [("several of its choices are right at once", (f"{tmp_path}/x.json: [0]",))]
    one, other = found.benchmark.tasks
    assert one.evaluator == other.evaluator


def test_goldens_expect_tools_and_keep_their_context_to_themselves(tmp_path: Path) -> None:
    [task] = only(tmp_path, GOLDEN).benchmark.tasks
    assert task.expected is not None
    assert (task.expected.tools, task.metadata) == (["search"], {"context": ["the secret page"]})
    assert "secret" not in json.dumps(task.input_data)


def test_an_example_keeps_its_id_and_split(tmp_path: Path) -> None:
    [task] = only(tmp_path, LANGSMITH).benchmark.tasks
    assert (task.id, task.tags) == ("e1", ["base"])


@each_row(
    ("row", "right", "wrong"),
    [
        (IDEAL, ["Paris", "Paris, of course", "City of Paris"], ["It is Paris", "paris", " Paris", "\nParis"]),
        ({**IDEAL, "ideal": " 4"}, [" 4", " 42"], ["4", "  4"]),
        (INSPECT, ["Paris", "PARIS.", "Paris, France"], ["It is Paris", "Par"]),
        ({**INSPECT, "choices": ["Rome", "Paris"], "target": "B"}, ["B", "Paris", "(B) Paris"], ["A", "Rome"]),
    ],
)
async def test_targets_are_scored_without_a_model(tmp_path: Path, row: Any, right: list[str], wrong: list[str]) -> None:
    [task] = only(tmp_path, row).benchmark.tasks

    async def passes(answer: str) -> bool:
        return (await score_response(task, SkillResponse(output=answer))).passed

    assert [each for each in right if not await passes(each)] == []
    assert [each for each in wrong if await passes(each)] == []


@each_row(
    ("document", "message"),
    [
        ({"skill_name": "x", "evals": []}, "nothing to import: it holds no entries"),
        ({"skill_name": "x", "evals": {"id": 1}}, "evals: expected a list of entries under this key"),
    ],
)
def test_a_file_that_is_known_by_its_keys_is_told_what_it_lacks(tmp_path: Path, document: Any, message: str) -> None:
    (tmp_path / "evals.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match=message):
        import_tasks(tmp_path / "evals.json")


@each_row(
    ("row", "message"),
    [
        ({**GOLDEN, "input": 5.5, "expected_tools": [5]}, r"expected_tools: expected a tool with a name, got 5"),
        (
            {"scenario": "s", "expected_outcome": "o", "turns": [{"role": "user", "content": "hi"}]},
            "because its conversation has begun already",
        ),
        ({**RAGAS, "user_input": [{"content": "a"}]}, "because it is a conversation"),
        ({**RAGAS, "reference": ""}, "because it has no reference answer"),
        ({**LANGSMITH, "inputs": "q"}, "inputs: expected an object"),
        ({**LANGSMITH, "outputs": None}, "because it has no reference outputs"),
        ({**IDEAL, "ideal": [1]}, "ideal: expected a list of texts"),
        ({**IDEAL, "input": [{"role": "user"}]}, "input: expected a text, or a list of messages"),
        ({**MT, "turns": []}, "turns: the list is empty"),
        ({**INSPECT, "sandbox": "docker"}, "because it needs files or a sandbox"),
    ],
)
def test_what_cannot_be_scored_is_skipped_and_what_is_malformed_refused(tmp_path: Path, row: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        only(tmp_path, row)


def test_a_sample_of_openai_evals_without_an_ideal_answer_is_skipped(tmp_path: Path) -> None:
    samples = ({"input": "x"}, {**IDEAL, "ideal": None}, {**IDEAL, "ideal": []}, IDEAL)
    (tmp_path / "s.jsonl").write_text("\n".join(map(json.dumps, samples)))
    found = import_tasks(tmp_path / "s.jsonl", "openai-evals")
    assert (found.read, len(found.benchmark.tasks)) == (4, 1)
    assert [(skip["reason"], skip["count"]) for skip in found.skips()] == [("it has no ideal answer", 3)]


def test_a_golden_with_a_scenario_alone_is_known(tmp_path: Path) -> None:
    (tmp_path / "goldens.json").write_text(json.dumps([{"scenario": "Ann wants a ticket", "context": []}]))
    assert import_tasks(tmp_path / "goldens.json").kind.name == "deepeval"


def test_a_conversational_golden_has_a_simulated_user(tmp_path: Path) -> None:
    golden = {
        "scenario": "Ann wants a ticket",
        "expected_outcome": "She has one",
        "user_description": "in a hurry",
        "turns": None,
    }
    (tmp_path / "goldens.json").write_text(
        json.dumps([golden, {"scenario": "Bob asks for a refund", "user_description": "calm"}])
    )
    found = import_tasks(tmp_path / "goldens.json")
    first, second = found.benchmark.tasks
    assert found.kind.name == "deepeval"
    assert first.user is not None
    assert (first.user.goal, first.user.persona) == ("Ann wants a ticket", "in a hurry")
    assert "She has one" in (first.user.stop_when or "")
    assert first.evaluator is not None
    assert (first.evaluator.type, first.evaluator.options) == ("goal_achieved", {"goal": "She has one"})
    assert (second.goal, second.evaluator) == ("Bob asks for a refund", None)


def test_the_help_names_every_kind() -> None:
    from eval_skills.cli.commands.benchmarks import import_benchmark

    said = " ".join((import_benchmark.__doc__ or "").split())
    kinds = said.partition("Kinds: ")[2].partition(". Example")[0].split(", ")
    assert kinds == ["auto", *sorted(kind.name for kind in KINDS)]
