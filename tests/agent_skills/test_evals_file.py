"""``evals.json`` and ``eval_queries.json``, as they are found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval_skills.agent_skills.documents import read_as
from eval_skills.agent_skills.evals_file import EvalsFile
from eval_skills.agent_skills.queries_file import read_queries_file
from eval_skills.core.errors import InputError
from tests.tables import each_row


def written(folder: Path, content: Any) -> Path:
    path = folder / "file.json"
    path.write_text(json.dumps(content))
    return path


@each_row(
    ("given", "texts"),
    [
        ({"assertions": ["a", "b"]}, ["a", "b"]),
        ({"expectations": ["a"], "assertions": []}, ["a"]),
        ({"assertions": [{"text": "a", "passed": True, "of": "another program"}]}, ["a"]),
        ({"assertions": [{"type": "file_exists", "path": "a.csv"}]}, ['{"type": "file_exists", "path": "a.csv"}']),
        ({"assertions": None}, []),
        ({"assertions": ["a"], "assertion": "of another program", "grading": {}}, ["a"]),
        ({}, []),
    ],
)
def test_both_names_of_the_assertions_and_all_their_forms_are_read(tmp_path: Path, given: Any, texts: list[str]) -> None:
    [found] = read_as(EvalsFile, written(tmp_path, {"evals": [{"id": 7, "prompt": "p", "owner": "x", **given}]})).evals
    assert (found.id, [each.text for each in found.assertions]) == ("7", texts)


def test_a_check_keeps_its_sentence_and_its_options(tmp_path: Path) -> None:
    check = {"type": "file_content", "path": "a.csv", "rows": 3, "text": "three rows"}
    [found] = read_as(EvalsFile, written(tmp_path, {"evals": [{"prompt": "p", "assertions": [check]}]})).evals
    assert found.assertions[0].text == "three rows"
    assert found.assertions[0].check == {"type": "file_content", "path": "a.csv", "rows": 3}


@each_row(
    ("one", "message"),
    [
        ({}, r"evals\[0\].prompt: .*missing"),
        ({"prompt": " "}, r"evals\[0\].prompt"),
        ({"prompt": "p", "id": 1.5}, r"evals\[0\].id"),
        ({"prompt": "p", "assertions": "a"}, r"evals\[0\].assertions"),
        ({"prompt": "p", "assertions": [5]}, r"evals\[0\].assertions\[0\].*text or type"),
        ({"prompt": "p", "assertions": [{"type": 5}]}, r"type names the scorer"),
        ({"prompt": "p", "assertions": ["a"], "expectations": ["b"]}, "two names of one list"),
        ({"prompt": "p", "asertions": ["a"], "expected_output": "x"}, "\"asertions\" is not known; did you mean 'assertions'"),
        ({"prompt": "p", "expectation": ["a"]}, "did you mean 'expectations'"),
        ({"prompt": "p", "expected_ouput": "x"}, "did you mean 'expected_output'"),
        ({"prompt": "p", "files": ["../../etc/passwd"]}, "leads out of the folder"),
        ({"prompt": "p", "files": ["/etc/passwd"]}, "relative to the folder"),
        ({"prompt": "p", "files": ["C:\\x"]}, "relative to the folder"),
        ({"prompt": "p", "files": [""]}, "relative to the folder"),
        ({"prompt": "p", "assertions": ["a"] * 501}, "at most 500"),
    ],
)
def test_what_is_malformed_is_refused_by_place(tmp_path: Path, one: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as refused:
        read_as(EvalsFile, written(tmp_path, {"evals": [one]}))
    assert "file.json" in str(refused.value)
    assert "\n" not in str(refused.value)


@each_row(
    ("given", "message"),
    [
        ([], "the list is empty"),
        ({}, "expected a list"),
        ([5], r"\[0\]: expected an object"),
        ([{"query": "q", "should_trigger": "yes"}], "should_trigger"),
        ([{"query": "", "should_trigger": True}], "query"),
        ([{"query": "q", "should_trigger": True}, {"query": "q"}], r"\[1\]: should_trigger"),
    ],
)
def test_queries_are_refused_by_place(tmp_path: Path, given: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_queries_file(written(tmp_path, given))


def test_a_query_that_is_asked_twice_stays_two(tmp_path: Path) -> None:
    twice = [{"query": "Sum it", "should_trigger": True, "note": 1}] * 2
    assert [each.should_trigger for each in read_queries_file(written(tmp_path, twice))] == [True, True]
