"""What the HTML report shows across its skills, in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.reporting import numbers
from tests.end_to_end.browser.reports import context, item, skill, written

pytestmark = pytest.mark.slow

TEMPLATES = Path(numbers.__file__).parent / "templates"
CELL = "document.activeElement.ariaLabel"


def wide(skills: int, tasks: int) -> list[Any]:
    """Every skill failed the first task, one alone the second."""
    return [
        skill(
            f"skill-{s:02d}", [item(f"task-{t:03d}", 0, "fail" if t == 0 or (s, t) == (3, 1) else "pass") for t in range(tasks)]
        )
        for s in range(skills)
    ]


def test_the_matrix_says_by_sign_and_word_how_each_skill_did_each_task(page: Any, report: Path) -> None:
    page.open(report)
    cells = "row => [...row.cells].slice(1).map(it => it.innerText.trim())"
    signs = f"[...document.querySelectorAll('#matrix-table tbody tr')].map({cells})"
    assert [[cell.split("\n")[0] for cell in row] for row in page.value(signs)] == [
        ["✓", "◐ 1/2", "✗"], ["✓", "✗ 0/2", "✗"], ["·", "✓ 2/2", "·"], ["·", "✗ 0/2", "·"],
    ]  # fmt: skip
    label = page.value("document.querySelector('#matrix-table tbody tr td:nth-child(3) a').ariaLabel")
    assert label == "troubled@1.0.0 · t1: flaky, 1 of 2 runs passed, ◐ 1/2"
    page.click("#matrix-table tbody tr td:nth-child(3) a")
    page.until("document.querySelector('#task').open && document.querySelector('#task-name').textContent === 't1'")
    assert page.complaints() == []


def test_the_matrix_says_how_many_runs_have_no_verdict(page: Any, tmp_path: Path) -> None:
    down = [item("t", run, "error", errorKind="infra") for run in (1, 2)]
    page.open(written(tmp_path, [skill("sound", [item("t")]), skill("partly", [item("t"), *down])], context()))
    assert page.texts("#matrix-table tbody td") == ["✓", "✓ 1/3"]
    label = page.value("document.querySelector('#matrix-table tbody td:nth-child(3) a').ariaLabel")
    assert label == "partly@1.0.0 · t: passed, 1 of 3 runs passed, 2 without a verdict, ✓ 1/3"


def test_the_matrix_calls_no_task_failed_that_nobody_could_judge(page: Any, tmp_path: Path) -> None:
    down = item("t", 1, "error", errorKind="infra")
    page.open(written(tmp_path, [skill("one", [down]), skill("two", [down])], context()))
    assert "passed by none" in page.text("#matrix-table tbody tr")
    assert "failed" not in page.text("#matrix-table tbody tr")


def test_a_matrix_of_twenty_by_five_hundred_stays_small_and_is_filtered(page: Any, tmp_path: Path) -> None:
    file = written(tmp_path, wide(20, 500), context())
    page.open(file)
    assert page.value("document.querySelectorAll('#matrix-table tbody td').length") == 1000
    assert "Tasks 1–50 of 500" in page.text("#matrix-pages")
    page.click("#matrix-pages button:last-child")
    assert "Tasks 51–100 of 500" in page.text("#matrix-pages")
    assert "matrix.page=2" in page.value("location.hash")
    page.choose("#matrix-show", "all")
    assert page.text("#matrix-count") == "1 of 500 tasks"
    assert "passed by none" in page.text("#matrix-table tbody tr")
    page.choose("#matrix-show", "alone")
    assert "only skill-03@1.0.0 does not pass" in page.text("#matrix-table tbody tr")
    hash_ = page.value("location.hash")
    page.call("Page.navigate", url="about:blank")
    page.open(file, hash_)
    assert page.text("#matrix-count") == "1 of 500 tasks"
    assert page.complaints() == []


def test_a_name_above_the_matrix_breaks_before_its_version_and_not_within_it(page: Any, tmp_path: Path) -> None:
    names = ["n" * length for length in (*range(8, 13), 60)]
    page.open(written(tmp_path, [skill(name, [item("t1")]) for name in names], context()))
    version = (
        "(th) => { const [text] = [...th.querySelector('span').childNodes].slice(-1); const range = document.createRange();"
        " const end = text.data.length; range.setStart(text, end - '@1.0.0'.length); range.setEnd(text, end);"
        " return range.getClientRects().length }"
    )
    assert page.value(f"[...document.querySelectorAll('#matrix-table thead th')].slice(1).map({version})") == [1] * len(names)


def test_skills_beyond_those_that_fit_are_a_step_away(page: Any, tmp_path: Path) -> None:
    page.open(written(tmp_path, wide(35, 2), context()))
    assert "Skills 1–30 of 35" in page.text("#matrix-sides")
    page.click("#matrix-sides button:last-child")
    assert len(page.texts("#matrix-table thead th")) == 6


def test_the_matrix_is_walked_with_the_keys_and_keeps_its_heads_in_sight(page: Any, tmp_path: Path) -> None:
    page.open(written(tmp_path, wide(20, 60), context()))
    page.value("document.querySelector('#matrix-table tbody a[tabindex=\"0\"]').focus()")
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        page.press(key)
    assert page.value(CELL).startswith("skill-01@1.0.0 · task-001: ")
    page.press("End")
    assert page.value(CELL).startswith("skill-03@1.0.0 · task-001: ")
    for _ in range(40):
        page.press("ArrowDown")
    heads = page.value(
        "(() => { const box = document.querySelector('#matrix .scroll').getBoundingClientRect();"
        " const head = document.querySelector('#matrix-table thead th').getBoundingClientRect();"
        " return Math.abs(head.top - box.top) < 3 && Math.abs(head.left - box.left) < 3 })()"
    )
    assert heads
    page.press("Enter")
    page.until("document.querySelector('#task').open")


def test_one_skill_has_no_matrix(page: Any, tmp_path: Path) -> None:
    page.open(written(tmp_path, wide(1, 3), context()))
    assert page.value("document.querySelector('#matrix').hidden") is True


def test_quality_stands_against_time_and_cost_with_the_front(page: Any, tmp_path: Path) -> None:
    reports = [
        skill("fast", [item("t1", costUsd=0.5), item("t2", status="fail", costUsd=0.5)]),
        skill("good", [item("t1", costUsd=2.0), item("t2", costUsd=2.0)]),
        skill("free", [item("t1"), item("t2", status="fail")]),
    ]
    file = written(tmp_path, reports, context())
    page.open(file, "#places.x=cost")
    points = "Chart.getChart('places-chart').data.datasets.slice(0, 3).map(({data}) => data.map(({x, y}) => [x, y]))"
    assert page.value(points) == [[[2, 1], [0.5, 0.5]], [], [[0.5, 0.5], [2, 1]]]
    notes = page.text("#places-notes")
    assert "Pareto front, cheapest first: fast@1.0.0, good@1.0.0." in notes
    assert "Not drawn, since the cost is not known: free@1.0.0." in notes
    whiskers = "Chart.getChart('places-chart').data.datasets.slice(3).map(({data}) => data.map(({y}) => Math.round(y * 10)))"
    assert page.value(whiskers) == [[9, 10], [4, 6]]
    page.choose("#places-expense", "p50")
    assert page.value("location.hash") == "#places.x=p50"
    assert page.value("document.querySelectorAll('#places-table tbody tr').length") == 3
    assert page.complaints() == []


def test_costs_in_the_chart_are_those_of_the_ranking(page: Any, tmp_path: Path) -> None:
    """However far apart they are: three digits of a large one, or a small one in powers, are not what stands above."""
    costs = {"a": 0.00000012, "b": 0.05, "c": 1234.56, "d": 9_876_543.21}
    page.open(
        written(tmp_path, [skill(name, [item("t1", costUsd=cost)]) for name, cost in costs.items()], context()), "#places.x=cost"
    )
    page.value("document.querySelector('#places details').open = true")
    assert page.texts("#places-table td:nth-child(3)") == [numbers.usd(cost) for cost in costs.values()]
    ticks = page.value("Chart.getChart('places-chart').scales.x.ticks.map(({label}) => label).filter(Boolean)")
    assert {"0.001", "10", "1,000"} <= set(ticks)
    assert not [each for each in ticks if "." in each and each.endswith("0")]


def test_failures_are_grouped_and_a_click_filters_the_tasks(page: Any, report: Path) -> None:
    page.open(report)
    rows = [" ".join(text.split()) for text in page.texts("#group-table tbody tr")]
    assert rows[0].startswith("NOT_EQUAL failed check 3 2 troubled@1.0.0 3 t1#2: NOT_EQUAL: 4 is not 5")
    page.click("#group-table tbody tr a")
    page.until("document.querySelector('#skill-name').textContent === 'troubled@1.0.0'")
    assert page.texts("#grid-table a[data-open]") == ["t1", "t4"]
    assert page.value("location.hash") == "#skill=troubled@1.0.0&tasks.why=reason:NOT_EQUAL"
    page.click("#error-table tbody a")
    page.until("document.querySelectorAll('#grid-table a[data-open]').length === 1")
    assert (page.texts("#grid-table a[data-open]"), page.value("document.querySelector('#filter-why').value")) == (
        ["t2"],
        "error:infra",
    )
    page.click("#failure-table a[data-open]")
    page.until("document.querySelector('#task').open")
    page.click("#task-runs .run:last-child .label a")
    page.until("!document.querySelector('#task').open && document.querySelector('#filter-why').value === 'error:timeout'")
    page.value("history.back()")
    page.until("document.querySelector('#filter-why').value === 'error:infra'")
    assert page.complaints() == []


def test_of_reasons_that_are_left_out_no_more_is_said_than_is_known(page: Any, tmp_path: Path) -> None:
    """Each of 201 has one item: the last one does not have fewer than those that are shown."""
    items = [item(f"t{n}", status="fail", reasons=[{"code": f"R{n:03}", "message": "no"}]) for n in range(201)]
    page.open(written(tmp_path, [skill("a", items)], context()))
    assert page.text("#groups-left") == "Not on this page: 1 more reason, with as many items or fewer."


def test_the_kind_of_an_error_is_a_filter_by_keys_too_and_the_same_link_takes_it_off(page: Any, report: Path) -> None:
    page.open(report, "#skill=troubled@1.0.0")
    for on in (True, False):
        page.value("document.querySelector('#error-table a[data-why=\"error:timeout\"]').focus()")
        page.press("Enter")
        page.until(f"document.querySelector('#filter-why').value === '{'error:timeout' if on else ''}'")
        assert page.texts("#grid-table a[data-open]") == (["t2"] if on else ["t1", "t2", "t3", "t4"])
        assert page.value("location.hash") == "#skill=troubled@1.0.0" + ("&tasks.why=error:timeout" if on else "")
        assert page.texts("[aria-current=true][data-why]") == (["timeout", "troubled@1.0.0", "timeout", "timeout"] if on else [])


def test_a_filter_that_another_skill_knows_stays_on_where_nothing_meets_it(page: Any, report: Path) -> None:
    page.open(report, "#skill=sound@1.0.0&tasks.why=error:timeout")
    assert page.text("#filter-count") == "0 of 2 tasks"
    assert page.value("document.querySelector('#filter-why').value") == "error:timeout"


def test_filters_sort_and_search_live_in_the_address(page: Any, report: Path) -> None:
    page.open(report, "#skill=troubled@1.0.0&tasks.show=open&tasks.sort=-Task&ranking.sort=Completion")
    assert page.texts("#grid-table a[data-open]") == ["t4", "t2", "t1"]
    assert page.texts("#ranking-table a[data-open]") == ["wrong@1.0.0", "troubled@1.0.0", "sound@1.0.0"]
    page.choose("#filter-search", "not 5")
    assert page.value("location.hash").endswith("&tasks.q=not%205")
    page.click("#grid-table a[data-open]")
    page.until("document.querySelector('#task').open")
    assert "tasks.q=not%205" in page.value("location.hash")
    page.press("Escape")
    page.until("!document.querySelector('#task').open")
    assert page.texts("#grid-table a[data-open]") == ["t4", "t1"]


@pytest.mark.parametrize(("dark", "width"), [(False, 1280), (True, 390)], ids=["light", "dark-phone"])
def test_it_looks_well(page: Any, tmp_path: Path, pictures: Callable[[str], Path], dark: bool, width: int) -> None:
    page.look(dark=dark, width=width)
    page.open(written(tmp_path, wide(20, 60), context()))
    assert page.value("document.documentElement.scrollWidth") <= width
    page.picture(pictures(f"across-{width}"))


def test_the_script_rounds_as_python_does(page: Any, report: Path) -> None:
    page.open(report)
    script = (TEMPLATES / "html" / "elements.js").read_text(encoding="utf-8")

    def written_by(function: str, values: list[float]) -> Any:
        return page.value(f"(() => {{ {script}\nreturn {values}.map({function}); }})()")

    rates = [passed / 16 for passed in range(17)] + [1 / 3, 0.99999, 0.00001]
    assert written_by("percent", rates) == [numbers.rate(rate) for rate in rates]
    amounts = [-56.25, -0.04, 1.005, 2.675, 0.15, 0.03125, 6.25]
    assert written_by("(each) => fixed(each, 1)", amounts) == [f"{amount:z.1f}" for amount in amounts]
    times = [99.25, 100.5, 101.5, 1234.5, 1e20, 1e22]
    assert written_by("milliseconds", times) == [numbers.milliseconds(time) for time in times]


def test_the_number_of_a_run_stands_behind_a_name_that_is_read_from_the_right(page: Any, tmp_path: Path) -> None:
    page.open(written(tmp_path, [skill("a", [item("שלום", status="fail"), item("t2")])], context()))
    assert page.value(
        "(() => { const [name, number] = document.querySelector('#group-table .reason a').childNodes;"
        " const range = document.createRange(); range.selectNode(number);"
        " return range.getBoundingClientRect().left >= name.getBoundingClientRect().right - 1 })()"
    )


def test_every_item_is_in_a_bin_of_the_histogram(page: Any) -> None:
    """Of some times a division says one step too few: 0.043 ms began a bin that was not there."""
    program = (TEMPLATES / "html" / "latency.js").read_text(encoding="utf-8")
    ranges = [[time / 1000, time / 1000] for time in range(1, 3000)] + [[0.0, 0.3], [0.2, 0.9], [19_800_000.0, 19_800_000.1]]
    held = "([low, high]) => { const { edges } = latencyEdges([low, high]); return edges[0] <= low && high < edges.at(-1) }"
    assert (
        page.value(f"(() => {{ {program}\nconst ranges = {ranges}; return ranges.filter((each) => !({held})(each)) }})()") == []
    )
