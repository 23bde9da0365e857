"""Changing a key in YAML that a person wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from eval_skills.core.config import set_in_file
from eval_skills.core.config.editing import edited
from eval_skills.core.config.layers import file_layer, file_leaves
from eval_skills.core.documents.loading import read_document
from eval_skills.core.errors import ConfigError
from tests.tables import each_row

HAND_WRITTEN = """\
# ours

runs: 3   # thrice
timeout_ms: 30000
format:   # for the team
  - json  # machines
  - markdown
# the judge
llm:
    model: 'gpt-4o'
    # zero is dull
    temperature: 0.5
secrets: [A, B]
exitOnFail: yes
# the end
"""


@each_row(
    ("leaf", "value", "old", "new"),
    [
        pytest.param(("runs",), 4, "runs: 3   # thrice", "runs: 4   # thrice", id="comment-beside"),
        pytest.param(("timeoutMs",), 5, "timeout_ms: 30000", "timeout_ms: 5", id="spelling-of-the-key"),
        pytest.param(("format",), ["csv"], "  - json  # machines\n  - markdown\n", "  - csv\n", id="list-in-lines"),
        pytest.param(("secrets",), ["C"], "[A, B]", "[C]", id="list-in-one-line"),
        pytest.param(
            ("llm", "apiBase"), "x", "    temperature: 0.5\n", "    temperature: 0.5\n    apiBase: x\n", id="new-in-group"
        ),
        pytest.param(("retries",), 2, "# the end\n", "# the end\nretries: 2\n", id="new"),
        pytest.param(
            ("weights", "toolAccuracy"), 1.0, "# the end\n", "# the end\nweights:\n    toolAccuracy: 1.0\n", id="new-group"
        ),
    ],
)
def test_nothing_but_the_key_changes(leaf: tuple[str, ...], value: Any, old: str, new: str) -> None:
    assert edited(HAND_WRITTEN, {leaf: value}) == HAND_WRITTEN.replace(old, new)


@each_row(
    ("text", "result"),
    [
        pytest.param("", "runs: 4\n", id="empty"),
        pytest.param("# only a comment", "# only a comment\nruns: 4\n", id="comments-only"),
        pytest.param("---\nretries: 1\n", "---\nretries: 1\nruns: 4\n", id="document-mark"),
        pytest.param("{retries: 1}\n", "{retries: 1, runs: 4}\n", id="one-line"),
    ],
)
def test_files_of_every_shape(text: str, result: str) -> None:
    assert edited(text, {("runs",): 4}) == result


def test_a_group_without_a_value_gets_its_keys() -> None:
    assert edited("llm:\nruns: 1\n", {("llm", "model"): "m"}) == "llm:\n  model: m\nruns: 1\n"


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1))
@pytest.mark.parametrize("text", ["llm: {model: x}\n", "llm:\n  model: x  # a\n", ""], ids=["flow", "block", "empty"])
def test_any_text_is_read_back_as_it_was_set(text: str, value: str) -> None:
    assert yaml.safe_load(edited(text, {("llm", "model"): value})) == {"llm": {"model": value}}


@each_row("value", ["yes", "no", "on", "null", "~", "1:30", "017", "1e3", "2026-01-31", "- a", "a: b", "#", "*x", "'"])
def test_p60_text_that_looks_like_something_else_stays_text(tmp_path: Path, value: str) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("evaluator: exact  # c\n")
    assert set_in_file(file, "evaluator", value) == value
    assert yaml.safe_load(file.read_text()) == read_document(file) == {"evaluator": value}


@pytest.mark.parametrize(("word", "value"), [("yes", True), ("Off", False), ("true", True)])
def test_a_word_of_yaml_1_1_is_a_truth_value_for_a_key_that_holds_one(tmp_path: Path, word: str, value: bool) -> None:
    (tmp_path / "config.yaml").write_text(f"exitOnFail: {word}\nevaluator: no\n")
    assert file_leaves(tmp_path / "config.yaml") == {("exitOnFail",): value, ("evaluator",): "no"}
    (tmp_path / "config.json").write_text('{"exitOnFail": "yes"}')
    with pytest.raises(ConfigError, match="exitOnFail: give true or false"):
        file_layer(tmp_path / "config.json", tmp_path)


def test_a_small_number_is_read_back(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    set_in_file(file, "minCompletion", "0.0000001")
    assert yaml.safe_load(file.read_text()) == {"minCompletion": 1e-7}


def test_a_list_that_another_key_repeats_is_changed_alone(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("format: &names [json, csv]\nsecrets: *names\n")
    set_in_file(file, "format", "json")
    assert yaml.safe_load(file.read_text()) == {"format": ["json"], "secrets": ["json", "csv"]}


def test_a_change_that_would_reach_another_key_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    text = "toolCategories: &shared {}\nweights: *shared\n"
    file.write_text(text)
    with pytest.raises(ConfigError, match=r"config\.yaml: setting toolCategories\.read would change other keys"):
        set_in_file(file, "toolCategories.read", "cat")
    assert file.read_text() == text
    assert [path.name for path in tmp_path.iterdir()] == ["config.yaml"]


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    behind, link = tmp_path / "dotfiles" / "config.yaml", tmp_path / "config.yaml"
    behind.parent.mkdir()
    behind.write_text("runs: 1\n")
    behind.chmod(0o600)
    link.symlink_to(behind)
    set_in_file(link, "runs", "2")
    assert link.is_symlink()
    assert (behind.read_text(), behind.stat().st_mode & 0o777) == ("runs: 2\n", 0o600)
    assert [path.name for path in behind.parent.iterdir()] == ["config.yaml"]


def test_a_json_file_stays_json(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text('{"runs": 1}')
    set_in_file(file, "llm.model", "m")
    assert file.read_text() == '{\n  "runs": 1,\n  "llm": {\n    "model": "m"\n  }\n}\n'


def test_a_path_is_written_as_it_was_typed(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    assert set_in_file(file, "outputDir", "./out") == "./out"
    assert file.read_text() == "outputDir: ./out\n"


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be"):
        set_in_file(tmp_path / "file" / "config.yaml", "runs", "1")
