"""The HTML report: what goes into it, that nothing gets out of its place, and how large it becomes."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from eval_skills.core.models import Benchmark, SkillCompletionReport
from eval_skills.reporting import ReportContext, render
from eval_skills.reporting.context import Provenance
from eval_skills.reporting.escape import script_json, visible
from eval_skills.reporting.html.navigation import Navigation
from eval_skills.reporting.html.pages import CHARTS, VENDOR, page_assets, version_kept_whole
from eval_skills.reporting.html.payload import payload, skill_names
from eval_skills.reporting.html.report import assets
from eval_skills.reporting.html.report import render as render_page
from eval_skills.reporting.html.runs import SHORTEST_LIMIT, TEXT_LIMIT, TextTable
from tests.tables import each_row

MakeReport = Callable[..., SkillCompletionReport]
MakeItem = Callable[..., dict[str, Any]]

SIZE_BAR = 3_000_000
HOSTILE = "</script><!--<img src=x onerror=alert(1)> \" ' {{ 7 * 7 }} \u2028\u2029 & \x00\u202e\ud800"


class Tags(HTMLParser):
    """The tags of a page, and the text between them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.opened: list[tuple[str, dict[str, str | None]]] = []
        self.contents: dict[str, list[str]] = {}
        self._within = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.opened.append((tag, dict(attrs)))
        self._within = tag

    def handle_endtag(self, tag: str) -> None:
        self._within = ""

    def handle_data(self, data: str) -> None:
        self.contents.setdefault(self._within, []).append(data)

    def names(self) -> list[str]:
        return [tag for tag, _ in self.opened]


def page_of(reports: list[SkillCompletionReport], context: ReportContext) -> str:
    return str(render("html", reports, context))


def data_of(page: str) -> dict[str, Any]:
    [text] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return dict(json.loads(text))


def shape(value: Any) -> Any:
    """The structure of JSON without its texts."""
    if isinstance(value, dict):
        return [shape(each) for each in value.values()]
    return [shape(each) for each in value] if isinstance(value, list) else type(value)


def many(make_report: MakeReport, make_item: MakeItem, answer: Callable[[int, int, int], Any]) -> list[SkillCompletionReport]:
    """10 skills × 100 tasks × 3 runs, none of which passed."""
    return [
        make_report(
            f"skill_{skill}",
            taskResults=[
                make_item(
                    f"task-{task:03d}",
                    runIndex=run,
                    input={"question": f"what is {task}? " * 20},
                    expected={"value": task},
                    output=answer(skill, task, run),
                    reasons=[{"code": "NOT_EQUAL", "message": f"expected {task}, got something of run {run}", "where": "$"}],
                    tags=["easy", "words"],
                )
                for task in range(100)
                for run in range(3)
            ],
        )
        for skill in range(10)
    ]


def judged(model: str, prompt: str, reason: str) -> dict[str, Any]:
    """What a report tells of a model that judged."""
    return {
        "items": 1, "judges": [{"model": model, "prompt": prompt, "items": 1, "calibration": None}],
        "correctedCompletion": None, "correctedReason": reason, "positionBias": [],
        "lengthBias": {"spearman": None, "items": 1, "rating": None, "reason": "few"},
    }  # fmt: skip


def test_a_text_is_stored_once_whoever_shows_it(make_report: MakeReport, make_item: MakeItem, context: ReportContext) -> None:
    items = [make_item(runIndex=run, input={"q": 1}, expected="4", output=4) for run in range(3)]
    data = payload([make_report("a", taskResults=items), make_report("b", taskResults=items)], context)
    assert [row for row in data["texts"] if row[1] != "text" or row[0] == "4"] == [
        ('{"q": 1}', "object", 0),
        ("4", "text", 0),
        ("4", "number", 0),
    ]
    assert len(data["tasks"]) == 1
    assert {item["task"] for skill in data["skills"] for item in skill["items"]} == {0}


def test_only_failed_answers_are_compared_with_what_was_expected(
    make_report: MakeReport, make_item: MakeItem, context: ReportContext
) -> None:
    ends: list[dict[str, Any]] = [
        {},
        {"status": "pass", "score": 1.0},
        {"errorKind": "contract"},
        {"status": "error", "errorKind": "infra"},
    ]
    items = [make_item(runIndex=run, expected={"value": [1, 2]}, output=[1], **end) for run, end in enumerate(ends)]
    data = payload([make_report(taskResults=items)], context)
    assert [item.get("difference") for item in data["skills"][0]["items"]] == [0, None, None, None]


def test_a_tag_without_a_verdict_is_unknown_and_one_that_lacks_some_is_marked(
    make_report: MakeReport, context: ReportContext
) -> None:
    bounds = {"lower": 0.0, "upper": 0.8, "method": "wilson"}
    tags = {
        name: {"completionRate": 0.0, "confidenceInterval": bounds, "items": 2, "tasks": 1, "missingItems": missing}
        for name, missing in (("whole", 0), ("partly", 1), ("down", 2))
    }
    report = make_report(byTag=tags)
    shown = {
        tag["tag"]: (tag.get("completion"), tag["shown"], tag.get("interval"))
        for tag in payload([report], context)["skills"][0]["tags"]
    }
    assert shown == {
        "whole": (0.0, "0.0 %", "0.0 to 80.0 %"),
        "partly": (0.0, "0.0 % *", "0.0 to 80.0 %"),
        "down": (None, "– *", None),
    }
    assert "| down | 1 | 2 | – \\* | – |" in str(render("markdown", [report], context))


@each_row(
    ("value", "shown"),
    [
        pytest.param("", ("", "text", 0), id="empty-is-not-absent"),
        pytest.param(True, ("true", "boolean", 0), id="boolean"),
        pytest.param(1.0, ("1.0", "number", 0), id="float-stays-one"),
        pytest.param([1, "é"], ('[1, "é"]', "list", 0), id="list"),
        pytest.param("x" * (TEXT_LIMIT + 7), ("x" * TEXT_LIMIT, "text", 7), id="cut-and-said"),
        pytest.param("a\u202eb\nc", ("a\\u202eb\nc", "text", 0), id="p68-direction-marks-are-visible"),
        pytest.param("a\u200bb\u061c\U000e0041", ("a\\u200bb\\u061c\\U000e0041", "text", 0), id="what-has-no-width-is-visible"),
        pytest.param("👩\u200d👧 می\u200cخواهم", ("👩\u200d👧 می\u200cخواهم", "text", 0), id="joiners-stay"),
    ],
)
def test_how_a_value_is_shown(value: Any, shown: tuple[str, str, int]) -> None:
    texts = TextTable()
    assert texts.add(value) == 0
    assert texts.rows() == [shown]


def test_absent_has_no_text() -> None:
    assert TextTable().add(None) is None


def test_a_long_list_is_indented() -> None:
    texts = TextTable()
    texts.add([f"word {number}" for number in range(20)])
    assert texts.rows()[0][0].startswith('[\n  "word 0",\n')


def test_texts_shrink_until_they_fit_and_say_by_how_much() -> None:
    texts = TextTable()
    for number in range(100):
        texts.add(f"{number:03d}" + "x" * 5000)
    rows = texts.rows(budget=60_000)
    assert {(len(text), more) for text, _, more in rows} == {(500, 4503)}
    assert {len(text) for text, _, _ in texts.rows(budget=10)} == {SHORTEST_LIMIT}


@pytest.mark.slow
@settings(max_examples=50)
@given(st.recursive(st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(), st.lists))
@example(HOSTILE)
def test_p68_json_in_a_script_is_the_same_value_and_ends_nothing(value: Any) -> None:
    text = script_json(value)
    assert json.loads(text) == value
    assert not set(text) & set("<>&\u2028\u2029")
    text.encode("utf-8")


def test_each_complexity_is_told_as_each_tag_is(make_report: MakeReport, context: ReportContext) -> None:
    group = {"completionRate": 0.5, "items": 4, "tasks": 2, "errorRate": 0.25}
    [skill] = data_of(page_of([make_report(byTag={"t": group}, byComplexity={"simple": group})], context))["skills"]
    [tag], [complexity] = skill["tags"], skill["complexity"]
    assert complexity == tag | {"tag": "simple"}
    assert (complexity["completion"], complexity["shown"], complexity["errorsShown"]) == (0.5, "50.0 %", "25.0 %")


def test_nan_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        script_json(float("nan"))


@pytest.mark.slow
@each_row(
    "place",
    ["skill", "version", "benchmark_id", "task", "message", "code", "where", "answer", "expected", "input", "tag", "task_tag",
     "complexity", "error", "dimension", "judge", "prompt", "corrected", "method", "title", "run_id", "name", "about",
     "description"],
)  # fmt: skip
def test_p68_hostile_text_stays_text_wherever_it_stands(
    make_report: MakeReport, make_item: MakeItem, context: ReportContext, place: str
) -> None:
    def rendered(text: str) -> str:
        def at(name: str, otherwise: str) -> str:
            return text if place == name else otherwise

        reason = {"code": at("code", "FORBIDDEN_TOOL_CALLED"), "message": at("message", "m"), "where": at("where", "w")}
        shared = {"tags": [at("task_tag", "k")], "input": {"q": at("input", "i")}, "expected": at("expected", "e")}
        items = [
            make_item(at("task", "t"), reasons=[reason], output=[at("answer", "a")], **shared),
            make_item("u", status="error", errorKind="skill", errorMessage=at("error", "e"), score=None),
            make_item("u", runIndex=1, status="pass", dimensions={at("dimension", "d"): 1.0}),
        ]
        report = make_report(
            at("skill", "s"),
            skillVersion=at("version", "1.0.0"),
            benchmarkId=at("benchmark_id", "words"),
            taskResults=items,
            byTag={at("tag", "g"): {"completionRate": 1.0, "items": 1, "tasks": 1}},
            evaluatorMetadata={"judge": judged(at("judge", "j"), at("prompt", "p"), at("corrected", "c"))},
            byComplexity={at("complexity", "g"): {"completionRate": 1.0, "items": 1, "tasks": 1}},
            summary={"confidenceInterval": {"lower": 0.1, "upper": 0.9, "method": at("method", "wilson")}},
        )
        told = {"id": "words", "name": at("name", "n"), "version": "1.0.0", "description": at("about", "about")}
        task = {"id": "t", "description": at("description", "d"), "expectedOutput": {"value": "x"}}
        benchmark = None if place == "benchmark_id" else Benchmark.model_validate({**told, "tasks": [task]})
        told_by = replace(context, title=at("title", "T"), run_id=at("run_id", "r"), benchmark=benchmark, min_completion=0.9)
        return page_of([report], told_by)

    text = HOSTILE.replace("\ud800", "") if place == "name" else HOSTILE  # the model of a benchmark's name refuses surrogates
    page = rendered(text)
    page.encode("utf-8")
    assert "alert(1)" in page
    assert "<img" not in page
    if place != "code":  # without its code, the reason is no reason for a banner
        tame = rendered("tame")
        assert Tags(page).names() == Tags(tame).names()
        assert shape(data_of(page)) == shape(data_of(tame))


def test_nothing_is_fetched_and_the_policy_lets_only_our_own_texts_run(make_report: MakeReport, context: ReportContext) -> None:
    page = page_of([make_report()], context)
    tags = Tags(page)
    [policy] = [attributes["content"] or "" for tag, attributes in tags.opened if attributes.get("http-equiv")]
    inline = [*re.findall(r"<script>(.*?)</script>", page, re.DOTALL), *re.findall(r"<style>(.*?)</style>", page, re.DOTALL)]
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in inline]
    assert re.findall(r"'sha256-([^']+)'", policy) == hashes
    assert policy.startswith("default-src 'none'; ")
    assert not re.search(r"unsafe|https?:|\*", policy)
    addresses = [attributes[name] for _, attributes in tags.opened for name in ("src", "href") if name in attributes]
    assert addresses == ["data:,", "#ranking"]
    assert not [name for _, attributes in tags.opened for name in attributes if name.startswith("on") or name == "style"]


@pytest.mark.parametrize("text", [assets().library, assets().script, assets().style], ids=["library", "script", "style"])
def test_no_file_of_ours_can_end_its_tag_or_write_markup(text: str) -> None:
    assert not re.search(r"</script|</style|<!--|innerHTML|outerHTML|insertAdjacent|document\.write|sourceMappingURL", text)


def test_the_vendored_library_is_the_file_that_its_note_names() -> None:
    notes = json.loads((VENDOR / "vendor.json").read_text(encoding="utf-8"))
    for note in notes:
        content = (VENDOR / note["file"]).read_bytes()
        assert (hashlib.sha256(content).hexdigest(), len(content)) == (note["sha256"], note["bytes"])
    assert f"Chart.js v{next(note['version'] for note in notes if note['name'] == CHARTS)}" in assets().library
    named = {name for note in notes for name in (note["file"], *note["licenses"])} | {"vendor.json"}
    assert {file.name for file in VENDOR.iterdir()} == named
    for note in notes:
        library = page_assets(("elements",), libraries=(note["name"],)).library
        assert library.count("Permission is hereby granted") == len(note["licenses"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(lambda skill, task, run: f"{skill} {task} {run} " + "<>&" * 900, id="all-signs-are-escaped"),
        pytest.param(lambda skill, task, run: [f"{skill} {task} {run} é漢" * 40] * 9, id="lists-of-wide-characters"),
        pytest.param(lambda skill, task, run: task, id="short"),
    ],
)
def test_ten_skills_by_a_hundred_tasks_by_three_runs_stay_under_the_bar(
    make_report: MakeReport, make_item: MakeItem, context: ReportContext, answer: Callable[[int, int, int], Any]
) -> None:
    page = page_of(many(make_report, make_item, answer), context)
    assert len(page.encode()) <= SIZE_BAR
    assert sum(len(skill["items"]) for skill in data_of(page)["skills"]) == 3000


def test_banners(make_report: MakeReport, make_item: MakeItem, context: ReportContext) -> None:
    forbidden = {"code": "FORBIDDEN_TOOL_CALLED", "message": "rm was called"}
    rogue = make_report("rogue", taskResults=[make_item(run, reasons=[forbidden]) for run in ("a", "b")])
    plain = page_of([make_report()], context)
    assert 'class="banner bad"' not in plain
    assert 'class="banner alarm"' not in plain
    assert "Partial run" not in plain
    page = page_of([rogue, make_report("sound")], replace(context, min_completion=0.9, partial=(5, 8)))
    alarm = (
        "by 1 of 2 skills",
        "rogue@1.0.0 called forbidden tools in 2 items",
        "a</bdi>#1</a>: rm was called",
        "b</bdi>#1</a>",
    )
    for said in (*alarm, "5 of 8 items finished", "Gate missed.", "0 of 2 skills met it"):
        assert said in page
    assert page.index("banner alarm") < page.index("Partial run") < page.index("Gate missed")
    assert page.count("rm was called") == 3  # twice in the banner, once among the texts
    assert "Gate met." in page_of([make_report()], replace(context, min_completion=0.85))
    hardly = page_of([make_report(summary={"completionRate": 2099 / 3000})], replace(context, min_completion=0.7))
    assert "at least 70.0 %" in hardly
    assert "<strong>69.97 %</strong>" in hardly, "not 70.0 %, which would have met it"
    for lack in ({"partial": (5, 8)}, {"skipped": ("skipped s: not valid JSON",)}):
        page = page_of([make_report()], replace(context, min_completion=0.85, **lack))
        assert "Gate not passed." in page
        assert "Not everything that was asked for was evaluated." in page
    assert "skipped s: not valid JSON" in page


def test_p31_completion_stands_before_the_composite(make_report: MakeReport, context: ReportContext) -> None:
    page = page_of([make_report()], context)
    assert page.index(">Completion<") < page.index(">Composite<")


def test_p38_unknown_cost_is_a_dash_and_sorts_as_unknown(make_report: MakeReport, context: ReportContext) -> None:
    paid = make_report("paid", token_cost={"estimatedUSD": 0.25})
    page = page_of([make_report(), paid], context)
    cells = re.findall(r'<td class="number"( data-value="0.25")?>(–|\$0.2500)</td>\s*</tr>', page)
    assert cells == [("", "–"), (' data-value="0.25"', "$0.2500")]
    assert ">Cost</th>" in page
    assert ">Cost</th>" not in page_of([make_report()], context), "a column of dashes"
    assert ("Cost", "–") in payload([make_report()], context)["skills"][0]["figures"]


def test_p69_reasons_errors_and_intervals_are_in_it(make_report: MakeReport, make_item: MakeItem, context: ReportContext) -> None:
    item = make_item(status="error", score=None, errorKind="infra", errorMessage="connection refused")
    data = payload([make_report(taskResults=[item])], context)
    [skill] = data["skills"]
    assert skill["errors"] == [{"kind": "infra", "items": 1, "message": 0}]
    assert [data["texts"][index][0] for index in skill["items"][0]["reasons"]] == ["infra: connection refused"]
    assert "62.1 to 96.8 %" in page_of([make_report()], context)


def test_the_report_of_nothing_says_so(context: ReportContext) -> None:
    assert "No skill was evaluated." in page_of([], replace(context, benchmark=None))


def test_every_report_has_a_name_of_its_own(make_report: MakeReport) -> None:
    reports = [make_report("a"), make_report("b"), make_report("a", benchmarkId="other"), make_report("a")]
    assert skill_names(reports) == ["a@1.0.0 on words", "b@1.0.0", "a@1.0.0 on other", "a@1.0.0 on words #2"]


def test_a_report_says_where_its_run_comes_from(make_report: MakeReport, context: ReportContext) -> None:
    told = replace(context, provenance=Provenance({"Benchmark": "words@1.2.0, sha256:<b>"}, "eval-skills eval --skills a"))
    page = page_of([make_report()], told)
    assert '<code id="command">eval-skills eval --skills a</code>' in page
    assert "words@1.2.0, sha256:&lt;b&gt;" in page
    exported = render_page([make_report()], told, navigation=Navigation("Runs", is_live=False, places={}))
    assert "--skills a" not in exported
    assert "Where this run comes from" not in page_of([make_report()], context)


def test_a_narrow_column_breaks_a_name_before_its_version() -> None:
    shown = {name: str(version_kept_whole(name)) for name in ("shout@1.0.0", "<i>@1", "x\u202e@1")}
    assert shown == {
        "shout@1.0.0": "shout<wbr>@1.0.0",
        "<i>@1": "&lt;i&gt;<wbr>@1",
        "x\u202e@1": visible("x\u202e") + "<wbr>@1",
    }
