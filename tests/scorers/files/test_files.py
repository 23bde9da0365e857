"""What an agent left in its workspace: what is there, what it holds, and what is not known of it."""

from __future__ import annotations

import io
from base64 import b64encode
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask, SkillResponse, Verdict
from eval_skills.scorers import TaskScoring
from tests.tables import each_row


def added(path: str, content: str | bytes | None = "x", change: str = "added", **more: Any) -> dict[str, Any]:
    if isinstance(content, bytes):
        return {"path": path, "change": change, "content": b64encode(content).decode(), "encoding": "base64", **more}
    return {"path": path, "change": change, "content": content, **more}


async def judged(evaluator: dict[str, Any], files: list[Any] | None, folder: Path, given: tuple[str, ...] = ()) -> Verdict:
    asked = {"prompt": "p", "files": list(given)}
    task = EvalTask.model_validate({"id": "t", "inputData": asked, "evaluator": evaluator})
    response = SkillResponse.model_validate({"output": "done", "files": files})
    return await TaskScoring(task, {"benchmark_folder": folder}).verdict(response)


@each_row(
    ("evaluator", "files", "passes"),
    [
        ({"path": "a.csv"}, [added("a.csv")], True),
        ({"path": "./a.csv"}, [added("a.csv", None, size=9_999_999)], True),
        ({"path": "a.csv"}, [added("b/a.csv")], False),
        ({"path": "a.csv"}, [added("a.csv", None, "deleted")], False),
        ({"path": "a.csv", "exists": False}, [added("a.csv", None, "deleted")], True),
        ({"path": "a.csv", "exists": False}, [added("a.csv")], False),
        ({"path": "caf\u00e9.md"}, [added("cafe\u0301.md")], True),
        ({"path": "given.csv"}, [], True),
        ({"path": "given.csv", "changed": True}, [], False),
        ({"path": "given.csv", "changed": True, "exists": False}, [], True),
        ({"path": "given.csv", "changed": True}, [added("given.csv", "x", "changed")], True),
        ({"path": "given.csv"}, [added("given.csv", None, "deleted")], False),
        ({"path": "deep/in.txt"}, [], True),
        ({"path": "deep"}, [], False),
        ({"path": "node_modules"}, [], False),
        ({"path": "node_modules/m.js"}, [added("node_modules/m.js")], True),
    ],
)
async def test_a_file_is_there_or_not(tmp_path: Path, evaluator: Any, files: Any, passes: bool) -> None:
    (tmp_path / "evals" / "files" / "deep").mkdir(parents=True, exist_ok=True)
    (tmp_path / "evals" / "files" / "deep" / "in.txt").write_text("x")
    given = ("evals/files/given.csv", "evals/files/deep")
    verdict = await judged({"type": "file_exists", **evaluator}, files, tmp_path, given)
    assert verdict.passed is passes
    assert verdict.status in ("pass", "fail")


TABLE = io.BytesIO()
parquet.write_table(pa.table({"a": [1, 2, 3]}), TABLE)


@each_row(
    ("name", "content", "asked", "passes"),
    [
        ("a.txt", "one\r\ntwo\r\n", {"contains": "ONE\ntwo"}, True),
        ("a.txt", "one", {"contains": ["one", "two"]}, False),
        ("a.txt", "one", {"contains": "ONE", "caseSensitive": True}, False),
        ("a.txt", "one", {"notContains": "two"}, True),
        ("a.txt", "one\r\n", {"equals": "one"}, True),
        ("a.txt", "one\n\n", {"equals": "one"}, False),
        ("a.txt", "One", {"equals": "one"}, False),
        ("a.txt", "\ufeffone", {"equals": "one"}, True),
        ("a.txt", "r\u00e9sum\u00e9".encode("latin-1"), {"contains": "r\u00e9sum\u00e9", "encoding": "latin-1"}, True),
        ("a.txt", "r\u00e9sum\u00e9".encode("latin-1"), {"contains": "sum"}, False),
        ("a.txt", "one".encode("utf-16"), {"equals": "one"}, True),
        ("a.txt", "x42y", {"pattern": r"\d{2}"}, True),
        ("a.txt", "x42y", {"pattern": r"X\d"}, False),
        ("a.txt", "a" * 30 + "b", {"pattern": r"(a|a)*$", "timeoutMs": 20}, False),
        ("a.json", '{"a": 1}', {"schema": {"required": ["a"]}}, True),
        ("a.json", '{"a": 1}', {"schema": {"required": ["b"]}}, False),
        ("a.json", "{'a': 1}", {"schema": True}, False),
        ("a.json", "NaN", {"schema": True}, False),
        ("a.json", "[" * 100_000, {"schema": True}, False),
        ("a.jsonl", '{"a": 1}\n\n{"a": 2}\n', {"schema": {"required": ["a"]}}, True),
        ("a.jsonl", '{"a": 1}\n{}\n', {"schema": {"required": ["a"]}}, False),
        ("a.csv", "h\r\n1\r\n2\r\n", {"rows": 2}, True),
        ("a.csv", 'h,i\n"1\n2",x\n', {"rows": 1}, True),
        ("a.csv", 'h;i\nx;"1\n2"\n', {"rows": 1}, True),
        ("a.csv", 'h,"i; j;\nk"\nx,"1\n2"\n', {"rows": 1}, True),
        ("a.csv", "h\n1\n\n \n2", {"rows": {"min": 1, "max": 2}}, True),
        ("a.csv", "h\n1", {"rows": {"min": 2}}, False),
        ("a.csv", "1\n2", {"rows": 2, "header": False}, True),
        ("a.csv", "", {"rows": 0}, True),
        ("a.tsv", "h\ti\n1\t2\n", {"rows": 1}, True),
        ("a.json", "[1, 2]", {"rows": 2}, True),
        ("a.json", "{}", {"rows": 0}, False),
        ("a.JSONL", "1\n2\n", {"rows": 2}, True),
        ("a.jsonl", "1\nx\n", {"rows": 2}, False),
        ("a.parquet", TABLE.getvalue(), {"rows": 3}, True),
        ("a.parquet", b"PAR1garbagePAR1", {"rows": 3}, False),
        ("a.csv", b"\xff\xfe\x00", {"rows": 3}, False),
        ("a.csv", "h\n" + "x" * 200_000, {"rows": 1}, True),
    ],
)
async def test_a_file_holds_what_is_asked_or_not(tmp_path: Path, name: str, content: Any, asked: Any, passes: bool) -> None:
    verdict = await judged({"type": "file_content", "path": name, **asked}, [added(name, content)], tmp_path)
    assert verdict.status == ("pass" if passes else "fail"), verdict.reasons
    assert all("\n" not in reason.message for reason in verdict.reasons)


@pytest.mark.slow
@each_row(
    ("name", "content", "asked", "status"),
    [
        ("a.txt", "a" * 30 + "b", {"pattern": r"(a|a)*$"}, "error"),
        ("a.txt", "a" * 30 + "b", {"pattern": r"(a|a)*$", "contains": "x"}, "pass"),
        ("a.json", f'"{"a" * 30}b"', {"schema": {"pattern": r"(a|a)*$"}}, "error"),
        ("a.jsonl", f'"{"a" * 30}b"\n1\n', {"schema": {"pattern": r"(a|a)*$"}}, "error"),
        ("a.jsonl", f'"{"a" * 30}b"\n1\n', {"schema": {"pattern": r"(a|a)*$", "type": "string"}}, "pass"),
    ],
)
async def test_not_of_what_ran_out_of_time_is_unknown_unless_the_rest_decides(
    tmp_path: Path, name: str, content: str, asked: Any, status: str
) -> None:
    entry = {"type": "file_content", "path": name, "timeoutMs": 20, "not": True, **asked}
    task = EvalTask.model_validate({"id": "t", "evaluators": [entry]})
    response = SkillResponse.model_validate({"output": "done", "files": [added(name, content)]})
    verdict = await TaskScoring(task, {"benchmark_folder": tmp_path}).verdict(response)
    assert verdict.status == status


async def test_the_score_is_the_share_of_what_holds(tmp_path: Path) -> None:
    evaluator = {"type": "file_content", "path": "a.csv", "contains": ["one", "two"], "rows": 5, "schema": True}
    verdict = await judged(evaluator, [added("a.csv", "h\none\n")], tmp_path)
    assert (verdict.score, len(verdict.reasons)) == (0.25, 3)


async def test_a_file_that_was_given_and_left_alone_is_read_where_it_lies(tmp_path: Path) -> None:
    (tmp_path / "evals" / "files").mkdir(parents=True)
    (tmp_path / "evals" / "files" / "in.csv").write_text("h\n1\n")
    asked = {"type": "file_content", "path": "in.csv", "rows": 1}
    for folder in (tmp_path, tmp_path / "evals"):
        assert (await judged(asked, [], folder, ("evals/files/in.csv",))).passed
    gone = await judged(asked, [], tmp_path / "elsewhere", ("evals/files/in.csv",))
    assert (gone.status, gone.error_kind) == ("error", "scorer")


@each_row(
    ("evaluator", "files", "said"),
    [
        ({"type": "file_exists", "path": "a"}, None, "FILES_UNKNOWN"),
        ({"type": "file_exists", "path": "node_modules/m/index.js"}, [], "FILES_UNKNOWN"),
        ({"type": "file_exists", "path": "web/node_modules/m/index.js", "exists": False}, [], "FILES_UNKNOWN"),
        ({"type": "file_exists", "path": ".venv/secret.txt", "exists": False}, [], "FILES_UNKNOWN"),
        ({"type": "file_content", "path": "__pycache__/a.txt", "equals": "x"}, [], "FILES_UNKNOWN"),
        ({"type": "file_content", "path": "a", "equals": "x"}, None, "FILES_UNKNOWN"),
        ({"type": "file_content", "path": "a", "equals": "x"}, [added("a", None, size=300_000)], "300,000 bytes) was not kept"),
        ({"type": "file_content", "path": "a", "equals": "x"}, [added("a", "a", encoding="base64")], "is not base64"),
        ({"type": "skill_loaded", "skill": "a"}, [], "SKILLS_LOADED_UNKNOWN"),
        ({"type": "skill_loaded", "skill": "a", "loaded": False}, [], "SKILLS_LOADED_UNKNOWN"),
    ],
)
async def test_what_is_not_known_is_an_error_and_never_a_verdict(tmp_path: Path, evaluator: Any, files: Any, said: str) -> None:
    verdict = await judged(evaluator, files, tmp_path)
    assert (verdict.status, verdict.score, verdict.error_kind) == ("error", None, "scorer")
    assert said in verdict.reasons[0].message


@each_row(
    ("evaluator", "message"),
    [
        ({"type": "file_exists", "path": "../a"}, "leads out of the folder"),
        ({"type": "file_exists", "path": "/etc/passwd"}, "relative"),
        ({"type": "file_exists", "path": "a\0b"}, "relative"),
        ({"type": "file_content", "path": "a.txt"}, "nothing is asked of the file"),
        ({"type": "file_content", "path": "a.txt", "contains": ""}, "an empty text"),
        ({"type": "file_content", "path": "a.txt", "contains": []}, "nothing is asked of the file"),
        ({"type": "file_content", "path": "a.txt", "rows": 1}, "rows are counted in files that end in"),
        ({"type": "file_content", "path": "a.csv", "rows": {}}, "neither min nor max"),
        ({"type": "file_content", "path": "a.csv", "rows": {"min": 3, "max": 2}}, "greater than max"),
        ({"type": "file_content", "path": "a.csv", "rows": -1}, "rows"),
        ({"type": "file_content", "path": "a.txt", "pattern": "("}, "not a valid regular expression"),
        ({"type": "file_content", "path": "a.txt", "schema": {"type": 5}}, "not a valid schema"),
        ({"type": "file_content", "path": "a.txt", "equals": "x", "encoding": "hex"}, "not an encoding of text"),
        ({"type": "file_content", "path": "a.txt", "equals": "x", "encoding": "none"}, "not an encoding of text"),
        ({"type": "command_passes", "command": "true"}, "--allow-custom-code"),
    ],
)
def test_what_cannot_be_checked_is_refused_when_it_is_loaded(evaluator: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as refused:
        TaskScoring(EvalTask.model_validate({"id": "t", "evaluator": evaluator}))
    assert "\n" not in str(refused.value)
