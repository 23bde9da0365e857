"""Files of labels, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_skills.core.errors import InputError
from eval_skills.core.judging.labels import Label, read_labels
from tests.tables import each_row


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "labels.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_every_spelling_of_a_label(tmp_path: Path) -> None:
    text = "\ufefftaskId,run_index,skill_id,label,comment\r\na,0,x@1.0.0,Pass,so\r\nb,,,0.5,\r\nc,2,x,no,\r\n"
    assert read_labels(write(tmp_path, text)) == [
        Label(2, "a", 1.0, 0, "x@1.0.0"), Label(3, "b", 0.5), Label(4, "c", 0.0, 2, "x"),
    ]  # fmt: skip


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize("sign", [",", ";", "\t"], ids=["comma", "semicolon", "tab"])
def test_what_spreadsheets_write(tmp_path: Path, sign: str, ends: str) -> None:
    lines = [["task_id", "label", "answer"], ["a", "pass", "one \u2028 two"], [], ["b", "0.5", "x"]]
    text = "\ufeff" + "".join(sign.join(line) + ends for line in lines)
    found = [(each.task_id, each.score, each.answer) for each in read_labels(write(tmp_path, text))]
    assert found == [("a", 1.0, "one \u2028 two"), ("b", 0.5, "x")]


def test_an_answer_may_have_commas_quotes_and_lines(tmp_path: Path) -> None:
    [label] = read_labels(write(tmp_path, 'task_id,label,answer\na,1,"one, ""two""\nthree"\n'))
    assert label.answer == 'one, "two"\nthree'


@pytest.mark.parametrize("ends", ["\n", "\r"], ids=["lf", "cr"])
@pytest.mark.parametrize("sign", [";", "\t"], ids=["semicolon", "tab"])
def test_where_no_comma_separates_cells_a_number_may_have_one(tmp_path: Path, sign: str, ends: str) -> None:
    text = ends.join(sign.join(line) for line in [["task_id", "label"], ["a", "0,5"], ["b", "0.25"], ["c", "1,0"]])
    assert [each.score for each in read_labels(write(tmp_path, text))] == [0.5, 0.25, 1.0]


@each_row(
    ("text", "message"),
    [
        pytest.param("", "no column task_id", id="empty"),
        pytest.param("task_id\na\n", "no column label", id="no-label"),
        pytest.param("task_id,lable\na,1\n", "unknown column 'lable' (did you mean 'label'?)", id="misspelled"),
        pytest.param("task_id,label,label\na,1,0\n", "the column label is given twice; keep one", id="twice"),
        pytest.param("task_id,label\n", "the file has no labels", id="no-line"),
        pytest.param("task_id,label\na\n", "line 2 has fewer cells", id="short-line"),
        pytest.param("task_id,label\na,1,2\n", "line 2 has more cells", id="long-line"),
        pytest.param("task_id,label\n,1\n", "line 2 names no task", id="no-task"),
        pytest.param("task_id,label\na,maybe\n", "line 2: the label 'maybe' is neither", id="no-such-word"),
        pytest.param("task_id,label\na,nan\n", "'nan' is neither", id="nan"),
        pytest.param("task_id,label\na,0_1\n", "'0_1' is neither", id="underscore"),
        pytest.param("task_id,label\na,7\n", "'7' is neither", id="out-of-range"),
        pytest.param("task_id,label,run_index\na,1,-1\n", "the run_index '-1' is not a whole number", id="negative-run"),
        pytest.param("task_id,label,run_index\na,1,²\n", "the run_index '²' is not a whole number", id="odd-digit"),
        pytest.param('task_id,label\n"a,1\n', "not CSV from line 2 on: ", id="open-quote"),
        pytest.param('task_id,"label"x\na,1\n', "not CSV from line 1 on: ", id="text-behind-a-quote"),
        pytest.param('task_id;label;"a, b"\nt;1;x\n', "unknown column 'a, b'", id="comma-in-a-quoted-name"),
        pytest.param(f"task_id,label\na,1\nb,{'1' * 140_000}\n", "not CSV from line 3 on: field larger", id="endless-cell"),
        pytest.param("task_id;label\na;0,5,1\n", "line 2: the label '0,5,1' is neither", id="two-commas"),
        pytest.param('task_id,label\na,"0,5"\n', "line 2: the label '0,5' is neither", id="decimal-comma-between-commas"),
        pytest.param(b"task_id,label\n\xff,1\n", "not UTF-8", id="not-utf-8"),
    ],
)
def test_p40_a_file_that_cannot_be_used_says_why(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_labels(write(tmp_path, text))
    assert message in str(caught.value)
    assert "labels.csv" in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_labels(tmp_path / "nowhere.csv")
