"""Tables become benchmarks: CSV, JSON Lines, Parquet, Arrow and folders of them, by our keys or a mapping."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eval_skills.benchmarks import load_benchmark, load_tasks
from eval_skills.benchmarks.importers.importing import Imported, import_tasks
from eval_skills.benchmarks.importers.writing import write_benchmark
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.models import SkillResponse
from eval_skills.scorers import score_response
from tests.tables import each_row

QA = "question,answer\n2+2?,4\nCapital of France?,Paris\n"
MAPPED = ("input.q=question", "expected=answer")


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def asked(imported: Imported) -> list[tuple[Any, Any]]:
    return [(task.input_data, task.expected_value) for task in imported.benchmark.tasks]


@each_row(
    ("row", "field"),
    [
        (
            {"evaluators": [{"type": "exact", "value": "4"}, {"type": "regex", "patterns": ["4"]}], "input": {"q": "2+2?"}},
            "evaluators",
        ),
        ({"turns": [{"input": "Hi", "evaluator": "exact", "expectedOutput": {"value": "Hi"}}, {"input": "Bye"}]}, "turns"),
        ({"user": {"goal": "A refund", "maxTurns": 3}}, "user"),
    ],
)
def test_whatever_expects_something_makes_a_task_of_ours(tmp_path: Path, row: dict[str, Any], field: str) -> None:
    [task] = import_tasks(written(tmp_path, "own.json", json.dumps([{"id": "a", **row}])), "table").benchmark.tasks
    assert getattr(task, field) is not None


async def test_mapped_columns_are_asked_and_expected(tmp_path: Path) -> None:
    imported = import_tasks(written(tmp_path, "My QA.csv", QA), "table", columns=MAPPED)
    assert asked(imported) == [({"q": "2+2?"}, "4"), ({"q": "Capital of France?"}, "Paris")]
    assert (imported.benchmark.id, imported.read, dict(imported.skipped)) == ("my-qa", 2, {})
    task = imported.benchmark.tasks[1]
    assert task.description == "Capital of France?"
    assert (await score_response(task, SkillResponse(output="Paris"))).passed
    assert not (await score_response(task, SkillResponse(output="Lyon"))).passed


def test_what_is_written_is_loaded_as_it_was_made(tmp_path: Path) -> None:
    imported = import_tasks(written(tmp_path, "qa.csv", QA), columns=MAPPED, licence="CC0-1.0")
    [path] = write_benchmark(imported, tmp_path / "out")
    assert load_benchmark(tmp_path / "out").to_json() == imported.benchmark.to_json()
    metadata = json.loads(path.read_text())["metadata"]
    assert (metadata["source"], metadata["licence"], metadata["read"], metadata["imported"]) == ("a table", "CC0-1.0", 2, 2)
    import hashlib

    assert metadata["digest"] == f"sha256:{hashlib.sha256(QA.encode()).hexdigest()}"
    with pytest.raises(UsageError, match=r"benchmark\.json exists; name another folder"):
        write_benchmark(imported, tmp_path / "out")
    assert write_benchmark(imported, tmp_path / "out", force=True) == [path]


def test_every_key_of_a_task_may_be_a_column(tmp_path: Path) -> None:
    header = "id,description,input.q,input.deep.n,expected,tags,complexity,weight,timeoutMs,evaluator,metadata.by"
    cells = 'a,asks,"1, 2",3,x,math; hard,complex,2.5,70,"{""type"": ""exact"", ""caseSensitive"": false}",me'
    [task] = load_tasks(written(tmp_path, "t.csv", f"{header}\n\n{cells}\n")).tasks
    assert task.input_data == {"q": "1, 2", "deep": {"n": "3"}}
    assert (task.id, task.tags, task.complexity, task.weight, task.timeout_ms) == ("a", ["math", "hard"], "complex", 2.5, 70)
    assert task.evaluator is not None
    assert (task.evaluator.options, task.metadata) == ({"caseSensitive": False}, {"by": "me"})


@each_row(
    ("column", "cell", "right", "wrong"),
    [
        ("expected.keywords", "red; blue", "Blue and red", "red"),
        ("expected.keywords", '["red; blue"]', "red; blue", "red, blue"),
        ("expected.patterns", r"^\d+$", "42", "x"),
        ("expected.schema", '{"type": "integer"}', 4, "x"),
    ],
)
async def test_the_part_that_is_expected_chooses_the_scorer(
    tmp_path: Path, column: str, cell: str, right: Any, wrong: Any
) -> None:
    quoted = cell.replace('"', '""')
    [task] = load_tasks(written(tmp_path, "t.csv", f'input.q,{column}\nq,"{quoted}"\n')).tasks
    assert (await score_response(task, SkillResponse(output=right))).passed
    assert not (await score_response(task, SkillResponse(output=wrong))).passed


def test_a_byte_order_mark_and_windows_line_ends_change_nothing(tmp_path: Path) -> None:
    plain = import_tasks(written(tmp_path, "a.csv", QA), columns=MAPPED)
    marked = import_tasks(written(tmp_path, "b.csv", b"\xef\xbb\xbf" + QA.replace("\n", "\r\n").encode()), columns=MAPPED)
    assert asked(plain) == asked(marked)


def test_cells_may_be_long_and_hold_line_breaks(tmp_path: Path) -> None:
    long = "x" * 200_000
    imported = import_tasks(
        written(tmp_path, "a.csv", f'q,a\n"{long}\nsecond line",1\n"next",2\n'), columns=["input.q=q", "expected=a"]
    )
    assert asked(imported)[0] == ({"q": f"{long}\nsecond line"}, "1")
    assert imported.places[1].endswith("a.csv:4")


def test_what_is_expected_is_kept_where_no_mapping_says_it(tmp_path: Path) -> None:
    file = written(tmp_path, "a.csv", "text,expected,id,a,evaluator\nhi,HI,seven,ho,exact\n")
    kept, mapped = (import_tasks(file, columns=["input.text=text", *more]) for more in ([], ["expected=a"]))
    assert (asked(kept), asked(mapped)) == ([({"text": "hi"}, "HI")], [({"text": "hi"}, "ho")])
    tasks = [*kept.benchmark.tasks, *mapped.benchmark.tasks]
    assert [(task.id, task.evaluator and task.evaluator.type) for task in tasks] == [("row-1", "exact"), ("row-1", None)]


def test_a_path_reads_inside_objects_and_lists(tmp_path: Path) -> None:
    rows = [{"q": {"text": "why"}, "answers": {"text": ["because", "so"]}}]
    imported = import_tasks(written(tmp_path, "a.json", json.dumps(rows)), columns=["input.q=q.text", "expected=answers.text.0"])
    assert asked(imported) == [({"q": "why"}, "because")]


def test_rows_without_an_expectation_are_skipped_with_their_places(tmp_path: Path) -> None:
    imported = import_tasks(written(tmp_path, "a.csv", QA + "Why?,\n"), columns=MAPPED)
    assert (imported.read, len(imported.benchmark.tasks)) == (3, 2)
    assert imported.skips() == [
        {"reason": "nothing is expected of the answer (the cells are empty)", "count": 1, "places": [f"{tmp_path}/a.csv:4"]}
    ]


def parquet(path: Path, **columns: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)
    return path


def test_parquet_keeps_types_and_missing_numbers_are_null(tmp_path: Path) -> None:
    path = parquet(tmp_path / "a.parquet", q=["a", "b"], n=[1.5, float("nan")], a=[{"x": [1]}, {"x": [2]}])
    imported = import_tasks(path, columns=["input.q=q", "input.n=n", "expected=a.x"])
    assert asked(imported) == [({"q": "a", "n": 1.5}, [1]), ({"q": "b", "n": None}, [2])]


def test_a_folder_of_shards_is_one_benchmark_with_the_licence_of_its_card(tmp_path: Path) -> None:
    folder = tmp_path / "facts"
    for number in (0, 1):
        parquet(folder / "data" / f"test-0000{number}-of-00002.parquet", q=[f"q{number}"], a=["x"])
    written(folder, "README.md", "---\nlicense: mit\n---\n# Facts\n")
    imported = import_tasks(folder, columns=["input.q=q", "expected=a"])
    assert [question for question, _ in asked(imported)] == [{"q": "q0"}, {"q": "q1"}]
    assert (imported.benchmark.id, imported.licence) == ("facts", "mit")


def test_a_folder_with_several_splits_reads_test_unless_another_is_named(tmp_path: Path) -> None:
    for split in ("train", "test"):
        parquet(tmp_path / "d" / f"{split}-00000-of-00001.parquet", q=[split], a=["x"])
    columns = ["input.q=q", "expected=a"]
    first = import_tasks(tmp_path / "d", columns=columns)
    assert (asked(first)[0][0], first.benchmark.id) == ({"q": "test"}, "d-test")
    assert "test was read" in first.remarks[0]
    assert asked(import_tasks(tmp_path / "d", columns=columns, split="train"))[0][0] == {"q": "train"}
    with pytest.raises(UsageError, match=r"no such split \(did you mean 'test'\?\)"):
        import_tasks(tmp_path / "d", columns=columns, split="tset")


def test_what_datasets_saves_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "saved" / "validation"
    folder.mkdir(parents=True)
    table = pa.table({"q": ["a"], "a": ["x"]})
    with pa.OSFile(str(folder / "data-00000-of-00001.arrow"), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    written(folder, "dataset_info.json", json.dumps({"license": "apache-2.0"}))
    imported = import_tasks(tmp_path / "saved", columns=["input.q=q", "expected=a"])
    assert (asked(imported), imported.licence) == ([({"q": "a"}, "x")], "apache-2.0")


@each_row(
    ("name", "content", "columns", "message"),
    [
        ("a.csv", "", MAPPED, r"a\.csv: the file is empty"),
        ("a.csv", "question,answer\n", MAPPED, "a header and no rows"),
        ("a.csv", QA + "x,y,z\n", MAPPED, r"a\.csv:4: this row has 3 cells, and the header 2"),
        ("a.csv", "q,q\n1,2\n", MAPPED, "two columns are named 'q'"),
        ("a.csv", "q,\n1,2\n", MAPPED, "column 2 of the header has no name"),
        ("a.csv", 'q,a\n"x,1\n', MAPPED, "not valid CSV"),
        ("a.csv", b"q,a\n\xff\xfe,1\n", MAPPED, "not UTF-8 text"),
        ("a.csv", QA, ("input.q=qestion", "expected=answer"), r"no row has a column 'qestion' \(did you mean 'question'\?\)"),
        ("a.csv", QA, ("inputs.q=question", "expected=answer"), "is not a key of a task"),
        ("a.csv", QA, ("input.q=question", "expected.keyword=answer"), r"unknown part 'keyword' \(did you mean 'keywords'\?\)"),
        ("a.csv", QA, ("input.q=question", "input=answer", "expected=answer"), "keep one"),
        ("a.csv", "id,input.q,expected\na,1,2\na,3,4\n", (), r"a\.csv:3: its id 'a' is that of .*a\.csv:2"),
        ("a.csv", "input.q,expected,weight\n1,2,many\n", (), r"a\.csv:2: weight: give a finite number; got"),
        ("a.csv", "input.q,expected,weight\n1,2,1e400\n", (), r'a\.csv:2: weight: give a finite number; got "1e400"'),
        ("a.csv", "input.q,expected,weight\n1,2,nan\n", (), r'a\.csv:2: weight: give a finite number; got "nan"'),
        ("a.csv", "input.q,expected,complexity\n1,2,hard\n", (), r"a\.csv:2: complexity"),
        ("a.csv", "input.q,expected\n1,\n", (), "nothing to import: the only entry was skipped, because nothing"),
        ("a.csv", "question;answer\n1;2\n", (), "the header is one cell, with ';' in it; separate cells by commas"),
        ("a.csv", "question\tanswer\n1\t2\n", (), "the header is one cell, with tabs in it"),
        ("a.csv", "input.q,expected.patterns\n1,(\n", (), r"a\.csv:2: .*patterns"),
        ("a.json", "[]", MAPPED, "the list is empty"),
        ("a.json", "[1]", MAPPED, r"a\.json: \[0\]: expected an object, got 1"),
        ("a.json", '{"a": 1}', MAPPED, "this is one object"),
        ("a.jsonl", "\n", MAPPED, "the file is empty"),
        ("a.jsonl", '{"question": 1, "answer": 2}\n{"question"', MAPPED, "not valid JSON at line 2"),
        ("a.jsonl", '{"question": 1, "answer": 2}\n[]', MAPPED, r"a\.jsonl:2: expected an object"),
        ("a.parquet", b"PAR1 and then nothing", MAPPED, "not readable as parquet"),
        ("a.arrow", b"nothing", MAPPED, "not readable as arrow"),
        ("a.xlsx", b"PK", MAPPED, r"files of this kind are not read; known are \.jsonl"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(
    tmp_path: Path, name: str, content: str | bytes, columns: tuple[str, ...], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        import_tasks(written(tmp_path, name, content), columns=columns)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    for read in (import_tasks, load_tasks, load_benchmark):
        with pytest.raises(InputError, match=r"not a regular file|no such benchmark"):
            read(tmp_path / "pipe.json")


def test_an_infinite_number_is_refused_as_one(tmp_path: Path) -> None:
    path = parquet(tmp_path / "a.parquet", q=["a"], a=[float("inf")])
    with pytest.raises(InputError, match=r"a\.parquet: row 1: it holds an infinite number"):
        import_tasks(path, columns=("input.q=q", "expected=a"))


def test_bytes_cannot_be_part_of_a_task(tmp_path: Path) -> None:
    path = parquet(tmp_path / "a.parquet", q=[b"\x89PNG"], a=["x"])
    with pytest.raises(InputError, match=r"a\.parquet: row 1: it holds something that is not JSON"):
        import_tasks(path, columns=["input.q=q", "expected=a"])


@each_row(
    ("mapping", "message"),
    [("q", "give TARGET=COLUMN"), ("=q", "give TARGET=COLUMN"), ("id=", "give TARGET=COLUMN")],
)
def test_a_mapping_that_is_none_is_refused(tmp_path: Path, mapping: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        import_tasks(written(tmp_path, "a.csv", QA), columns=[mapping])
    with pytest.raises(UsageError, match="'expected' is given twice"):
        import_tasks(tmp_path / "a.csv", columns=[*MAPPED, "expected=question"])


def test_a_folder_that_says_nothing_and_a_file_that_is_missing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing in this folder says what to read"):
        import_tasks(tmp_path)
    with pytest.raises(InputError, match="no such file or folder"):
        import_tasks(tmp_path / "missing")
    with pytest.raises(UsageError, match="--split is about a folder"):
        import_tasks(written(tmp_path, "a.csv", QA), split="test")
