"""A command in the workspace that the agent left: in a copy, in a sandbox, bounded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.models import EvalTask, SkillResponse, Verdict
from eval_skills.scorers import TaskScoring
from eval_skills.scorers.code.jail import why_no_jail
from tests.tables import each_row

pytestmark = pytest.mark.skipif(bool(why_no_jail()), reason=why_no_jail() or "works")

GIVEN = ["evals/files/in.csv", "evals/files/gone.csv"]


async def passes(command: str, files: list[Any], folder: Path, **options: Any) -> Verdict:
    (folder / "evals" / "files").mkdir(parents=True, exist_ok=True)
    for name in GIVEN:
        (folder / name).write_text("given\n")
    (folder / "check.sh").write_text('test "$(cat out/a.txt)" = made\n')
    evaluator = {"type": "command_passes", "command": command, **options}
    task = EvalTask.model_validate({"id": "t", "inputData": {"prompt": "p", "files": GIVEN}, "evaluator": evaluator})
    response = SkillResponse.model_validate({"output": "done", "files": files})
    return await TaskScoring(task, {"benchmark_folder": folder, "allow_custom_code": True}).verdict(response)


MADE = [
    {"path": "out/a.txt", "change": "added", "content": "made"},
    {"path": "gone.csv", "change": "deleted"},
    {"path": "main.py", "change": "added", "content": "import json; print(json.dumps([1]))"},
]


@pytest.mark.slow
@each_row(
    ("command", "status"),
    [
        ("cat in.csv out/a.txt && test ! -e gone.csv", "pass"),
        ('sh "$BENCHMARK/check.sh"', "pass"),
        ("python3 main.py | grep '\\[1\\]'", "pass"),
        ("touch new && echo x > in.csv", "pass"),
        ('touch "$BENCHMARK/x"', "fail"),
        ("exit 3", "fail"),
        ("test -e /etc/passwd || test -e /var", "fail"),
        ("python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 22), 1)'", "fail"),
        ("no-such-program", "error"),
        ("./main.py", "error"),
    ],
)
async def test_the_exit_code_decides_in_a_sandbox(tmp_path: Path, command: str, status: str) -> None:
    verdict = await passes(command, MADE, tmp_path)
    assert verdict.status == status, verdict.reasons
    assert (tmp_path / "evals" / "files" / "in.csv").read_text() == "given\n"


@pytest.mark.parametrize(
    ("command", "status"),
    [
        pytest.param("test -f node_modules/m/index.js", "error", id="asked-for"),
        pytest.param("test ! -e .venv", "error", id="not-there"),
        pytest.param("cd web/node_modules && ls", "error", id="entered"),
        pytest.param("find . -not -path './.venv/*' -name main.py | grep -q main", "pass", id="left-out-by-find"),
        pytest.param("find . -name .venv -prune -o -name main.py -print | grep -q main", "pass", id="pruned"),
        pytest.param('test -z "$(find . -name node_modules)"', "error", id="looked-for"),
        pytest.param("grep -rq json . --exclude-dir=node_modules", "pass", id="left-out-by-grep"),
        pytest.param("rm -rf .venv && test -f main.py", "pass", id="removed"),
        pytest.param("test ! -e my_node_modules", "pass", id="another-name"),
    ],
)
async def test_a_folder_that_nobody_looked_into_gets_no_verdict(tmp_path: Path, command: str, status: str) -> None:
    verdict = await passes(command, MADE, tmp_path)
    assert verdict.status == status, verdict.reasons


async def test_the_end_of_the_output_is_in_the_reason(tmp_path: Path) -> None:
    verdict = await passes("seq 100000; echo broken >&2; exit 4", MADE, tmp_path)
    message = verdict.reasons[0].message
    assert (verdict.reasons[0].code, len(message) < 1_500) == ("COMMAND_FAILED", True)
    assert "got exit code 4: …" in message
    assert message.endswith("99999 100000 broken")


async def test_a_command_that_does_not_end_fails_in_time(tmp_path: Path) -> None:
    verdict = await passes("sleep 60 & sleep 60", MADE, tmp_path, timeoutMs=500)
    assert verdict.status == "fail"
    assert "did not end within 500 ms" in verdict.reasons[0].message


@each_row(
    ("file", "said"),
    [
        ({"path": "big", "change": "added", "size": 300_000}, "was not kept"),
        ({"path": "../../x", "change": "added", "content": "x"}, "leads out of the folder"),
        ({"path": "/tmp/x", "change": "added", "content": "x"}, "relative to the folder"),
        ({"path": "in.csv/x", "change": "added", "content": "x"}, "cannot be made anew"),
        ({"path": "a" * 300, "change": "added", "content": "x"}, "cannot be made anew"),
    ],
)
async def test_a_workspace_that_cannot_be_made_anew_is_an_error(tmp_path: Path, file: Any, said: str) -> None:
    verdict = await passes("true", [file], tmp_path)
    assert (verdict.status, verdict.error_kind) == ("error", "scorer")
    assert said in verdict.reasons[0].message
