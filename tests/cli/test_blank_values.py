"""A blank value is a variable that was not set, and means neither a new run nor the current folder; a huge one is no path."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from eval_skills.cli.main import call

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["eval", "--resume", ""], id="resume"),
        pytest.param(["eval", "--skills", " ", "--dry-run"], id="skills"),
        pytest.param(["run", "--output-dir", ""], id="output-dir"),
        pytest.param(["select", "--from", ""], id="from"),
        pytest.param(["find", "--tag", ""], id="tag"),
        pytest.param(["history", "--benchmark", ""], id="benchmark"),
        pytest.param(["eval", "--skills=", "--dry-run"], id="skills-with-a-sign"),
        pytest.param(["eval", "--resume= "], id="resume-with-a-sign"),
    ],
)
def test_p40_a_blank_value_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert call(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert (
        said.err
        == f"eval-skills: {arguments[1].partition('=')[0]} is blank; give a value, or leave it out (is a variable empty?)\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--skills", "--tasks", "--benchmark"])
def test_what_a_file_holds_is_not_its_name(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    known = [] if option == "--skills" else ["--skills", str(ROOT / "examples" / "skills" / "calculator")]
    assert call(["eval", *known, option, '[{"id": "add"}]' * 400]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "too long for a path; give the name of a file" in said.err or "too long for the name of a file; give the" in said.err
    assert len(said.err) < 400


@pytest.mark.parametrize("option", ["--skills", "--tasks", "--output-dir"])
def test_a_name_that_no_run_could_record_is_refused(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["eval", "--skills", "s", "--dry-run", option, os.fsdecode(b"s-\xff")]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"eval-skills: {option}: '")
    assert "s-\\udcff' is not UTF-8, and no run could record it; rename" in said
