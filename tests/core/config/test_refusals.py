"""What a configuration refuses, and how it says so: place, key, value, what is valid; in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.config import load_config
from eval_skills.core.errors import ConfigError
from tests.tables import each_row


def refusal(tmp_path: Path, text: str = "", *, flags: dict[str, Any] | None = None, environ: dict[str, str] | None = None) -> str:
    file = tmp_path / "eval-skills.config.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_config(flags or {}, environ=environ or {}, cwd=tmp_path, home=tmp_path / "home")
    message = str(caught.value)
    assert "\n" not in message
    return message.replace(str(file), "FILE")


@each_row(
    ("text", "message"),
    [
        pytest.param("concurency: 3", "FILE: unknown key 'concurency' (did you mean 'concurrency'?)", id="unknown"),
        pytest.param("llm: {modle: x}", "FILE: unknown key 'llm.modle' (did you mean 'llm.model'?)", id="unknown-below"),
        pytest.param("weights: {outputquality: 1}", "(did you mean 'weights.outputQuality'?)", id="unknown-weight"),
        pytest.param(
            "llm: {apiKey: sk-secret}", "FILE: unknown key 'llm.apiKey' (did you mean 'llm.apiKeyEnv'?)", id="key-itself"
        ),
        pytest.param("7: 5", "FILE: unknown key '7'; known are concurrency, benchmarksDir", id="number-as-key"),
        pytest.param(
            "{description: mine, prompts: [x]}", "FILE: this is a configuration of promptfoo, not of eval-skills", id="promptfoo"
        ),
        pytest.param("concurrency.a: 1", "FILE: unknown key 'concurrency.a' (did you mean 'concurrency'?)", id="dotted"),
    ],
)
def test_p60_unknown_keys_are_refused_with_the_nearest(tmp_path: Path, text: str, message: str) -> None:
    assert message in refusal(tmp_path, text)


@each_row(
    ("text", "message"),
    [
        pytest.param("concurrency: 0", "FILE: concurrency: input should be greater than or equal to 1; got 0", id="zero"),
        pytest.param("concurrency: 1025", "concurrency: input should be less than or equal to 1024; got 1025", id="too-many"),
        pytest.param("concurrency: true", "concurrency: give a whole number; got true", id="bool"),
        pytest.param("concurrency: '4'", 'concurrency: give a whole number; got "4"', id="text"),
        pytest.param("concurrency:", "concurrency: give a whole number; got null", id="null"),
        pytest.param("timeoutMs: 0", "timeoutMs: input should be greater than 0; got 0", id="no-time"),
        pytest.param("retries: 21", "retries: input should be less than or equal to 20; got 21", id="retries"),
        pytest.param("runs: 0", "runs: input should be greater than or equal to 1", id="runs"),
        pytest.param("limit: 0", "limit: input should be greater than or equal to 1", id="limit"),
        pytest.param("topK: 0", "topK: input should be greater than or equal to 1", id="top-k"),
        pytest.param(
            "itemsPerTask: 0", "itemsPerTask: give auto, or a whole number from 1 to 100,000; got 0", id="items-per-task"
        ),
        pytest.param("minCompletion: 1.1", "minCompletion: input should be less than or equal to 1; got 1.1", id="rate"),
        pytest.param("minCompletion: .nan", "FILE: .nan (line 1) is not JSON; give a finite number", id="nan"),
        pytest.param("llm: {temperature: .inf}", ".inf (line 1) is not JSON; give a finite number", id="inf"),
        pytest.param("exitOnFail: 1", "exitOnFail: give true or false; got 1", id="one-is-not-true"),
        pytest.param("format: json", 'format: give a list; got "json"', id="one-format"),
        pytest.param("format: []", "format: give at least 1 item; got []", id="no-format"),
        pytest.param("format: [json, 3]", "format[1]: give text; got 3", id="number-as-format"),
        pytest.param("toolNames: loose", "toolNames: input should be 'exact' or 'normalised'; got \"loose\"", id="choice"),
        pytest.param("toolCategories: {read: cat}", 'toolCategories.read: give a list; got "cat"', id="category"),
        pytest.param("toolCategories: {read: [cat, 5]}", "toolCategories.read[1]: give text", id="tool"),
        pytest.param("outputDir: 5", "outputDir: give a path, as text that is not blank", id="path"),
        pytest.param("strategy: ' '", "strategy: give a path, as text that is not blank", id="blank-path"),
        pytest.param("llm: gpt-4o", "llm: give an object", id="group"),
        pytest.param("timeoutMs: 5\ntimeout_ms: 6", "FILE: 'timeoutMs' is given twice, in two spellings", id="two-spellings"),
        pytest.param("runs: 5\nruns: 6", "FILE: key 'runs' is given twice (line 2)", id="twice"),
        pytest.param("- runs", "FILE: a configuration is a mapping of keys to values; this is a list", id="list"),
        pytest.param("runs: [", "FILE: not valid YAML at line 1", id="broken"),
        pytest.param("runs: !!python/object/apply:os.getcwd []", "FILE: not valid YAML", id="unsafe"),
    ],
)
def test_wrong_values_are_refused_where_they_stand(tmp_path: Path, text: str, message: str) -> None:
    found = refusal(tmp_path, text)
    assert found.startswith("FILE: ")
    assert message in found


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        pytest.param(
            "{toolAccuracy: -1}", "weights.toolAccuracy: input should be greater than or equal to 0; got -1", id="negative"
        ),
        pytest.param("{toolAccuracy: .nan}", ".nan (line 1) is not JSON", id="nan"),
        pytest.param("{toolAccuracy: 0, outputQuality: 0, sequenceCorrectness: 0}", "weights: all of them are 0", id="all-zero"),
    ],
)
def test_p61_weights_are_checked_at_load(tmp_path: Path, weights: str, message: str) -> None:
    assert f"FILE: {message}" in refusal(tmp_path, f"weights: {weights}")


def test_p61_weights_of_two_layers_that_sum_to_nothing_are_refused(tmp_path: Path) -> None:
    text = "weights: {toolAccuracy: 0, outputQuality: 0}"
    assert "weights: all of them are 0" in refusal(tmp_path, text, flags={"weights": {"sequence_correctness": 0.0}})


@pytest.mark.parametrize("text", ["secrets: ['sk-12 34']", "llm: {apiKeyEnv: 'sk-12 34'}"])
def test_a_secret_pasted_in_place_of_its_name_is_not_repeated(tmp_path: Path, text: str) -> None:
    message = refusal(tmp_path, text)
    assert "did you paste the secret itself?" in message
    assert "sk-12" not in message


def test_a_hidden_wrong_value_is_still_reported(tmp_path: Path) -> None:
    assert refusal(tmp_path, "runs: 0", flags={"runs": 3}).startswith("FILE: runs: ")


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        pytest.param({"min_completion": float("nan")}, "--min-completion: give a finite number; got NaN", id="nan"),
        pytest.param({"llm": {"temperature": -1}}, "--llm.temperature: input should be", id="group"),
        pytest.param({"formt": ["csv"]}, "unknown key 'formt' (did you mean 'format'?)", id="unknown"),
    ],
)
def test_flags_are_refused_by_their_option(tmp_path: Path, flags: dict[str, Any], message: str) -> None:
    assert refusal(tmp_path, flags=flags).startswith(message)


def test_a_named_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nope\.yaml: no such file"):
        load_config({}, config_path=Path("nope.yaml"), environ={}, cwd=tmp_path, home=tmp_path)


def test_a_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "eval-skills.config.yaml").mkdir()
    with pytest.raises(ConfigError, match="folder"):
        load_config({}, environ={}, cwd=tmp_path, home=tmp_path)


@pytest.mark.parametrize("name", ["eval-skills.config.yml", "home/.eval-skills/config.yml"])
def test_a_file_whose_name_is_read_by_nobody_is_refused_unless_another_one_is_named(tmp_path: Path, name: str) -> None:
    misnamed = tmp_path / name
    misnamed.parent.mkdir(parents=True, exist_ok=True)
    misnamed.write_text("exitOnFail: true")
    wanted = misnamed.with_suffix(".yaml").name
    assert refusal(tmp_path) == f"{misnamed}: this name is not read; rename it to {wanted}, or remove it"


def test_a_file_with_the_other_ending_may_be_named(tmp_path: Path) -> None:
    (tmp_path / "eval-skills.config.yml").write_text("runs: 7")
    named = Path("eval-skills.config.yml")
    assert load_config({}, config_path=named, environ={}, cwd=tmp_path, home=tmp_path / "home").config.runs == 7
