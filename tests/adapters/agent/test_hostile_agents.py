"""Whatever an agent does to its workspace, its streams and its processes: one clean result, and nothing left behind."""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from eval_skills.adapters import open_adapter, warnings_for
from eval_skills.adapters.agent import workspace
from eval_skills.adapters.agent.config import AgentLimits
from eval_skills.adapters.agent.disk import held_to
from eval_skills.core.errors import ContractError, ItemError, SkillCrashed, SkillError, SkillTimeout
from tests.adapters.agent.agents import agent_skill, answered, failed, program_agent

Running = Callable[[], list[str]]

DONE = '\nsay("answer", content="done")\n'


@pytest.mark.slow
@pytest.mark.parametrize(
    ("deeds", "files"),
    [
        pytest.param("f = open('big', 'wb'); f.truncate(10 * 1024**3)", [("big", 10 * 1024**3, None)], id="sparse-file-of-10-gb"),
        pytest.param("open('long', 'w').write('x' * 300_000)", [("long", 300_000, None)], id="content-too-long"),
        pytest.param("os.mkfifo('pipe')", [], id="pipe"),
        pytest.param("os.symlink('/etc/passwd', 'link'); os.symlink('/', 'root')", [], id="links"),
        pytest.param(
            "open('a', 'w').write('1'); os.mkdir('d'); os.symlink('../a', 'd/b'); os.symlink(os.path.abspath('d/b'), 'c')",
            [("a", 1, "1"), ("c", 1, "1"), ("d/b", 1, "1")],
            id="links-to-a-file-of-it",
        ),
        pytest.param(
            "os.mkdir('d'); os.symlink('d', 'e'); os.symlink('d/../e', 'x'); os.symlink('e/f', 'y'); os.symlink('z', 'z'); "
            "open('d/f', 'w').write('1'); os.mkdir('.venv'); open('.venv/v', 'w').close(); os.symlink('.venv/v', 'v')",
            [("d/f", 1, "1")],
            id="links-that-lead-nowhere-known",
        ),
        pytest.param("import socket; socket.socket(socket.AF_UNIX).bind('socket')", [], id="socket"),
        pytest.param("open(b'caf\\xe9', 'w').write('x')", [("caf\ufffd", 1, "x")], id="name-that-is-not-utf-8"),
        pytest.param("open('b', 'wb').write(bytes([255, 0]))", [("b", 2, "/wA=")], id="binary"),
        pytest.param(
            "os.mkdir('d'); open('d/x', 'w').write('1'); os.chmod('d', 0o500)", [("d/x", 1, "1")], id="read-only-folder"
        ),
        pytest.param(
            "os.mkdir('node_modules'); open('node_modules/x', 'w').write('1')", [], id="packages-of-node-are-no-difference"
        ),
    ],
)
async def test_what_it_leaves_in_its_workspace(tmp_path: Path, deeds: str, files: list[tuple[str, int, str | None]]) -> None:
    response = await answered(program_agent(tmp_path, deeds + DONE))
    assert [(file.path, file.size, file.content) for file in response.files or []] == files


@pytest.mark.parametrize(
    "deeds",
    [
        pytest.param("import shutil; shutil.rmtree(os.getcwd())", id="deleted"),
        pytest.param("os.rename('../workspace', '../gone'); os.symlink('/etc', '../workspace')", id="replaced-by-a-link"),
        pytest.param("os.remove('a.csv'); os.symlink('/etc/passwd', 'a.csv')", id="file-replaced-by-a-link"),
    ],
)
async def test_a_workspace_that_is_gone_or_replaced_is_not_mistaken_for_another(tmp_path: Path, deeds: str) -> None:
    (tmp_path / "a.csv").write_text("x\n")
    response = await answered(program_agent(tmp_path, deeds + DONE), {"prompt": "Do.", "files": ["a.csv"]})
    kept = [(file.path, file.change) for file in response.files or []]
    assert kept == ([] if "rename" in deeds else [("a.csv", "deleted")])
    assert Path("/etc/passwd").exists()


async def test_too_many_files_leave_the_difference_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "MAX_FILES", 50)
    response = await answered(program_agent(tmp_path, "for n in range(60): open(f'f{n}', 'w').close()" + DONE))
    assert response.files is None
    assert "what the agent changed in its workspace is unknown: more than 50 files differ" in response.logs


async def test_what_it_held_is_never_said_to_be_as_much_as_it_may(tmp_path: Path) -> None:
    (tmp_path / "filled").write_bytes(b"x" * (10 * 2**20 + 1))
    with pytest.raises(SkillError, match="the agent held 11 MiB on the disk, more than 10 MiB"):
        await held_to(AgentLimits(disk_mb=10), str(tmp_path), asyncio.sleep(0), lambda: None)


@pytest.mark.slow
async def test_folders_in_folders_without_end_are_cut_off_and_removed(tmp_path: Path) -> None:
    dig = "\nfor n in range(2000):\n    os.mkdir('d')\n    os.chdir('d')"
    response = await answered(program_agent(tmp_path, f"say('message', role='user', content=os.getcwd()){dig}{DONE}"))
    assert response.files is None
    assert response.messages is not None
    assert not Path(response.messages[0]["content"]).parent.exists()


async def test_what_it_left_running_is_ended(tmp_path: Path, left_running: Running) -> None:
    daemon = f"""
    import signal
    up = os.pipe()
    if not os.fork():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.setsid()
        if os.fork():
            os._exit(0)
        os.chdir({str(tmp_path)!r})
        os.write(up[1], b"x")
        time.sleep(600)
    os.read(up[0], 1)
    say("answer", content="done")
    """
    await answered(program_agent(tmp_path, daemon))
    assert left_running() == []


async def test_at_the_time_limit_all_of_it_is_ended(tmp_path: Path, left_running: Running) -> None:
    hangs = f"""
    import signal
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.chdir({str(tmp_path)!r})
    subprocess.Popen([sys.executable, "-S", "-E", "-c", "import time; time.sleep(600)"], start_new_session=True)
    print("hanging", flush=True)
    time.sleep(600)
    """
    error, _ = await failed(program_agent(tmp_path, hangs), timeout_s=1.0)
    assert isinstance(error, SkillTimeout)
    assert left_running() == []


@pytest.mark.slow
async def test_a_flood_of_lines_is_its_log_in_bounded_length(tmp_path: Path) -> None:
    flood = "sys.stdout.write(('x' * 99 + chr(10)) * 300_000)\nsys.stdout.write('y' * 9_000_000 + chr(10))"
    response = await answered(program_agent(tmp_path, flood + DONE))
    assert response.output == "done"
    assert "earlier bytes left out" in response.logs
    assert len(response.logs) < 200_000


async def test_one_that_asks_for_approval_reads_the_end_of_its_input(tmp_path: Path) -> None:
    response = await answered(program_agent(tmp_path, 'say("answer", content=repr(sys.stdin.readline()))'))
    assert response.output == "''"


@pytest.mark.parametrize(
    "line",
    [
        pytest.param('{"type": ["message"]}', id="type-is-a-list"),
        pytest.param('{"type": "usage", "promptTokens": "many"}', id="tokens-are-a-text"),
        pytest.param('{"type": "usage", "promptTokens": -5}', id="negative"),
        pytest.param('{"type": "usage", "costUsd": NaN}', id="not-json"),
        pytest.param('{"type": "tool_call"}', id="no-name"),
        pytest.param('{"type": "tool_result", "id": "none", "result": 1}', id="result-of-no-call"),
        pytest.param("[" * 5000, id="deep"),
        pytest.param("\\x00\\xff", id="not-text"),
    ],
)
async def test_malformed_events_are_lines_of_its_log(tmp_path: Path, line: str) -> None:
    response = await answered(program_agent(tmp_path, f"print('''{line}''')" + DONE))
    assert response.output == "done"


@pytest.mark.slow
async def test_two_items_at_once_do_not_see_each_other(tmp_path: Path) -> None:
    source = """
    open("mine", "w").write(prompt)
    open(os.path.join(os.environ["HOME"], "mine"), "w").write(prompt)
    time.sleep(0.2)
    say("answer", content=open("mine").read() + open(os.path.join(os.environ["HOME"], "mine")).read() + str(len(os.listdir("."))))
    """
    async with open_adapter(program_agent(tmp_path, source)) as adapter:
        found = await asyncio.gather(*(adapter.call(f"n{number}", 60.0) for number in range(4)))
    assert [each.output for each in found] == [f"n{number}n{number}1" for number in range(4)]


SEARCHES = """
found = []
for top in sys.argv[1:]:
    for place, folders, names in os.walk(top):
        found += [os.path.join(place, name) for name in names if name == "evals.json"]
for path in (sys.argv[1] + "/outside", "/outside", "inside", os.environ["HOME"] + "/own"):
    try:
        open(path, "w").write("x")
    except OSError:
        pass
say("answer", content=json.dumps(found))
"""


@pytest.mark.slow
async def test_in_a_sandbox_it_sees_no_expectations_and_writes_to_its_own_folders_alone(tmp_path: Path) -> None:
    agent_skill(tmp_path / "skills")
    skill = program_agent(tmp_path, SEARCHES, skills=["skills/csv"], sandbox="bwrap")
    config = skill.adapter_config | {"command": f"{skill.adapter_config['command']} {tmp_path}"}
    response = await answered(skill.model_copy(update={"adapter_config": config}).located_in(tmp_path))
    assert response.output == "[]"
    assert not (tmp_path / "outside").exists()
    assert not Path("/outside").exists()
    assert [file.path for file in response.files or []] == ["inside"]


async def test_a_workspace_that_cannot_be_made_is_the_error_of_the_item(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    error, known = await failed(program_agent(tmp_path, DONE))
    assert "gone" in str(error)
    assert known.tool_calls == []


def test_nothing_of_it_is_left(tmp_path: Path) -> None:
    made = workspace.Workspace.make()
    os.mkdir(made.folder / "closed", 0o000)
    made.remove()
    assert not made.root.exists()


async def test_one_that_puts_a_link_in_the_place_of_all_its_folders_changes_nothing_else(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir(mode=0o500)
    moves = f"os.rename(os.path.dirname(os.getcwd()), {str(tmp_path / 'moved')!r}); os.symlink({str(precious)!r}, root)"
    await answered(program_agent(tmp_path, f"root = os.path.dirname(os.getcwd()); {moves}{DONE}"))
    assert precious.stat().st_mode & 0o777 == 0o500
    assert not (tmp_path / "moved").exists()


FILLS = """
block = os.urandom(1024 * 1024)
with open(os.path.join({place}, "filled"), "wb") as file:
    for number in range({mib}):
        file.write(block)
{then}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "then"),
    [
        pytest.param('"."', "time.sleep(600)", id="workspace"),
        pytest.param('os.environ["HOME"]', "time.sleep(600)", id="home"),
        pytest.param('os.environ["TMPDIR"]', "time.sleep(600)", id="temporary-files"),
        pytest.param('"."', 'say("answer", content="done")', id="ends-before-anybody-looks"),
        pytest.param('"."', "sys.exit(3)", id="fails-first"),
        pytest.param('"."', "held = open('filled'); os.remove('filled'); time.sleep(600)", id="deleted-and-still-open"),
        pytest.param('"."', "os.rename(os.path.dirname(os.getcwd()), {moved!r}); time.sleep(600)", id="moved-elsewhere"),
    ],
)
async def test_one_that_fills_the_disk_is_ended_with_the_limit_and_what_it_used(tmp_path: Path, place: str, then: str) -> None:
    fills = FILLS.format(place=place, mib=12, then=then.format(moved=str(tmp_path / "moved")))
    error, known = await failed(program_agent(tmp_path, fills, limits={"diskMb": 10}))
    assert type(error) is SkillError
    told = r"the agent held 1[1-3] MiB on the disk, more than 10 MiB \(limits.diskMb\); it was ended. Raise adapterConfig"
    assert re.match(told, str(error)), "seen while it fills, or when it is full"
    assert [file.path for file in known.files or []] == (["filled"] if place == '"."' and "remove" not in then else [])
    assert not (tmp_path / "moved").exists()


@pytest.mark.slow
async def test_holes_and_further_names_of_a_file_take_no_disk(tmp_path: Path) -> None:
    fills = FILLS.format(place='"."', mib=6, then="os.link('filled', 'again'); open('hole', 'wb').truncate(10**9)" + DONE)
    assert (await answered(program_agent(tmp_path, fills, limits={"diskMb": 10}))).output == "done"


def test_that_nobody_looks_at_the_disk_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skill = program_agent(tmp_path, DONE)
    assert warnings_for(skill) == []
    monkeypatch.setenv("PATH", str(tmp_path))
    assert any("there is no program 'du' on PATH, so limits.diskMb does not hold" in said for said in warnings_for(skill))


async def test_folders_and_files_that_it_closed_are_compared(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text("x\n")
    closes = "open('data/b', 'w').write('1'); [os.chmod(path, 0) for path in ('data/b', 'data/a.csv', 'data', '.')]"
    response = await answered(program_agent(tmp_path, closes + DONE), {"prompt": "Do.", "files": ["data/a.csv"]})
    assert [(file.path, file.change, file.content) for file in response.files or []] == [("data/b", "added", "1")]


@pytest.mark.parametrize(
    ("deeds", "kind", "said"),
    [
        pytest.param(DONE + "sys.exit(7)", SkillCrashed, "had answered, and then failed (exit code 7)", id="fails-later"),
        pytest.param(
            'print(\'{"type": "answer", "content": "\' + \'x\' * 5_000_000 + \'"}\')',
            ContractError,
            "ended without an answer (exit code 0); 1 line of more than 4,194,304 bytes could not be read",
            id="answer-in-a-line-too-long",
        ),
        pytest.param(
            'say("message", role="assistant", content="I look.")\n'
            'print(\'{"type": "answer", "content": "\' + \'x\' * 5_000_000, end="")',
            ContractError,
            'the agent\'s answer could not be read: expected an event on a line of its own, got {"type": "answer"',
            id="answer-in-a-line-too-long-and-cut-off",
        ),
    ],
)
async def test_why_there_is_no_answer_is_said(tmp_path: Path, deeds: str, kind: type[ItemError], said: str) -> None:
    error, _ = await failed(program_agent(tmp_path, deeds))
    assert type(error) is kind
    assert said in str(error)
