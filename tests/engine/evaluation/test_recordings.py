"""A file of recorded runs: which item each line is, and what is refused before anything is judged."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.errors import InfraError, InputError, UsageError, UserError
from eval_skills.engine.evaluation.recordings import Recordings, read_recordings

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a trace file: objects as JSON, texts as they are."""

    def write(*lines: Any, name: str = "My Runs.jsonl", end: str = "\n") -> Path:
        path = tmp_path / name
        path.write_text("\n".join(each if isinstance(each, str) else json.dumps(each) for each in lines) + end)
        return path

    return write


def run(task: str = "a", output: Any = "x", **fields: Any) -> dict[str, Any]:
    return {"taskId": task, "output": output, **fields}


def read(path: Path, **fields: Any) -> Recordings:
    return read_recordings(path, **{"tasks": {"a", "b"}, "benchmark": "own", **fields})


def answers(recordings: Recordings) -> dict[str, Any]:
    found = {key: recordings.run_of(key) for key in recordings.offsets}
    return {f"{skill}/{task}#{index}": each and each.answer.output for (skill, task, index), each in found.items()}


def test_the_nth_line_of_a_task_is_its_nth_run_and_the_file_names_the_skill(write: Write) -> None:
    found = read(write(run(output=1), run("b", 2), "", "  ", run(output=3), end=""))
    assert answers(found) == {"my-runs@0.0.0/a#0": 1, "my-runs@0.0.0/b#0": 2, "my-runs@0.0.0/a#1": 3}
    assert (found.runs, [skill.adapter_type for skill in found.skills]) == ({"my-runs@0.0.0": 2}, ["recorded"])
    assert found.run_of(("my-runs@0.0.0", "b", 1)) is None


def test_a_run_index_beats_the_order(write: Write) -> None:
    assert answers(read(write(run(output=1, runIndex=1), run(output=0, run_index=0)), skill="x@2.0.0")) == {
        "x@2.0.0/a#1": 1, "x@2.0.0/a#0": 0,
    }  # fmt: skip


def test_p32_two_versions_of_one_id_are_two_skills(write: Write) -> None:
    lines = [run(output=1, skill="x@1.0.0"), run(output=2, skillId="x", skillVersion="2.0.0"), run(output=3, skill="x@1.0.0")]
    found = read(write(*lines))
    assert answers(found) == {"x@1.0.0/a#0": 1, "x@2.0.0/a#0": 2, "x@1.0.0/a#1": 3}
    assert found.runs == {"x@1.0.0": 2, "x@2.0.0": 1}
    assert len(set(found.digests.values())) == 2


def test_an_id_alone_is_version_0_0_0_however_it_is_written(write: Write) -> None:
    found = read(write(run(output=1, skill="x"), run(output=2, skill="x@0.0.0")))
    assert (list(answers(found)), [skill.key for skill in found.skills]) == (["x@0.0.0/a#0", "x@0.0.0/a#1"], ["x@0.0.0"])


def test_a_default_skill_is_for_the_lines_that_name_none(write: Write) -> None:
    found = read(write(run(output=1), run(output=2, skill="x@1.0.0")), skill="y@3.0.0")
    assert answers(found) == {"y@3.0.0/a#0": 1, "x@1.0.0/a#0": 2}


def test_the_digest_speaks_of_a_skills_own_lines(write: Write) -> None:
    first = read(write(run(skill="x"), run(skill="y")))
    second = read(write("", run(skill="x"), run(skill="y", output="other"), end="\r\n"))
    assert first.digests["x@0.0.0"] == second.digests["x@0.0.0"]
    assert first.digests["y@0.0.0"] != second.digests["y@0.0.0"]


def test_line_ends_and_byte_order_marks_of_other_systems_are_read(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(run(output=1)).encode() + b"\r\n\r\n" + json.dumps(run(output=2)).encode())
    assert list(answers(read(path)).values()) == [1, 2]


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        pytest.param([""], "the file has no recorded run", id="empty"),
        pytest.param([run(), "{"], ":2: not JSON", id="bad-json"),
        pytest.param([run(), "", run("aa")], ":3: benchmark 'own' has no task 'aa'", id="unknown-task"),
        pytest.param([run(runIndex=1), "", run("b"), run()], ":4: runs@0.0.0/a#2 is in line 1", id="twice"),
        pytest.param([run(), run(runIndex=0)], ":2: runs@0.0.0/a#1 is in line 1", id="given-twice"),
        pytest.param([run(), run(skill="x")], ":2: some lines name a skill and others do not", id="some-name-a-skill"),
        pytest.param([run(skill="x"), run()], ":2: some lines name a skill and others do not", id="some-do-not"),
        pytest.param([run(skill="My Skill")], ":1: 'My Skill' does not name a skill", id="bad-skill"),
        pytest.param([run(latencyMs=1e22)], ":1: latencyMs: input should be less than or equal to 100000000000", id="latency"),
        pytest.param([run(skill="x@1")], ":1: 'x@1' does not name a skill", id="bad-version"),
        pytest.param([run(skill="x@")], ":1: 'x@' does not name a skill", id="blank-version"),
        pytest.param(["[", json.dumps(run()), "]"], ":1: not JSON", id="an-array-file"),
    ],
)
def test_p40_a_file_that_leaves_doubt_is_refused_with_its_line(write: Write, lines: list[Any], says: str) -> None:
    path = write(*lines, name="runs.jsonl")
    with pytest.raises(InputError) as refusal:
        read(path)
    assert str(refusal.value).startswith(f"{path}{'' if says.startswith(':') else ': '}{says}")


def test_p40_more_runs_of_a_task_than_a_call_may_ask_for(write: Write) -> None:
    with pytest.raises(InputError, match=r":1001: more than 1000 runs of task 'a'"):
        read(write(*[run()] * 1001))


def test_p40_a_default_skill_that_is_no_name_is_the_options_mistake(write: Write) -> None:
    with pytest.raises(InputError, match=r"^--trace-skill: 'a@' does not name a skill; write an id"):
        read(write(run()), skill="a@")


def test_p40_a_task_that_is_not_even_like_one_says_where_tasks_are_named(write: Write) -> None:
    with pytest.raises(InputError, match=r"has no task 'calls'; name the tasks of these runs with --tasks or --benchmark$"):
        read(write(run("calls")))


def test_a_default_skill_that_no_line_needs_is_refused(write: Write) -> None:
    with pytest.raises(UsageError, match="--trace-skill is for lines that name no skill"):
        read(write(run(skill="x")), skill="y")


@pytest.mark.parametrize("kind", ["missing", "folder", "pipe"])
def test_what_is_no_file_is_refused_and_never_waited_for(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "t.jsonl"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    expected = {"missing": "no such file", "folder": "this is a folder; name a file", "pipe": "not a regular file"}[kind]
    with pytest.raises(UserError, match=expected):
        read(path)


def test_a_file_that_changes_under_way_is_not_mixed_with_what_was_checked(write: Write) -> None:
    found = read(write(run(output=1), run("b", 2), name="t.jsonl"))
    write(run(output=1), run("b", 2), run(output=3), name="t.jsonl")
    with pytest.raises(InfraError, match="changed while it was being scored"):
        found.run_of(("t@0.0.0", "b", 0))
    with pytest.raises(InputError, match="changed"):
        found.check()


def test_a_file_that_is_gone_is_an_infra_error(write: Write) -> None:
    path = write(run(), name="t.jsonl")
    found = read(path)
    path.unlink()
    with pytest.raises(InfraError, match="no such file"):
        found.run_of(("t@0.0.0", "a", 0))
