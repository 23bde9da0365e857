"""``--help``: complete, quick, and light."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from eval_skills.cli.main import app

OPTIONS: dict[tuple[str, ...], dict[str, str]] = {
    ("find",): {
        "--query -q": "", "--tag -t": "", "--adapter -a": "", "--min-completion": "", "--skills-dir": "./skills", "--limit": "20",
        "--store": "./eval-store",
    },
    ("eval",): {
        "--skills": "", "--benchmark": "coding-easy", "--tasks": "", "--concurrency": "4", "--timeout": "30000", "--retries": "0",
        "--runs": "1", "--evaluator": "exact", "--format": "json markdown", "--output-dir": "./reports", "--exit-on-fail": "",
        "--min-completion": "0.7", "--dry-run": "", "--benchmarks-dir": "", "--store": "./eval-store", "--tag": "",
        "--resume": "", "--retry-errors": "", "--items-per-task": "1", "--allow-custom-code": "", "--fail-fast": "",
    },
    ("select",): {
        "--from": "", "--reports": "", "--strategy": "", "--min-completion": "", "--top-k": "all", "--output": "",
        "--store": "./eval-store",
    },
    ("run",): {
        "--query -q": "", "--tag -t": "", "--adapter -a": "", "--skills-dir": "./skills", "--benchmark": "coding-easy",
        "--top-k": "all", "--min-completion": "0.7", "--strategy": "", "--tasks": "", "--concurrency": "4", "--timeout": "30000",
        "--retries": "0", "--runs": "1", "--evaluator": "exact", "--format": "json markdown", "--output-dir": "./reports",
        "--exit-on-fail": "", "--dry-run": "", "--benchmarks-dir": "", "--store": "./eval-store", "--resume": "",
        "--retry-errors": "", "--items-per-task": "1", "--allow-custom-code": "", "--fail-fast": "",
    },
    ("history",): {"--limit": "20", "--skill": "", "--benchmark": "", "--store": "./eval-store"},
    ("trend",): {
        "--skill": "", "--metric": "completionRate", "--benchmark": "each", "--since": "", "--until": "", "--output": "",
        "--store": "./eval-store",
    },
    ("query",): {"--csv": "", "--store": "./eval-store"},
    ("benchmarks", "list"): {"--benchmarks-dir": ""},
    ("benchmarks", "show"): {"--benchmarks-dir": ""},
    ("config", "list"): {"--show-origin": ""},
    ("config", "get"): {},
    ("config", "set"): {"--project": ""},
    ("completion",): {},
    ("report", "convert"): {"--input": "", "--format": "junit", "--output": "", "--store": "./eval-store"},
    ("report", "diff"): {
        "--label-a": "as it was given", "--label-b": "as it was given", "--map": "", "--min-effect": "0", "--fail-on": "worse",
        "--output": "", "--format": "markdown", "--store": "./eval-store",
    },
    ("server", "start"): {"--port": "4200"},
    ("server", "stop"): {},
    ("server", "status"): {},
}  # fmt: skip
"""Every command's documented options, and the default that its help must state."""

GLOBAL = ("--config -c", "--json", "--no-color", "--verbose -v")
HEAVY = ("prefect", "pandas", "litellm", "pyarrow", "numpy")
BAR_S = 0.35


def help_of(*command: str) -> str:
    """The help as one line of words, without frames."""
    done = subprocess.run(
        [sys.executable, "-m", "eval_skills.cli", *command, "--help"], capture_output=True, text=True, check=True
    )
    return " ".join(done.stdout.replace("│", " ").split())


@pytest.mark.parametrize("command", OPTIONS, ids=" ".join)
def test_p59_help_shows_every_option_its_default_and_an_example(command: tuple[str, ...]) -> None:
    text = help_of(*command)
    for option, default in OPTIONS[command].items():
        places = text.split(f" {option} ")[1:]  # an example or another option's description may name it too
        assert any(default in place[:200] for place in places), option
    assert all(f" {option} " in text for option in GLOBAL)
    assert f"Example: eval-skills {' '.join(command)}" in text


@pytest.mark.parametrize("command", OPTIONS, ids=" ".join)
def test_no_option_is_missing_from_this_table(command: tuple[str, ...]) -> None:
    arguments = (app[command[0]] if len(command) == 1 else app[command[0]][command[1]]).assemble_argument_collection()
    names = {name for argument in arguments for name in argument.parameter.name or () if name.startswith("--")}
    assert names <= {option.split()[0] for option in OPTIONS[command]}


def test_the_top_help_lists_every_command_and_what_ends_a_call() -> None:
    text = help_of()
    assert all(f" {command[0]} " in text for command in OPTIONS)
    assert all(option in text for option in ("--help", "--version", *GLOBAL))


@pytest.mark.parametrize("command", [(), ("benchmarks",), ("config",), ("server",), *OPTIONS], ids=" ".join)
def test_help_imports_nothing_heavy(command: tuple[str, ...]) -> None:
    program = (
        "import sys, json\n"
        "from eval_skills.cli.main import call\n"
        f"code = call([*{list(command)!r}, '--help'])\n"
        f"print(json.dumps([code, sorted(sys.modules.keys() & set({HEAVY!r}))]), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stderr) == [0, []]


def test_help_is_there_in_a_moment() -> None:
    def seconds() -> float:
        before = os.times()
        help_of("eval")
        after = os.times()
        # the time of the processor: on a busy machine the time on the wall says nothing about us
        return after.children_user + after.children_system - before.children_user - before.children_system

    assert min(seconds() for _ in range(3)) <= BAR_S


def test_the_version_is_the_distributions() -> None:
    from importlib.metadata import version

    done = subprocess.run([sys.executable, "-m", "eval_skills.cli", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"eval-skills {version('eval-skills')}\n"
