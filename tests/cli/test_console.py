"""Whoever reads the display may leave; the run goes on."""

from __future__ import annotations

import io
import os
import sys

import pytest

from eval_skills.cli.context import Invocation


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
