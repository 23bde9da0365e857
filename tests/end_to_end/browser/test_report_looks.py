"""The HTML report to the eye: dark and light, on a phone, its contrasts and its chart, and how soon it is there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.browser.kinds import skill_effect
from tests.end_to_end.browser.reports import context, item, skill, written

INTERACTIVE = "performance.getEntriesByName('interactive')[0].startTime"


def test_the_latency_chart_holds_every_item_by_outcome(page: Any, report: Path) -> None:
    page.open(report, "#skill=troubled@1.0.0")
    sums = "data.datasets.map(({label, data}) => [label, data.reduce((a, b) => a + b)])"
    chart = page.value(f"(({{data}}) => {sums})(Chart.getChart('latency-chart'))")
    assert chart == [["passed", 3], ["failed", 3], ["error", 1], ["timeout", 1]]


@pytest.mark.parametrize(
    "times",
    [
        pytest.param([0.0, 0.004, 0.01, 1.55, 1.6, 9.99, 10.0, 29_999.0], id="wide-and-zero"),
        pytest.param([3.0], id="one"),
        pytest.param([0.0, 0.0], id="all-zero"),
        pytest.param([101.0, 110.0, 119.99, 120.0, 260.5], id="narrow"),
        pytest.param([0.15, 0.16, 40.0, 63.0], id="at-the-edges"),
    ],
)
def test_every_item_stands_in_the_bin_that_holds_its_time(page: Any, tmp_path: Path, times: list[float]) -> None:
    items = [item(f"t{number}", latencyMs=time) for number, time in enumerate(times)]
    page.open(written(tmp_path, [skill("s", items)], context()))
    counted = "data.labels.map((label, bin) => [label, data.datasets[0].data[bin]])"
    bins = page.value(f"(({{data}}) => {counted})(Chart.getChart('latency-chart'))")
    for label, count in bins:
        low, high = (float(edge.replace(",", "")) for edge in label.split("–"))
        assert count == sum(low <= time < high for time in times), label
    assert sum(count for _, count in bins) == len(times)


def test_what_a_phone_has_out_of_sight_makes_no_row_of_costs_higher(page: Any, tmp_path: Path) -> None:
    """The test of a figure folded to a word a line beside the edge of the screen, and rows stood there half empty."""
    page.look(width=400)
    page.open(skill_effect(tmp_path))
    heights = "[...document.querySelectorAll('[data-export=costs] tr')].map((row) => row.getBoundingClientRect().height)"
    found = page.value(heights)
    assert len(found) > 1
    assert max(found) < 40


def test_dark_is_the_systems_choice_until_the_reader_chooses(page: Any, report: Path) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    page.look(dark=True)
    page.open(report)
    dark = page.value(ground)
    page.click("#theme")
    light = page.value(ground)
    assert (page.text("#theme"), dark != light) == ("☀ Light", True)
    page.click("#theme")
    assert (page.text("#theme"), page.value(ground)) == ("☾ Dark", dark)
    page.call("Page.navigate", url="about:blank")
    page.open(report)
    assert page.text("#theme") == "☾ Dark", "the choice is remembered"


@pytest.mark.parametrize("fragment", ["#skill=troubled@1.0.0", "#skill=troubled@1.0.0&task=t1"], ids=["skill", "task"])
def test_a_phone_shows_it_without_scrolling_sideways(
    page: Any, report: Path, fragment: str, pictures: Callable[[str], Path]
) -> None:
    page.look(width=380, height=800)
    page.open(report, fragment)
    assert page.value("document.documentElement.scrollWidth") <= 380
    page.picture(pictures(f"phone-{fragment[-2:]}"))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_texts_stand_out_from_their_ground(page: Any, report: Path, dark: bool, pictures: Callable[[str], Path]) -> None:
    """WCAG 2.2, 1.4.3: a contrast of 4.5 to 1, of every text that is shown, against the nearest ground behind it."""
    page.look(dark=dark)
    page.open(report, "#skill=troubled@1.0.0")
    faint = page.value(
        """(() => {
        const rgb = (colour) => colour.match(/[\\d.]+/g).map(Number);
        const light = (colour) => {
          const [r, g, b] = rgb(colour).map((part) => (part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const ground = (it) => {
          const colour = getComputedStyle(it).backgroundColor;
          return rgb(colour)[3] === 0 ? ground(it.parentElement) : colour;
        };
        const contrast = (it) => {
          const [a, b] = [light(getComputedStyle(it).color), light(ground(it))].sort((x, y) => y - x);
          return (a + 0.05) / (b + 0.05);
        };
        const texts = [...document.querySelectorAll("body *")].filter((it) =>
          it.checkVisibility() && [...it.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
        return texts.filter((it) => contrast(it) < 4.5).map((it) => `${it.className}: ${it.textContent.slice(0, 30)}`);
        })()"""
    )
    assert faint == []
    page.picture(pictures("dark" if dark else "light"))


def interactive_ms(page: Any, file: Path) -> float:
    """How long the page takes until it answers."""
    page.open(file)
    return float(page.value(INTERACTIVE))


def test_ten_skills_by_a_hundred_tasks_by_three_runs_are_interactive_within_a_second(page: Any, tmp_path: Path) -> None:
    reports = [
        skill(
            f"skill_{number}",
            [
                item(
                    f"task-{task:03d}", run, "fail" if (task + run) % (number + 2) == 0 else "pass", latencyMs=1.0 + task * run,
                    input={"q": "why? " * 40}, expected=task, output=f"{number} {task} {run} " + "word " * 500,
                    reasons=[{"code": "NOT_EQUAL", "message": f"not {task}"}],
                )
                for task in range(100) for run in range(3)
            ],
        )
        for number in range(10)
    ]  # fmt: skip
    file = written(tmp_path, reports, context())
    assert 1_000_000 < file.stat().st_size <= 3_000_000
    assert any(interactive_ms(page, file) < 1000 for _ in range(5)), "not even once: that is the page, not a busy machine"
    assert len(page.texts("#grid-table a[data-open]")) == 100
    filtering = "(() => { const begun = performance.now(); document.querySelector('#filter-search').value = 'task-07';"
    filtering += " document.querySelector('#filters').dispatchEvent(new Event('input')); return performance.now() - begun })()"
    assert page.value(filtering) < 1000
    assert len(page.texts("#grid-table a[data-open]")) == 10
