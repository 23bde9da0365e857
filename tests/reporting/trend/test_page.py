"""The page of a trend: what goes into it, and that nothing gets out of its place."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from eval_skills.core.models import ConfidenceInterval
from eval_skills.core.trend.trend import TrendPoint
from eval_skills.reporting.html.pages import page_assets
from eval_skills.reporting.trend.page import SCRIPTS, STYLES, render
from eval_skills.reporting.trend.series import Annotation, shown
from tests.tables import each_row

MOMENT = datetime(2026, 1, 1, 10, 30, tzinfo=UTC)
HOSTILE = "</script><!--<img src=x onerror=alert(1)> \" ' {{ 7 * 7 }} \u2028 & \x00\u202e\ud800"


def point(value: float | None = 0.5, **fields: Any) -> TrendPoint:
    interval = None if value is None else ConfidenceInterval(lower=value / 2, upper=(1 + value) / 2, method="wilson")
    known = {"timestamp": MOMENT, "run_id": "r1", "skill_version": "1.0.0", "benchmark_version": "2.0.0", "interval": interval}
    return TrendPoint(**{**known, "value": value, **fields})


def page_of(points: list[TrendPoint], metric: str = "completionRate", **fields: Any) -> str:
    return render({"sums": points}, **{"skill": "adder", "metric": metric, "shown": shown(metric), **fields})


def data_of(page: str) -> dict[str, Any]:
    [text] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return dict(json.loads(text))


def test_a_point_has_its_moment_in_utc_its_value_and_its_interval() -> None:
    data = data_of(page_of([point()]))
    assert (data["unit"], data["share"]) == ("rate", True)
    (series,) = data["series"]
    assert series["points"] == [
        {
            "timestamp": 1_767_263_400_000,
            "run": "r1",
            "version": "1.0.0",
            "value": 0.5,
            "shown": "50.0 %",
            "lower": 0.25,
            "upper": 0.75,
            "interval": "95 % interval 25.0 to 75.0 %",
        }
    ]
    assert (series["benchmark"], series["versions"], series["successive"], series["annotations"]) == ("sums", ["1.0.0"], True, [])


def test_a_cost_that_is_known_in_part_is_a_gap_in_the_line_and_says_so_in_the_table() -> None:
    page = page_of([point(0.5, interval=None), point(0.2, interval=None, unknown_items=3, items=5)], "estimatedUSD")
    assert [each["value"] for each in data_of(page)["series"][0]["points"]] == [0.5, None]
    assert "at least $0.2000" in page


def test_p38_an_unknown_value_is_a_dash_and_never_zero() -> None:
    page = page_of([point(None)], "estimatedUSD")
    (found,) = data_of(page)["series"][0]["points"]
    assert (found["value"], found["shown"], found["lower"], found["interval"]) == (None, "–", None, None)
    assert '<td class="number">–</td>' in page


def test_annotations_and_changed_versions_are_in_the_payload() -> None:
    later = point(timestamp=datetime(2026, 1, 2), skill_version="1.1.0")
    data = data_of(page_of([point(), later], annotations={"sums": [Annotation(datetime(2026, 1, 3), "drop")]}))
    assert [(each["label"], each["kind"]) for each in data["series"][0]["annotations"]] == [
        ("1.1.0", "version"),
        ("drop", "note"),
    ]
    assert data["series"][0]["annotations"][1]["timestamp"] == 1_767_398_400_000


@each_row("place", ["skill", "metric", "benchmark", "run", "version", "benchmark_version", "label", "shown", "method"])
def test_p68_hostile_text_stays_text_wherever_it_stands(place: str) -> None:
    def rendered(text: str) -> str:
        def at(name: str, otherwise: str) -> str:
            return text if place == name else otherwise

        interval = ConfidenceInterval(lower=0.1, upper=0.9, method=at("method", "wilson"))
        names: dict[str, Any] = {
            "run_id": at("run", "r"),
            "skill_version": at("version", "1"),
            "benchmark_version": at("benchmark_version", "1"),
        }
        points = [point(**names, interval=interval)]
        show: Callable[[float | None], str] = lambda _: at("shown", "50 %")  # noqa: E731 - a name for one line
        told = {"skill": at("skill", "s"), "metric": at("metric", "completionRate"), "shown": show}
        benchmark = at("benchmark", "b")
        return render({benchmark: points}, **told, annotations={benchmark: [Annotation(MOMENT, at("label", "l"))]})  # type: ignore[arg-type]

    page = rendered(HOSTILE)
    page.encode("utf-8")
    assert "alert(1)" in page
    assert "<img" not in page
    tags = re.compile(r"<(/?[a-z!][a-z0-9-]*)")
    if place != "metric":  # only the completion rate has a column of intervals
        assert tags.findall(page) == tags.findall(rendered("tame"))


def test_nothing_is_fetched_and_the_policy_lets_only_our_own_texts_run() -> None:
    page = page_of([point()])
    inline = [*re.findall(r"<script>(.*?)</script>", page, re.DOTALL), *re.findall(r"<style>(.*?)</style>", page, re.DOTALL)]
    [policy] = re.findall(r'<meta http-equiv="Content-Security-Policy" content="(.*?)">', page)
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in inline]
    assert re.findall(r"sha256-([A-Za-z0-9+/=]+)", policy.replace("&#43;", "+")) == hashes
    assert len(hashes) == 3
    assert not re.search(r"unsafe|https?:|\*", policy)
    assert not re.search(r"\s(src|style|on[a-z]+)=", re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL))


def test_no_file_of_ours_can_end_its_tag_or_write_markup() -> None:
    assets = page_assets(SCRIPTS, STYLES)
    for text in (assets.script, assets.style):
        assert not re.search(r"</script|</style|<!--|innerHTML|outerHTML|insertAdjacent|document\.write|sourceMappingURL", text)


def test_nothing_in_this_time_is_said() -> None:
    page = render({}, skill="adder", metric="p95Ms", shown=shown("p95Ms"))
    assert "No report in this time." in page
    assert data_of(page)["series"] == []
