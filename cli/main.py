"""The command `eval-skills`: the global options, the list of commands, and the one place that turns an error into an exit code.

Exit codes: 0 done; 1 a gate failed; 2 usage, configuration or input; 3 the run could not finish; 130 interrupted, 143 by
SIGTERM or SIGHUP.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, CycloptsError, Group, Parameter

from eval_skills.cli.commands.backfill import backfill_command
from eval_skills.cli.commands.benchmarks import benchmarks_app
from eval_skills.cli.commands.compare_answers import compare_answers_command
from eval_skills.cli.commands.completion import completion_command
from eval_skills.cli.commands.config import config_app
from eval_skills.cli.commands.create import create_command
from eval_skills.cli.commands.doctor import doctor_command
from eval_skills.cli.commands.evaluate import eval_command
from eval_skills.cli.commands.find import find_command
from eval_skills.cli.commands.history import history_command
from eval_skills.cli.commands.init import init_command
from eval_skills.cli.commands.judge import judge_app
from eval_skills.cli.commands.monitor import monitor_command
from eval_skills.cli.commands.nightly import nightly_command
from eval_skills.cli.commands.query import query_command
from eval_skills.cli.commands.report import report_app
from eval_skills.cli.commands.rescore import rescore_command
from eval_skills.cli.commands.run import run_command
from eval_skills.cli.commands.select import select_command
from eval_skills.cli.commands.serve import serve_command
from eval_skills.cli.commands.server import server_app
from eval_skills.cli.commands.trend import trend_command
from eval_skills.cli.configuration import configuration_model, configured
from eval_skills.cli.context import Session, begin, current, printable
from eval_skills.core.errors import EvalSkillsError, RunError, UsageError, UserError

if TYPE_CHECKING:
    from rich.console import Console

    from eval_skills.core.config import Config

_NEVER_BLANK = frozenset(
    {"--resume", "--skills", "--skills-dir", "--output-dir", "--benchmarks-dir", "--tasks", "--strategy", "--from", "--reports",
     "--dir", "--suites", "--skill", "--task", "--expect", "--tag", "--complexity", "--traces", "--trace-skill"}
)  # fmt: skip
"""Options where an empty text would mean something else: another run, or the current folder."""

GATE_FAILED, USAGE, UNFINISHED, INTERRUPTED, TERMINATED = 1, 2, 3, 130, 143


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP arrived: the call ends as after Ctrl-C, with an exit code of its own."""


HELP = """Unit-test, compare and watch AI-agent skills, orchestrated by Prefect.

Exit codes: 0 done; 1 a gate failed; 2 usage, configuration or input; 3 the run could not finish; 130 interrupted (143 by
SIGTERM or a closed terminal).

Example: eval-skills run --skills-dir ./skills --benchmark coding-easy
"""

CONFIGURATION = """What is not typed comes from EVAL_SKILLS_* variables, ./eval-skills.config.yaml (or the file of -c) and
~/.eval-skills/config.yaml, in this order. A key is an option's name in camelCase, at the top level or in its command's group:
"find: {minCompletion: 0.8}" or EVAL_SKILLS_FIND__MIN_COMPLETION=0.8. See "eval-skills config list --show-origin"."""


def _version() -> str:
    from importlib.metadata import version

    return f"eval-skills {version('eval-skills')}"


app = App(
    name="eval-skills",
    help=HELP,
    version=_version,
    default_parameter=Parameter(negative=()),
    result_action="return_value",
)
app.config = (configured,)
app.help_epilogue = CONFIGURATION
app.suppress_keyboard_interrupt = app.meta.suppress_keyboard_interrupt = False  # or nobody would say how to go on
app.meta.group_parameters = Group("Global options", sort_key=9)
app.command(doctor_command, name="doctor")
app.command(find_command, name="find")
app.command(init_command, name="init")
app.command(create_command, name="create")
app.command(eval_command, name="eval")
app.command(select_command, name="select")
app.command(run_command, name="run")
app.command(history_command, name="history")
app.command(trend_command, name="trend")
app.command(nightly_command, name="nightly")
app.command(query_command, name="query")
app.command(monitor_command, name="monitor")
app.command(rescore_command, name="rescore")
app.command(backfill_command, name="backfill")
app.command(compare_answers_command, name="compare-answers")
app.command(benchmarks_app)
app.command(config_app)
app.command(judge_app)
app.command(report_app)
app.command(server_app)
app.command(serve_command, name="serve")
app.command(completion_command, name="completion")


@app.meta.default
def _launch(
    *tokens: Annotated[str, Parameter(show=False, allow_leading_hyphen=True)],
    config: Annotated[Path | None, Parameter(name=["-c", "--config"], help="Configuration file")] = None,
    json: Annotated[bool | None, Parameter(help="Print one JSON document on stdout and nothing else", show_default=False)] = None,
    no_color: Annotated[bool | None, Parameter(help="Print without colour", show_default=False)] = None,
    verbose: Annotated[
        bool | None, Parameter(name=["-v", "--verbose"], help="Show Prefect's logs and tracebacks", show_default=False)
    ] = None,
) -> int | None:
    typed = frozenset(key for key, value in {"json": json, "color": no_color, "verbose": verbose}.items() if value is not None)
    begin(replace(new_session(), config_path=config, json=bool(json), color=not no_color, verbose=bool(verbose), typed=typed))
    if json and app.parse_commands(tokens)[1][-1].default_command is None and not _asks_for_text(tokens):
        raise UsageError("--json needs a command: there is no JSON document to print without one")
    code: int | None = app(tokens, exit_on_error=False, print_error=False, console=_help_console())
    return code


def new_session() -> Session:
    """A call of which nothing is known yet."""
    return Session(app=app, model=_model)


@cache
def _model() -> type[Config]:
    return configuration_model(app)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and leave the process with its exit code."""
    for farewell in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(farewell) != signal.SIG_IGN:  # `nohup eval-skills … &` outlives its terminal
            signal.signal(farewell, _terminate)
    code = call(sys.argv[1:] if arguments is None else arguments)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def call(arguments: Sequence[str]) -> int:
    """The exit code of one call; what went wrong is on stderr in one line (and, with ``-v``, a traceback)."""
    given = set(arguments)
    begin(replace(new_session(), verbose=bool({"-v", "--verbose"} & given), color="--no-color" not in given))
    if blank := next((name for name, value in pairwise(arguments) if name in _NEVER_BLANK and not value.strip()), None):
        return _fail(UsageError(f"{blank} is blank; give a value, or leave it out (is a variable empty?)"), USAGE)
    try:
        return app.meta(arguments, exit_on_error=False, print_error=False, console=_help_console()) or 0
    except (CycloptsError, UserError) as error:
        return _fail(error, USAGE, current().placed)
    except RunError as error:
        return _fail(error, UNFINISHED)
    except KeyboardInterrupt as interrupt:
        return _fail(interrupt, TERMINATED if isinstance(interrupt, Terminated) else INTERRUPTED)
    except BrokenPipeError:
        return 0
    except Exception as error:  # noqa: BLE001 - the last line of defence: a bug becomes a sentence and an exit code
        return _fail(error, UNFINISHED)


def _help_console() -> Console | None:
    """What help is printed on; None: cyclopts' own choice."""
    return current().out(pipe_width=80) if current().plain else None


def _asks_for_text(tokens: Sequence[str]) -> bool:
    return not {"-h", "--help", "--version"}.isdisjoint(tokens)


def _terminate(*_: Any) -> None:
    raise Terminated


def _fail(error: BaseException, code: int, told: Callable[[str], str] = str) -> int:
    if current().verbose:
        import traceback

        traceback.print_exception(error)
    text = printable(told(" ".join(str(error).split()))) or "interrupted"
    if not isinstance(error, EvalSkillsError | CycloptsError | KeyboardInterrupt):
        text = f"unexpected {type(error).__name__}: {text} (run with -v for the traceback)"
    print(f"eval-skills: {text}", file=sys.stderr)
    return code
