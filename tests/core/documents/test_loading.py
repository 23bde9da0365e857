"""Files that people write are read strictly, and a mistake is shown where it stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.documents.loading import MAX_DOCUMENT_BYTES, read_document, validate
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.models import Benchmark, EvalTask, Skill
from tests.tables import each_row

BOMB = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9))


def nested(levels: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(levels - 1):
        found = [found]
    return found


def test_anchors_that_repeat_little_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("base: &b {x: [1, 2]}\nfirst: *b\nsecond: {<<: *b, y: 3}\n")
    assert read_document(tmp_path / "a.yaml")["second"] == {"x": [1, 2], "y": 3}


@each_row(
    ("name", "text", "message"),
    [
        pytest.param("a.json", '{"a": }', "not valid JSON at line 1, column 7", id="broken-json"),
        pytest.param("a.json", '{"a": 1, "a": 2}', "key 'a' is given twice in one object", id="json-key-twice"),
        pytest.param("a.json", '{"a": NaN}', "NaN (line 1) is not JSON; give a finite number or null", id="json-nan"),
        pytest.param("a.json", '{"NaN": "a \\" NaN",\n"b": [\n-Infinity, NaN]}', "-Infinity (line 3) is not", id="json-infinity"),
        pytest.param("a.json", '["1e999", 1.5,\n-1e999]', "-1e999 (line 2) is too large a number", id="json-beyond-a-float"),
        pytest.param("a.json", "", "the file is empty", id="json-empty"),
        pytest.param("a.json", "\ufeff \n", "the file is empty", id="json-blank"),
        pytest.param("a.json", "[" * 100_000, "nested too deeply to read", id="json-too-deep"),
        pytest.param("a.yaml", "a: [1", "not valid YAML at line 1, column 6", id="broken-yaml"),
        pytest.param("a.yaml", "a: 1\na: 2", "key 'a' is given twice (line 2)", id="yaml-key-twice"),
        pytest.param("a.yaml", "? [a]\n: 1", "a key must be text (line 1)", id="yaml-list-as-key"),
        pytest.param("a.yml", "a: .inf", ".inf (line 1) is not JSON", id="yaml-infinity"),
        pytest.param("a.yaml", BOMB, "its anchors (&name, *name) make more than 1,000,000 parts", id="yaml-that-grows"),
        pytest.param("a.yaml", "a: !!python/object/apply:os.getcwd []", "not valid YAML", id="yaml-that-runs-code"),
    ],
)
def test_broken_files_are_refused_with_their_place(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as refused:
        read_document(tmp_path / name)
    assert str(refused.value).startswith(f"{tmp_path / name}: ")
    assert message in str(refused.value)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_document(tmp_path / "missing.json")
    with pytest.raises(InputError, match="this is a folder"):
        read_document(tmp_path)
    (tmp_path / "latin.json").write_bytes(b'"\xe9"')
    with pytest.raises(InputError, match="not UTF-8 text"):
        read_document(tmp_path / "latin.json")


def test_a_file_over_the_limit_is_not_read(tmp_path: Path) -> None:
    huge = tmp_path / "huge.json"
    with huge.open("wb") as file:
        file.truncate(MAX_DOCUMENT_BYTES + 1)
    with pytest.raises(InputError, match="at most 67,108,864 are read"):
        read_document(huge)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        pytest.param("a.json", "\ufeff[1]", [1], id="byte-order-mark"),
        pytest.param("a.yaml", "day: 2026-01-31", {"day": "2026-01-31"}, id="a-yaml-date-stays-text"),
        pytest.param("a.YAML", "a: [x, 1.5, true, null]", {"a": ["x", 1.5, True, None]}, id="yaml-by-its-ending-in-any-case"),
    ],
)
def test_yaml_and_json_read_as_the_same_kinds_of_values(tmp_path: Path, name: str, text: str, value: Any) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert read_document(tmp_path / name) == value


@each_row(
    ("text", "value"),
    [
        *((word, word) for word in ("no", "No", "yes", "on", "OFF", "y", "12:30", "1:2:3.5", "1_000", "0b11", "=", "2026-01-31")),
        ("-.", "-."), ("+", "+"), ("1e", "1e"), ("tRUE", "tRUE"), ("nul", "nul"), ("0o9", "0o9"), ("-0x1F", "-0x1F"),
        *((word, None) for word in ("", "~", "null", "Null", "NULL")),
        *((word, True) for word in ("true", "True", "TRUE")),
        *((word, False) for word in ("false", "False", "FALSE")),
        ("0", 0), ("-12", -12), ("+3", 3), ("0123", 123), ("0o17", 15), ("0x1F", 31),
        ("1.", 1.0), (".5", 0.5), ("-1.5", -1.5), ("1e3", 1000.0), ("1E-05", 1e-05), ("+0.5e+1", 5.0),
        ("'1'", "1"), ("!!str 1", "1"), ("!!int '7'", 7), ("!!bool yes", True),
    ],
)  # fmt: skip
def test_yaml_is_read_by_the_core_schema_of_its_version_1_2(tmp_path: Path, text: str, value: Any) -> None:
    (tmp_path / "a.yaml").write_text(f"a: {text}\n")
    read = read_document(tmp_path / "a.yaml")["a"]
    assert (read, type(read)) == (value, type(value))


def test_the_words_of_version_1_1_are_read_where_a_truth_value_is_asked_for(tmp_path: Path) -> None:
    task = "{id: t, evaluators: [{type: regex, patterns: [x], not: Yes, required: off}]}"
    (tmp_path / "a.yaml").write_text(f"id: b\nname: on\nversion: 1.0.0\ntasks:\n  - {task}\n")
    benchmark = validate(Benchmark, read_document(tmp_path / "a.yaml"), source=tmp_path / "a.yaml")
    [evaluator] = benchmark.tasks[0].evaluators or []
    assert (benchmark.name, evaluator.negated, evaluator.required) == ("on", True, False)
    with pytest.raises(InputError, match='required: give true or false; got "off"'):  # JSON has no such words
        validate(Benchmark, read_document(tmp_path / "a.yaml"), source=tmp_path / "a.json")


SKILL = {"id": "s", "name": "S", "version": "1.0.0", "adapterType": "http", "entrypoint": "x"}
BENCHMARK = {"id": "b", "name": "B", "version": "1.0.0"}


@each_row(
    ("model", "data", "message"),
    [
        pytest.param(
            Skill, SKILL | {"entryPoint": "x"}, "unknown key 'entryPoint' (did you mean 'entrypoint'?)", id="p60-nearest"
        ),
        pytest.param(Skill, SKILL | {"adapterType": "Python"}, "'agent'; got \"Python\" (did you mean 'custom'?)", id="python"),
        pytest.param(Skill, SKILL | {"adapterType": "mpc"}, "or 'agent'; got \"mpc\" (did you mean 'mcp'?)", id="adapter"),
        pytest.param(Skill, SKILL | {"zzz": 1}, "unknown key 'zzz'; known are adapterConfig, adapterType", id="p60-known-keys"),
        pytest.param(Skill, {**SKILL, "version": "1"}, 'version: give a version such as 1.0.0; got "1"', id="no-semver"),
        pytest.param(Skill, {**SKILL, "id": "A_b"}, 'id: give lower-case letters, digits, - and _; got "A_b"', id="no-id"),
        pytest.param(Skill, {**SKILL, "entrypoint": " "}, "entrypoint: ", id="blank"),
        pytest.param(Skill, {"id": "s"}, "name: this key is required and missing (and 3 more problems)", id="missing"),
        pytest.param(
            Benchmark,
            BENCHMARK | {"tasks": [{"id": "t", "expected": {"toolSequence": ["a"], "sequenceMode": "exakt"}}]},
            "got \"exakt\" (did you mean 'exact'?)",
            id="p60-nearest-choice",
        ),
        pytest.param(
            Benchmark,
            BENCHMARK | {"tasks": [{"id": "t", "expected": {"tools": ["a"], "sequenceMode": "exact"}}]},
            "sequenceMode is set and toolSequence is missing",
            id="a-mode-of-nothing",
        ),
        pytest.param(
            Benchmark,
            BENCHMARK | {"tasks": [{"id": "t", "expected": {"output": {"contains": ["Bern"], "notContains": ["bern"]}}}]},
            "'Bern' is in contains and in notContains",
            id="wanted-and-refused",
        ),
        pytest.param(
            Benchmark, BENCHMARK | {"tasks": [{"id": "t", "evaluator": {"type": 3}}]}, "tasks[0].evaluator.type: ", id="path"
        ),
        pytest.param(Benchmark, BENCHMARK | {"tasks": [], "k": True}, "k: give a whole number; got true", id="strict"),
        pytest.param(
            Benchmark,
            BENCHMARK | {"tasks": [{"id": "t", "evaluator": "exact"}, {"id": "t", "evaluator": "exact"}]},
            "task id 't' is used 2 times; make it unique",
            id="task-id-twice",
        ),
        pytest.param(
            Benchmark,
            BENCHMARK | {"scoringMethod": "weighted_mean", "tasks": [{"id": "t", "evaluator": "exact", "weight": 0}]},
            "every weight is 0",
            id="weights-that-weigh-nothing",
        ),
        pytest.param(EvalTask, {"id": "t", "weight": float("nan"), "evaluator": "exact"}, "weight: ", id="nan"),
        pytest.param(EvalTask, {"id": "t", "inputData": nested(200)}, "nested deeper than 200 levels", id="deep"),
        pytest.param(EvalTask, {"id": "t"}, "nothing is expected of the answer", id="p10-expects-nothing"),
    ],
)
def test_models_say_where_and_what_is_wrong(model: Any, data: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refused:
        validate(model, data, source="file.json")
    assert str(refused.value).startswith("file.json: ")
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_as_deep_a_task_as_is_read_can_be_written() -> None:
    task = validate(EvalTask, {"id": "t", "inputData": nested(198), "expectedOutput": {"value": nested(197)}})
    assert EvalTask.model_validate(task.to_json()) == task


def test_an_absent_value_and_a_null_survive_a_round_trip() -> None:
    for expected, has_value in (({"value": None}, True), ({"type": "exact"}, False)):
        task = EvalTask.model_validate({"id": "t", "expectedOutput": expected})
        again = EvalTask.model_validate(task.model_dump(by_alias=True))
        assert again.expected_output is not None
        assert again.expected_output.has_value is has_value


def test_a_path_that_is_too_long_is_refused_in_one_short_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="too long for a path; give the name of a file, not what is in it") as caught:
        read_document(tmp_path / ('[{"id": "add"}]' * 400))
    assert len(str(caught.value)) < 400
