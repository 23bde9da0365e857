"""Every option of every command can come from the configuration, and does what the typed one does.

The options are read off the commands themselves, so a new command or option is held to this without being named here. What is
compared is all that a command would be called with: typed, from the project's file, and from a variable.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_origin

import pytest
from cyclopts import MissingArgumentError

from eval_skills.cli.configurable import UNCONFIGURED, Command, Mark, Option, commands_of, options_of
from eval_skills.cli.evaluate import request_options
from eval_skills.cli.evaluate import typed as typed_options
from eval_skills.cli.main import app, call
from eval_skills.cli.session import Session, begin, current
from eval_skills.core.config import Config
from eval_skills.core.config.environment import variable_of
from eval_skills.core.errors import ConfigError

FILE = "eval-skills.config.yaml"
KNOWN = {key: [Option(key, each) for each in inner.assemble_argument_collection()] for key, inner in commands_of(app)}
OPTIONS = [option for command, inner in commands_of(app) for option in options_of(command, inner.assemble_argument_collection())]
TOP_LEVEL = {field.alias or name for name, field in Config.model_fields.items()}

OWN = {
    ("find", "minCompletion"): "without it, skills that were never evaluated are found, too",
    ("doctor", "skillsDir"): "without it, no skill is tried",
    ("history", "benchmark"): "narrows what is shown; the top level's says what is asked of skills",
    ("trend", "limit"): "counts the runs of a line; find's counts skills, and history's runs of any kind",
    ("trend", "benchmark"): "narrows what is shown; the top level's says what is asked of skills",
    ("benchmarks", "show", "benchmark"): "names the one to show",
    ("select", "minCompletion"): "beats the strategy's own floor, which the top level's does not",
    ("run", "minCompletion"): "beats the strategy's own floor, which the top level's does not",
    ("create", "outputDir"): "where the new folder is made; the top level's is for report files",
    ("report", "convert", "format"): "is what the call is about",
    ("report", "diff", "format"): "a comparison has formats of its own",
    ("trend", "format"): "a trend has formats of its own",
    ("rescore", "benchmark"): "replaces the benchmark that the run itself names",
    ("rescore", "evaluator"): "replaces the scorer that the run itself names",
    ("backfill", "benchmark"): "replaces the benchmark that each run itself names",
    ("backfill", "evaluator"): "replaces the scorer that each run itself names",
    ("compare-answers", "benchmark"): "replaces the benchmark that both runs themselves name",
    ("judge", "calibrate", "benchmark"): "replaces the benchmark that the run itself names",
    ("judge", "calibrate", "evaluator"): "replaces the scorer that the run itself names",
    ("serve", "limit"): "counts flow runs; find's counts skills",
}
"""Options that share a name with a key of the top level and not its meaning; their own key is that of the command's group."""

SPECIAL: dict[str, tuple[Any, Any, Any]] = {
    "taskRunner": ("local", "dask", "dask://127.0.0.1:8786"),
    "map": (["a=b"], ["a=c", "d=e"], ["f=g"]),
    "openFiles": (64, 65, 66),
    "since": ("2026-01-31", "2026-02-01", "2026-02-02"),
    "until": ("2026-01-31", "2026-02-01", "2026-02-02"),
}


def text_of(option: Option) -> str:
    return " ".join((*option.command, option.name))


every_option = pytest.mark.parametrize("option", OPTIONS, ids=text_of)
every_shared_option = pytest.mark.parametrize("option", [each for each in OPTIONS if each.has(Mark.SHARED)], ids=text_of)


def values_of(option: Option) -> tuple[Any, Any, Any]:
    """Three values that differ from each other (as far as the type allows) and from the default."""
    return SPECIAL.get(option.key) or _values(option.argument.hint)


def _values(hint: Any) -> tuple[Any, Any, Any]:
    parts = [part for part in get_args(hint) if part is not type(None)]
    if type(None) in get_args(hint):
        return _values(parts[0])
    if get_origin(hint) is list:
        first, second, third = _values(parts[0])
        return [first], [second, third], [third]
    if parts:  # the choices of a Literal
        return parts[0], parts[-1], parts[len(parts) // 2]
    known: dict[Any, tuple[Any, Any, Any]] = {bool: (True, False, True), int: (3, 5, 7), float: (0.25, 0.5, 0.75)}
    return known.get(hint, ("/a/one", "/a/two", "/a/three"))


def typed(option: Option, value: Any) -> list[str]:
    """What is typed to give the option this value."""
    if isinstance(value, bool):
        return [option.name if value else f"{option.name}=false"]
    texts = [str(part) for part in value] if isinstance(value, list) else [str(value)]
    return texts if not option.name.startswith("--") else [option.name, *texts]


def called_with(command: Command, arguments: list[str]) -> dict[str, Any]:
    """All that the command would be called with; nothing is called."""
    begin(Session())
    return dict(app.parse_args([*command, *arguments], exit_on_error=False, print_error=False)[1].arguments)


@dataclass(frozen=True)
class Case:
    """An option in its command: what must be typed beside it, and what follows it by place."""

    option: Option

    @property
    def _others(self) -> list[Option]:
        return [each for each in KNOWN[self.option.command] if each.argument.required and each.name != self.option.name]

    @property
    def _behind(self) -> list[Option]:
        place = self.option.argument.index
        return [each for each in self._others if place is not None and (each.argument.index or -1) > place]

    def arguments(self, value: Any = None) -> list[str]:
        """The arguments of a call; `value` None leaves the option (and what stands behind it) out."""
        ahead = [each for each in self._others if each not in self._behind]
        given = [part for each in ahead for part in typed(each, values_of(each)[0])]
        if value is None:
            return given
        return [*given, *typed(self.option, value), *(part for each in self._behind for part in typed(each, values_of(each)[0]))]

    def configuration(self, value: Any, leaf: Command | None = None) -> str:
        """A file that says so."""
        document: dict[str, Any] = {}
        for key, each in [(leaf or self.option.leaf, value), *((each.leaf, values_of(each)[0]) for each in self._behind)]:
            level = document
            for part in key[:-1]:
                level = level.setdefault(part, {})
            level[key[-1]] = each
        return json.dumps(document)

    def variables(self, value: Any, leaf: Command | None = None) -> dict[str, str]:
        """The variables that say so."""
        said = [(leaf or self.option.leaf, value), *((each.leaf, values_of(each)[0]) for each in self._behind)]
        return {variable_of(key): each if isinstance(each, str) else json.dumps(each) for key, each in said}

    def call(self, value: Any = None) -> dict[str, Any]:
        return called_with(self.option.command, self.arguments(value))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project without a configuration; what a developer has set is not seen."""
    for name in [name for name in os.environ if name.startswith("EVAL_SKILLS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def assert_the_file_does_what_the_flag_does(case: Case, folder: Path) -> None:
    value, *_ = values_of(case.option)
    wanted = case.call(value)
    (folder / FILE).write_text(case.configuration(value))
    assert case.call() == wanted


@every_option
def test_p58_the_projects_file_gives_it_as_the_flag_would(folder: Path, option: Option) -> None:
    assert_the_file_does_what_the_flag_does(Case(option), folder)
    assert current().configured[option.name] == f"{folder / FILE}: {'.'.join(option.leaf)}"


@every_option
def test_p58_so_does_the_variable_and_it_beats_the_file(folder: Path, option: Option, monkeypatch: pytest.MonkeyPatch) -> None:
    case, (first, second, _) = Case(option), values_of(option)
    wanted = case.call(second)
    (folder / FILE).write_text(case.configuration(first))
    for name, text in case.variables(second).items():
        monkeypatch.setenv(name, text)
    assert case.call() == wanted


@every_option
def test_p58_so_does_the_file_at_home_and_the_projects_beats_it(folder: Path, option: Option) -> None:
    case, (first, second, _) = Case(option), values_of(option)
    home = folder / "home" / ".eval-skills" / "config.yaml"
    home.parent.mkdir(parents=True)
    home.write_text(case.configuration(first))
    assert case.call() == case.call(first)
    (folder / FILE).write_text(case.configuration(second))
    assert case.call() == case.call(second)


@every_option
def test_p58_what_is_typed_beats_file_and_variable(folder: Path, option: Option, monkeypatch: pytest.MonkeyPatch) -> None:
    case, (first, second, third) = Case(option), values_of(option)
    wanted = case.call(third)
    (folder / FILE).write_text(case.configuration(first))
    for name, text in case.variables(second).items():
        monkeypatch.setenv(name, text)
    assert case.call(third) == wanted
    assert option.name not in current().configured


@every_option
def test_without_a_configuration_the_value_is_another_one(folder: Path, option: Option) -> None:
    """What the tests above compare is not what the command would be called with anyhow."""
    case, (first, *_) = Case(option), values_of(option)
    with_it = case.call(first)
    try:
        assert case.call() != with_it
    except MissingArgumentError:
        assert option.argument.required


@every_shared_option
def test_the_key_at_the_top_level_holds_for_it_too(folder: Path, option: Option, monkeypatch: pytest.MonkeyPatch) -> None:
    case, (first, second, _) = Case(option), values_of(option)
    (folder / FILE).write_text(case.configuration(first, (option.key,)))
    assert case.call() == case.call(first)
    (folder / FILE).write_text(
        json.dumps(json.loads(case.configuration(first, (option.key,))) | json.loads(case.configuration(second)))
    )
    assert case.call() == case.call(second), "in one file the command's own key wins"
    monkeypatch.setenv(*next(iter(case.variables(first, (option.key,)).items())))
    assert case.call() == case.call(first), "a variable beats the file, whichever key it is"


def test_p58_the_proof_fails_where_the_configuration_is_not_asked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "config", ())
    case = Case(next(option for option in OPTIONS if option.leaf == ("trend", "metric")))
    with pytest.raises(AssertionError):
        assert_the_file_does_what_the_flag_does(case, folder)


def test_nothing_is_left_out_without_a_reason() -> None:
    arguments = {(*command, each.name) for command, known in KNOWN.items() for each in known if each.argument.names[0] != "*"}
    assert arguments - {(*option.command, option.name) for option in OPTIONS} == set(UNCONFIGURED)
    assert all(UNCONFIGURED.values())


def test_who_shares_a_name_with_the_top_level_shares_its_value_or_says_why_not() -> None:
    alike = {option.leaf for option in OPTIONS if option.key in TOP_LEVEL}
    shared = {option.leaf for option in OPTIONS if option.has(Mark.SHARED)}
    assert shared <= alike
    assert alike - shared == {leaf for leaf in OWN if leaf in alike}


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
        assert call(["config", "get", "runs", *arguments]) == 0
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
    assert call(["config", "get", "runs"]) == 0
    assert current().plain


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        pytest.param("find: {limt: 3}", "find", "FILE: unknown key 'find.limt' (did you mean 'find.limit'?)", id="p60-unknown"),
        pytest.param("fnid: {limit: 3}", "find", "FILE: unknown key 'fnid' (did you mean 'find'?)", id="p60-unknown-command"),
        pytest.param("trend: {metrics: p95Ms}", "find", "FILE: unknown key 'trend.metrics'", id="p60-of-another-command"),
        pytest.param("find: {limit: many}", "find", 'FILE: find.limit: input should be a valid integer; got "many"', id="type"),
        pytest.param(
            "find: {limit: 0}", "find", "FILE: find.limit: input should be greater than or equal to 1; got 0", id="range"
        ),
        pytest.param("find: {tag: math}", "find", "FILE: find.tag: input should be a valid list", id="one-tag"),
        pytest.param("trend: {since: soon}", "find", "FILE: trend.since: give a day such as 2026-01-31", id="converter"),
        pytest.param("report: {diff: {failOn: bad}}", "find", "FILE: report.diff.failOn: input should be 'worse'", id="choice"),
        pytest.param(
            "find: {adapter: htp}", "find", "FILE: find.adapter 'htp' is unknown (did you mean 'http'?)", id="in-the-body"
        ),
        pytest.param("find: 3", "find", "FILE: find: input should be", id="no-group"),
        pytest.param("evaluator: exakt", "eval --skills s --dry-run", "FILE: evaluator: unknown scorer 'exakt'", id="top-level"),
        pytest.param("report: {diff: {minEffect: 3}}", "report diff a b", "FILE: report.diff.minEffect: give a share", id="body"),
        pytest.param("json: true", "query --csv x", "--csv and FILE: json exclude each other", id="global"),
    ],
)
def test_p60_a_wrong_value_is_refused_where_it_stands(
    folder: Path,
    copy: Callable[..., Path],
    examples: Path,
    capsys: pytest.CaptureFixture[str],
    text: str,
    arguments: str,
    message: str,
) -> None:
    copy(examples / "calculator", folder / "s")
    copy(examples / "calculator", folder / "skills" / "calculator")
    (folder / "eval-store").mkdir()
    (folder / FILE).write_text(text)
    assert call(arguments.split()) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.replace(str(folder / FILE), "FILE").startswith(f"eval-skills: {message}")
    assert said.err.count("\n") == 1


def test_paths_start_at_the_folder_of_their_file(folder: Path) -> None:
    ci = folder / "ci"
    ci.mkdir()
    (ci / "c.yaml").write_text(
        "eval: {skills: [one, ~/two], store: here}\nreport: {convert: {input: latest, output: out/, format: [csv]}}\n"
    )
    begin(Session(config_path=Path("ci/c.yaml")))
    found = app.parse_args(["eval"], exit_on_error=False, print_error=False)[1].arguments
    assert found["skills"] == [str(ci / "one"), str(folder / "home" / "two")]
    assert found["reports"].store == str(ci / "here")
    begin(Session(config_path=Path("ci/c.yaml")))
    found = app.parse_args(["report", "convert"], exit_on_error=False, print_error=False)[1].arguments
    assert (found["input_"], found["output"]) == ("latest", f"{ci / 'out'}/")


def test_null_takes_back_what_a_lower_layer_says(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / FILE).write_text("find: {query: calc}")
    assert called_with(("find",), [])["query"] == "calc"
    monkeypatch.setenv("EVAL_SKILLS_FIND__QUERY", "null")
    assert "query" not in called_with(("find",), [])


def test_completion_needs_no_configuration(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / FILE).write_text("nonsense: 1")
    assert call(["completion", "bash"]) == 0
    assert call(["find", "--help"]) == 0
    capsys.readouterr()
    with pytest.raises(ConfigError):
        called_with(("find",), [])


def test_a_resume_goes_on_as_its_run_began_whatever_is_configured(folder: Path) -> None:
    begin(Session(configured=dict.fromkeys(("--tasks", "--concurrency", "--store", "--skills"), "FILE")))
    given = {"tasks": "t.json", "concurrency": 9, "runs": 2, "store": "kept", "resume": "latest", "retry_errors": True}
    options = request_options(given, resuming=True)
    assert options == {
        "runs": 2, "store": str(folder / "kept"), "exit_on_fail": False, "resume": "latest", "retry_errors": True,
    }  # fmt: skip
    assert typed_options({"skills": ["s"], "task_tags": ["t"]}) == {"task_tags": ["t"]}


def test_what_is_configured_for_a_resume_is_nothing_to_another_call(folder: Path) -> None:
    begin(Session(configured={"--retry-errors": "FILE"}))
    options = request_options({"retry_errors": True, "tasks": "t.json", "concurrency": 9}, resuming=False)
    assert (options.get("retry_errors"), options["tasks"], options["concurrency"]) == (None, "t.json", 9)
