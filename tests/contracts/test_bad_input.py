"""Bad input never passes silently: exit code 2, one line on stderr that says what to do, nothing on stdout, nothing written."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

NOT_WHOLE = ("nan", "inf", "1.5", "x", "1e3", "0x10", "")
NOT_A_RATE = ("nan", "inf", "-inf", "-0.1", "1.1", "x", "70%")
EVAL = ("eval", "--skills", "skills/calculator")
RUN = ("run",)
FIND = ("find",)
SELECT = ("select", "--from", "skills")

NUMBERS = {
    "--runs": (*NOT_WHOLE, "0", "1001"),
    "--concurrency": ("x", "0", "1025"),
    "--timeout": ("x", "0", "86400001", "1" * 30),
    "--retries": ("x", "-1", "21"),
    "--items-per-task": ("x", "0", "100001"),
    "--min-completion": NOT_A_RATE,
}
"""What is not a number at all is read by the same code for all options: its every form is tried with one of them."""
DRY_RUN = (*RUN, "--dry-run")
"""`run` has the options of `eval`, and a dry run is checked as a real one is: a value of each option is tried by both."""
OF_A_FLOW = [
    *((EVAL, option, value) for option, values in NUMBERS.items() for value in values),
    *((DRY_RUN, option, values[-1]) for option, values in NUMBERS.items()),
]
OF_OTHERS = [
    *((base, "--top-k", value) for base in (RUN, SELECT) for value in ("1.5", "0")),
    *((FIND, "--limit", value) for value in ("1.5", "0")),
    *((base, "--min-completion", value) for base in (FIND, SELECT) for value in ("nan", "1.1")),
    *((("plan",), option, value) for option, value in (("--tasks", "1.5"), ("--skills", "0x10"))),
    *((("server", "start"), "--port", value) for value in ("x", "0", "65536")),
]


def refusal(result: Any) -> str:
    """The one line that a refused call says."""
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("eval-skills: ")
    assert result.err.count("\n") == 1, result.err
    assert result.err.endswith("\n")
    assert "Traceback" not in result.err
    assert "pydantic" not in result.err
    return str(result.err)


@pytest.fixture
def refused(place: Any, run_here: Run) -> Callable[..., str]:
    """The line that a call is refused with; the folder must be as it was."""

    def call(*arguments: str) -> str:
        before = place.files()
        line = refusal(run_here(*arguments))
        assert place.files() == before
        return line

    return call


@pytest.mark.parametrize(("base", "option", "value"), OF_A_FLOW)
def test_p40_a_number_that_makes_no_sense_is_refused_by_its_option(
    refused: Callable[..., str], base: tuple[str, ...], option: str, value: str
) -> None:
    assert f"{option}:" in refused(*base, option, value)


@pytest.mark.parametrize(("base", "option", "value"), OF_OTHERS)
def test_p40_a_number_that_makes_no_sense_is_refused_by_every_command(
    refused: Callable[..., str], base: tuple[str, ...], option: str, value: str
) -> None:
    assert option in refused(*base, option, value)


@pytest.mark.parametrize("base", [EVAL, RUN, FIND, SELECT], ids=lambda base: base[0])
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(["--bogus"], "Unknown option: --bogus", id="unknown-option"),
        pytest.param(["--min-completion"], "--min-completion requires an argument", id="missing-value"),
        pytest.param(["-c", "nope.yaml"], "nope.yaml: no such file", id="missing-config"),
        pytest.param(["-c"], "-c requires an argument", id="config-without-value"),
        pytest.param(["-c", "typo.yaml"], "unknown key 'concurency' (did you mean 'concurrency'?)", id="p60-unknown-config-key"),
        pytest.param(["--store", "file"], "file", id="store-is-a-file"),
    ],
)
def test_p40_every_command_refuses(
    place: Any, refused: Callable[..., str], base: tuple[str, ...], arguments: list[str], says: str
) -> None:
    place.write("file", "x")
    place.write("typo.yaml", "concurency: 3\n")
    assert says in refused(*base, *arguments)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(["plan", "--zzz", "3"], "Unknown option: --zzz; see eval-skills plan --help", id="unknown-option"),
        pytest.param(["plan", "--task", "3"], "Unknown option: --task. Did you mean --tasks?", id="suggested"),
        pytest.param(
            ["eval", "--repeat=3"], "--repeat. Here, --runs N asks every task N times; see eval-skills eval --h", id="elsewhere"
        ),
        pytest.param(
            ["find", "--sample-id", "3"], "Unknown option: --sample-id; see eval-skills find --help", id="not-here-either"
        ),
        pytest.param(["import", "x.yaml"], "Unknown command \"import\". 'benchmarks import' reads", id="command-elsewhere"),
        pytest.param(["report", "import"], 'Unknown command "import". Available commands: ', id="not-a-subcommand"),
        pytest.param(["report", "convert"], "--input requires an argument; see eval-skills report convert --help", id="missing"),
        pytest.param(["--json", "nope"], 'Unknown command "nope". Available commands: ', id="json-unknown-command"),
        pytest.param(["--json", "report", "nope"], 'Unknown command "nope". Available commands: ', id="json-unknown-subcommand"),
    ],
)
def test_what_a_command_does_not_know_leads_to_what_it_knows(
    refused: Callable[..., str], arguments: list[str], says: str
) -> None:
    assert says in refused(*arguments)


@pytest.mark.parametrize("base", [EVAL, DRY_RUN], ids=["eval", "dry-run"])
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(["--format", "pdf"], "unknown report format 'pdf'; valid are json, markdown", id="p65-unknown-format"),
        pytest.param(["--format", "json", "markdwn"], "did you mean 'markdown'?", id="p65-second-format"),
        pytest.param(["--format", ""], "--format: blank", id="blank-format"),
        pytest.param(["--format"], "--format requires at least 1 element", id="format-without-value"),
        pytest.param(["--tag"], "--tag requires at least 1 element", id="tag-without-value"),
        pytest.param(["--tag", "nope"], "tag", id="tag-that-nothing-has"),
        pytest.param(
            ["--evaluator", "exakt"], "--evaluator: unknown scorer 'exakt' (did you mean 'exact'?)", id="unknown-scorer"
        ),
        pytest.param(["--benchmark", "coding-eazy"], "(did you mean 'coding-easy'?)", id="unknown-benchmark"),
        pytest.param(["--benchmark", "no/such.json"], "no such benchmark file", id="missing-benchmark"),
        pytest.param(["--benchmark", "empty"], "no benchmark", id="folder-without-benchmark"),
        pytest.param(["--benchmarks-dir", "nope"], "nope: no such folder of benchmarks", id="missing-benchmarks-dir"),
        pytest.param(["--benchmarks-dir", "file"], "file: this is a file", id="benchmarks-dir-is-a-file"),
        pytest.param(["--tasks", "nope.json"], "nope.json: no such file", id="missing-tasks"),
        pytest.param(["--tasks", "none.json"], "at least one task", id="zero-tasks"),
        pytest.param(["--tasks", "broken.json"], "broken.json: not valid JSON at line 1, column 6", id="broken-json"),
        pytest.param(["--tasks", "scorer.json"], "scorer.json: tasks[0].evaluator.type: unknown scorer 'nope'", id="task-scorer"),
        pytest.param(["--tasks", "empty"], "empty: nothing in this folder says what to read", id="tasks-is-a-folder"),
        pytest.param(["--output-dir", "file"], "--output-dir", id="output-dir-is-a-file"),
        pytest.param(["--output-dir", "file/below"], "--output-dir", id="output-dir-below-a-file"),
        pytest.param(["--output-dir", "/proc/nope"], "--output-dir /proc/nope: reports cannot be written here", id="unwritable"),
        pytest.param(["--store", "/proc/nope"], "--store /proc/nope: results cannot be written here", id="unwritable-store"),
        pytest.param(["--store", "file/below"], "--store", id="store-below-a-file"),
        pytest.param(["--store", "folder.db"], "this is a folder; name a file", id="sqlite-store-is-a-folder"),
        pytest.param(["--retry-errors"], "--resume RUN_ID or --resume latest", id="retry-errors-of-no-run"),
        pytest.param(["--resume", "latest"], "nothing to resume", id="resume-in-an-empty-store"),
        pytest.param(["--resume", "20200101T000000Z-abcd"], "no run 20200101T000000Z-abcd in", id="resume-unknown-run"),
        pytest.param(["--resume", "../../etc"], "'../../etc' is not a run id; one looks like", id="resume-malformed"),
    ],
)
def test_p40_what_cannot_be_used_is_refused_before_anything_runs(
    place: Any, refused: Callable[..., str], base: tuple[str, ...], arguments: list[str], says: str
) -> None:
    place.write("file", "x")
    place.write("none.json", [])
    place.write("broken.json", '{"a":')
    place.write("scorer.json", [task() | {"evaluator": "nope"}])
    (place.folder / "empty").mkdir()
    (place.folder / "folder.db").mkdir()
    assert says in refused(*base, *arguments)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(["eval"], "--skills is required", id="eval-nothing"),
        pytest.param(["eval", "--skills"], "--skills requires at least 1 element", id="eval-skills-without-value"),
        pytest.param(["eval", "--skills", "nope"], "nope: no such skill file or folder", id="eval-missing"),
        pytest.param(["eval", "--skills", "empty"], "empty: no skill here", id="eval-empty-folder"),
        pytest.param(["eval", "--skills", "broken"], "broken/skill.json: not valid JSON", id="eval-broken"),
        pytest.param(["eval", "--skills", "twins"], "calculator@1.0.0 is in two folders", id="eval-duplicates"),
        pytest.param(["eval", "--skills", "ftp"], "adapterType", id="eval-unknown-adapter"),
        pytest.param(["run", "--skills-dir", "nope"], "nope: no such folder of skills", id="run-missing"),
        pytest.param(["run", "--skills-dir", "empty"], "there is no skill.json in this folder", id="run-empty-folder"),
        pytest.param(["run", "--skills-dir", "broken"], "not valid JSON", id="run-only-broken"),
        pytest.param(["run", "--skills-dir", "twins"], "calculator@1.0.0 is in two folders", id="run-duplicates"),
        pytest.param(["run", "--query", "zzz"], "none of the 1 skills", id="run-nothing-matches"),
        pytest.param(["run", "--adapter", "ftp"], "--adapter 'ftp' is unknown; valid are http", id="run-unknown-adapter"),
        pytest.param(["run", "--strategy", "nope.yaml"], "nope.yaml: no such file", id="run-missing-strategy"),
        pytest.param(["run", "--strategy", "typo.yaml"], "unknown key 'filterz' (did you mean 'filters'?)", id="p44-strategy"),
        pytest.param(["find", "--skills-dir", "nope"], "nope: no such folder of skills", id="find-missing"),
        pytest.param(["find", "--skills-dir", "file"], "file: this is a file", id="find-in-a-file"),
        pytest.param(["find", "--skills-dir", "empty"], "empty: there is no skill.json", id="find-empty-folder"),
        pytest.param(["find", "--skills-dir", "twins"], "calculator@1.0.0 is in two folders", id="find-duplicates"),
        pytest.param(
            ["find", "--adapter", "htp"], "--adapter 'htp' is unknown (did you mean 'http'?)", id="find-unknown-adapter"
        ),
        pytest.param(["find", "--tag"], "--tag requires at least 1 element", id="find-tag-without-value"),
        pytest.param(["select"], "--from requires an argument", id="select-nothing"),
        pytest.param(["select", "--from", "nope"], "nope: no such file", id="select-missing"),
        pytest.param(["select", "--from", "empty"], "empty: there is no skill to select from", id="select-empty-folder"),
        pytest.param(["select", "--from", "none.json"], "none.json: there is no skill to select from", id="select-zero"),
        pytest.param(["select", "--from", "broken.json"], "broken.json: not valid JSON", id="select-broken"),
        pytest.param(["select", "--from", "twins"], "calculator@1.0.0 is in two folders", id="select-duplicates"),
        pytest.param(
            ["select", "--from", "skills"], "this store holds no report; evaluate the skills first", id="select-no-report"
        ),
        pytest.param(["select", "--from", "skills", "--reports", "none.json"], "it holds no report", id="select-zero-reports"),
        pytest.param(["select", "--from", "skills", "--reports", "nope.json"], "nope.json: no such file", id="select-reports"),
        pytest.param(["select", "--from", "skills", "--strategy", "typo.yaml"], "'filterz'", id="select-strategy"),
        pytest.param(["select", "--from", "skills", "--output", "empty"], "this is a folder; name a file", id="select-output"),
        pytest.param(["select", "--from", "skills", "--output", "file/x"], "--output", id="select-output-below-a-file"),
        pytest.param(["doctor", "nope"], "'nope': this command takes no such argument", id="argument-of-none"),
        pytest.param(["fnd"], 'Unknown command "fnd". Did you mean "find"?', id="unknown-command"),
        pytest.param(["server", "fly"], 'Unknown command "fly"', id="unknown-server-command"),
        pytest.param(["--bogus", "find"], "--bogus", id="unknown-global-option"),
    ],
)
def test_p40_each_command_refuses_its_own(
    place: Any, examples: Path, refused: Callable[..., str], arguments: list[str], says: str
) -> None:
    place.write("file", "x")
    place.write("none.json", [])
    place.write("broken.json", '{"a":')
    place.write("broken/skill.json", "{")
    place.write("typo.yaml", "filterz: {}\n")
    (place.folder / "empty").mkdir()
    skill = json.loads((examples / "calculator" / "skill.json").read_text())
    place.write("twins/a/skill.json", skill)
    place.write("twins/b/skill.json", skill)
    place.write("ftp/skill.json", skill | {"adapterType": "ftp"})
    assert says in refused(*arguments)


@pytest.mark.parametrize("json_flag", [("--json",), ()], ids=["json", "text"])
def test_p62_a_refused_call_prints_nothing_on_stdout(place: Any, json_flag: tuple[str, ...]) -> None:
    assert "no such skill" in refusal(place.call(*json_flag, "eval", "--skills", "nope"))


@pytest.mark.parametrize("arguments", [["--json"], ["server", "--json"]], ids=["nothing", "group"])
def test_p62_json_without_a_command_is_refused(refused: Callable[..., str], arguments: list[str]) -> None:
    assert "--json needs a command" in refused(*arguments)


@pytest.mark.parametrize("verbose", ["-v", "--verbose"])
def test_only_verbose_shows_a_traceback(run_here: Run, verbose: str) -> None:
    result = run_here("eval", "--skills", "nope", verbose)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("Traceback")
    assert result.err.splitlines()[-1] == "eval-skills: nope: no such skill file or folder"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_refused(place: Any, refused: Callable[..., str]) -> None:
    (place.folder / "locked").mkdir(mode=0o555)
    assert "Permission denied" in refused(*EVAL, "--output-dir", "locked/reports")


def test_the_bounds_of_requests_and_configuration_agree() -> None:
    from eval_skills.core.config import Config
    from eval_skills.engine.definition.request import PipelineRequest

    shared = PipelineRequest.model_fields.keys() & Config.model_fields.keys()
    assert {"runs", "concurrency", "timeout_ms", "retries", "items_per_task", "top_k"} <= shared
    for name in ("runs", "concurrency", "timeout_ms", "retries", "items_per_task", "top_k"):
        assert Config.model_fields[name].metadata == PipelineRequest.model_fields[name].metadata, name


@pytest.mark.parametrize(
    ("values", "says"),
    [
        pytest.param({"runs": 5000}, "--runs: input should be less than or equal to 1000; got 5000", id="runs"),
        pytest.param({"timeout_ms": 0}, "--timeout: input should be greater than 0; got 0", id="timeout"),
        pytest.param({"task_tags": [1]}, "--tag", id="tag"),
        pytest.param({"retry_errors": True}, "--retry-errors is about an earlier run", id="across-fields"),
    ],
)
def test_what_only_the_request_refuses_still_names_the_option(values: dict[str, Any], says: str) -> None:
    from eval_skills.cli.requests import request_of
    from eval_skills.core.errors import UsageError
    from eval_skills.engine.definition.request import EvaluateRequest

    with pytest.raises(UsageError) as caught:
        request_of(EvaluateRequest, values)
    assert str(caught.value).startswith(says)
    assert "\n" not in str(caught.value)


def task() -> dict[str, Any]:
    return {"id": "t", "inputData": {"expression": "1+1"}, "expectedOutput": {"type": "exact", "value": 2}}
