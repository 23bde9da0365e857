"""The command `eval-skills`: its commands by what people do with them, and its global options.

A command's module is imported when the command is called or its own help is asked for: the list of commands needs none of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Group, Parameter

from eval_skills.cli.context import Command, Invocation, begin, briefly, current, json_text
from eval_skills.core.errors import UsageError

if TYPE_CHECKING:
    from cyclopts.argument import ArgumentCollection
    from rich.console import Console

    from eval_skills.core.config import Config

HELP = """Unit-test, compare and watch AI-agent skills, orchestrated by Prefect.

Exit codes: 0 done; 1 a gate failed; 2 usage, configuration or input; 3 the run could not finish; 130 interrupted (143 by
SIGTERM or a closed terminal); 141 the reader of the output left.

Example: eval-skills run --skills-dir ./skills --benchmark coding-easy
"""

CONFIGURATION = """What is not typed comes from EVAL_SKILLS_* variables, ./eval-skills.config.yaml (or the file of -c) and
~/.eval-skills/config.yaml, in this order. A key is an option's name in camelCase, at the top level or in its command's group:
"find: {minCompletion: 0.8}" or EVAL_SKILLS_FIND__MIN_COMPLETION=0.8. See "eval-skills config list --show-origin"."""

COMMANDS = {
    "Start": {
        "init": ("init:init_command", "Prepare a folder in which eval-skills run works at once."),
        "create": ("create:create_command", "Create a skill to start from, with tests of its own that pass."),
        "doctor": ("doctor:doctor_command", "Check that a run would work, before it costs anything."),
        "config": ("config:config_app", "Show and set the configuration. Keys are dotted: llm.model."),
        "completion": (
            "init:completion_command",
            "Print the script that completes commands and options in a shell.",
        ),
    },
    "Run": {
        "eval": ("evaluate:eval_command", "Evaluate skills on a benchmark."),
        "run": (
            "evaluate:run_command",
            "Find skills, evaluate them, select the best and write reports, in one Prefect flow.",
        ),
        "plan": ("plan:plan_command", "Say how many tasks and runs an evaluation needs, before it is run."),
        "rescore": (
            "rescore:rescore_command",
            "Score the stored answers of a run again, with today's scorers and expectations.",
        ),
        "backfill": (
            "backfill:backfill_command",
            "Rebuild past results period by period, and compare each with the one before.",
        ),
    },
    "Look": {
        "find": ("find:find_command", "Find skills, best match first."),
        "benchmarks": (
            "benchmarks:benchmarks_app",
            "List, check, generate, review and import benchmarks.",
        ),
        "history": ("history:history_command", "List past runs, newest first, and how to continue the unfinished ones."),
        "show": ("show:show_command", "Show one item of a run whole: input, expectation, answer and why it was judged so."),
        "trend": ("trend:trend_command", "Show how a figure of a skill moved from run to run."),
        "view": ("view:view_command", "Open the store in a browser."),
        "query": ("query:query_command", "Query the store in SQL (DuckDB), read-only."),
    },
    "Agent Skills": {
        "lint": (
            "agent_skills.lint:lint_command",
            "Check Agent Skills, folders with a SKILL.md, against the standard and good practice.",
        ),
        "skill-effect": (
            "agent_skills.skill_effect:skill_effect_command",
            "Compare an agent with and without an Agent Skill, on the same tasks.",
        ),
        "triggers": (
            "agent_skills.triggers:triggers_command",
            "Measure whether an agent loads an Agent Skill when it should, and only then.",
        ),
    },
    "Compare": {
        "report": ("report.app:report_app", "Convert reports, and compare two of them."),
        "select": ("select:select_command", "Filter and rank skills by their evaluation reports."),
    },
    "Judge": {
        "scorers": ("scorers:scorers_command", "List the scorers, or show one of them with its options."),
        "compare-answers": (
            "compare_answers:compare_answers_command",
            "Let a model decide, task by task, which of two runs answered better.",
        ),
        "judge": ("judge:judge_app", "Check the models that judge."),
    },
    "Operate": {
        "nightly": ("nightly:nightly_command", "Evaluate suites every night, and report what changed."),
        "monitor": (
            "monitor:monitor_command",
            "Sample a log of production interactions, judge the sample, and report when its health changes.",
        ),
        "store": ("store:store_app", "Check a store, and repair it."),
        "server": (
            "server:server_app",
            "Keep a Prefect server with its UI running, so that every call starts in about 3 s.",
        ),
        "serve": (
            "server:serve_command",
            "Serve nightly, evaluate, pipeline, backfill and monitor from this process, until it is interrupted.",
        ),
    },
}
"""By group and name: where the command is below `cli.commands`, and the first line of its help."""


def _paragraphs(text: str) -> str:
    """The text with one line for each paragraph: plain help is wrapped to the terminal's width, so that its own breaks must go.

    Help as markdown, which cyclopts prints by default, would first import a parser: 60 ms.
    """
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _version() -> str:
    from importlib.metadata import version

    number = version("eval-skills")
    return json_text({"version": number}).rstrip() if current().json else f"eval-skills {number}"


def _configured(app: App, command: Command, arguments: ArgumentCollection) -> None:
    from eval_skills.cli.configuration import configured

    configured(app, command, arguments)


app = App(
    name="eval-skills",
    help=_paragraphs(HELP),
    help_format="plaintext",
    version=_version,
    default_parameter=Parameter(negative=()),
    result_action="return_value",
)
app.config = (_configured,)
app.help_epilogue = _paragraphs(CONFIGURATION)
app.suppress_keyboard_interrupt = app.meta.suppress_keyboard_interrupt = False  # or no message would say how to continue
app.meta.group_parameters = Group("Global options", sort_key=9)
for _place, (_title, _commands) in enumerate(COMMANDS.items()):
    _group = Group(_title, sort_key=_place)
    for _name, (_path, _help) in _commands.items():
        app.command(f"eval_skills.cli.commands.{_path}", name=_name, help=_help, group=_group)


_FLAG: dict[str, Any] = {"show_default": False, "n_tokens": 0}
"""An option that is on, off or not given; the scripts that cyclopts writes for shells take `bool | None` for one with a value."""


@app.meta.default
def _launch(
    *tokens: Annotated[str, Parameter(show=False, allow_leading_hyphen=True)],
    config: Annotated[Path | None, Parameter(name=["-c", "--config"], help="Configuration file")] = None,
    json: Annotated[bool | None, Parameter(help="Print one JSON document on stdout and nothing else", **_FLAG)] = None,
    no_color: Annotated[bool | None, Parameter(help="Print without colour", **_FLAG)] = None,
    verbose: Annotated[
        bool | None, Parameter(name=["-v", "--verbose"], help="Show Prefect's logs and tracebacks", **_FLAG)
    ] = None,
) -> int | None:
    typed = frozenset(key for key, value in {"json": json, "color": no_color, "verbose": verbose}.items() if value is not None)
    fresh = replace(new_invocation(), config_path=config, typed=typed, began=current().began)
    begin(replace(fresh, json=bool(json), color=not no_color, verbose=bool(verbose)))
    _, apps, rest = app.parse_commands(tokens)
    if json and apps[-1].default_command is None and not rest:  # a rest is help, or a command that does not exist
        raise UsageError("--json needs a command: there is no JSON document to print without one")
    code: int | None = app(tokens, exit_on_error=False, print_error=False, console=help_console())
    return code


launcher = App(name="eval-skills", help_flags=(), version_flags=(), result_action="return_value")
"""Reads the global options. `app.meta` shows them in each help; called itself, it would read the command's options first, and
the command read them again, which takes a third of the time of a call."""
launcher.default_parameter = app.default_parameter
launcher.suppress_keyboard_interrupt = False
launcher.default(_launch)


def call_app(arguments: Sequence[str]) -> int:
    """The exit code of the command that `arguments` call; what goes wrong is raised."""
    with briefly():
        _show_docstring(app, arguments)
    end = arguments.index("--") if "--" in arguments else len(arguments)
    launch, found, _ = launcher.parse_args(arguments[:end], exit_on_error=False, print_error=False, console=help_console())
    return launch(*found.args, *arguments[end:], **found.kwargs) or 0


def _show_docstring(group: App, arguments: Sequence[str]) -> None:
    """The help of the command that is called is its docstring, not its line in the list of commands."""
    if called := next((name for name in arguments if name in group), None):
        command = group[called]
        if command.default_command is None:
            _show_docstring(command, arguments[arguments.index(called) + 1 :])
        else:
            command.help = _paragraphs(command.default_command.__doc__ or "")


def help_console() -> Console | None:
    """What help is printed on; None: cyclopts' own choice."""
    return current().out(pipe_width=80) if current().plain else None


def new_invocation() -> Invocation:
    """A call of which nothing is known yet."""
    return Invocation(app=app, model=_model)


@cache
def _model(command: Command | None) -> type[Config]:
    from eval_skills.cli.configuration import configuration_model

    return configuration_model(app, command)
