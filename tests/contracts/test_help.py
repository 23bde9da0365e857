"""``--help``: complete, quick, and light."""

from __future__ import annotations

import inspect
import json
import re
import resource
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cyclopts import CycloptsError, Token
from cyclopts.annotations import resolve_optional

from eval_skills.cli.app import COMMANDS, app, new_invocation
from eval_skills.cli.configuration import Option
from eval_skills.cli.context import Command, begin
from eval_skills.cli.main import call
from eval_skills.core.config import Config
from tests.cli.option_cases import commands_of
from tests.tables import each_row

HELD = {
    "--memory-mb": "", "--cpu-seconds": "", "--open-files": "", "--max-output-bytes": "", "--sandbox": "none",
    "--sandbox-network": "declared",
    "--sandbox-paths": "declared",
    "--sandbox-processes": "",
    "--sandbox-mb": "",
}  # fmt: skip
"""What eval, run and doctor say of the processes of skills."""

BOUNDED = {"--max-cost": "", "--max-tokens": "", "--max-duration": "", "--rate": ""}
JUDGED = {
    "--judge-model": "", "--judge-concurrency": "4", "--max-judge-cost": "", "--no-judge-cache": "", "--no-judge-check": "",
}  # fmt: skip
EXPERIMENT = {
    "--agent": "builtin", "--model": "", "--api-key-env": "", "--base-url": "", "--agent-option": "", "--allow-unsandboxed": "",
    "--runs": "1", "--concurrency": "4", "--timeout": "30000", "--retries": "0", "--items-per-task": "auto",
    "--task-runner": "local", "--resume": "", "--retry-errors": "", "--allow-custom-code": "", "--dry-run": "",
    "--format": "json markdown",
    "--output-dir": "./reports", "--store": "./eval-store", "--of-run": "", **HELD, **BOUNDED, **JUDGED,
}  # fmt: skip
"""What skill-effect and triggers say of the agent and its run."""

OPTIONS: dict[tuple[str, ...], dict[str, str]] = {
    ("doctor",): {
        "--skills": "", "--skills-dir": "", "--timeout": "30000", "--output-dir": "./reports", "--store": "./eval-store", **HELD,
    },
    ("find",): {
        "--query -q": "", "--tag -t": "", "--adapter -a": "", "--min-completion": "", "--skills-dir": "./skills", "--limit": "20",
        "--store": "./eval-store", "--mcp": "", "--pass-env": "", "--auth-token-env": "",
    },
    ("skill-effect",): {"--tasks": "", "--arms": "with without, and old", "--old": "", "--fail-on": "", **EXPERIMENT},
    ("triggers",): {
        "--queries": "the skill's evals/eval_queries.json", "--neighbours": "", "--optimize": "",
        "--exit-on-fail": "", **EXPERIMENT,
    },
    ("lint",): {"--profile": "spec", "--ignore": "", "--listing-budget": "8000", "--strict": "", "--format": "text"},
    ("init",): {"--dir": ".", "--ci": "github"},
    ("create",): {
        "--name": "", "--from-template": "http_request", "--output-dir": "./skills", "--description": "", "--force": "",
        "--from-openapi": "", "--operation": "", "--base-url": "", "--from-mcp": "", "--pass-env": "",
        "--auth-token-env": "", "--tag": "", "--path": "", "--limit": "all",
    },
    ("eval",): {
        "--skills": "", "--benchmark": "coding-easy", "--tasks": "", "--map": "", "--concurrency": "4", "--timeout": "30000",
        "--retries": "0", "--runs": "1", "--evaluator": "exact", "--format": "json markdown", "--output-dir": "./reports",
        "--exit-on-fail": "",
        "--min-completion": "0.7", "--dry-run": "", "--benchmarks-dir": "", "--store": "./eval-store", "--tag": "",
        "--resume": "", "--retry-errors": "", "--items-per-task": "auto", "--allow-custom-code": "", "--fail-fast": "",
        "--task-runner": "local", "--complexity": "", "--filter --task-filter": "", "--first --limit": "",
        "--task": "", "--tasks-from": "", "--traces": "", "--trace-skill": "the file's name",
        "--record": "", "--replay": "", "--cache": "", "--cache-runs": "",
        "--until": "", "--against": "", "--max-runs": "10", "--own-tests": "", "--skip-unreadable": "",
        **HELD, **BOUNDED, **JUDGED,
    },
    ("select",): {
        "--from": "", "--reports": "", "--strategy": "", "--min-completion": "", "--top-k": "all", "--keep-ties": "",
        "--output": "", "--store": "./eval-store",
    },
    ("run",): {
        "--query -q": "", "--skill-tag": "", "--tag -t": "", "--adapter -a": "", "--skills-dir": "./skills",
        "--benchmark": "coding-easy",
        "--top-k": "all", "--keep-ties": "", "--min-completion": "0.7", "--strategy": "", "--tasks": "", "--map": "",
        "--concurrency": "4",
        "--timeout": "30000",
        "--retries": "0", "--runs": "1", "--evaluator": "exact", "--format": "json markdown", "--output-dir": "./reports",
        "--exit-on-fail": "", "--dry-run": "", "--benchmarks-dir": "", "--store": "./eval-store", "--resume": "",
        "--retry-errors": "", "--items-per-task": "auto", "--allow-custom-code": "", "--fail-fast": "", "--task-runner": "local",
        "--complexity": "", "--filter --task-filter": "", "--first --limit": "",
        "--task": "", "--tasks-from": "", "--traces": "", "--trace-skill": "the file's name",
        "--record": "", "--replay": "", "--cache": "", "--cache-runs": "",
        "--until": "", "--against": "", "--max-runs": "10", "--own-tests": "", "--skip-unreadable": "",
        **HELD, **BOUNDED, **JUDGED,
    },
    ("scorers",): {},
    ("show",): {"--store": "./eval-store"},
    ("history",): {"--limit": "20", "--skill": "", "--benchmark": "", "--all": "", "--store": "./eval-store"},
    ("trend",): {
        "--skill": "", "--metric": "completionRate", "--benchmark": "each", "--since": "", "--until": "",
        "--limit": "60", "--output": "", "--store": "./eval-store",
    },
    ("monitor",): {
        "--rate": "0.01", "--seed": "0", "--skill": "", "--field": "", "--evaluator": "exact", "--expect": "", "--task": "",
        "--benchmarks-dir": "", "--allow-custom-code": "", "--concurrency": "4", "--window": "200", "--min-sample": "30",
        "--warning": "0.85", "--critical": "0.7", "--hysteresis": "0.02", "--follow": "", "--interval": "10",
        "--idle-stop": "", "--restart": "", "--fail-on": "critical", "--max-silence": "", "--store": "./eval-store",
        "--metrics-port": "none are served", "--metrics-host": "127.0.0.1",
        **JUDGED,
    },
    ("nightly",): {
        "--suites": "", "--baseline": "", "--confirm-runs": "6", "--keep-days": "keep all", "--store": "./eval-store",
        "--exit-on-fail": "", "--fail-on": "", "--margin": "0.03", "--resume": "",
    },
    ("plan",): {
        "--effect": "0.05", "--power": "0.8", "--skills": "1", "--tasks": "10 to 200", "--budget": "", "--from": "",
        "--base-rate": "the run's, else 0.8", "--flakiness": "the run's, else 0.1", "--check": "", "--store": "./eval-store",
    },
    ("view",): {
        "--host": "127.0.0.1", "--port": "0", "--no-open": "", "--base-url": "", "--label-as": "the user of this machine",
        "--export": "", "--run": "latest", "--store": "./eval-store",
    },
    ("query",): {"--csv": "", "--store": "./eval-store"},
    ("rescore",): {
        "--benchmark": "", "--tasks": "", "--benchmarks-dir": "", "--evaluator": "", "--concurrency": "4",
        "--allow-custom-code": "", "--force": "", "--store": "./eval-store",
        "--complexity": "", "--filter --task-filter": "", "--first --limit": "",
        "--task": "", "--tasks-from": "", **JUDGED,
    },
    ("backfill",): {
        "--mode": "", "--since": "the first", "--until": "now", "--every": "day", "--skills-repo": "", "--skills-path": ".",
        "--benchmark": "", "--tasks": "", "--benchmarks-dir": "", "--runs": "1", "--concurrency": "4", "--timeout": "30000",
        "--retries": "0", "--evaluator": "", "--allow-custom-code": "", "--force": "", "--output": "", "--store": "./eval-store",
        **HELD, **JUDGED,
    },
    ("compare-answers",): {
        "--skill-a": "the one that both runs have", "--skill-b": "the one that both runs have", "--criteria": "the task's own",
        "--benchmark": "the runs' own", "--tasks": "", "--benchmarks-dir": "", "--concurrency": "4", "--store": "./eval-store",
        "--panel": "", "--votes": "1", **JUDGED,
    },
    ("judge", "calibrate"): {
        "--labels": "", "--run": "answers are judged now", "--pass-at": "0.7", "--benchmark": "the run's", "--tasks": "",
        "--benchmarks-dir": "", "--evaluator": "", "--force": "", "--store": "./eval-store", **JUDGED,
    },
    ("benchmarks", "list"): {"--benchmarks-dir": "", "--tag -t": "", "--complexity": "", "--filter": ""},
    ("benchmarks", "show"): {"--benchmarks-dir": "", "--tag -t": "", "--complexity": "", "--filter": ""},
    ("benchmarks", "lint"): {"--runs": "1", "--benchmarks-dir": "", "--store": "./eval-store"},
    ("benchmarks", "generate"): {
        "--output -o": "", "--skill": "", "--openapi": "", "--operation": "", "--from": "schema", "--count": "30", "--seed": "0",
        "--reference": "", "--model": "", "--max-judge-cost": "", "--no-judge-cache": "", "--timeout": "30000", "--force": "",
        "--store": "./eval-store",
    },
    ("benchmarks", "review"): {"--accept": "", "--accept-all": "", "--drop": ""},
    ("benchmarks", "import"): {
        "--map": "", "--split": "test", "--licence": "what the folder states", "--id": "from the file's name", "--output": "",
        "--check": "", "--force": "",
    },
    ("config", "list"): {"--show-origin": ""},
    ("config", "get"): {},
    ("config", "set"): {"--project": ""},
    ("completion",): {},
    ("report", "convert"): {"--input": "", "--format": "junit", "--output": "", "--skill": "all", "--store": "./eval-store"},
    ("report", "agent-skills"): {"--input": "", "--output": "", "--skill": "all", "--store": "./eval-store"},
    ("report", "mlflow"): {
        "--input": "", "--tracking-uri": "MLFLOW_TRACKING_URI", "--experiment": "the benchmark's id", "--skill": "all",
        "--store": "./eval-store",
    },
    ("report", "diff"): {
        "--label-a": "as it was given", "--label-b": "as it was given", "--map": "", "--min-effect": "0", "--missing": "bounds",
        "--margin": "0.03", "--fail-on": "worse",
        "--output": "", "--format": "markdown", "--store": "./eval-store", "--all": "",
    },
    ("report", "comment"): {
        "--baseline": "nothing", "--min-effect": "0", "--fail-on": "worse", "--margin": "0.03", "--format": "github",
        "--key": "the benchmark's id", "--store": "./eval-store",
    },
    ("store", "verify"): {"--repair": "", "--store": ""},
    ("server", "start"): {"--port": "4200"},
    ("server", "stop"): {},
    ("server", "status"): {},
    ("serve",): {
        "--only": "all of the file", "--file": "the one of this package", "--limit": "2", "--metrics-port": "none are served",
        "--metrics-host": "127.0.0.1",
    },
}  # fmt: skip
"""Every command's documented options, and the default that its help must state."""

COLUMNS = 80
DEFAULTS = {
    field.alias or name: None if field.default_factory else field.default  # where it depends on the folder, its text says so
    for name, field in Config.model_fields.items()
}
EVERY = dict(commands_of(app))
LEAST_GROUPED = 6
"""From so many options on, they stand in groups that say what they are about."""
GLOBAL = ("--config -c", "--json", "--no-color", "--verbose -v")
HEAVY = ("prefect", "pandas", "litellm", "pyarrow", "numpy")
BAR_S = 0.35


PRINTED: dict[tuple[str, ...], str] = {}
"""What the help of a command prints is asked once for all tests."""


@pytest.fixture
def printed_help(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """The help as it is printed, 80 columns wide and without colour."""
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("COLUMNS", raising=False)

    def printed(*command: str) -> str:
        if command not in PRINTED:
            assert call([*command, "--help"]) == 0
            PRINTED[command] = capsys.readouterr().out
        return PRINTED[command]

    return printed


@pytest.fixture
def help_of(printed_help: Callable[..., str]) -> Callable[..., str]:
    """The help as one line of words, without frames."""
    return lambda *command: " ".join(printed_help(*command).replace("│", " ").split())


def process(*command: str) -> str:
    """The help of a process of its own."""
    called = [sys.executable, "-m", "eval_skills.cli", *command, "--help"]
    return subprocess.run(called, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("command", OPTIONS, ids=" ".join)
def test_p59_help_shows_every_option_its_default_and_an_example(command: tuple[str, ...], help_of: Callable[..., str]) -> None:
    text = help_of(*command)
    for option, default in OPTIONS[command].items():
        places = text.split(f" {option} ")[1:]  # an example or another option's description may name it too
        assert any(default in place[:200] for place in places), option
    assert all(f" {option} " in text for option in GLOBAL)
    assert f"Example: eval-skills {' '.join(command)}" in text


@each_row("command", OPTIONS, ids=" ".join)
def test_no_option_is_missing_from_this_table(command: tuple[str, ...]) -> None:
    arguments = (app[command[0]] if len(command) == 1 else app[command[0]][command[1]]).assemble_argument_collection()
    names = {name for argument in arguments for name in argument.parameter.name or () if name.startswith("--")}
    assert names <= {name for option in OPTIONS[command] for name in option.split()}


@pytest.mark.slow
def test_every_whole_number_is_the_one_that_is_typed() -> None:
    numbers = [each for command in EVERY for each in options_in(command) if resolve_optional(each.argument.hint) is int]
    assert len(numbers) > 20
    assert [each for each in numbers if each.argument.parameter.converter is None] == []  # cyclopts makes 2 of 1.5


@pytest.mark.slow
@pytest.mark.parametrize("text", ["x", "nan", "-inf", "1e999", "0,5", "70%", "1_000", ""])
def test_every_option_refuses_what_is_not_a_decimal_number_in_our_words(text: str) -> None:
    numbers = [each for command in EVERY for each in options_in(command) if resolve_optional(each.argument.hint) is float]
    assert len(numbers) > 20
    for each in numbers:
        each.argument.tokens = [Token(keyword=each.name, value=text)]
        with pytest.raises(CycloptsError) as refused:
            each.argument.convert_and_validate()
        assert str(refused.value) == f"Invalid value for {each.name}: give a number such as 0.5; got {text!r}"


def described(command: Command) -> str:
    return inspect.cleandoc(EVERY[command].default_command.__doc__ or "")


def options_in(command: Command) -> list[Option]:
    found = [Option(command, argument) for argument in EVERY[command].assemble_argument_collection()]
    return [option for option in found if option.name != "*"]


def examples_of(text: str) -> list[str]:
    return re.findall(r"^Example: (.*)$", text, flags=re.MULTILINE)


def parse_example(line: str) -> Any:
    """Read the line as a shell and the app would, and call nothing."""
    name, *words = shlex.split(line.partition(" > ")[0])
    assert name == "eval-skills"
    begin(new_invocation())
    return app.parse_args(words, exit_on_error=False, print_error=False)[0]


def test_the_table_above_names_every_command() -> None:
    assert set(OPTIONS) == set(EVERY)


@each_row("command", EVERY, ids=" ".join)
def test_the_summary_is_one_sentence_and_a_description_follows_it_where_it_has_one(command: Command) -> None:
    summary = described(command).partition("\n\n")[0]
    assert re.fullmatch(r"[A-Z][^\n]*[a-z0-9]\.", summary), summary
    assert not re.search(r"[a-z]\. [A-Z]", summary)


@pytest.mark.parametrize("command", EVERY, ids=" ".join)
def test_p59_every_example_can_be_called(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    examples = examples_of(described(command))
    assert examples
    for example in examples:
        assert parse_example(example) is EVERY[command].default_command


def test_an_example_with_an_option_that_does_not_exist_would_be_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CycloptsError, match="--bogus"):
        parse_example("eval-skills find --bogus 3")


@each_row("command", EVERY, ids=" ".join)
def test_every_option_is_explained(command: Command) -> None:
    for option in options_in(command):
        text = option.argument.parameter.help or ""
        assert len(text.split()) >= 2, option.name
        assert not text.endswith("."), option.name


@each_row("command", EVERY, ids=" ".join)
def test_many_options_stand_in_groups(command: Command) -> None:
    options = options_in(command)
    names = {group.name for option in options for group in option.argument.parameter.group}  # type: ignore[union-attr]
    assert len(options) < LEAST_GROUPED or not {"Parameters", "Options"} & names


@each_row("command", EVERY, ids=" ".join)
def test_the_stated_default_is_the_configurations(command: Command) -> None:
    for option in options_in(command):
        default = DEFAULTS[option.key] if option.is_shared else None
        if default is None or isinstance(default, bool):
            continue
        text = " ".join(default) if isinstance(default, list) else str(default)
        assert re.search(rf"\[default: (\./)?{re.escape(text)}\]", option.argument.parameter.help or ""), option.name


@pytest.mark.parametrize(
    "command", [(), ("benchmarks",), ("config",), ("judge",), ("report",), ("server",), *EVERY], ids=" ".join
)
def test_help_fits_80_columns_and_says_where_values_come_from(command: Command, printed_help: Callable[..., str]) -> None:
    text = printed_help(*command)
    assert max(map(len, text.splitlines())) <= COLUMNS
    assert "What is not typed comes from EVAL_SKILLS_* variables" in text
    lines = [line.strip() for line in text.splitlines()]
    assert all(f"Example: {example}" in lines for example in examples_of(described(command) if command in EVERY else ""))


def test_the_top_help_lists_every_command_and_what_ends_a_call(help_of: Callable[..., str]) -> None:
    text = help_of()
    assert all(f" {command[0]} " in text for command in OPTIONS)
    assert all(option in text for option in ("--help", "--version", *GLOBAL))
    assert re.search(r"Exit codes: 0 .*; 1 .*; 2 .*; 3 .*; 130 ", text)


@pytest.mark.slow
def test_no_help_imports_anything_heavy() -> None:
    groups = [(), ("benchmarks",), ("config",), ("judge",), ("report",), ("server",)]
    program = (
        "import sys, json\n"
        "from eval_skills.cli.main import call\n"
        f"codes = [call([*command, '--help']) for command in {[*groups, *OPTIONS]!r}]\n"
        f"print(json.dumps([sum(codes), sorted(sys.modules.keys() & set({HEAVY!r}))]), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stderr) == [0, []]


@pytest.mark.slow
def test_the_help_of_eval_imports_what_options_are_made_of_and_no_more() -> None:
    program = (
        "import sys\n"
        "from eval_skills.cli.main import call\n"
        "call(['eval', '--help'])\n"
        "unneeded = ('eval_skills.core.models.task', 'eval_skills.core.models.expectation', 'eval_skills.cli.prefect_server')\n"
        "print([name for name in sys.modules if name.startswith(unneeded)], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


@pytest.mark.slow
def test_the_list_of_commands_imports_none_of_them() -> None:
    program = (
        "import sys\n"
        "from eval_skills.cli.main import call\n"
        "call(['--help'])\n"
        "print([name for name in sys.modules if name.startswith(('eval_skills.cli.commands', 'pydantic'))], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


@pytest.mark.parametrize(("name", "line"), [(name, line) for group in COMMANDS.values() for name, (_, line) in group.items()])
def test_the_list_says_what_the_command_itself_says(name: str, line: str, help_of: Callable[..., str]) -> None:
    assert f" {line} " in help_of(name)
    if (name,) in EVERY:
        assert described((name,)).splitlines()[0] == line


@pytest.mark.parametrize("group", sorted({command[0] for command in OPTIONS if len(command) > 1}))
def test_the_list_of_a_group_says_what_each_of_its_commands_does(group: str, help_of: Callable[..., str]) -> None:
    listed = help_of(group)
    for command in (command for command in OPTIONS if command[0] == group and len(command) == 2):
        sentence = " ".join(described(command).split("\n\n")[0].replace("`", "").split())
        assert f" {command[1]} {sentence} " in listed


def test_no_group_of_commands_is_longer_than_ten_lines(printed_help: Callable[..., str]) -> None:
    panels = re.findall(r"╭─ ([\w ]+?) ─+╮\n(.*?)╰", printed_help(), flags=re.DOTALL)
    lines = {title: body.count("\n") for title, body in panels}
    assert COMMANDS.keys() <= lines.keys()
    assert max(lines.values()) <= 10


@pytest.mark.slow
def test_help_is_there_in_a_moment() -> None:
    def seconds(call: Callable[[], object]) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        call()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        # the time of the processor: on a busy machine the time on the wall says nothing about us
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    bare = [sys.executable, "-c", "pass"]
    taken: list[tuple[float, float]] = []
    while len(taken) < 8:  # in turn, so that both see the same machine; once is enough where it is quick
        taken.append((seconds(process), seconds(lambda: subprocess.run(bare, check=True))))
        help_s, bare_s = map(min, zip(*taken, strict=True))
        if help_s <= max(BAR_S, 20 * bare_s):
            return
    pytest.fail(f"{help_s:.2f} s; a bare interpreter takes {bare_s:.3f} s here")


def test_the_version_is_the_distributions(capsys: pytest.CaptureFixture[str]) -> None:
    from importlib.metadata import version

    assert call(["--version"]) == 0
    assert capsys.readouterr().out == f"eval-skills {version('eval-skills')}\n"
