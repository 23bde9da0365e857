"""The HTML report in a real browser: it opens offline, answers to mouse and keys, and runs no stranger's code."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.models import Benchmark, SkillCompletionReport
from eval_skills.reporting import ReportContext, render

pytestmark = pytest.mark.xdist_group("browser")

CREATED = datetime(2026, 11, 21, 23, 38, 24, tzinfo=UTC)
PROBES = (
    "<script>document.documentElement.dataset.pwned=1</script>"
    "<img src=http://127.0.0.1:9/p.png onerror=document.documentElement.dataset.pwned=2>"
    "</script><svg onload=document.documentElement.dataset.pwned=3>"
    '"\'><a href="javascript:document.documentElement.dataset.pwned=4">x</a><style>*{display:none}</style><!--'
)
INTERACTIVE = "performance.getEntriesByName('interactive')[0].startTime"


def skill(skill_id: str, items: list[dict[str, Any]], tag: str = "easy", method: str = "wilson") -> SkillCompletionReport:
    """The report of one skill with these items; its figures are told by the items, or unremarkable."""
    passed = sum(item["status"] == "pass" for item in items)
    rate = passed / len(items)
    bounds = {"lower": max(0.0, rate - 0.1), "upper": min(1.0, rate + 0.1), "method": method}
    summary = {
        "completionRate": rate, "partialScore": rate, "errorRate": 0.0, "consistencyScore": 1.0, "compositeScore": 0.5 + rate / 2,
        "confidenceInterval": bounds, "passAtK": rate, "passHatK": None, "flakeRate": 0.1,
    }  # fmt: skip
    return SkillCompletionReport.model_validate(
        {
            "skillId": skill_id,
            "skillVersion": "1.0.0",
            "benchmarkId": "words",
            "timestamp": CREATED,
            "summary": summary,
            "latency": {"p50Ms": 1.0 + 100 * rate, "p95Ms": 20.0, "p99Ms": 30.0, "meanMs": 5.0},
            "tokenCost": {"promptTokens": None, "completionTokens": None, "totalTokens": None, "estimatedUSD": None},
            "byTag": {tag: {"completionRate": rate, "items": 4, "tasks": 2, "confidenceInterval": bounds}},
            "taskResults": items,
        }
    )


def item(task: str, run: int = 0, status: str = "pass", **fields: Any) -> dict[str, Any]:
    """One item; it is as dull as it can be unless told otherwise."""
    return {"taskId": task, "runIndex": run, "status": status, "passed": status == "pass", "latencyMs": 5.0, **fields}


def three_skills() -> list[SkillCompletionReport]:
    """One that always passes, one with a flaky task and one of every trouble, one that always fails."""
    asked: dict[str, Any] = {"input": {"q": "2+3"}, "expected": 5}
    wrong: dict[str, Any] = {"reasons": [{"code": "NOT_EQUAL", "message": "4 is not 5"}], "output": "4", **asked}
    troubled = [
        item("t1", 0, **asked, tags=["math"]), item("t1", 1, "fail", **wrong, tags=["math"]),
        item("t2", 0, "error", errorKind="infra", errorMessage="refused"), item("t2", 1, "timeout", latencyMs=30_000.0),
        item("t3", 0, tags=["text"]), item("t3", 1, tags=["text"]),
        item("t4", 0, "fail", **wrong), item("t4", 1, "fail", **wrong),
    ]  # fmt: skip
    return [
        skill("sound", [item("t1"), item("t2")]),
        skill("troubled", troubled),
        skill("wrong", [item("t1", status="fail", output="x" * 5000), item("t2", status="fail")]),
    ]


def context(**fields: Any) -> ReportContext:
    return ReportContext(**{"run_id": "20261121T233824Z-3f9a", "created_at": CREATED, "min_completion": 0.7, **fields})


@pytest.fixture
def report(tmp_path: Path) -> Path:
    return written(tmp_path, three_skills(), context())


def written(folder: Path, reports: list[SkillCompletionReport], told: ReportContext) -> Path:
    file = folder / "report.html"
    file.write_bytes(str(render("html", reports, told)).encode("utf-8"))
    return file


def test_it_opens_without_a_network_and_without_a_complaint(page: Any, report: Path) -> None:
    page.open(report)
    assert page.texts("#ranking-table a[data-open]") == ["sound@1.0.0", "troubled@1.0.0", "wrong@1.0.0"]
    assert page.text("#skill-name") == "sound@1.0.0"
    assert page.complaints() == []
    assert page.requests() == [report.as_uri()]


def test_the_policy_stops_scripts_requests_and_markup_made_of_text(page: Any, report: Path) -> None:
    page.open(report)
    fetched = "fetch('http://127.0.0.1:9/').then(() => 'fetched', () => 'refused')"
    markup = "(() => { try { document.body.innerHTML = '<p>' } catch (error) { return error.name } })()"
    inline = "(() => { const it = document.createElement('script'); it.append('window.ran = 1'); document.body.append(it) })()"
    assert page.value(fetched) == "refused"
    assert page.value(markup) == "TypeError"
    assert page.value(f"{inline}; 'ran' in window") is False
    assert page.requests() == [report.as_uri()]


def test_a_header_sorts_and_a_second_click_turns_the_order(page: Any, report: Path) -> None:
    page.open(report)
    names = "#ranking-table tbody a[data-open]"
    header = "#ranking-table th:nth-child(3)"
    page.click(f"{header} button")
    assert page.texts(names) == ["sound@1.0.0", "troubled@1.0.0", "wrong@1.0.0"]
    assert page.value(f"document.querySelector('{header}').ariaSort") == "descending"
    page.click(f"{header} button")
    assert page.texts(names) == ["wrong@1.0.0", "troubled@1.0.0", "sound@1.0.0"]
    assert page.value(f"document.querySelector('{header}').ariaSort") == "ascending"


@pytest.mark.parametrize(
    ("column", "order"),
    [
        pytest.param(1, ["t1", "t2", "t3", "t4"], id="task"),
        pytest.param(3, ["t1", "t2", "t3", "t4"], id="flaky-first"),
        pytest.param(4, ["t3", "t1", "t2", "t4"], id="most-passed-first"),
        pytest.param(6, ["t2", "t1", "t3", "t4"], id="slowest-first"),
    ],
)
def test_the_tasks_sort(page: Any, report: Path, column: int, order: list[str]) -> None:
    page.open(report, "#skill=troubled@1.0.0")
    page.click(f"#grid-table th:nth-child({column}) button")
    assert page.texts("#grid-table a[data-open]") == order


@pytest.mark.parametrize(
    ("selector", "value", "left"),
    [
        pytest.param("#filter-status", "flaky", ["t1"], id="flaky"),
        pytest.param("#filter-status", "open", ["t1", "t2", "t4"], id="not-passed"),
        pytest.param("#filter-status", "error", ["t2"], id="error"),
        pytest.param("#filter-status", "timeout", ["t2"], id="timeout"),
        pytest.param("#filter-status", "pass", ["t3"], id="passed"),
        pytest.param("#filter-tag", ".text", ["t3"], id="tag"),
        pytest.param("#filter-search", "not 5", ["t1", "t4"], id="in-a-reason"),
        pytest.param("#filter-search", "2+3", ["t1", "t4"], id="in-an-input"),
        pytest.param("#filter-search", "REFUSED", ["t2"], id="any-case"),
        pytest.param("#filter-search", "nowhere", [], id="nothing"),
    ],
)
def test_filters(page: Any, report: Path, selector: str, value: str, left: list[str]) -> None:
    page.open(report, "#skill=troubled@1.0.0")
    page.choose(selector, value)
    assert page.texts("#grid-table a[data-open]") == left
    assert set(page.texts("#failure-table a[data-open]")) <= set(left)
    assert page.text("#filter-count") == f"{len(left)} of 4 tasks"


def test_flaky_tasks_stand_out(page: Any, report: Path) -> None:
    page.open(report, "#skill=troubled@1.0.0")
    assert page.texts("#grid-table tr.mixed a[data-open]") == ["t1"]
    assert page.texts("#grid-table tr.mixed .mark") == ["✓", "✗"]
    said = page.value("document.querySelector('#grid-table tr.mixed .strip').ariaLabel")
    assert said == "run 1: passed, run 2: failed"


def test_a_failure_shows_input_expected_answer_and_reasons_side_by_side(page: Any, report: Path) -> None:
    page.open(report, "#skill=troubled@1.0.0")
    cells = [" ".join(text.split()) for text in page.texts("#failure-table tr:first-child td")]
    assert cells == ["t1 ✗ failed run 2", 'object {"q": "2+3"}', "number 5", "text 4", "NOT_EQUAL: 4 is not 5"]
    assert " ".join(page.text("#failure-table tr:last-child td").split()) == "t4 ✗ failed runs 1, 2"
    boxes = page.value(
        "[...document.querySelectorAll('#failure-table tr:first-child td')].map(it => it.getBoundingClientRect().y)"
    )
    assert len(set(boxes)) == 1
    page.click("#failure-table tbody td:nth-child(4)")
    page.until("document.querySelector('#task').open")
    assert page.text("#task-name") == "t1"
    assert page.texts("#task-runs .tag") == ["✓ passed", "✗ failed"]


def test_a_cut_answer_says_how_much_is_missing(page: Any, report: Path) -> None:
    page.open(report, "#skill=wrong@1.0.0&task=t1")
    assert page.text("#task-runs .cut") == "✂ 3,000 more characters in the JSON report"
    assert len(page.text("#task-runs pre")) == 2000


def agent_report(folder: Path) -> Path:
    """An agent that called a forbidden tool second, and was judged on four dimensions."""
    called = [
        {"name": "search", "arguments": {"city": "Bern"}, "result": ["Krone"]},
        {"name": "rm", "arguments": {"path": "x" * 5_000}, "error": "permission denied"},
    ]
    why = [{"code": "FORBIDDEN_TOOL_CALLED", "message": "forbidden tool 'rm' was called 1 time", "where": "toolCalls[1]"}]
    told = [{"role": "user", "content": "a room in Bern"}]
    items = [item("trip", 0, "fail", reasons=why, toolCalls=called, messages=told, timeToFirstTokenMs=12.0), item("trip", 1)]
    data = skill("an_agent_of_some_name", items).to_json()
    names = ("tool_accuracy", "sequence_correctness", "output_quality", "hallucination")
    data["dimensions"] = {name: {"mean": 0.5, "items": 2} for name in names}
    data["latency"] |= {"p50Ms": 1234.5, "p95Ms": 23_456.7, "timeToFirstTokenP50Ms": 12.0}
    data["tokenCost"]["estimatedUSD"] = 0.0123
    task = {"id": "trip", "expected": {"tools": ["search"], "forbiddenTools": ["rm"]}, "thresholds": {"minScore": 80}}
    benchmark = Benchmark.model_validate({"id": "words", "name": "Words", "version": "1.0.0", "tasks": [task]})
    return written(folder, [SkillCompletionReport.model_validate(data)], context(benchmark=benchmark))


def test_a_task_shows_the_calls_of_each_run_and_marks_the_one_a_reason_points_to(page: Any, tmp_path: Path) -> None:
    page.open(agent_report(tmp_path))
    page.click("a[data-alarm]")
    page.until("document.querySelector('#task').open")
    assert page.value("location.hash").endswith("task=trip&run=1")
    assert " ".join(page.text("#task-runs h3").split()).startswith("Run 1 ✗ failed")
    rows = [" ".join(text.split()) for text in page.texts(".calls li > details > summary")]
    assert rows == ['toolCalls[0] search {"city": "Bern"} → result: ["Krone"]', "toolCalls[1] rm ◀ reason"]
    assert page.texts(".calls li.pointed .cut") == ["✂ 3,012 more characters in the JSON report"]
    assert "permission denied" in page.text(".calls li.pointed")
    assert page.value("document.querySelector('.messages').open") is False
    page.click(".messages > summary")
    page.until("document.querySelector('.messages').open")
    assert "a room in Bern" in page.text(".messages")
    assert '"minScore": 80' in page.text("#task-asked")
    assert "first token 12.0 ms" in page.text("#task-runs h3")
    assert page.complaints() == []


def test_the_search_finds_a_call(page: Any, tmp_path: Path) -> None:
    page.open(agent_report(tmp_path))
    page.choose("#filter-search", '"city": "bern"')
    assert page.texts("#grid-table a[data-open]") == ["trip"]
    page.choose("#filter-search", "no such tool")
    assert page.texts("#grid-table a[data-open]") == []


def test_the_ranking_of_an_agent_fits_a_screen(page: Any, tmp_path: Path, pictures: Callable[[str], Path]) -> None:
    page.look(width=1500, height=1000)
    page.open(agent_report(tmp_path))
    shown = "[...document.querySelectorAll('.scroll')].filter((it) => it.checkVisibility())"
    assert set(page.value(f"{shown}.map((it) => it.scrollWidth - it.clientWidth)")) == {0}
    page.picture(pictures("agent"))
    assert page.texts("#dimension-table th")[1:] == ["Tool accuracy", "Sequence correctness", "Output quality", "Hallucination"]


def test_no_word_of_the_heading_breaks_on_a_phone(page: Any, tmp_path: Path, pictures: Callable[[str], Path]) -> None:
    page.look(width=400, height=900)
    page.open(agent_report(tmp_path))
    lines = "(it) => { const text = document.createRange(); text.selectNodeContents(it); return text.getClientRects().length }"
    assert set(page.value(f"[...document.querySelectorAll('.facts dt')].map({lines})")) == {1}
    completion = page.value("document.querySelector('#figures dd').textContent")
    assert completion == "50.0\u00a0% (40.0\u00a0to\u00a060.0\u00a0%)"
    page.picture(pictures("agent-phone"))


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


@pytest.mark.parametrize(
    ("fragment", "name", "task", "notice"),
    [
        pytest.param("#skill=troubled@1.0.0", "troubled@1.0.0", None, "", id="skill"),
        pytest.param("#skill=troubled&task=t2", "troubled@1.0.0", "t2", "", id="without-version"),
        pytest.param("#skill=troubled%401.0.0&task=t4", "troubled@1.0.0", "t4", "", id="encoded"),
        pytest.param("#skill=gone@1.0.0", "sound@1.0.0", None, "This report has no skill “gone@1.0.0”.", id="no-such-skill"),
        pytest.param("#skill=sound@1.0.0&task=<b>", "sound@1.0.0", None, "sound@1.0.0 has no task “<b>”.", id="no-such-task"),
        pytest.param("#%E0%A4&&=", "sound@1.0.0", None, "", id="nonsense"),
    ],
)
def test_deep_links(page: Any, report: Path, fragment: str, name: str, task: str | None, notice: str) -> None:
    page.open(report, fragment)
    assert page.text("#skill-name") == name
    assert page.value("document.querySelector('#task').open") is (task is not None)
    assert page.value("document.querySelector('#task-name').textContent") == (task or "")
    assert page.value("document.querySelector('#notice').textContent") == notice
    assert page.complaints() == []


def test_the_keyboard_is_enough(page: Any, report: Path) -> None:
    page.open(report)
    page.value("document.querySelector('#ranking-table a[data-open]').focus()")
    page.press("ArrowDown")
    assert page.value("document.activeElement.textContent") == "troubled@1.0.0"
    assert page.value("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.press("Enter")
    page.until("document.querySelector('#skill-name').textContent === 'troubled@1.0.0'")
    page.press("/")
    page.write("t4")
    assert page.texts("#grid-table a[data-open]") == ["t4"]
    page.press("Escape")
    assert len(page.texts("#grid-table a[data-open]")) == 4
    page.value("document.querySelector('#grid-table a[data-open]').focus()")
    page.press("Enter")
    page.until("document.querySelector('#task').open && document.querySelector('#task-name').textContent === 't1'")
    page.press("ArrowRight")
    page.until("document.querySelector('#task-name').textContent === 't2' && location.hash.endsWith('task=t2')")
    page.press("Escape")
    page.until("!document.querySelector('#task').open && location.hash === '#skill=troubled@1.0.0'")


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


def test_p68_stored_scripts_stay_text_in_every_field(page: Any, tmp_path: Path) -> None:
    def probe(field: str) -> str:
        return f"[{field}] {PROBES}"

    reasons = [
        {"code": probe("code"), "message": probe("message"), "where": probe("where")},
        {"code": "FORBIDDEN_TOOL_CALLED", "message": probe("tool"), "where": "toolCalls[0]"},
    ]
    called = [{"name": probe("call"), "arguments": {probe("argument"): 1}, "result": probe("result"), "error": probe("refusal")}]
    said = [{"role": probe("role"), "content": probe("content")}]
    asked: dict[str, Any] = {"input": {probe("key"): probe("input")}, "expected": probe("expected"), "tags": [probe("tag")]}
    wrong = {
        "reasons": reasons,
        "output": probe("answer"),
        "dimensions": {probe("dimension"): 0.5},
        "toolCalls": called,
        "messages": said,
    }
    items = [
        item(probe("task"), 0, "fail", **asked, **wrong),
        item(probe("task"), 1, "error", **asked, errorKind="skill", errorMessage=probe("error")),
    ]
    benchmark = Benchmark.model_validate(
        {"id": "words", "name": probe("name"), "version": "1.0.0", "description": probe("about"),
         "tasks": [{"id": probe("task"), "description": probe("description"), "expectedOutput": {"value": 1}}]}
    )  # fmt: skip
    told = context(title=probe("title"), run_id=probe("run"), benchmark=benchmark, partial=(1, 2))
    file = written(tmp_path, [skill(probe("skill"), items, probe("bytag"), probe("method"))], told)
    page.open(file)
    page.click("#failure-table a[data-open]")
    page.until("document.querySelector('#task').open")
    page.choose("#filter-search", "<script>")
    everything = page.value("document.documentElement.textContent.replace(document.querySelector('#data').textContent, '')")
    fields = (
        "code", "message", "where", "tool", "input", "key", "expected", "tag", "answer", "dimension", "task", "error", "name",
        "about", "description", "title", "run", "skill", "bytag", "method",
        "call", "argument", "result", "refusal", "role", "content",
    )  # fmt: skip
    shown = [field for field in fields if probe(field) in everything or json.dumps(probe(field))[1:-1] in everything]
    assert shown == list(fields)
    assert page.value("'pwned' in document.documentElement.dataset") is False
    assert page.value("document.querySelectorAll('img, svg, iframe, style:not(head > style), a[href^=javascript]').length") == 0
    assert page.complaints() == []
    assert page.requests() == [file.as_uri()]


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
    page.open(file)
    assert page.value(INTERACTIVE) < 1000
    assert len(page.texts("#grid-table a[data-open]")) == 100
    filtering = "(() => { const begun = performance.now(); document.querySelector('#filter-search').value = 'task-07';"
    filtering += " document.querySelector('#filters').dispatchEvent(new Event('input')); return performance.now() - begun })()"
    assert page.value(filtering) < 1000
    assert len(page.texts("#grid-table a[data-open]")) == 10


def test_many_failures_come_a_page_at_a_time(page: Any, tmp_path: Path) -> None:
    items = [item(f"t{number}", status="fail", output=number) for number in range(30)]
    page.open(written(tmp_path, [skill("s", items)], context()))
    assert len(page.texts("#failure-table tbody tr")) == 20
    assert page.text("#failures-more") == "Show 10 more of 10"
    page.click("#failures-more")
    assert len(page.texts("#failure-table tbody tr")) == 30
    assert page.value("document.querySelector('#failures-more').hidden") is True


def test_a_report_of_nothing_opens(page: Any, tmp_path: Path) -> None:
    page.open(written(tmp_path, [], context(min_completion=None)))
    assert "No skill was evaluated." in page.text("main")
    assert page.complaints() == []
