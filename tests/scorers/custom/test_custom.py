"""A benchmark's own scorer, run for real in a process of its own."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask, SkillResponse, Verdict
from eval_skills.scorers import TaskScoring
from tests.tables import each_row


def scoring(folder: Path, source: str, *, path: str = "mine.py", allow: bool = True, **options: Any) -> TaskScoring:
    (folder / "mine.py").write_text(source)
    task = EvalTask.model_validate(
        {
            "id": "t",
            "inputData": {"q": 1},
            "evaluator": {"type": "custom", "timeoutMs": 60_000, **options},
            "expectedOutput": {"type": "custom", "customScorerPath": path, "value": "Bern"},
        }
    )
    return TaskScoring(task, {"allowCustomCode": allow, "benchmarkFolder": folder})


async def verdict(folder: Path, source: str, output: Any = "Bern", **options: Any) -> Verdict:
    return await scoring(folder, source, **options).verdict(SkillResponse(output=output, latency_ms=5))


@pytest.mark.slow
@each_row(
    ("body", "status", "score"),
    [
        pytest.param("return output == expected", "pass", 1.0, id="true"),
        pytest.param("return False", "fail", 0.0, id="false"),
        pytest.param("return 0.25", "fail", 0.25, id="number"),
        pytest.param("return {'score': 0.8, 'passed': True, 'reason': 'near'}", "pass", 0.8, id="object"),
        pytest.param("return task['inputData']['q'] == 1 and task['expectedOutput']['value'] == 'Bern'", "pass", 1.0, id="task"),
        pytest.param("import numpy; return numpy.mean([1, 2]) > 1", "pass", 1.0, id="truth-value-of-numpy"),
        pytest.param("import numpy; return {'score': numpy.float32(0.25)}", "fail", 0.25, id="number-of-numpy"),
        pytest.param("print('{\"result\": 0}'); return 1", "pass", 1.0, id="printing-is-no-answer"),
    ],
)
async def test_what_the_function_gets_and_returns(tmp_path: Path, body: str, status: str, score: float) -> None:
    found = await verdict(tmp_path, f"def score(output, expected, task):\n    {body}\n", {"result": "Bern"})
    assert (found.status, found.score, found.scorer) == (status, score, "custom")


@pytest.mark.slow
async def test_the_reason_of_an_object_is_kept(tmp_path: Path) -> None:
    found = await verdict(tmp_path, "def score(o, e, t):\n    return {'score': 0.1, 'reason': 'far off'}\n")
    assert [(each.code, each.message) for each in found.reasons] == [("OUTPUT_REJECTED", "far off")]


async def test_a_named_and_asynchronous_function_with_a_neighbour_module(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "neighbour.py").write_text("GOOD = 'Bern'\n")
    (tmp_path / "sub" / "own.py").write_text(
        "from neighbour import GOOD\nasync def judge(output, expected, task):\n    return output == GOOD\n"
    )
    assert (await verdict(tmp_path, "", path="sub/own.py:judge")).status == "pass"


@pytest.mark.slow
@each_row(
    ("body", "message"),
    [
        pytest.param("raise KeyError('x')", "KeyError: 'x'", id="raises"),
        pytest.param("raise SystemExit(3)", "SystemExit: 3", id="leaves"),
        pytest.param("import os; os._exit(7)", "exit code 7", id="dies"),
        pytest.param("return 7", "between 0 and 1", id="p06-out-of-range"),
        pytest.param("return float('nan')", "nan", id="p06-nan"),
        pytest.param("return None", "returned None", id="returns-nothing"),
        pytest.param("return {'points': 1}", "unknown key 'points'", id="unknown-key"),
        pytest.param("return {1, 2}", "its answer holds a set; return a number from 0 to 1", id="no-json"),
        pytest.param("return {'score': 1, 'reason': 'x' * 2_000_000}", "more than 1000000 bytes", id="too-long"),
    ],
)
async def test_p09_a_broken_scorer_is_an_error_of_kind_scorer(tmp_path: Path, body: str, message: str) -> None:
    found = await verdict(tmp_path, f"def score(output, expected, task):\n    {body}\n")
    assert (found.status, found.error_kind, found.score, found.scorer) == ("error", "scorer", None, "custom")
    assert found.reasons[0].code == "SCORER_ERROR"
    assert message in found.reasons[0].message


async def test_p11_it_is_refused_unless_allowed(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    source = f"open({str(ran)!r}, 'w')\ndef score(o, e, t): return 1\n"
    with pytest.raises(InputError, match="--allow-custom-code"):
        scoring(tmp_path, source, allow=False)
    scoring(tmp_path, source)
    assert not ran.exists()


@pytest.mark.parametrize("path", ["../outside.py", "../bench-evil/mine.py", "link.py", "linked/mine.py"])
def test_p11_p72_only_files_inside_the_folder_by_resolved_components(tmp_path: Path, path: str) -> None:
    folder, evil = tmp_path / "bench", tmp_path / "bench-evil"
    for each in (folder, evil):
        each.mkdir()
        (each / "mine.py").write_text("def score(o, e, t): return 1\n")
    (tmp_path / "outside.py").write_text("def score(o, e, t): return 1\n")
    (folder / "link.py").symlink_to(tmp_path / "outside.py")
    (folder / "linked").symlink_to(evil)
    with pytest.raises(InputError, match="outside the benchmark's folder"):
        scoring(folder, "def score(o, e, t): return 1\n", path=path)


@pytest.mark.parametrize(
    ("path", "source", "message"),
    [
        pytest.param("none.py", "", "no Python file", id="missing"),
        pytest.param(".", "", "no Python file", id="folder"),
        pytest.param("mine.py", "def score(:\n", "cannot be read as Python", id="syntax"),
        pytest.param("mine.py:scor", "def score(o, e, t): return 1\n", "did you mean 'score'", id="function"),
        pytest.param("mine\0.py", "", "null (byte|character)", id="null-byte"),
    ],
)
def test_what_cannot_be_run_is_a_load_error(tmp_path: Path, path: str, source: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        scoring(tmp_path, source, path=path)


def test_without_a_folder_there_is_nowhere_to_look() -> None:
    task = EvalTask.model_validate({"id": "t", "expectedOutput": {"type": "custom", "customScorerPath": "mine.py"}})
    with pytest.raises(InputError, match="folder is unknown"):
        TaskScoring(task, {"allow_custom_code": True})


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits to be collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:  # it may end while it is looked at
        return False


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
@pytest.mark.parametrize("own_session", [False, True], ids=["same-session", "session-of-its-own"])
async def test_p11_a_timeout_kills_the_whole_process_tree(tmp_path: Path, own_session: bool) -> None:
    source = (
        "import os, subprocess, sys, time\n"
        "def score(output, expected, task):\n"
        "    sleep = [sys.executable, '-c', 'import time; time.sleep(600)']\n"
        f"    child = subprocess.Popen(sleep, start_new_session={own_session})\n"
        "    open('pids', 'w').write(f'{os.getpid()} {child.pid}')\n"
        "    time.sleep(600)\n"
    )
    for limit_ms in (1500, 6000, 24_000):  # until the interpreter has started within it
        found = await verdict(tmp_path, source, timeoutMs=limit_ms)
        assert f"did not answer within {limit_ms} ms" in found.reasons[0].message
        if (tmp_path / "pids").exists():
            break
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    deadline = time.monotonic() + 60
    while any(map(is_alive, pids)) and time.monotonic() < deadline:
        await asyncio.sleep(0.01)
    assert [pid for pid in pids if is_alive(pid)] == []


@pytest.mark.slow
async def test_a_process_left_behind_does_not_hold_up_the_verdict(tmp_path: Path) -> None:
    source = (
        "import os, time\ndef score(output, expected, task):\n    if os.fork() == 0:\n        time.sleep(600)\n    return 1\n"
    )
    began = time.monotonic()
    assert (await verdict(tmp_path, source, timeoutMs=120_000)).status == "pass"
    assert time.monotonic() - began < 120


FILES = """
import json, os, pathlib, sqlite3, tempfile, zoneinfo
def score(output, expected, task):
    {body}
    return 1
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        pytest.param("open('beside.txt').read(); open('new.txt', 'w').write('x'); os.remove('new.txt')", id="its-own-folder"),
        pytest.param("open(os.path.join(os.getcwd(), 'sub', '..', 'beside.txt')).read()", id="by-detours"),
        pytest.param("tempfile.TemporaryFile().write(b'x'); tempfile.TemporaryDirectory().cleanup()", id="temporary"),
        pytest.param("sqlite3.connect(':memory:').execute('select 1')", id="database-in-memory"),
        pytest.param("import colorsys, xml.dom.minidom; open(json.__file__).read()", id="the-library"),
        pytest.param("import subprocess; subprocess.run(['true'], stdout=subprocess.DEVNULL)", id="nowhere"),
    ],
)
async def test_a_scorer_finds_its_files_and_those_that_are_installed(tmp_path: Path, body: str) -> None:
    (tmp_path / "beside.txt").write_text("beside")
    (tmp_path / "sub").mkdir()
    found = await verdict(tmp_path, FILES.format(body=body))
    assert (found.status, found.reasons) == ("pass", [])


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        pytest.param("open(OUTSIDE).read()", id="read"),
        pytest.param("open(OUTSIDE, 'a').write('x')", id="write"),
        pytest.param("pathlib.Path('../outside.txt').read_bytes()", id="relative"),
        pytest.param("open('link').read()", id="through-a-link"),
        pytest.param("os.open(os.fsencode(OUTSIDE), os.O_RDONLY)", id="by-the-system-call"),
        pytest.param("os.listdir('..')", id="list"),
        pytest.param("os.remove(OUTSIDE)", id="remove"),
        pytest.param("os.rename('beside.txt', OUTSIDE)", id="replace"),
        pytest.param("sqlite3.connect(OUTSIDE)", id="database"),
        pytest.param("open(json.__file__, 'a')", id="write-to-the-library"),
        pytest.param("open('../bench-evil/x').read()", id="p72-a-folder-whose-name-begins-alike"),
    ],
)
async def test_p11_files_outside_the_benchmarks_folder_are_not_opened(tmp_path: Path, body: str) -> None:
    folder, outside = tmp_path / "bench", tmp_path / "outside.txt"
    folder.mkdir()
    (folder / "beside.txt").write_text("beside")
    (tmp_path / "bench-evil").mkdir()
    (tmp_path / "bench-evil" / "x").write_text("x")
    outside.write_text("secret")
    (folder / "link").symlink_to(outside)
    found = await verdict(folder, FILES.format(body=body.replace("OUTSIDE", repr(str(outside)))))
    assert (found.status, found.error_kind) == ("error", "scorer")
    assert "PermissionError" in found.reasons[0].message
    assert "lies outside the benchmark's folder" in found.reasons[0].message
    assert outside.read_text() == "secret"


async def test_p71_it_sees_an_allow_list_of_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    source = "import os\ndef score(o, e, t):\n    return 'SOME_API_KEY' not in os.environ and 'PATH' in os.environ\n"
    assert os.environ["SOME_API_KEY"] == "secret"
    assert (await verdict(tmp_path, source)).status == "pass"


@pytest.mark.slow
async def test_many_run_at_once(tmp_path: Path) -> None:
    judge = scoring(tmp_path, "def score(output, expected, task):\n    return output / 10\n")
    verdicts = await asyncio.gather(*(judge.verdict(SkillResponse(output=number)) for number in range(5)))
    assert [each.score for each in verdicts] == [0, 0.1, 0.2, 0.3, 0.4]
