"""``report convert`` and ``report diff``, on reports made from hand-written items."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest
from pyarrow import parquet

from eval_skills.core.diff.model import ReportDiff
from eval_skills.core.metrics.reports import skill_reports
from eval_skills.core.models import Benchmark, ItemResult
from eval_skills.core.store import Journal, Manifest, ManifestBenchmark, ManifestSkill, Store, land, write_manifest
from eval_skills.reporting import ReportContext, render
from tests.tables import each_row

Run = Callable[..., Any]
Outcome = Mapping[str, str]
"""For each skill its tasks in order, one letter each: p(ass) or f(ail)."""

BENCHMARK = Benchmark.model_validate({"id": "b", "name": "B", "version": "1.0.0", "tasks": []})
RUN_ID = "20261121T233824Z-3f9a"


def report_text(outcome: Outcome) -> str:
    rows = [
        {
            "skill_id": skill, "skill_version": "1.0.0", "task_id": f"t{index}", "run_index": 0,
            "status": "pass" if letter == "p" else "fail", "score": float(letter == "p"), "latency_ms": 10.0,
            "output": f'"{letter}"',
        }
        for skill, letters in outcome.items()
        for index, letter in enumerate(letters)
    ]  # fmt: skip
    context = ReportContext(run_id="of no store", created_at=datetime(2026, 11, 21, tzinfo=UTC))
    return str(render("json", skill_reports(pd.DataFrame(rows), BENCHMARK, 1_000), context))


def store_run(folder: Path) -> None:
    """A landed run of one passed item, of a benchmark that is not there."""
    store = Store(folder)
    manifest = Manifest(
        run_id=RUN_ID,
        created_at=datetime(2026, 11, 21, 23, 38, 24, tzinfo=UTC),
        skills=[ManifestSkill(key="s@1.0.0")],
        benchmark=ManifestBenchmark(id="b", version="1.0.0"),
        planned_items=1,
        request={"skills": ["s"], "benchmark": "gone"},
    )
    write_manifest(store.run_folder(RUN_ID), manifest)
    with Journal(store.journal_path(RUN_ID)) as journal:
        journal.append(
            ItemResult(
                run_id=RUN_ID,
                started_at=manifest.created_at,
                skill_id="s",
                skill_version="1.0.0",
                benchmark_id="b",
                benchmark_version="1.0.0",
                task_id="t0",
                run_index=0,
                status="pass",
                passed=True,
                score=1.0,
                latency_ms=10.0,
            )
        )
    land(store, RUN_ID)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with reports, and a store with one run."""
    folder, bad = tmp_path_factory.mktemp("written"), report_text({"s": "f" * 8})
    texts = {
        "a.json": report_text({"s": "p" * 8, "old": "p"}),
        "b.json": report_text({"s": "f" * 8, "new": "p"}),
        "c.json": report_text({"s": "p" * 8}),
        "bad.json": bad,
        "other.json": report_text({"else": "p"}),
        "lies.json": bad.replace('"completionRate": 0.0', '"completionRate": 0.95'),
        "none.json": "[]",
        "object.json": "{}",
        "file": "x",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    store_run(folder / "eval-store")
    return folder


@pytest.fixture
def here(place: Any, written: Path) -> Any:
    """The project with all of them."""
    shutil.copytree(written, place.folder, dirs_exist_ok=True)
    return place


READERS: dict[str, Callable[[bytes], Any]] = {
    "json": lambda content: [report["skillId"] for report in json.loads(content)],
    "markdown": lambda content: [name for name in ("old", "s") if f"{name}@1.0.0" in content.decode()],
    "csv": lambda content: [row["skill_id"] for row in csv.DictReader(io.StringIO(content.decode()))],
    "junit": lambda content: [str(suite.get("name")).partition("@")[0] for suite in ElementTree.fromstring(content)],
    "parquet": lambda content: parquet.read_table(io.BytesIO(content))["skill_id"].to_pylist(),
}
ENDINGS = {"json": "json", "markdown": "md", "csv": "csv", "junit": "xml", "parquet": "parquet"}


@pytest.mark.parametrize("name", READERS)
def test_p65_every_format_is_written_to_a_file_of_any_ending(here: Any, run_here: Run, name: str) -> None:
    result = run_here("report", "convert", "--input", "a.json", "--format", name, "--output", "out/report.txt")
    assert (result.code, result.out, result.err) == (0, "report  out/report.txt\n", "")
    assert READERS[name]((here.folder / "out/report.txt").read_bytes()) == ["old", "s"]


@pytest.mark.parametrize("output", ["out", "out/"])
def test_several_formats_go_into_one_folder(here: Any, run_here: Run, output: str) -> None:
    result = run_here("report", "convert", "--input", "a.json", "--format", *READERS, "--output", output, "--json")
    assert result.json == {"files": [f"out/a.{ending}" for ending in ENDINGS.values()], "remarks": []}
    assert {path.name for path in (here.folder / "out").iterdir()} == {f"a.{ending}" for ending in ENDINGS.values()}
    for name, ending in ENDINGS.items():
        assert READERS[name]((here.folder / f"out/a.{ending}").read_bytes()) == ["old", "s"]


@pytest.mark.parametrize("name", [RUN_ID, "latest"])
def test_a_run_is_converted_from_its_items(here: Any, run_here: Run, name: str) -> None:
    result = run_here("report", "convert", "--input", name, "--format", "json", "--output", "out/")
    assert (result.code, result.out) == (0, f"report  out/eval-result-{RUN_ID}.json\n")
    assert "is gone" in result.err
    (report,) = json.loads((here.folder / f"out/eval-result-{RUN_ID}.json").read_text())
    assert (report["skillId"], report["summary"]["completionRate"]) == ("s", 1.0)


def converting(source: str, output: str = "out.csv") -> list[str]:
    return ["report", "convert", "--format", "csv", "--input", source, "--output", output]


CONVERT = converting("a.json")
DIFF = ("report", "diff", "a.json", "b.json")
LIE = "summary.completionRate: it says 0.9500, but its items give 0.0000 (0 of 8)"


@pytest.mark.slow
@each_row(
    ("arguments", "says"),
    [
        pytest.param(["report", "convert"], "requires an argument", id="convert-nothing"),
        pytest.param(["report", "convert", "--input", "a.json", "--output", "x", "--format"], "--format", id="no-format"),
        pytest.param([*CONVERT, "--format", "pdf"], "unknown report format 'pdf'; valid are json", id="p65-unknown-format"),
        pytest.param([*CONVERT, "--format", "jnit"], "did you mean 'junit'?", id="p65-near-format"),
        pytest.param([*CONVERT, "--format", "markdown"], "one file cannot hold csv and markdown", id="p65-clash"),
        pytest.param(converting("a.json", "file/x"), "--output file/x: this file cannot be written", id="below-a-file"),
        pytest.param(converting("a.json", ""), "--output is blank", id="blank-output"),
        pytest.param(converting("a.json", "./a.json"), "this would replace an input", id="input-as-output"),
        pytest.param(converting("nope.json"), "nope.json: no such file; give a JSON report", id="missing"),
        pytest.param(converting("skills"), "skills: this is a folder", id="folder"),
        pytest.param(converting("none.json"), "none.json: it holds no report", id="no-report"),
        pytest.param(converting("lies.json"), f"lies.json: [0].{LIE}", id="contradicts-its-items"),
        pytest.param(["report", "diff", "c.json", "lies.json"], f"lies.json: [0].{LIE}", id="diff-of-a-contradiction"),
        pytest.param(converting("object.json"), "object.json: a report is an array", id="no-array"),
        pytest.param(converting("20200101T000000Z-abcd"), "no run 20200101T000000Z-abcd in", id="unknown-run"),
        pytest.param(
            [*converting("latest"), "--store", "nope"],
            "no report to read; evaluate skills first, or name a JSON report: the store",
            id="empty-store",
        ),
        pytest.param([*converting("latest"), "--store", "file"], "file", id="store-is-a-file"),
        pytest.param(["report", "diff"], "requires an argument", id="diff-nothing"),
        pytest.param(["report", "diff", "a.json"], "requires an argument", id="diff-one"),
        pytest.param(["report", "diff", "a.json", "nope.json"], "nope.json: no such file", id="diff-missing"),
        pytest.param(
            ["report", "comment", "a.json", "--baseline", "", "--fail-on", "worse"], "no such file", id="comment-unset-variable"
        ),
        pytest.param(["report", "diff", "none.json", "b.json"], "none.json: it holds no report", id="diff-no-report"),
        pytest.param(
            [*DIFF, "--format", "pdf"], "unknown format 'pdf' of a comparison; valid are markdown", id="p65-diff-format"
        ),
        pytest.param([*DIFF, "--format", "json", "markdown"], "--format prints one format", id="p65-two-formats-on-stdout"),
        pytest.param([*DIFF, "--format", "markdown", "--json"], "--json has its own", id="p62-format-and-json"),
        pytest.param([*DIFF, "--output", "d.md", "--format", "json", "markdown"], "one file cannot hold", id="diff-clash"),
        pytest.param([*DIFF, "--output", "d.pdf"], "--output d.pdf: a comparison is written as Markdown, JSON", id="diff-ending"),
        pytest.param([*DIFF, "--output", "b.json"], "this would replace an input", id="diff-input-as-output"),
        pytest.param([*DIFF, "--fail-on", "better"], "--fail-on", id="p49-unknown-gate"),
        pytest.param([*DIFF, "--map", "old"], "--map: give old=new, two skills' ids; got 'old'", id="map-without-equals"),
        pytest.param([*DIFF, "--map", "old=new", "old=s"], "--map: 'old' is given twice", id="map-twice"),
        pytest.param([*DIFF, "--map", "odl=new"], "'odl', which is not among the reports before", id="map-unknown"),
        *(
            pytest.param([*DIFF, "--min-effect", value], "--min-effect", id=f"p40-min-effect-{value}")
            for value in ("nan", "inf", "-0.1", "1.1", "x", "5%")
        ),
    ],
)
def test_p40_bad_input_is_one_line_and_exit_2(here: Any, run_here: Run, arguments: list[str], says: str) -> None:
    before = here.files()
    result = run_here(*arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("eval-skills: ")
    assert result.err.count("\n") == 1, result.err
    assert says in result.err
    assert here.files() == before


def test_p48_the_table_has_signs_units_marks_and_labels(here: Any, run_here: Run) -> None:
    result = run_here(*DIFF, "--label-a", "main", "--label-b", "branch")
    lines = [" ".join(line.split()) for line in result.out.splitlines()]
    assert (result.code, result.err) == (0, "")
    assert lines[0] == "before main"
    assert {"after branch", "skills old@1.0.0, s@1.0.0"} <= set(lines)
    assert "s@1.0.0 on b: ✘ worse" in lines
    assert "completion 100.0 % 0.0 % -100.0 pp ↓ ✘ bad" in lines
    assert "t3 ✘ worse pass p fail f 100.0 % → 0.0 %" in lines
    assert {"new@1.0.0 on b: added", "old@1.0.0 on b: removed"} <= set(lines)
    for name in ("mean difference -100.0 pp", "sign-flip test p = 0.003906 (exact); Holm", "floor 8 differing", "sensitivity"):
        assert any(line.startswith(name) for line in lines), name


@pytest.mark.slow
def test_a_gate_says_how_often_it_is_wrong_on_such_tasks(here: Any, run_here: Run) -> None:
    gate = run_here(*DIFF, "--fail-on", "worse", "--json").json["gate"]
    assert 0 <= gate["falseAlarms"] <= 0.05
    assert gate["falseAlarms"] <= gate["foundTenPoints"] <= 1
    assert "this gate fails in" in run_here(*DIFF, "--fail-on", "worse").out
    assert "falseAlarms" not in run_here(*DIFF, "--fail-on", "worse", "--min-effect", "0.1", "--json").json["gate"]
    nothing_compared = run_here("report", "diff", "a.json", "other.json", "--fail-on", "worse", "--json")
    assert "falseAlarms" not in nothing_compared.json["gate"]


@pytest.mark.parametrize(
    ("figure", "said"),
    [
        pytest.param("forbiddenItems", "c@1.0.0 called forbidden tools in 1 item", id="called"),
        pytest.param("forbiddenUnknownItems", "whether c@1.0.0 called a forbidden tool is unknown in 1 item", id="unknown"),
    ],
)
def test_a_gate_fails_where_the_later_side_called_a_forbidden_tool_or_may_have(
    place: Any, run_here: Run, figure: str, said: str
) -> None:
    [report] = json.loads(report_text({"c": "pppp"}))
    place.write("before.json", [report])
    if figure == "forbiddenItems":
        report["taskResults"][0]["reasons"] = [{"code": "FORBIDDEN_TOOL_CALLED", "message": "rm"}]
    place.write("after.json", [{**report, "summary": {**report["summary"], figure: 1}}])
    result = run_here("report", "diff", "before.json", "after.json", "--fail-on", "worse")
    assert (result.code, f"gate failed: {said}" in result.out) == (1, True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sides", "options", "code", "says"),
    [
        pytest.param(("a.json", "b.json"), [], 1, "gate failed: s@1.0.0 is worse: mean difference -1.0000", id="worse"),
        pytest.param(("bad.json", "a.json"), [], 0, "gate passed: no skill is worse", id="better"),
        pytest.param(("c.json", "a.json"), [], 0, "gate passed: no skill is worse", id="unchanged-and-one-is-new"),
        pytest.param(("a.json", "c.json"), [], 1, "old@1.0.0 could not be judged: it has no report", id="p40-one-is-gone"),
        pytest.param(("a.json", "c.json"), ["--map", "old=s"], 1, "s@1.0.0 could not be judged", id="p40-mapped-away"),
        pytest.param(("a.json", "other.json"), [], 1, "gate failed: nothing could be compared", id="p40-nothing-compared"),
        pytest.param(("latest", "other.json"), ["--map", "s=else"], 0, "gate passed", id="run-and-map"),
    ],
)
def test_p49_fail_on_worse_is_an_exit_code(
    here: Any, run_here: Run, sides: tuple[str, str], options: list[str], code: int, says: str
) -> None:
    result = run_here("report", "diff", *sides, "--fail-on", "worse", *options)
    assert result.code == code
    assert says in result.out
    assert "gate" not in run_here("report", "diff", *sides, *options).out


@pytest.mark.slow
@pytest.mark.parametrize("fail_on", ["worse", "not-proven"])
def test_a_gate_refuses_to_compare_a_run_with_itself(here: Any, run_here: Run, fail_on: str) -> None:
    assert run_here("report", "convert", "--input", "latest", "--format", "json", "--output", "some.json").code == 0
    for sides, said in (
        (("a.json", "./a.json"), "both sides are ./a.json"),
        (("latest", RUN_ID), f"both sides are of run {RUN_ID}"),
        (("some.json", "latest"), f"both sides are of run {RUN_ID}"),
    ):
        refused = run_here("report", "diff", *sides, "--fail-on", fail_on)
        assert (refused.code, refused.out) == (2, "")
        assert f"--fail-on {fail_on} cannot judge that: {said}; name two runs" in refused.err
        shown = run_here("report", "diff", *sides)
        assert (shown.code, said in shown.err) == (0, True)
    to_itself = run_here("report", "diff", "a.json", "./a.json", "--fail-on", fail_on, "--map", "s=s@1.0.0")
    assert (to_itself.code, to_itself.out, "cannot judge that: both sides are ./a.json" in to_itself.err) == (2, "", True)
    assert run_here("report", "diff", "a.json", "a.json", "--fail-on", fail_on, "--map", "s=old").code == 1


@pytest.mark.slow
def test_p40_a_gate_does_not_pass_a_run_that_was_not_finished(here: Any, run_here: Run) -> None:
    manifest = here.folder / "eval-store" / "runs" / RUN_ID / "manifest.json"
    asked = json.loads(manifest.read_text()) | {"plannedItems": 20}
    del asked["crc32"]  # as the store says to who edits one
    manifest.write_text(json.dumps(asked))
    for sides in (("c.json", "latest"), ("latest", "c.json")):
        result = run_here("report", "diff", *sides, "--fail-on", "worse")
        assert result.code == 1
        assert f"gate failed: run {RUN_ID} is unfinished: 1 of 20 items; continue it with --resume {RUN_ID}" in result.out
        assert run_here("report", "diff", *sides).code == 0
    assert run_here("report", "convert", "--input", "latest", "--format", "json", "--output", "some.json").code == 0
    for sides in (("c.json", "some.json"), ("some.json", "c.json")):
        result = run_here("report", "diff", *sides, "--fail-on", "worse")
        assert result.code == 1
        assert "gate failed: some.json is of a run that was not finished: 1 of 20 items" in result.out


@pytest.mark.slow
def test_a_gate_that_passes_says_what_was_not_compared(here: Any, run_here: Run) -> None:
    here.write("few.json", report_text({"s": "p" * 6}))
    result = run_here("report", "diff", "c.json", "few.json", "--fail-on", "worse")
    said = (
        "no skill is worse on the tasks of both sides; 2 tasks of the earlier side changed, left or are judged otherwise, "
        "and were not compared"
    )
    assert (result.code, f"gate passed: {said}\n" in result.out) == (0, True)
    new = "no skill is worse on the tasks of both sides; 2 tasks of the later side are new, and were not compared"
    assert f"gate passed: {new}\n" in run_here("report", "diff", "few.json", "c.json", "--fail-on", "worse").out
    here.write("same.json", report_text({"s": "p" * 6}))
    assert "gate passed: no skill is worse\n" in run_here("report", "diff", "few.json", "same.json", "--fail-on", "worse").out


@pytest.mark.slow
def test_p49_a_worsening_below_the_least_effect_passes(here: Any, run_here: Run) -> None:
    here.write("full.json", report_text({"s": "p" * 20}))
    here.write("less.json", report_text({"s": "f" * 6 + "p" * 14}))
    sides = ("report", "diff", "full.json", "less.json", "--fail-on", "worse")
    assert [run_here(*sides, "--min-effect", effect).code for effect in ("0", "0.3", "0.31")] == [1, 1, 0]


@pytest.mark.slow
def test_p62_json_is_one_document(here: Any, run_here: Run) -> None:
    result = run_here(*DIFF, "--json", "--fail-on", "worse", "--output", "diff.md")
    document = result.json
    assert result.code == 1
    assert (document["labels"], document["gate"]["passed"]) == ({"before": "a.json", "after": "b.json"}, False)
    compared = ReportDiff.model_validate({name: document[name] for name in ("skills", "significance", "equivalenceMargin")})
    assert [skill.skill_id for skill in compared.skills if skill.verdict == "worse"] == ["s"]
    assert (here.folder / "diff.md").read_text().startswith("# Comparison\n")


@pytest.mark.parametrize(
    ("options", "starts"), [(["--format", "markdown"], "# Comparison\n"), (["--format", "json"], '{\n  "labels"')]
)
def test_p65_a_format_without_a_place_is_printed(here: Any, run_here: Run, options: list[str], starts: str) -> None:
    assert run_here(*DIFF, *options).out.startswith(starts)


def test_both_formats_are_written_into_a_folder(here: Any, run_here: Run) -> None:
    assert run_here(*DIFF, "--format", "json", "markdown", "--output", "out").code == 0
    assert {path.name for path in (here.folder / "out").iterdir()} == {"eval-diff.json", "eval-diff.md"}


def test_a_comparison_steers_no_terminal(here: Any, run_here: Run) -> None:
    here.write("evil.json", report_text({"s": "f" * 8}).replace('"output": "f"', '"output": "\\u001b[31m\\n\\u202e"'))
    out = run_here("report", "diff", "a.json", "evil.json", "--label-b", "x\x1b[2J").out
    assert "\\u001b[31m⏎\\u202e" in out
    assert "\x1b" not in out


@pytest.mark.slow
def test_p61_no_prefect_is_started(here: Any) -> None:
    result = here.call("report", "diff", "a.json", "latest", environ={"PYTHONPROFILEIMPORTTIME": "1"})
    assert result.code == 0
    assert "| prefect" not in result.err


@pytest.mark.parametrize(
    ("arguments", "file", "begins"),
    [
        pytest.param(["--output", "d.html"], "d.html", "<!doctype html>", id="by-the-ending"),
        pytest.param(["--output", "d.json"], "d.json", "{", id="json-by-the-ending"),
        pytest.param(["--output", "d.txt"], "d.txt", "# ", id="a-text-is-markdown"),
        pytest.param(["--output", "d"], "d", "# ", id="so-is-a-file-without-an-ending"),
        pytest.param(["--output", "d.2/"], "d.2/eval-diff.md", "# ", id="a-folder-has-no-ending"),
        pytest.param(["--output", "d.pdf", "--format", "json"], "d.pdf", "{", id="what-is-said-beats-the-ending"),
        pytest.param(["--output", "out/", "--format", "html"], "out/eval-diff.html", "<!doctype html>", id="by-name"),
    ],
)
def test_a_comparison_is_written_in_the_format_that_its_file_asks_for(
    here: Any, run_here: Run, arguments: list[str], file: str, begins: str
) -> None:
    assert run_here(*DIFF, *arguments).code == 0
    assert (here.folder / file).read_text(encoding="utf-8").startswith(begins)
