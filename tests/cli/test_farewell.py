"""Which signals end a call of the command line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from time import sleep

import psutil
import pytest

from eval_skills.cli import app, main
from eval_skills.cli.context import UNFINISHED
from tests.warm_command import WarmCommand, WarmProcess

CALL = """
import signal, sys
signal.signal(signal.SIGHUP, getattr(signal, sys.argv[1]))
from eval_skills.cli import main
try:
    main.main(["--version"])
finally:
    print(signal.getsignal(signal.SIGHUP) == main._terminate, signal.getsignal(signal.SIGTERM) == main._terminate)
"""


@pytest.mark.parametrize(
    ("started_with", "ends"),
    [
        pytest.param("SIG_DFL", "True True", id="a-terminal-that-closes-ends-the-call"),
        pytest.param("SIG_IGN", "False True", id="under-nohup-the-call-outlives-its-terminal"),
    ],
)
def test_a_closed_terminal(warm_command: WarmCommand, started_with: str, ends: str) -> None:
    code, out, err = warm_command.python(CALL, started_with).output(180)
    assert code == 0, err
    assert out.splitlines()[-1] == ends


IN_A_DESTRUCTOR = """
import os, signal, sys, time
from prefect.exceptions import TerminationSignal
from eval_skills.cli import main

class Left:
    def __del__(self):
        if sys.argv[1] == "FLOW":
            raise TerminationSignal(signal.SIGTERM)
        os.kill(os.getpid(), getattr(signal, sys.argv[1]))
        time.sleep(0.01)

def call(arguments):
    left = Left()
    del left
    time.sleep(30)
    return 0

main.call = call
main.main([])
"""


@pytest.mark.parametrize(
    ("number", "code"),
    [
        pytest.param("SIGTERM", 143, id="term"),
        pytest.param("FLOW", 143, id="what-prefect-raises-for-it-in-a-flow"),
        pytest.param("SIGINT", 130, id="ctrl-c"),
    ],
)
def test_a_signal_that_arrives_in_a_destructor_ends_the_call(warm_command: WarmCommand, number: str, code: int) -> None:
    ended, _, said = warm_command.python(IN_A_DESTRUCTOR, number).output(180)
    assert (ended, said) == (code, "eval-skills: interrupted\n")


def asked(tmp_path: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """``eval-skills query`` in a process that starts anew, in a project with an empty store."""
    (tmp_path / "eval-store").mkdir()
    command = [sys.executable, "-m", "eval_skills.cli", "query", *arguments]
    return subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


LONG = "SELECT count(*) FROM range(1000000000000)"


def until_it_took(cpu_s: float, process: subprocess.Popen[bytes] | WarmProcess) -> None:
    watched = psutil.Process(process.pid)
    while sum(watched.cpu_times()[:2]) < cpu_s:
        assert process.poll() is None
        sleep(0.01)


@pytest.mark.slow
def test_ctrl_c_ends_a_query_while_the_statement_is_executed(tmp_path: Path, warm_command: WarmCommand) -> None:
    (tmp_path / "eval-store").mkdir()
    process = warm_command.start(["query", LONG], cwd=tmp_path, environment=dict(os.environ))
    until_it_took(0.5, process)
    os.kill(process.pid, signal.SIGINT)
    code, _, told = process.output(5)
    assert (code, told.splitlines()[-1]) == (130, "eval-skills: interrupted")


@pytest.mark.slow
def test_ctrl_c_ends_a_query_while_libraries_are_imported(tmp_path: Path) -> None:
    process = asked(tmp_path, LONG)
    until_it_took(0.4, process)
    process.send_signal(signal.SIGINT)
    try:
        code, told = process.wait(timeout=5), process.communicate()[1].splitlines()[-1]
        # Where the signal came while a text was executed, as dataclasses do, Python ends by it after all; shells say 130 of both.
        assert (code in (130, -signal.SIGINT), told) == (True, b"eval-skills: interrupted")
    finally:
        process.kill()


@pytest.mark.slow
@pytest.mark.parametrize("form", ["--csv", "--json"])
def test_ctrl_c_ends_a_query_whose_answer_nobody_reads(tmp_path: Path, warm_command: WarmCommand, form: str) -> None:
    (tmp_path / "eval-store").mkdir()
    call = ["query", "SELECT range, repeat('x', 50) AS x FROM range(10000)", form]
    reader, writer = os.pipe()
    with open(reader, "rb", 0) as unread, (tmp_path / "told").open("w+b") as err:
        with open(writer, "wb", 0) as out:
            process = warm_command.start(call, cwd=tmp_path, environment=dict(os.environ), out=out, err=err)
        assert unread.read(1)
        os.kill(process.pid, signal.SIGINT)
        try:  # within a second where the machine has time
            assert (process.wait(5), (tmp_path / "told").read_bytes().splitlines()[-1]) == (130, b"eval-skills: interrupted")
        finally:
            process.kill()


@pytest.mark.slow
def test_a_query_ends_without_a_word(tmp_path: Path) -> None:
    """DuckDB's objects are looked for at its end: what were left of them it would report, in twenty lines."""
    process = asked(tmp_path, "SELECT 1 AS one")
    assert process.communicate(timeout=180)[1] == b"1 row\n"
    assert process.returncode == 0


def test_an_error_that_nobody_foresaw_is_a_line_that_can_be_read(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: object) -> int:
        raise LookupError("the beginning\n" + "of all that was sent " * 100_000)

    monkeypatch.setattr(app, "call_app", fails)
    assert main.call(["history"]) == UNFINISHED
    said = capsys.readouterr().err
    assert said.startswith("eval-skills: unexpected LookupError: the beginning of all that was sent")
    assert said.endswith("… (run with -v for the traceback)\n")
    assert len(said) < main.MOST_UNEXPECTED_CHARS + 100
