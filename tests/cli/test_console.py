"""Whoever reads the display may leave; the run goes on."""

from __future__ import annotations

import io
import os
import sys

import pytest

from eval_skills.cli.context import Invocation
from tests.warm_command import WarmCommand


class Abandoned(io.StringIO):
    """A pipe whose reader has gone."""

    def write(self, _: str) -> int:
        raise BrokenPipeError


def test_a_reader_that_left_does_not_end_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Abandoned())
    console = Invocation().err()
    console.print("nobody reads this")
    console.print("nor this")
    with console.file as file:
        assert getattr(file, "name", None) == os.devnull


def test_what_is_left_out_of_a_store_is_one_sentence_without_a_place_in_the_code(warm_command: WarmCommand) -> None:
    """In a process of its own: what shows warnings is the whole process's."""
    program = (
        "import warnings\nfrom eval_skills.cli import main\nfrom eval_skills.core.errors import warn_of_store\n"
        "def call(_):\n    warnings.simplefilter('always')\n    for _ in range(2):\n"
        "        warn_of_store('left out: items/a.parquet: damaged')\n    warnings.warn('of others')\n    return 0\n"
        "main.call = call\nmain.main([])\n"
    )
    code, _, err = warm_command.python(program).output(60)
    assert (code, err.splitlines()[0]) == (0, "left out: items/a.parquet: damaged")
    assert "UserWarning: of others" in err.splitlines()[1]


@pytest.mark.parametrize("name", ["say", "remark"])
def test_p68_whatever_is_said_is_one_line_that_steers_no_terminal(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    getattr(Invocation(), name)("remark about t\nFORGED: all passed\r\x1b[31m\u202e\u2028[bold]é")
    said = "".join(capsys.readouterr())
    assert said == "remark about t⏎FORGED: all passed\\r\\x1b[31m\\u202e\\u2028[bold]é\n"


@pytest.mark.parametrize(
    "text", ["👩\u200d👩\u200d👧\u200d👦 🏳️\u200d🌈", "می\u200cخواهم", "क्\u200dष", "12\u00a0000\u202f€", "東\u3000京"]
)
def test_other_scripts_stay_as_they_are(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    Invocation().say(text)
    assert capsys.readouterr().out == f"{text}\n"


def test_a_name_between_colons_is_no_picture(capsys: pytest.CaptureFixture[str]) -> None:
    Invocation().say("failed: lang:dog:3 of a@1.0.0, /data/s3:x: 30 landed files")
    Invocation().out().print("lang:dog:3")
    assert capsys.readouterr().out == "failed: lang:dog:3 of a@1.0.0, /data/s3:x: 30 landed files\nlang:dog:3\n"
