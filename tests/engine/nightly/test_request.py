"""The file of suites: strict, placed where it lies, and refused with the place of the mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_skills.core.config.options import FlowOptions
from eval_skills.core.errors import InputError
from eval_skills.engine.nightly.request import Suite, load_suites
from tests.tables import each_row

EXAMPLE = Path(__file__).parents[3] / "examples" / "suites" / "suites.yaml"


def write(folder: Path, text: str) -> Path:
    path = folder / "suites.yaml"
    path.write_text(text)
    return path


def suite(more: str = "", name: str = "a") -> str:
    return f"  - name: {name}\n    skills: [s]\n    benchmark: coding-easy\n{more}"


def asked(block: str, more: str = "retired: []") -> str:
    return f"suites:\n  - name: a\n    skillEffect: {{{block}}}\n    {more}\n"


@each_row(
    ("text", "message"),
    [
        pytest.param("suites: []", "suites: give at least 1 item; got []", id="p40-none"),
        pytest.param("{}", "suites: this key is required and missing", id="no-suites"),
        pytest.param("suites:\n  - name: a\n    benchmark: b\n", "suites[0].skills: this key is required", id="no-skills"),
        pytest.param("suites: [{name: a, skills: [s]}]", "suites[0].benchmark: this key is required", id="no-benchmark"),
        pytest.param("suites: [{name: a, skills: [], benchmark: b}]", "suites[0].skills: give at least 1", id="p40-zero-skills"),
        pytest.param(
            "suites:\n" + suite("    runs: 2\n"), "suites[0]: unknown key 'runs'; it belongs under options", id="an-option"
        ),
        pytest.param(
            "suites:\n" + suite("    baselin: x\n"), "suites[0]: unknown key 'baselin' (did you mean 'baseline'?)", id="p60"
        ),
        pytest.param(
            "suites:\n" + suite("    options: {rums: 3}\n"),
            "suites[0].options: unknown key 'rums' (did you mean 'runs'?)",
            id="p60-in-the-options",
        ),
        pytest.param("suites:\n" + suite("    options: {runs: 0}\n"), "suites[0].options.runs: input should be", id="range"),
        pytest.param(
            "suites:\n" + suite("    options: {judgeModel: a/b}\n"),
            "suites[0].options: the judging model is named in the group llm, as llm: {model: a/b}, not by judgeModel",
            id="the-option's-name",
        ),
        pytest.param(
            "suites:\n" + suite("    options: {store: x}\n"), "store is not an option of a suite", id="the-night's-store"
        ),
        pytest.param("suites:\n" + suite("    options: {failFast: true}\n"), "failFast is not an option", id="half-a-night"),
        pytest.param("suites:\n" + suite("    via: gpu\n"), "name a deployment as flow/deployment", id="via"),
        pytest.param("suites:\n" + suite(name="A b"), "suites[0].name", id="name"),
        pytest.param("suites:\n" + suite(name="a-b") + suite(name="a_b"), "two suites are called 'a-b'", id="one-name-twice"),
        pytest.param(asked("skills: []"), "suites[0].skillEffect.skills: give at least 1", id="effect-of-nothing"),
        pytest.param(asked("skills: [s], arms: [wit, without]"), "unknown arm 'wit' (did you mean 'with'?)", id="effect-arm"),
        pytest.param(asked("skills: [s], arms: [with]"), "the arm with is compared with others", id="effect-one-arm"),
        pytest.param(asked("skills: [s], arms: [with, old]"), "the arm old needs an earlier version; give old", id="effect-old"),
        pytest.param(asked("skills: [s], agent: biltin"), "unknown agent 'biltin' (did you mean 'builtin'?)", id="effect-agent"),
        pytest.param(asked("skills: [s], modle: x"), "unknown key 'modle' (did you mean 'model'?)", id="effect-key"),
        pytest.param(asked("skills: [s], failOn: always"), "suites[0].skillEffect.failOn", id="effect-gate"),
        pytest.param(asked("skills: [s]", "benchmark: b"), "suites[0].benchmark: leave it out", id="effect-and-benchmark"),
        pytest.param("suites:\n  - name: a\n    name: b\n", "key 'name' is given twice (line 3)", id="key-twice"),
    ],
)
def test_p60_a_wrong_file_is_refused_where_it_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        load_suites(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)


def test_relative_paths_start_at_the_files_folder(tmp_path: Path) -> None:
    text = """suites:
  - {name: a, skills: [skills/x, /abs], benchmark: ./b.json, baseline: base.json, options: {tasks: t.json, outputDir: out}}
  - {name: b, skills: [s], benchmark: coding-easy, baseline: 20260101T000000Z-0001}
  - {name: c, skills: [s], options: {tasks: t.json}}
"""
    first, second, third = load_suites(write(tmp_path, text))
    assert first.skills == [str(tmp_path / "skills/x"), "/abs"]
    assert (first.benchmark, first.baseline) == (str(tmp_path / "b.json"), str(tmp_path / "base.json"))
    assert (first.options.tasks, first.options.output_dir) == (str(tmp_path / "t.json"), str(tmp_path / "out"))
    assert (second.benchmark, second.baseline) == ("coding-easy", "20260101T000000Z-0001")
    assert (third.benchmark, third.options.tasks) == (None, str(tmp_path / "t.json"))


def test_an_effect_is_placed_and_says_what_the_command_says(tmp_path: Path) -> None:
    (tmp_path / "earlier").mkdir()
    one, two = load_suites(
        write(
            tmp_path,
            "suites:\n  - {name: a, skillEffect: {skills: [s], old: earlier}}\n"
            "  - {name: b, skillEffect: {skills: [/s], old: HEAD~1, arms: [with, sham]}}\n",
        )
    )
    assert one.skill_effect is not None
    assert two.skill_effect is not None
    assert (one.skill_effect.skills, one.skill_effect.old) == ([str(tmp_path / "s")], str(tmp_path / "earlier"))
    assert one.skill_effect.chosen == ["with", "without", "old"]
    assert (two.skill_effect.skills, two.skill_effect.old) == (["/s"], "HEAD~1")
    assert two.skill_effect.chosen == ["with", "old", "sham"]


def test_a_suites_own_options_win_over_those_of_the_night() -> None:
    suite = Suite(name="a", skills=["s"], benchmark="b", options=FlowOptions(runs=3))
    request = suite.request(FlowOptions(runs=5, concurrency=2), store="here", provenance={"night": "n"})
    assert (request.runs, request.concurrency, request.benchmark, request.skills) == (3, 2, "b", ["s"])
    assert (request.store, request.provenance, request.format, request.origin) == ("here", {"night": "n"}, [], "run")
    assert suite.request(FlowOptions(), store="x").to_json()["failFast"] is False


def test_p58_a_suites_judging_model_keeps_the_address_and_the_key_of_the_night(tmp_path: Path) -> None:
    night = FlowOptions.model_validate(
        {
            "llm": {"model": "openai/good", "apiBase": "http://127.0.0.1:1/v1", "apiKeyEnv": "JUDGE_KEY"},
            "weights": {"toolAccuracy": 0.9},
            "toolCategories": {"payment": ["pay"], "search": ["find"]},
        }
    )
    own = "{llm: {model: openai/other}, weights: {outputQuality: 0.1}, toolCategories: {search: [look]}}"
    [found] = load_suites(write(tmp_path, "suites:\n" + suite(f"    options: {own}\n")))
    request = found.request(night)
    assert (request.llm.model, request.llm.api_base) == ("openai/other", "http://127.0.0.1:1/v1")
    assert request.llm.api_key_env == "JUDGE_KEY"
    assert request.weights.named() == {"tool_accuracy": 0.9, "output_quality": 0.1}
    assert request.tool_categories == {"payment": ["pay"], "search": ["look"]}


def test_a_suite_can_take_an_address_back(tmp_path: Path) -> None:
    night = FlowOptions.model_validate({"llm": {"model": "openai/good", "apiBase": "http://127.0.0.1:1/v1"}})
    [found] = load_suites(write(tmp_path, "suites:\n" + suite("    options: {llm: {apiBase: null}}\n")))
    assert (found.request(night).llm.model, found.request(night).llm.api_base) == ("openai/good", None)


def test_p59_formats_of_a_suite_reach_its_run() -> None:
    suite = Suite(name="a", skills=["s"], benchmark="b", options=FlowOptions(format=["html"]))
    assert suite.request(FlowOptions()).format == ["html"]
    assert suite.request(FlowOptions(), format=[]).format == []


def test_p99_the_example_names_skills_that_are_there() -> None:
    suites = load_suites(EXAMPLE)
    assert [suite.name for suite in suites] == ["arithmetic", "search"]
    assert all(Path(skill, "skill.json").is_file() for suite in suites for skill in suite.skills)
