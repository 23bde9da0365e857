"""Setting one key in a file."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml

from eval_skills.core.config import load_config, set_in_file
from eval_skills.core.errors import ConfigError


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        pytest.param("concurrency", "8", 8, id="int"),
        pytest.param("llm.temperature", "0", 0, id="nested"),
        pytest.param("llm.api_base", "http://127.0.0.1:1", "http://127.0.0.1:1", id="snake-case"),
        pytest.param("format", "json,csv", ["json", "csv"], id="list"),
        pytest.param("toolCategories.read", "cat", ["cat"], id="category"),
    ],
)
def test_what_is_set_is_read_back(tmp_path: Path, key: str, text: str, value: Any) -> None:
    file = tmp_path / ".eval-skills" / "config.yaml"
    assert set_in_file(file, key, text) == value
    loaded = load_config({}, environ={}, cwd=tmp_path, home=tmp_path)
    assert (loaded.get(key), loaded.origin(key)) == (value, str(file))
    assert [path.name for path in file.parent.iterdir()] == ["config.yaml"]


def test_other_keys_stay(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("store: ./data\nllm:\n  model: é\n")
    set_in_file(file, "llm.temperature", "0.5")
    assert yaml.safe_load(file.read_text()) == {"store": "./data", "llm": {"model": "é", "temperature": 0.5}}


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        pytest.param("concurency", "8", "did you mean 'concurrency'", id="unknown"),
        pytest.param("concurrency", "lots", 'concurrency: give a whole number; got "lots"', id="wrong"),
        pytest.param("llm", "gpt", "llm is a group of keys", id="group"),
    ],
)
def test_a_refused_change_leaves_the_file_alone(tmp_path: Path, key: str, text: str, message: str) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("runs: 3  # thrice\n")
    with pytest.raises(ConfigError, match=message):
        set_in_file(file, key, text)
    assert file.read_text() == "runs: 3  # thrice\n"


def test_a_file_that_is_no_configuration_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("- runs\n")
    with pytest.raises(ConfigError, match="a configuration is a mapping"):
        set_in_file(file, "runs", "3")


def test_changes_made_at_once_are_all_there(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    changes = {"runs": 3, "retries": 4, "concurrency": 5, "timeoutMs": 6000, "minCompletion": 0.5, "failFast": True}
    with ThreadPoolExecutor(len(changes)) as pool:
        list(pool.map(lambda change: set_in_file(path, change[0], str(change[1]).lower()), changes.items()))
    assert yaml.safe_load(path.read_text()) == changes


def test_a_key_that_stands_there_as_a_comment_takes_its_place(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("# How long one call may take.\n#timeoutMs: 30000\nllm:\n  # The model that judges.\n  #model: gpt-4o\n")
    set_in_file(path, "timeoutMs", "5000")
    told = "# How long one call may take.\ntimeoutMs: 5000\nllm:\n  # The model that judges.\n  #model: gpt-4o\n"
    assert path.read_text() == told
