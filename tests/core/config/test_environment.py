"""Configuration by EVAL_SKILLS_* variables: text in, typed values out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.config import LayeredConfig, load_config
from eval_skills.core.config.keys import known_leaves
from eval_skills.core.config.layers import variable_of
from eval_skills.core.errors import ConfigError
from tests.tables import each_row


def load(tmp_path: Path, **environ: str) -> LayeredConfig:
    variables = {f"EVAL_SKILLS_{name}": text for name, text in environ.items()}
    return load_config({}, environ={"PATH": "/bin", **variables}, cwd=tmp_path, home=tmp_path)


@each_row(
    ("name", "text", "key", "value"),
    [
        pytest.param("TIMEOUT_MS", "5000", "timeoutMs", 5000, id="int"),
        pytest.param("MIN_COMPLETION", " 0.9 ", "minCompletion", 0.9, id="float-with-blanks"),
        *(pytest.param("FAIL_FAST", text, "failFast", True, id=f"true-{text}") for text in ("true", "1", "yes", "ON")),
        *(pytest.param("FAIL_FAST", text, "failFast", False, id=f"false-{text}") for text in ("false", "0", "no", "Off")),
        pytest.param("FORMAT", "json, csv,", "format", ["json", "csv"], id="comma"),
        pytest.param("FORMAT", '["json", "csv"]', "format", ["json", "csv"], id="json-list"),
        pytest.param("SECRETS", "[]", "secrets", [], id="empty-list"),
        pytest.param("TOP_K", "null", "topK", None, id="null"),
        pytest.param("TOP_K", "3", "topK", 3, id="optional"),
        pytest.param("LLM__MODEL", "4", "llm.model", "4", id="text-stays-text"),
        pytest.param("LLM", '{"api_base": "x"}', "llm.apiBase", "x", id="json-group"),
        pytest.param("TOOL_CATEGORIES__READ", "cat,less", "toolCategories.read", ["cat", "less"], id="category"),
        pytest.param("TOOL_CATEGORIES", '{"Read": ["cat"]}', "toolCategories.Read", ["cat"], id="categories"),
    ],
)
def test_text_becomes_the_type_of_its_key(tmp_path: Path, name: str, text: str, key: str, value: Any) -> None:
    loaded = load(tmp_path, **{name: text})
    assert loaded.get(key) == value
    assert loaded.origin(key) == f"EVAL_SKILLS_{name}"


@each_row(
    ("name", "text", "message"),
    [
        pytest.param("TIMEOUT_MS", "soon", 'timeoutMs: give a whole number; got "soon"', id="word"),
        pytest.param("RETRIES", "1.5", 'retries: give a whole number; got "1.5"', id="fraction"),
        pytest.param("MIN_COMPLETION", "nan", "minCompletion: give a finite number; got NaN", id="nan"),
        pytest.param("FAIL_FAST", "maybe", 'failFast: give true or false; got "maybe"', id="maybe"),
        pytest.param("FORMAT", '["json"', "format: give a list", id="broken-list"),
        pytest.param("LLM", "gpt-4o", "llm: expected a JSON object", id="text-for-group"),
        pytest.param("LLM", '{"modle": "x"}', "unknown key 'llm.modle' (did you mean 'llm.model'?)", id="unknown-in-group"),
        pytest.param(
            "TIMOUT_MS", "5", "no configuration key has this name (did you mean 'EVAL_SKILLS_TIMEOUT_MS'?)", id="unknown"
        ),
        pytest.param(
            "LLM__MODLE", "x", "no configuration key has this name (did you mean 'EVAL_SKILLS_LLM__MODEL'?)", id="nested"
        ),
        pytest.param("STORE__PATH", "x", "no configuration key has this name", id="too-deep"),
        pytest.param(
            "XYZZY",
            "x",
            "no configuration key has this name; a variable of your own may have this name if it is listed under 'secrets'",
            id="far-off",
        ),
    ],
)
def test_p60_wrong_and_unknown_variables_are_refused_by_name(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, **{name: text})
    assert str(caught.value).startswith(f"EVAL_SKILLS_{name}: {message}")


def test_the_longer_name_beats_the_whole_mapping(tmp_path: Path) -> None:
    loaded = load(tmp_path, LLM='{"model": "whole", "temperature": 1}', LLM__MODEL="one")
    assert (loaded.config.llm.model, loaded.config.llm.temperature) == ("one", 1)


def test_a_blank_variable_is_not_set(tmp_path: Path) -> None:
    assert load(tmp_path, STORE="", TOP_K=" ", NEVER_HEARD_OF="").origin("store") == "default"


def test_a_variable_that_the_configuration_names_as_a_secret_is_none_of_its_keys(tmp_path: Path) -> None:
    loaded = load(tmp_path, SECRETS="EVAL_SKILLS_TOKEN", TOKEN="t", LLM__API_KEY_ENV="EVAL_SKILLS_JUDGE_KEY", JUDGE_KEY="k")
    assert loaded.config.secrets == ["EVAL_SKILLS_TOKEN"]
    assert "t" not in loaded.flat().values()


def test_the_name_of_a_variable() -> None:
    names = {variable_of(leaf) for leaf, _ in known_leaves()}
    assert {"EVAL_SKILLS_TIMEOUT_MS", "EVAL_SKILLS_LLM__API_KEY_ENV", "EVAL_SKILLS_WEIGHTS__TOOL_ACCURACY"} < names
