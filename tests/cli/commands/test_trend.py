"""`trend`: the points of a figure, in the terminal, as JSON and as a page."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.cli.output.test_run import on_a_terminal
from tests.tables import each_row

Run = Callable[..., Any]
FIRST, SECOND, THIRD = "20260101T100000Z-0001", "20260102T100000Z-0002", "20260103T100000Z-0003"


@pytest.fixture(autouse=True)
def three_runs(past: Callable[..., str]) -> None:
    past(FIRST, passed=1)
    past(SECOND, passed=2, skill_version="1.1.0")
    past(THIRD, passed=4, benchmark_id="differences")


def points(result: Any) -> list[tuple[str, str, float | None]]:
    return [
        (series["benchmark"], point["runId"], point["value"]) for series in result.json["series"] for point in series["points"]
    ]


@pytest.mark.slow
def test_a_narrow_terminal_keeps_ids_and_intervals_whole_and_names_what_it_leaves_out(place: Any) -> None:
    said = on_a_terminal(place, "trend", "--skill", "adder", "--benchmark", "sums", COLUMNS="66", NO_COLOR="1")
    assert all(run_id in said for run_id in (FIRST, SECOND))
    assert "95 % interval" in said
    assert "left out for lack of room: date (UTC)" in said


@pytest.mark.slow
@each_row(
    ("metric", "values"),
    [
        pytest.param("completionRate", [0.25, 0.5], id="completionRate"),
        pytest.param("errorRate", [0.0, 0.0], id="errorRate"),
        pytest.param("p95Ms", [40.0, 40.0], id="p95Ms"),
        pytest.param("partialScore", [0.25, 0.5], id="partialScore"),
        pytest.param("flakeRate", [None, None], id="flakeRate-unknown"),
        pytest.param("estimatedUSD", [None, None], id="estimatedUSD-unknown"),
        pytest.param("compositeScore", [0.617, 0.742], id="compositeScore"),  # 0.5·CR + 0.2·(1 − 40/1000) + 0.3
    ],
)
def test_p57_each_metric_is_read_back_from_the_store(run_here: Run, metric: str, values: list[float | None]) -> None:
    result = run_here("trend", "--skill", "adder", "--benchmark", "sums", "--metric", metric, "--json")
    assert result.code == 0
    assert [value for _, _, value in points(result)] == pytest.approx(values)


def test_a_cost_that_is_known_of_some_items_alone_is_a_gap_in_the_line(run_here: Run, past: Callable[..., str]) -> None:
    past("20260104T100000Z-0004", judged=4 * [{"cost_usd": 0.25}])
    past("20260105T100000Z-0005", judged=[{"cost_usd": 0.25}, {}])
    result = run_here("trend", "--skill", "adder", "--benchmark", "sums", "--metric", "estimatedUSD")
    assert "\n··█·\n" in result.out
    assert "at least $0.2500" in result.out


@pytest.mark.parametrize(
    ("metric", "values", "shown"),
    [
        pytest.param("judgeTokens", [None, None, 1234], "1,234", id="tokens"),
        pytest.param("judgeUSD", [None, None, 0.25], "$0.2500", id="usd"),
        pytest.param("unjudgedItems", [None, None, 1], "– → 1", id="unjudged"),
    ],
)
def test_what_judging_took_has_a_trend(
    run_here: Run, past: Callable[..., str], metric: str, values: list[float | None], shown: str
) -> None:
    broken = {"status": "error", "error_kind": "judge", "passed": False, "score": None}
    past("20260104T100000Z-0004", judged=[{"judge_tokens": 1234, "judge_cost_usd": 0.25}, broken])
    arguments = ("trend", "--skill", "adder", "--benchmark", "sums", "--metric", metric)
    assert [value for _, _, value in points(run_here(*arguments, "--json"))] == values
    assert shown in run_here(*arguments).out


@pytest.mark.parametrize(
    ("arguments", "runs"),
    [
        pytest.param([], [THIRD, FIRST, SECOND], id="a-line-per-benchmark-oldest-first"),
        pytest.param(["--benchmark", "sums"], [FIRST, SECOND], id="benchmark"),
        pytest.param(["--skill", "adder@1.1.0"], [SECOND], id="version"),
        pytest.param(["--since", "2026-01-02"], [THIRD, SECOND], id="since-a-day"),
        pytest.param(["--until", "2026-01-02"], [FIRST, SECOND], id="until-a-day-inclusive"),
        pytest.param(["--since", "2026-01-02", "--until", "2026-01-02"], [SECOND], id="one-day"),
        pytest.param(["--since", "30d", "--until", "1d"], [], id="nothing-in-this-time"),
    ],
)
def test_p59_each_option_narrows(run_here: Run, monkeypatch: pytest.MonkeyPatch, arguments: list[str], runs: list[str]) -> None:
    skill = [] if "--skill" in arguments else ["--skill", "adder"]
    result = run_here("trend", *skill, *arguments, "--json")
    assert (result.code, result.err) == (0, "")
    assert [run for _, run, _ in points(result)] == runs


@pytest.mark.slow
def test_without_a_skill_every_skill_is_listed_with_its_last_value_and_where_it_went(
    run_here: Run, past: Callable[..., str]
) -> None:
    runs = nights(past)
    listed = {(row["skill"], row["benchmark"]): row for row in run_here("trend", "--json").json["skills"]}
    assert list(listed) == [("adder", "differences"), ("adder", "nightly"), ("adder", "sums")]
    fell = listed["adder", "nightly"]
    assert (fell["runId"], fell["value"], fell["lastChange"]["direction"]) == (runs[-1], 0.25, "down")
    assert listed["adder", "sums"]["lastChange"] is None
    [line] = [line for line in run_here("trend").out.splitlines() if "nightly" in line]
    assert line.split() == ["adder", "nightly", "16", "25.0", "%", "=", "▼", "2026-02-09", "100.0", "%", "→", "25.0", "%"]
    assert len(run_here("trend", "--benchmark", "sums", "--json").json["skills"]) == 1


def test_reports_without_an_effect_are_not_called_absent(run_here: Run, past: Callable[..., str]) -> None:
    nights(past)
    assert run_here("trend", "--metric", "effect").out == "no measured effect in this time\n"
    one = run_here("trend", "--metric", "effect", "--skill", "adder")
    assert one.code == 2
    assert "no measured effect of 'adder' in the store" in one.err


@pytest.mark.slow
def test_a_span_counts_back_from_now(run_here: Run, past: Callable[..., str]) -> None:
    recent = past(f"{datetime.now(UTC) - timedelta(days=3):%Y%m%dT%H%M%SZ}-00ff")
    assert [run for _, run, _ in points(run_here("trend", "--skill", "adder", "--since", "4d", "--json"))] == [recent]
    assert points(run_here("trend", "--skill", "adder", "--since", "48h", "--json")) == []


def test_completion_comes_with_its_interval(run_here: Run) -> None:
    document = run_here("trend", "--skill", "adder", "--benchmark", "sums", "--json").json
    interval = document["series"][0]["points"][0]["interval"]
    assert 0 < interval["lower"] < 0.25 < interval["upper"] < 1
    assert interval["method"].startswith("wilson")
    assert "0.8 to 79.3 %" in run_here("trend", "--skill", "adder").out


def test_the_terminal_shows_a_line_of_bars_and_a_table_per_benchmark(run_here: Run) -> None:
    lines = run_here("trend", "--skill", "adder").out.splitlines()
    assert lines[0] == "adder on differences, completionRate: 100.0 % → 100.0 %"
    assert lines[1] == "█"
    at = lines.index("adder on sums, completionRate: 25.0 % → 50.0 %")
    assert lines[at + 1] == "▃▅"
    assert lines[at + 2] == "no lasting change of level: 2 known values; from 11 on they are tested for a change"
    assert lines[at + 4].split()[:5] == ["2026-01-01", "10:00", FIRST, "1.0.0", "25.0"]


def test_the_page_holds_the_points_and_no_markup_of_others(place: Any, run_here: Run, past: Callable[..., str]) -> None:
    past("20260104T100000Z-0004", skill_version="1.2.0", benchmark_version="3.0.0")
    result = run_here("trend", "--skill", "adder", "--output", "pages/trend.html")
    assert result.code == 0
    assert result.out.endswith("written to pages/trend.html\n")
    page = (place.folder / "pages/trend.html").read_text(encoding="utf-8")
    for text in (FIRST, SECOND, "1.1.0", "3.0.0", "25.0 %", ">differences</h2>"):
        assert text in page
    assert "unsafe" not in page
    assert "src=" not in page


@pytest.mark.slow
def test_the_picture_is_a_png_and_is_written_whole(place: Any, run_here: Run) -> None:
    pytest.importorskip("matplotlib")
    result = run_here("trend", "--skill", "adder", "--output", "pages/trend.PNG")
    assert (result.code, result.err) == (0, "")
    assert (place.folder / "pages/trend.PNG").read_bytes().startswith(b"\x89PNG\r\n")
    assert [file.name for file in (place.folder / "pages").iterdir()] == ["trend.PNG"]


def test_p40_a_picture_without_the_extra_names_it(place: Any, run_here: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    before = place.files()
    result = run_here("trend", "--skill", "adder", "--output", "trend.png")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert "pip install 'eval-skills[plot]'" in result.err
    assert place.files() == before


@pytest.mark.slow
@each_row(
    ("arguments", "says"),
    [
        pytest.param(["--skill", "addr"], "(did you mean 'adder'?); skills there: adder@1.0.0, adder@1.1.0", id="unknown-skill"),
        pytest.param(["--skill", "adder", "--benchmark", "sum"], "(did you mean 'sums'?)", id="unknown-benchmark"),
        pytest.param(
            ["--skill", "adder", "--metric", "p95"], "unknown metric 'p95' (did you mean 'p95Ms'?)", id="unknown-metric"
        ),
        pytest.param(["--skill", "adder", "--since", "yesterday"], "--since: give a day such as", id="since"),
        pytest.param(["--skill", "adder", "--until", "2026-02-30"], "--until: give a day such as", id="no-such-day"),
        pytest.param(["--skill", "adder", "--until", "9999-12-31"], "--until: give a day such as", id="after-all-time"),
        pytest.param(
            ["--skill", "adder", "--since", "2026-02-01", "--until", "2026-01-01"], "since must come first", id="backwards"
        ),
        pytest.param(["--skill", "adder", "--output", "t.svg"], "--output t.svg: a trend is drawn as HTML or PNG", id="svg"),
        pytest.param(["--skill", "adder", "--output", "skills.html"], "skills.html: this is a folder", id="output-is-a-folder"),
        pytest.param(["--skill", "adder", "--limit", "0"], "--limit 0: give at least 1", id="no-line"),
        pytest.param(["--benchmark", "sum"], "(did you mean 'sums'?)", id="unknown-benchmark-of-all"),
        pytest.param(
            ["--output", "x.html"], "--output draws the trend of one skill; name it with --skill", id="a-drawing-of-all"
        ),
    ],
)
def test_p40_what_cannot_be_used_is_refused_in_one_line(place: Any, run_here: Run, arguments: list[str], says: str) -> None:
    (place.folder / "skills.html").mkdir(exist_ok=True)
    before = place.files()
    result = run_here("trend", *arguments)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert says in result.err
    assert place.files() == before


def nights(past: Callable[..., str], *, each: int = 8) -> list[str]:
    """So many good nights, as many bad ones; from the first bad one on the benchmark is another version."""
    levels = [(4, "2.0.0")] * each + [(1, "2.1.0")] * each
    return [
        past(f"202602{day:02d}T100000Z-0001", passed=passed, benchmark_id="nightly", benchmark_version=version)
        for day, (passed, version) in enumerate(levels, start=1)
    ]


@pytest.mark.slow
def test_a_change_of_level_is_marked_with_what_changed_there(run_here: Run, past: Callable[..., str]) -> None:
    runs = nights(past)
    result = run_here("trend", "--skill", "adder", "--benchmark", "nightly")
    lines = result.out.splitlines()
    assert lines[1:3] == ["████████" + "▃" * 8, " " * 8 + "▼"]
    assert lines[3].startswith("▼ 2026-02-09  100.0 % → 25.0 %  p < 0.001  changed there: benchmark 2.0.0→2.1.0")
    marked = [line.split()[2] for line in lines[4:] if line.rstrip().endswith("▼")]
    assert marked == [runs[8]]


@pytest.mark.slow
def test_change_points_are_in_the_document(run_here: Run, past: Callable[..., str]) -> None:
    runs = nights(past)
    [series] = run_here("trend", "--skill", "adder", "--benchmark", "nightly", "--json").json["series"]
    assert series["untested"] is None
    [point] = series["changePoints"]
    assert (point["runId"], point["direction"], point["before"], point["after"]) == (runs[8], "down", 1.0, 0.25)
    assert point["timestamp"] == series["points"][8]["timestamp"]
    assert point["changed"] == [{"kind": "benchmark", "name": "version", "before": "2.0.0", "after": "2.1.0"}]
    assert 0 < point["p"] <= 0.001


@pytest.mark.slow
def test_where_nothing_recorded_changed_it_says_where_to_look(run_here: Run, past: Callable[..., str]) -> None:
    for day, passed in enumerate([4] * 8 + [1] * 8, start=1):
        past(f"202602{day:02d}T100000Z-0001", passed=passed, benchmark_id="nightly")
    said = run_here("trend", "--skill", "adder", "--benchmark", "nightly").out
    assert "no recorded change: look outside (service, model, data)" in said


@pytest.mark.slow
def test_a_missing_manifest_is_no_proof_that_nothing_changed(place: Any, run_here: Run, past: Callable[..., str]) -> None:
    runs = nights(past)
    (place.folder / "eval-store/runs" / runs[8] / "manifest.json").unlink()
    said = run_here("trend", "--skill", "adder", "--benchmark", "nightly").out
    assert "what changed there is unknown: the manifest of a run is missing" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("passed", "says"),
    [
        pytest.param(
            [1, 4, 1], "no lasting change of level: 3 known values; from 11 on they are tested for a change", id="too-few"
        ),
        pytest.param([3] * 12, "no lasting change of level: every known value is the same", id="constant"),
        pytest.param([3, 2] * 6, "no lasting change of level", id="noise"),
    ],
)
def test_no_change_point_is_said(run_here: Run, past: Callable[..., str], passed: list[int], says: str) -> None:
    for day, count in enumerate(passed, start=1):
        past(f"202602{day:02d}T100000Z-0001", passed=count, benchmark_id="nightly")
    result = run_here("trend", "--skill", "adder", "--benchmark", "nightly")
    assert says in result.out
    [series] = run_here("trend", "--skill", "adder", "--benchmark", "nightly", "--json").json["series"]
    assert series["changePoints"] == []
    assert "▼" not in result.out


@pytest.mark.slow
def test_versions_side_by_side_are_lines_of_their_own(run_here: Run, past: Callable[..., str]) -> None:
    for day in range(1, 13):
        for number, (version, passed) in enumerate([("1.0.0", 1), ("2.0.0", 4)]):
            past(f"202602{day:02d}T100000Z-000{number}", passed=passed, benchmark_id="nightly", skill_version=version)
    [series] = run_here("trend", "--skill", "adder", "--benchmark", "nightly", "--json").json["series"]
    assert (series["changePoints"], series["untested"]) == ([], "every known value is the same")
    [listed] = run_here("trend", "--benchmark", "nightly", "--json").json["skills"]
    assert (listed["value"], listed["moved"]) == (1.0, "=")


def test_later_work_on_a_run_is_no_point(place: Any, run_here: Run) -> None:
    from eval_skills.core.store import Store, land_reports

    store = Store(place.folder / "eval-store")
    report = store.last_reports()[0]
    land_reports(store, "20260201T100000Z-0009", None, [report], origin="rescore")
    assert [run for _, run, _ in points(run_here("trend", "--skill", "adder", "--json"))] == [THIRD, FIRST, SECOND]


@pytest.mark.slow
def test_the_page_has_a_line_where_the_level_changed(place: Any, run_here: Run, past: Callable[..., str]) -> None:
    nights(past)
    assert run_here("trend", "--skill", "adder", "--output", "trend.html").code == 0
    assert "▼ benchmark 2.0.0→2.1.0" in (place.folder / "trend.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_newest_runs_are_shown_and_those_where_the_level_changed_and_the_rest_is_told_of(
    run_here: Run, past: Callable[..., str]
) -> None:
    runs = nights(past)
    asked = ("trend", "--skill", "adder", "--benchmark", "nightly")
    result = run_here(*asked, "--limit", "3")
    shown = [line.split()[2] for line in result.out.splitlines() if line.startswith("2026-02")]
    assert shown == [runs[8], *runs[-3:]]
    assert result.out.splitlines()[1] == "████████" + "▃" * 8  # the bars still are those of all
    assert result.out.splitlines()[-1] == "12 earlier runs not shown; --limit 16 shows all, and --json has them"
    assert len(points(run_here(*asked, "--limit", "3", "--json"))) == 16
    everything = run_here(*asked, "--limit", "16").out
    assert [line.split()[2] for line in everything.splitlines() if line.startswith("2026-02")] == runs
    assert "not shown" not in everything


@pytest.mark.slow
def test_a_page_has_all_runs_whatever_is_shown(place: Any, run_here: Run, past: Callable[..., str]) -> None:
    runs = nights(past)
    run_here("trend", "--skill", "adder", "--limit", "1", "--output", "trend.html")
    page = (place.folder / "trend.html").read_text(encoding="utf-8")
    assert all(run in page for run in runs)


DOWN = [{"status": "error", "error_kind": "infra", "passed": False, "score": None}] * 4


@pytest.mark.parametrize("metric", ["completionRate", "compositeScore", "partialScore", "flakeRate"])
def test_a_run_without_a_verdict_is_unknown_and_moves_nothing(run_here: Run, past: Callable[..., str], metric: str) -> None:
    past("20260104T100000Z-0004", judged=DOWN)
    arguments = ("trend", "--benchmark", "sums", "--metric", metric)
    (line,) = run_here(*arguments, "--json").json["skills"]
    assert (line["runId"], line["value"], line["moved"]) == ("20260104T100000Z-0004", None, "–")
    assert points(run_here(*arguments, "--skill", "adder", "--json"))[-1] == ("sums", "20260104T100000Z-0004", None)
    assert run_here(*arguments, "--skill", "adder").out.splitlines()[0].endswith("→ –")
