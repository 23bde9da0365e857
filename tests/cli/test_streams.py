"""What is printed reaches streams of every encoding."""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import eval_skills as es
from eval_skills.cli.context import print_json
from eval_skills.cli.streams import print_everywhere
from tests.warm_command import PROGRAM, WarmCommand

TEXT = "– 5 → 6 ✔ ± … Grüße 東 \U0001f600 \ud800"


@pytest.mark.parametrize(
    ("encoding", "printed"),
    [
        ("ascii", r"- 5 -> 6 + +- ... Gr\u00fc\u00dfe \u6771 \ud83d\ude00 \ud800"),
        ("latin-1", r"- 5 -> 6 + ± ... Grüße \u6771 \ud83d\ude00 \ud800"),
        ("cp1252", r"– 5 -> 6 + ± … Grüße \u6771 \ud83d\ude00 \ud800"),
    ],
)
def test_what_an_encoding_lacks_is_printed_in_plain_signs(encoding: str, printed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding))
    print_everywhere()
    sys.stdout.write(TEXT)
    sys.stdout.flush()
    assert written.getvalue().decode(encoding) == printed


@pytest.mark.parametrize(
    ("encoding", "errors"),
    [("ascii", "strict"), ("utf-8", "strict"), pytest.param("utf-8", "surrogateescape", id="utf-8-in-the-locale-c")],
)
def test_json_keeps_every_character(encoding: str, errors: str, monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding, errors=errors))
    document = {"text": TEXT, "path": os.fsdecode(b"skill-\xff")}
    print_json(document)
    sys.stdout.flush()
    assert json.loads(written.getvalue().decode()) == document


WITH_ENCODING = """
import sys
encoding = sys.argv.pop(1)
for stream in (sys.stdout, sys.stderr):  # as Python itself does at its start
    stream.reconfigure(encoding=encoding, errors="strict" if stream is sys.stdout else "backslashreplace")
from eval_skills.cli.main import main
main()
"""


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_a_command_shows_its_result_on_every_stream(encoding: str, tmp_path: Path, warm_command: WarmCommand) -> None:
    es.evaluate(lambda text: text, [{"input": "ü", "expected": "…"}], store=tmp_path / "eval-store")

    def printed(*arguments: str) -> str:
        file = tmp_path / "printed"
        with file.open("wb") as out, (tmp_path / "told").open("wb") as err:
            call = [PROGRAM, WITH_ENCODING, encoding, *arguments]
            process = warm_command.start(call, cwd=tmp_path, environment=environment_of(tmp_path), out=out, err=err)
        assert process.wait(120) == 0, (tmp_path / "told").read_bytes()
        return file.read_bytes().decode(encoding)

    shown = printed("query", "SELECT '→ ' || output AS said FROM items")
    assert ("→" if encoding == "utf-8" else "->") in shown
    assert json.loads(printed("query", "SELECT '→ 東' AS said FROM items", "--json")) == [{"said": "→ 東"}]


def environment_of(folder: Path) -> dict[str, str]:
    return dict(os.environ) | {"HOME": str(folder)}


def run_in_shell(command: str, tmp_path: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """The command line's process starts anew: what it finds at its start, and what Python does at its end, is the subject."""
    program = f"{shlex.quote(sys.executable)} -m eval_skills.cli"
    script = f"set -o pipefail; {command.replace('eval-skills', program)}"
    environment = environment_of(tmp_path) | more
    return subprocess.run(["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_output_that_nobody_reads_to_its_end_is_not_done(tmp_path: Path, warm_command: WarmCommand) -> None:
    es.evaluate(lambda text: text, [{"input": "a", "expected": "b"}], store=tmp_path / "eval-store")
    query = ["query", "SELECT '→', * FROM range(10000)", "--json"]
    assert warm_command.start(query, cwd=tmp_path, environment=environment_of(tmp_path)).output(120)[0] == 0
    done = run_in_shell(f"eval-skills {shlex.join(query)} | head -3", tmp_path, PYTHONIOENCODING="ascii")
    assert (done.returncode, "\\u2192" in done.stdout, done.stderr) == (141, True, "")


WITH_CLOSED = """
import os, sys
for number in map(int, sys.argv.pop(1)):  # so a Python finds them that starts with `>&-`
    os.close(number)
    setattr(sys, ("stdin", "stdout", "stderr")[number], None)
from eval_skills.cli.main import main
main()
"""


@pytest.mark.slow
def test_a_closed_stream_changes_no_exit_code(tmp_path: Path, warm_command: WarmCommand) -> None:
    def called(closed: str, *arguments: str) -> tuple[int, str]:
        call = [PROGRAM, WITH_CLOSED, closed, *arguments]
        code, out, _ = warm_command.start(call, cwd=tmp_path, environment=environment_of(tmp_path)).output(120)
        return code, out

    assert called("1", "scorers") == (0, "")
    code, out = called("20", "scorers", "exact_match")
    assert (code, "exact_match" in out) == (0, True)
    assert run_in_shell("eval-skills scorers nonesuch >&- 2>&-", tmp_path).returncode == 2
