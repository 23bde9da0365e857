"""The ranking at different widths, and output without escape sequences on a terminal."""

from __future__ import annotations

import errno
import json
import os
import pty
from contextvars import copy_context
from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from eval_skills.cli.context import Invocation, begin
from eval_skills.cli.output.ranking import BEST, LAST, SHOWN, ranking
from eval_skills.cli.output.run import SKILLS_NAMED, show_summary
from eval_skills.core.models import Benchmark, SkillCompletionReport
from eval_skills.engine.evaluation.summary import RunSummary
from tests.tables import each_row

LONG = "a_rather_long_skill_name_as_people_like_them"


def printed(width: int, *names: str, selected: bool = False) -> str:
    return printed_reports(width, [report(name) for name in names], selected=selected)


def printed_reports(width: int, reports: list[SkillCompletionReport], *, selected: bool = False) -> str:
    out = StringIO()
    Console(file=out, width=width, color_system=None).print(ranking(summary_of(reports, selected=selected), width))
    return out.getvalue()


def rows_and_note(text: str) -> tuple[list[str], list[str]]:
    """The lines of the table, and the figures that it says it leaves out."""
    table, _, note = text.partition("left out for lack of room: ")
    return table.splitlines(), " ".join(note.split()).partition(";")[0].split(", ") if note else []


def summary_of(reports: list[SkillCompletionReport], *, selected: bool = False) -> RunSummary:
    benchmark = Benchmark.model_validate({"id": "b", "name": "B", "version": "1.0.0", "tasks": []})
    return RunSummary(
        run_id="r", line="", skills=[], benchmark=benchmark, reports=reports, planned=1, finished=1,
        min_completion=0.7, store="s", selected=[] if selected else None,
    )  # fmt: skip


def report(name: str) -> SkillCompletionReport:
    return SkillCompletionReport.model_validate(
        {
            "skill_id": name,
            "skill_version": "1.0.0",
            "benchmark_id": "b",
            "timestamp": datetime(2026, 1, 1, tzinfo=UTC),
            "summary": {
                "completion_rate": 0.9, "partial_score": 0.9, "error_rate": 0.0, "consistency_score": 1.0, "composite_score": 0.9,
                "confidence_interval": {"lower": 0.8, "upper": 0.97, "level": 0.95, "method": "wilson"}, "flake_rate": None,
                "pass_at_k": None, "pass_hat_k": None,
            },
            "latency": {"p50_ms": 123.4, "p95_ms": 1234.5, "p99_ms": 2000.0, "mean_ms": 200.0},
            "token_cost": {"prompt_tokens": None, "completion_tokens": None, "total_tokens": None, "estimated_usd": None},
        }
    )  # fmt: skip


@pytest.mark.parametrize("width", [80, 100, 120, 10_000])
@pytest.mark.parametrize("selected", [False, True], ids=["eval", "run"])
def test_a_skill_is_one_line_with_its_whole_name(width: int, selected: bool) -> None:
    lines, _ = rows_and_note(printed(width, "calculator", LONG, selected=selected))
    assert len(lines) == 3
    assert all(len(line) <= width for line in lines)
    assert sum(f"{LONG}@1.0.0" in line for line in lines) == 1
    assert "…" not in "".join(lines)


@each_row(
    ("width", "left_out"),
    [
        pytest.param(10_000, set(), id="pipe"),
        pytest.param(120, set(), id="120"),
        pytest.param(100, {"P50"}, id="100"),
        pytest.param(80, {"P50", "flaky", "composite"}, id="80"),
        pytest.param(60, {"P50", "flaky", "composite", "P95", "errors"}, id="60"),
        pytest.param(40, {"P50", "flaky", "composite", "P95", "errors", "95 % interval"}, id="40"),
    ],
)
def test_figures_are_left_out_whole_the_least_telling_first_and_named(width: int, left_out: set[str]) -> None:
    lines, note = rows_and_note(printed(width, "a_skill_of_usual_length"))
    names = ("completion", "95 % interval", "errors", "flaky", "P50", "P95", "composite")
    assert {name for name in names if name not in lines[0]} == left_out
    assert {*note} == left_out


def test_a_completion_that_is_just_below_the_gate_does_not_look_like_it() -> None:
    whole = report("nearly")
    nearly = whole.model_copy(update={"summary": whole.summary.model_copy(update={"completion_rate": 0.6997})})
    assert " 69.97 % " in printed_reports(10_000, [nearly])


@pytest.mark.parametrize(("width", "shown"), [(80, False), (120, True)])
def test_shared_ranks_are_always_shown_and_chances_where_they_fit(width: int, shown: bool) -> None:
    place = {
        "rank": 1, "lastRank": 2, "rankedSkills": 2, "adjustedP": None, "probabilityBest": 0.5, "rankLower": 1, "rankUpper": 2,
        "shrunkCompletionRate": 0.8, "paretoOptimal": True,
    }  # fmt: skip
    reports = [SkillCompletionReport.model_validate(report(name).to_json() | {"ranking": place}) for name in ("a" * 30, "b")]
    (header, *lines), note = rows_and_note(printed_reports(width, reports))
    assert ("P(best)" in header, "P(best)" in note) == (shown, not shown)
    assert all(line.lstrip().startswith("1–2 ") and len(line) <= width for line in lines)


def on_a_terminal(place: Any, *arguments: str, **environ: str) -> str:
    """What a call prints on a terminal of 100 columns."""
    main, side = pty.openpty()
    shown = {"COLUMNS": "100", "TERM": "xterm-256color"}
    with os.fdopen(side, "wb", buffering=0) as terminal:
        process = place.command.start(
            arguments, cwd=place.folder, environment=place.environ | shown | environ, out=terminal, err=terminal
        )
    said = b""
    while chunk := _read(main):
        said += chunk
    os.close(main)
    process.wait(timeout=300)
    return said.decode()


def _read(fd: int) -> bytes:
    try:
        return os.read(fd, 65536)
    except OSError as error:
        if error.errno != errno.EIO:  # how a terminal says that its other end is closed
            raise
        return b""


CALLS = [
    pytest.param(["find"], id="table"),
    pytest.param(["find", "--skills-dir", "nope"], id="error", marks=pytest.mark.slow),
    pytest.param(["eval", "--skills", "skills", "--dry-run"], id="plan"),
    pytest.param(["eval", "--help"], id="help", marks=pytest.mark.slow),
    pytest.param([], id="no-command", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("arguments", CALLS)
def test_no_color_prints_no_escape_sequence_on_a_terminal(place: Any, arguments: list[str]) -> None:
    assert "\x1b" not in on_a_terminal(place, "--no-color", *arguments)
    assert "\x1b" not in on_a_terminal(place, *arguments, NO_COLOR="1")


def test_without_it_a_terminal_gets_colour(place: Any) -> None:
    assert "\x1b[" in on_a_terminal(place, "eval", "--skills", "skills", "--dry-run")


def test_forced_colour_never_reaches_json(place: Any) -> None:
    result = place.call("find", "--json", environ={"FORCE_COLOR": "1"})
    assert result.json["invalid"] == []


def test_a_long_line_is_one_line_on_a_pipe(place: Any) -> None:
    far = place.folder / ("a" * 100) / ("b" * 100)
    place.write(f"{far.relative_to(place.folder)}/skill.json", "{")
    [line] = [line for line in place.call("find", "--skills-dir", str(far.parent)).out.splitlines() if "invalid" in line]
    assert str(Path(far, "skill.json")) in line


def test_a_rubrics_dimensions_are_left_to_the_reports() -> None:
    means = {"tool_accuracy": {"mean": 0.5, "items": 1}, "rubric.tone": {"mean": 0.25, "items": 1}}
    judged = report("agent").to_json() | {"dimensions": means}
    header = printed_reports(10_000, [SkillCompletionReport.model_validate(judged)]).splitlines()[0]
    assert "tool accuracy" in header
    assert "tone" not in header


@pytest.mark.parametrize(
    ("figure", "line"),
    [
        ("forbiddenItems", "gate failed: agent@1.0.0 called forbidden tools in 2 items"),
        ("forbiddenUnknownItems", "gate failed: whether agent@1.0.0 called a forbidden tool is unknown in 2 items"),
    ],
)
def test_a_call_that_is_forbidden_or_may_be_fails_the_gate_and_the_line_says_so(
    figure: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = report("agent").to_json()
    data["summary"] |= {figure: 2, "completionRate": 1.0}
    show_summary(summary_of([SkillCompletionReport.model_validate(data)]), gate=True)
    said = capsys.readouterr().out
    assert line in said
    assert "called no forbidden tool" not in said


def judged(name: str, **paid: Any) -> SkillCompletionReport:
    data = report(name).to_json()
    return SkillCompletionReport.model_validate(data | {"tokenCost": data["tokenCost"] | paid})


RUN_TOLD = "judging: 2 requests, 0 from the cache, 20 tokens, cost unknown"


@pytest.mark.parametrize(
    ("names", "told", "lines"),
    [
        pytest.param(["a"], [RUN_TOLD], [], id="the-run-says-it"),
        pytest.param(["a"], [], ["judging of a@1.0.0: tokens 10, cost unknown"], id="other-processes-asked"),
        pytest.param(["a", "b"], [RUN_TOLD], [f"judging of {n}@1.0.0: tokens 10, cost unknown" for n in "ab"], id="each-skill"),
        pytest.param([f"s{n:02}" for n in range(23)], [], ["and of 3 more skills, in the reports"], id="more-than-anybody-reads"),
    ],
)
def test_what_judging_took_is_told_by_skill_where_the_run_does_not_say_it(
    capsys: pytest.CaptureFixture[str], names: list[str], told: list[str], lines: list[str]
) -> None:
    summary = summary_of([judged(name, judgeTokens=10) for name in names])
    show_summary(replace(summary, judging=told), gate=False)
    said = capsys.readouterr().out.splitlines()
    shown = [line for line in said if line.startswith(("judging of", "and of"))]
    assert shown[-max(1, len(lines)) :] == lines if lines else not shown


def test_a_skill_that_nobody_judged_is_not_told_of(capsys: pytest.CaptureFixture[str]) -> None:
    show_summary(summary_of([report("a"), report("b")]), gate=False)
    assert "judging" not in capsys.readouterr().out


def shown_rows(count: int, *, whole: bool) -> list[str]:
    out, reports = StringIO(), [report(f"s{number:04d}") for number in range(count)]
    table = ranking(summary_of(reports), 80, whole=whole)
    Console(file=out, width=80, color_system=None).print(table)
    return rows_and_note(out.getvalue())[0][1:]


def test_of_many_skills_a_terminal_shows_the_best_and_the_last_ones() -> None:
    rows = shown_rows(1_220, whole=False)
    assert len(rows) == BEST + 1 + LAST
    assert rows[BEST].split() == ["…", "1,180", "more", "skills"]
    assert [rows[0].split()[0], rows[BEST - 1].split()[0], rows[BEST + 1].split()[0], rows[-1].split()[0]] == [
        "1", str(BEST), str(1_221 - LAST), "1220",
    ]  # fmt: skip
    assert max(map(len, rows)) <= 80


@pytest.mark.parametrize(("count", "whole"), [(SHOWN, False), (SHOWN + 1, True)], ids=["few", "a-pipe"])
def test_few_skills_and_a_pipe_get_every_row(count: int, whole: bool) -> None:
    assert len(shown_rows(count, whole=whole)) == count


def test_the_gate_names_some_of_many_skills_below_it(capsys: pytest.CaptureFixture[str]) -> None:
    reports = [report(f"s{number:04d}") for number in range(SKILLS_NAMED + 3)]
    show_summary(replace(summary_of(reports), min_completion=0.95), gate=True)
    failed = [line for line in capsys.readouterr().out.splitlines() if line.startswith("gate failed: ")]
    assert len(failed) == SKILLS_NAMED + 1
    assert failed[-1] == "gate failed: and 3 more complete less than 95.0 %"


@pytest.mark.parametrize(
    ("changes", "failures"),
    [
        pytest.param({}, [], id="passed"),
        pytest.param({"min_completion": 0.95}, ["a@1.0.0 completes 90.0 %, under 95.0 %"], id="below"),
        pytest.param({"planned": 3}, ["2 items without a result"], id="unfinished"),
        pytest.param({"skipped": 1}, ["1 skill could not be used, and nothing is known of it"], id="unusable"),
    ],
)
def test_json_says_why_the_gate_failed(changes: dict[str, Any], failures: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    summary = replace(summary_of([report("a")]), **changes)
    context = copy_context()
    context.run(begin, Invocation(json=True))
    context.run(show_summary, summary, gate=True)
    gate = json.loads(capsys.readouterr().out)["gate"]
    assert gate == {"minCompletion": summary.min_completion, "passed": not failures, "failures": failures}
