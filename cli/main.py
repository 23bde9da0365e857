"""The process `eval-skills`: one call, its exit code, and the one place that turns an error into a line on stderr.

Exit codes: 0 done; 1 a gate failed; 2 usage, configuration or input; 3 the run could not finish; 130 interrupted, 143 by
SIGTERM or SIGHUP; 141 the reader of the output left.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import warnings
from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise
from threading import Timer
from typing import TYPE_CHECKING, Any, TextIO

from eval_skills.cli.context import INTERRUPTED, READER_LEFT, TERMINATED, UNFINISHED, USAGE, begin, briefly, current, printable
from eval_skills.cli.streams import print_everywhere
from eval_skills.core.errors import EvalSkillsError, RunError, StoreWarning, UsageError, UserError
from eval_skills.core.text import one_line

if TYPE_CHECKING:
    from cyclopts.exceptions import UnknownCommandError, UnknownOptionError

_NEVER_BLANK = frozenset(
    {"--resume", "--skills", "--skills-dir", "--output-dir", "--benchmarks-dir", "--tasks", "--strategy", "--from", "--reports",
     "--dir", "--output", "-o", "--split", "--licence", "--id", "--suites", "--skill", "--task", "--expect", "--tag",
     "--complexity", "--filter", "--task-filter", "--tasks-from", "--skill-tag", "--traces", "--trace-skill", "--benchmark"}
)  # fmt: skip
"""Options where an empty text would mean something else: another run, or the current folder."""

REPEAT_S = 0.05
"""After how long a signal that was lost is sent again."""


MOST_UNEXPECTED_CHARS = 1_000
"""How much is said of an error that nobody foresaw: it may quote all of what was read or sent."""


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP arrived: the call ends as after Ctrl-C, with an exit code of its own."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and leave the process with its exit code."""
    print_everywhere()
    warnings.showwarning = _show_warning
    for farewell in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(farewell) != signal.SIG_IGN:  # `nohup eval-skills … &` outlives its terminal
            signal.signal(farewell, _terminate)
    sys.unraisablehook = _repeat_signal
    try:
        code = call(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt as interrupt:  # while the command line itself was imported
        code = _fail(interrupt, TERMINATED if isinstance(interrupt, Terminated) else INTERRUPTED)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def call(arguments: Sequence[str]) -> int:
    """The exit code of one call; what went wrong is on stderr in one line (and, with ``-v``, a traceback).

    The call's options end with it: of several calls in one process, each begins without those of the one before.
    """
    return copy_context().run(_call, arguments)


def _call(arguments: Sequence[str]) -> int:
    with briefly():
        from cyclopts import CycloptsError
        from cyclopts.exceptions import MissingArgumentError, UnknownCommandError, UnknownOptionError, UnusedCliTokensError

        from eval_skills.cli.app import call_app, new_invocation

    given = set(arguments)
    begin(replace(new_invocation(), verbose=bool({"-v", "--verbose"} & given), color="--no-color" not in given))
    if blank := _blank(arguments):
        return _fail(UsageError(f"{blank} is blank; give a value, or leave it out (is a variable empty?)"), USAGE)
    try:
        return call_app(arguments)
    except UnusedCliTokensError as error:
        shown = ", ".join(map(repr, error.unused_tokens or ()))
        return _fail(UsageError(f"{shown}: this command takes no such argument; --help shows what it takes"), USAGE)
    except UnknownCommandError as error:
        return _fail(error, USAGE, partial(_command_here, error))
    except UnknownOptionError as error:
        return _fail(error, USAGE, partial(_option_here, error))
    except MissingArgumentError as error:
        return _fail(error, USAGE, partial(_with_help, error.command_chain or ()))
    except (CycloptsError, UserError) as error:
        return _fail(error, USAGE, current().placed)
    except RunError as error:
        return _fail(error, UNFINISHED)
    except KeyboardInterrupt as interrupt:
        return _fail(interrupt, TERMINATED if isinstance(interrupt, Terminated) else INTERRUPTED)
    except BrokenPipeError:
        return READER_LEFT
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG or error.filename is None:
            return _fail(error, UNFINISHED)
        from eval_skills.core.documents.loading import too_long_path

        return _fail(too_long_path(error.filename), USAGE)
    except Exception as error:  # noqa: BLE001 - the last line of defence: a bug becomes a sentence and an exit code
        return _fail(_as_refused(error), UNFINISHED)


def _as_refused(error: Exception) -> Exception:
    """`error`, or that Prefect's API refused something, if that is why it was raised."""
    if "prefect" not in sys.modules:
        return error
    from eval_skills.cli.prefect_server.refusal import refusal_of

    refused = refusal_of(error)
    if refused is None:
        return error
    refused.__cause__ = error  # for the traceback of -v
    return refused


def _command_here(error: UnknownCommandError, text: str) -> str:
    """The text about a command that does not exist, with what another program's command of that name is called here."""
    from eval_skills.cli.elsewhere import command_here

    here = command_here(error.unused_tokens[0]) if error.unused_tokens and not error.command_chain else None
    return current().placed(text) if here is None else f"{text.partition('. ')[0]}. {here}"


def _option_here(error: UnknownOptionError, text: str) -> str:
    """The text about an option that does not exist, with what another program's option of that name is called here."""
    from eval_skills.cli.elsewhere import option_here

    offered = {name for argument in error.argument_collection for name in argument.names}
    here = option_here(error.token.keyword or error.token.value, offered)
    said = text if here is None else f"{text.partition('. ')[0].rstrip('.')}. Here, {here}"
    return _with_help(error.command_chain or (), said)


def _with_help(command: Sequence[str], text: str) -> str:
    """The text about an option with where the command's options are listed, unless it suggests one already."""
    text = current().placed(text)
    return text if "Did you mean" in text else f"{text.rstrip('.')}; see {' '.join(('eval-skills', *command, '--help'))}"


def _blank(arguments: Sequence[str]) -> str | None:
    """The first option that must not be blank and is, as ``--skills ''`` or ``--skills=``."""
    joined = ((name, value) for name, sign, value in (each.partition("=") for each in arguments) if sign)
    return next((name for name, value in [*pairwise(arguments), *joined] if name in _NEVER_BLANK and not value.strip()), None)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """A sentence about the store as the commands print it, once; of any other warning what Python does, with the line of code."""
    if issubclass(category, StoreWarning):
        _said_of_store(str(message))
    else:
        _as_python_does(message, category, filename, lineno, file, line)


_as_python_does = warnings.showwarning


@cache
def _said_of_store(sentence: str) -> None:
    current().remark(sentence)


def _terminate(*_: Any) -> None:
    raise Terminated


def _repeat_signal(ignored: sys.UnraisableHookArgs) -> None:
    """What Python ignores, since it was raised in a `__del__` or a callback of a weak reference, is shown as ever. A signal that
    arrived there is sent again, a moment later: it would end nothing."""
    ended = issubclass(ignored.exc_type, Terminated) or ignored.exc_type.__name__ == "TerminationSignal"  # Prefect's, in a flow
    if not ended and not issubclass(ignored.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(ignored)
        return
    again = Timer(REPEAT_S, os.kill, (os.getpid(), signal.SIGTERM if ended else signal.SIGINT))
    again.daemon = True
    again.start()


def _fail(error: BaseException, code: int, worded: Callable[[str], str] = str) -> int:
    if current().verbose:
        import traceback

        traceback.print_exception(error)
    text = printable(worded(" ".join(str(error).split()))) or "interrupted"
    if code != USAGE and not isinstance(error, EvalSkillsError | KeyboardInterrupt):
        text = f"unexpected {type(error).__name__}: {one_line(text, MOST_UNEXPECTED_CHARS)} (run with -v for the traceback)"
    print(f"eval-skills: {text}", file=sys.stderr)
    return code
