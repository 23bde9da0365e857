"""The options of every command come from the configuration, too."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import pytest

from eval_skills.cli.app import app, call_app
from eval_skills.cli.configuration import Option
from eval_skills.cli.context import current
from eval_skills.cli.main import call
from eval_skills.core.config.layers import variable_of
from tests.cli.option_cases import (
    FILE,
)


@pytest.mark.parametrize(
    ("key", "typed_option", "off"),
    [
        pytest.param("json", "--json", {"json": False}, id="json"),
        pytest.param("color", "--no-color", {"color": True}, id="color"),
        pytest.param("verbose", "--verbose", {"verbose": False}, id="verbose"),
    ],
)
def test_the_global_options_come_from_there_too(
    folder: Path,
    key: str,
    typed_option: str,
    off: dict[str, bool],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def seen(*arguments: str) -> bool:
        assert call_app(["config", "get", "runs", *arguments]) == 0
        return bool(getattr(current(), key))

    on = not off[key]
    assert (seen(), seen(typed_option)) == (not on, on)
    (folder / FILE).write_text(json.dumps({key: on}))
    assert seen() is on
    assert seen(f"{typed_option}=false") is not on
    monkeypatch.setenv(variable_of((key,)), json.dumps(not on))
    assert seen() is not on
    assert seen(typed_option) is on
    capsys.readouterr()


def test_every_global_option_is_in_the_table_above() -> None:
    names = {Option((), each).name for each in app.meta.assemble_argument_collection()} - {"TOKENS"}
    assert names == {"--json", "--no-color", "--verbose", "--config"}  # --config names the file itself


def test_no_color_keeps_working(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / FILE).write_text("color: true\n")
    monkeypatch.setenv("NO_COLOR", "1")
    assert call_app(["config", "get", "runs"]) == 0
    assert current().plain


@pytest.mark.parametrize("arguments", [["--version", "--json"], ["--json", "--version"]], ids=" ".join)
def test_the_version_is_a_json_document_too(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert call(arguments) == 0
    assert json.loads(capsys.readouterr().out) == {"version": version("eval-skills")}


def test_a_call_leaves_no_option_to_the_next_in_its_process(capsys: pytest.CaptureFixture[str]) -> None:
    before = current()
    assert call(["--json", "--no-color", "config", "get", "runs"]) == 0
    assert json.loads(capsys.readouterr().out)["value"] == 1
    assert current() is before


def test_what_stands_after_two_hyphens_is_no_option(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["config", "get", "--json", "--", "-v"]) == 2
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    assert "'-v'" in said.err
