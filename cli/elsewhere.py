"""What commands and options of other programs are called here, for the messages about those that do not exist.

The nearest name is often something else: ``--repeat`` is no ``--replay``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

_RUNS = "--runs N asks every task N times"
_SOME = "--task ID, --tag and --filter KEY=VALUE choose tasks"
_FIRST = "--first N asks the first N tasks, in their order"
_AT_A_TIME = "--concurrency N asks N items at a time"
_MODEL = "--skills names what is evaluated, and --judge-model the model that judges"
_REPORTS = "--output-dir FOLDER and --format (json html csv junit …) say where reports are written, and which"

OPTIONS: Mapping[str, str] = {
    "--repeat": _RUNS,
    "--epochs": _RUNS,
    "--no-cache": "--cache is off unless it is given: every run asks the skills; --no-judge-cache asks the judge anew, too",
    "--filter-failing": "--tasks-from failed:latest asks what failed in the last run",
    "--filter-failing-only": "--tasks-from failed:latest asks what failed in the last run",
    "--filter-errors-only": "--tasks-from errors:latest asks what had an error in the last run",
    "--filter-pattern": _SOME,
    "--filter-metadata": _SOME,
    "--sample-id": _SOME,
    "--filter-first-n": _FIRST,
    "--filter-sample": _FIRST,
    "--max-concurrency": _AT_A_TIME,
    "--max-connections": _AT_A_TIME,
    "--max-samples": _AT_A_TIME,
    "-j": _AT_A_TIME,
    "-n": _AT_A_TIME,
    "--model": _MODEL,
    "--models": _MODEL,
    "--provider": _MODEL,
    "--providers": _MODEL,
    "--target": _MODEL,
    "--grader": "--judge-model names the model that judges",
    "--output": _REPORTS,
    "-o": _REPORTS,
    "--log-dir": _REPORTS,
    "--tests": "--tasks FILE names the tasks",
    "--dataset": "--tasks FILE names the tasks",
    "--fail-on-error": "--fail-fast stops at the first item that does not pass",
}
"""By the option there: a sentence that begins with the option here."""

_COMMANDS: Mapping[str, str] = {
    "compare": "'report diff' compares two runs, 'compare-answers' lets a model judge their answers side by side",
    "dashboard": "'view' opens the store in a browser",
    "diff": "'report diff' compares two runs",
    "eval-retry": "'eval --resume latest --retry-errors' continues a run",
    "eval-set": "'nightly' evaluates several suites, and 'eval --resume latest' continues a run",
    "evaluate": "'eval' evaluates skills",
    "export": "'report convert' writes a run in another format, and 'view --export' its pages",
    "generate": "'benchmarks generate' makes tasks",
    "import": "'benchmarks import' reads the files of other programs, and so does 'eval --tasks FILE'",
    "list": "'history' lists runs, 'find' skills, and 'benchmarks list' benchmarks",
    "log": "'history' lists runs, and 'show' one item of a run",
    "logs": "'history' lists runs, and 'show' one item of a run",
    "results": "'history' lists runs, and 'show' one item of a run",
    "retry": "'eval --resume latest --retry-errors' continues a run",
    "score": "'rescore' scores the stored answers of a run again",
    "share": "'view --export' writes the pages of a run as files",
    "test": "'eval' evaluates skills; under pytest, the fixture eval_skill does",
    "ui": "'view' opens the store in a browser",
    "validate": "'eval --dry-run' checks a call, and 'benchmarks lint' the tasks of a benchmark",
}


def option_here(given: str, offered: Collection[str]) -> str | None:
    """What to write in place of an option of another program, where the command offers that."""
    sentence = OPTIONS.get(given.partition("=")[0])
    return sentence if sentence is not None and sentence.partition(" ")[0] in offered else None


def command_here(given: str) -> str | None:
    """What to call in place of a command of another program."""
    return _COMMANDS.get(given)
