"""Published data sets become benchmarks that are scored as they should be; rows are made up in their formats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval_skills.benchmarks import load_benchmark, load_tasks
from eval_skills.benchmarks.importers.importing import Imported, import_tasks
from eval_skills.benchmarks.importers.writing import write_benchmark
from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask, SkillResponse
from eval_skills.scorers import score_response
from tests.tables import each_row

MMLU = {"question": "Which is a prime?", "subject": "number_theory", "choices": ["4", "6", "7", "9"], "answer": 2}
ARC = {"id": "A1", "question": "Hot?", "choices": {"text": ["ice", "the sun"], "label": ["1", "2"]}, "answerKey": "2"}
PRO = {
    "question_id": 7,
    "question": "Hot?",
    "options": ["ice", "fire", "snow"],
    "answer": "B",
    "answer_index": 1,
    "category": "x",
}
SWAG = {"ctx": "He runs and", "endings": ["falls", "flies"], "label": "0"}
GAIA = {
    "task_id": "g-1", "Question": "How many?", "Level": "2", "Final answer": "1,000", "file_name": "",
    "Annotator Metadata": {"Steps": "the secret steps"},
}  # fmt: skip
SQUAD = {
    "id": "s-1",
    "question": "Where?",
    "context": "In the Louvre, Paris.",
    "answers": {"text": ["the Louvre", "Louvre, Paris"]},
}
HUMANEVAL = {
    "task_id": "HE/0",
    "prompt": "def one():\n",
    "entry_point": "one",
    "test": "assert one() == 1",
    "canonical_solution": "1",
}
MBPP = {"task_id": 3, "text": "Write one.", "code": "secret", "test_list": ["assert one() == 1"], "test_setup_code": ""}


def lines(folder: Path, *rows: Any, name: str = "data.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def imported(folder: Path, *rows: Any) -> Imported:
    return import_tasks(lines(folder, *rows))


async def passes(task: EvalTask, answer: Any) -> bool:
    return (await score_response(task, SkillResponse(output=answer))).passed


@each_row(
    ("row", "right", "wrong"),
    [
        (MMLU, ["C", "c.", "(C)", "C) 7", "C. 7", "C 7", "7"], ["A", "4", "C or D", "", "17", "C) 9", "A 7"]),
        (ARC, ["2", "the sun", "The Sun.", "2) the sun"], ["1", "ice", "suns"]),
        (PRO, ["B", "fire", "{B}".strip("{}")], ["A", "B, C"]),
        (SWAG, ["A", "falls"], ["B", "flies"]),
    ],
)
async def test_a_choice_passes_by_its_label_its_text_or_both(
    tmp_path: Path, row: Any, right: list[str], wrong: list[str]
) -> None:
    [task] = (found := imported(tmp_path, row)).benchmark.tasks
    assert found.kind.name == "multiple-choice"
    assert [answer for answer in right if not await passes(task, answer)] == []
    assert [answer for answer in wrong if await passes(task, answer)] == []


@each_row(
    ("choices", "answer", "right", "wrong"),
    [
        (["B", "A"], 0, ["A", "(a)", "A."], ["B", "A B", "(B)"]),
        ({"text": ["2", "1"], "label": ["1", "2"]}, "1", ["1", "1."], ["2", "(2)"]),
        (["NaCl", "nacl"], 0, ["A"], ["NaCl", "nacl", "B"]),
        (["a b", "A  B."], 1, ["B"], ["a b", "A B.", "A"]),
        (["(b)", "x"], 0, ["A"], ["(b)", "b", "B: x"]),
        (["2", "22"], 0, ["A", "2", "A. 2"], ["B", "22"]),
        (["...", "x"], 0, ["A"], ["...", "B", ""]),
    ],
)
async def test_the_text_of_a_choice_that_names_another_one_passes_for_none(
    tmp_path: Path, choices: Any, answer: Any, right: list[str], wrong: list[str]
) -> None:
    [task] = imported(tmp_path, {"question": "Which?", "choices": choices, "answer": answer}).benchmark.tasks
    assert [each for each in right if not await passes(task, each)] == []
    assert [each for each in wrong if await passes(task, each)] == []


def test_choices_with_one_label_are_skipped(tmp_path: Path) -> None:
    same = {**ARC, "choices": {"text": ["ice", "the sun"], "label": ["a", "A"]}, "answerKey": "A"}
    found = imported(tmp_path, same, {**ARC, "id": "A2"})
    assert [task.id for task in found.benchmark.tasks] == ["A2"]
    assert [skip["reason"] for skip in found.skips()] == [
        "two of its choices have the same label (whatever its case), so that a label does not say which is meant"
    ]


def test_a_choice_keeps_its_id_and_subject(tmp_path: Path) -> None:
    tasks = imported(tmp_path, MMLU, ARC, PRO).benchmark.tasks
    assert [(task.id, task.tags) for task in tasks] == [("row-1", ["number_theory"]), ("A1", []), ("7", ["x"])]
    assert tasks[0].input_data["choices"] == {"A": "4", "B": "6", "C": "7", "D": "9"}


def test_mmlus_own_files_have_no_header(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('"Which, then?",0,0,1,2,C\nAnd?,a,b,c,d,A\n')
    tasks = import_tasks(tmp_path / "t.csv", "multiple-choice").benchmark.tasks
    assert [(task.input_data["question"], task.expected_value) for task in tasks] == [("Which, then?", "C"), ("And?", "A")]


async def test_squad_accepts_each_answer_whole_and_an_empty_one_where_there_is_none(tmp_path: Path) -> None:
    none = {**SQUAD, "id": "s-2", "answers": {"text": []}}
    found = imported(tmp_path, SQUAD, none)
    task, empty = found.benchmark.tasks
    assert [await passes(task, each) for each in ("Louvre", "THE LOUVRE.", " louvre,  paris", "The Louvre in Paris", "")] == [
        True, True, True, False, False,
    ]  # fmt: skip
    assert [await passes(empty, each) for each in ("", "Paris")] == [True, False]
    assert "not the official figures" in found.remarks[0]


def test_squads_own_file_is_read_with_its_contexts(tmp_path: Path) -> None:
    asked = {"id": "q", "question": "Where?", "answers": [{"text": "here", "answer_start": 0}]}
    document = {"version": "v2.0", "data": [{"title": "T", "paragraphs": [{"context": "here it is", "qas": [asked]}]}]}
    (tmp_path / "s.json").write_text(json.dumps(document))
    [task] = load_tasks(tmp_path / "s.json").tasks
    assert (task.id, task.input_data) == ("q", {"question": "Where?", "context": "here it is"})


async def test_gaia_is_scored_by_its_rule_and_no_answer_leaks(tmp_path: Path) -> None:
    hidden = {**GAIA, "task_id": "g-2", "Final answer": "?"}
    found = imported(tmp_path, GAIA, hidden)
    [task] = found.benchmark.tasks
    assert (task.id, task.tags, task.complexity, task.evaluator_type) == ("g-1", ["level-2"], "medium", "gaia")
    assert [await passes(task, each) for each in ("1,000", "1000")] == [True, False]  # its published oddity
    assert "secret" not in json.dumps(task.to_json())
    assert [skip["count"] for skip in found.skips()] == [1]


def test_gaias_attachments_come_along(tmp_path: Path) -> None:
    folder = tmp_path / "validation"
    folder.mkdir()
    lines(folder, {**GAIA, "file_name": "a.txt"}, name="metadata.jsonl")
    (folder / "a.txt").write_text("content")
    found = import_tasks(folder, "gaia")
    assert found.benchmark.tasks[0].input_data["file"] == "a.txt"
    assert write_benchmark(found, tmp_path / "out") == [tmp_path / "out/benchmark.json", tmp_path / "out/a.txt"]
    assert (tmp_path / "out/a.txt").read_text() == "content"
    assert load_benchmark(tmp_path / "out").to_json() == found.benchmark.to_json()


@each_row("name", ["missing.txt", "../outside.txt", "/etc/hostname"])
def test_an_attachment_that_is_missing_or_elsewhere_is_refused_by_its_task(tmp_path: Path, name: str) -> None:
    (tmp_path.parent / "outside.txt").write_text("")
    with pytest.raises(InputError, match=r"data\.jsonl:1: file_name: task 'g-1': "):
        imported(tmp_path, {**GAIA, "file_name": name})


@each_row("row", [HUMANEVAL, MBPP], ids=str)
def test_code_is_tested_and_its_solution_does_not_leak(tmp_path: Path, row: Any) -> None:
    [task] = imported(tmp_path, row).benchmark.tasks
    assert task.evaluator_type == "code_tests"
    assert "secret" not in json.dumps(task.to_json())
    assert "canonical" not in json.dumps(task.to_json())


def test_what_cannot_be_tested_over_a_pipe_is_skipped_and_a_function_named_like_pythons_own_is_named(tmp_path: Path) -> None:
    own = {**MBPP, "code": "def sum(a, b):\n    return a", "test_list": ["assert set([sum(1, 2)]) == set([1])"]}
    pairs = {**MBPP, "task_id": 4, "code": "class Pair:\n    pass\ndef f(p): pass", "test_list": ["assert f(Pair()) == 1"]}
    unread = {**MBPP, "task_id": 5, "code": "def f(:", "test_list": ["assert f('\\d')"]}
    found = imported(tmp_path, own, pairs, unread)
    assert [task.evaluator.options.get("entryPoint") for task in found.benchmark.tasks if task.evaluator] == ["sum", None]
    assert [skip["reason"] for skip in found.skips()] == [
        "its tests make objects of a class of the solution, which runs in a process of its own"
    ]


@each_row(
    ("row", "message"),
    [
        ({**MMLU, "answer": 4}, "the right choice is 4, and there are 4, counted from 0"),
        ({**MMLU, "answer": "E"}, "expected one of A, B, C, D, or a number from 0"),
        ({**MMLU, "answer": True}, "expected one of A, B, C, D, or a number"),
        ({**MMLU, "choices": ["one"], "answer": 0}, "at least two choices, got 1"),
        ({**MMLU, "choices": "one", "answer": 0}, "at least two choices, got 1"),
        ({**MMLU, "choices": 5}, "choices: expected a list, got 5"),
        ({**MMLU, "question": ""}, "question: this key is missing or empty"),
        ({**MMLU, "answer": None}, "the only entry was skipped, because the right choice is not published"),
        ({**GAIA, "Level": 4}, "Level: expected 1, 2 or 3"),
        ({**GAIA, "Question": ["q"]}, "Question: expected text, got"),
        ({**SQUAD, "answers": "x"}, "answers: expected a list"),
        ({**SQUAD, "context": 5.5, "id": None, "answers": [{"txt": "a"}]}, r"answers\[0\]: text: this key is missing"),
    ],
)
def test_malformed_entries_are_refused_with_their_place(tmp_path: Path, row: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        imported(tmp_path, row)
