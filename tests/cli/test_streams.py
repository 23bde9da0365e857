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


def test_json_keeps_every_character(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    print_json({"text": TEXT})
    sys.stdout.flush()
    assert json.loads(written.getvalue()) == {"text": TEXT}


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_a_command_shows_its_result_on_every_stream(encoding: str, tmp_path: Path) -> None:
    es.evaluate(lambda text: text, [{"input": "ü", "expected": "…"}], store=tmp_path / "eval-store")
    environment = dict(os.environ) | {"HOME": str(tmp_path), "PYTHONIOENCODING": encoding}

    def printed(*arguments: str) -> str:
        command = [sys.executable, "-m", "eval_skills.cli", *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.decode(encoding)

    shown = printed("query", "SELECT '→ ' || output AS said FROM items")
    assert ("→" if encoding == "utf-8" else "->") in shown
    assert json.loads(printed("query", "SELECT '→ 東' AS said FROM items", "--json")) == [{"said": "→ 東"}]


def run_in_shell(command: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    program = f"{shlex.quote(sys.executable)} -m eval_skills.cli"
    environment = dict(os.environ) | {"HOME": str(tmp_path)}
    script = f"set -o pipefail; {command.replace('eval-skills', program)}"
    return subprocess.run(["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)


def test_output_that_nobody_reads_to_its_end_is_not_done(tmp_path: Path) -> None:
    es.evaluate(lambda text: text, [{"input": "a", "expected": "b"}], store=tmp_path / "eval-store")
    query = "eval-skills query 'SELECT * FROM range(100000)' --json"
    assert [run_in_shell(f"{query}{rest}", tmp_path).returncode for rest in (" | tail -1", " | head -1")] == [0, 141]


def test_a_closed_stream_changes_no_exit_code(tmp_path: Path) -> None:
    assert run_in_shell("eval-skills scorers >&-", tmp_path).returncode == 0
    done = run_in_shell("eval-skills scorers exact_match 2>&- <&-", tmp_path)
    assert (done.returncode, "exact_match" in done.stdout) == (0, True)
    assert run_in_shell("eval-skills scorers nonesuch >&- 2>&-", tmp_path).returncode == 2
