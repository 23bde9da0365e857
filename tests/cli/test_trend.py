"""`trend`: the points of a figure, in the terminal, as JSON and as a page."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

Run = Callable[..., Any]
FIRST, SECOND, THIRD = "20260101T100000Z-0001", "20260102T100000Z-0002", "20260103T100000Z-0003"


@pytest.fixture(autouse=True)
def three_runs(past: Callable[..., str]) -> None:
    past(FIRST, passed=1)
    past(SECOND, passed=2, skill_version="1.1.0")
    past(THIRD, passed=4, benchmark_id="differences")


def points(result: Any) -> list[tuple[str, str, float]]:
    return [
        (series["benchmark"], point["runId"], point["value"]) for series in result.json["series"] for point in series["points"]
    ]


@pytest.mark.parametrize(
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


def test_a_span_counts_back_from_now(run_here: Run, past: Callable[..., str]) -> None:
    recent = past(f"{datetime.now(UTC) - timedelta(days=3):%Y%m%dT%H%M%SZ}-00ff")
    assert [run for _, run, _ in points(run_here("trend", "--skill", "adder", "--since", "4d", "--json"))] == [recent]
    assert points(run_here("trend", "--skill", "adder", "--since", "48h", "--json")) == []


def test_completion_comes_with_its_interval(run_here: Run) -> None:
    document = run_here("trend", "--skill", "adder", "--benchmark", "sums", "--json").json
    interval = document["series"][0]["points"][0]["interval"]
    assert 0 < interval["lower"] < 0.25 < interval["upper"] < 1
    assert interval["method"].startswith("wilson")
    assert "4.6 to 69.9 %" in run_here("trend", "--skill", "adder").out


def test_the_terminal_shows_a_line_of_bars_and_a_table_per_benchmark(run_here: Run) -> None:
    lines = run_here("trend", "--skill", "adder").out.splitlines()
    assert lines[0] == "adder on differences, completionRate: 100.0 % → 100.0 %"
    assert lines[1] == "█"
    at = lines.index("adder on sums, completionRate: 25.0 % → 50.0 %")
    assert lines[at + 1] == "▃▅"
    assert lines[at + 3].split()[:5] == ["2026-01-01", "10:00", FIRST, "1.0.0", "25.0"]


def test_the_page_holds_the_points_and_no_markup_of_others(place: Any, run_here: Run, past: Callable[..., str]) -> None:
    past("20260104T100000Z-0004", skill_version="1.2.0", benchmark_version="3.0.0")
    result = run_here("trend", "--skill", "adder", "--output", "pages/trend.html")
    assert result.code == 0
    assert result.out.endswith("written to pages/trend.html\n")
    page = (place.folder / "pages/trend.html").read_text(encoding="utf-8")
    for text in (FIRST, SECOND, "1.1.0", "3.0.0", "25.0 %", "<h2>differences</h2>"):
        assert text in page
    assert "<script" not in page
    assert "http" not in page.replace('http-equiv="Content-Security-Policy"', "")


def test_p68_names_are_text_on_the_page() -> None:
    from eval_skills.core.trend import TrendPoint
    from eval_skills.reporting.trend_page import render

    point = TrendPoint(timestamp=datetime(2026, 1, 1), run_id="r", skill_version="<i>", benchmark_version=None, value=0.5)
    page = render({"<b>&": [point]}, skill="<script>x</script>", metric="p95Ms", shown=str)
    assert "<script>" not in page
    assert "<h2>&lt;b&gt;&amp;</h2>" in page
    assert "<td>&lt;i&gt;</td><td>–</td>" in page


@pytest.mark.parametrize(
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
        pytest.param(["--skill", "adder", "--output", "t.png"], "--output t.png: a trend is written as HTML", id="png"),
        pytest.param(["--skill", "adder", "--output", "skills.html"], "skills.html: this is a folder", id="output-is-a-folder"),
        pytest.param([], "--skill", id="no-skill"),
    ],
)
def test_p40_what_cannot_be_used_is_refused_in_one_line(place: Any, run_here: Run, arguments: list[str], says: str) -> None:
    (place.folder / "skills.html").mkdir()
    before = place.files()
    result = run_here("trend", *arguments)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert says in result.err
    assert place.files() == before
