"""The page of a comparison: what goes into it, and that nothing gets out of its place."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest

from eval_skills.core.diff.diff import diff_reports
from eval_skills.core.models import SkillCompletionReport
from eval_skills.reporting.diff.report import DIFF_FORMATS, SCRIPTS, STYLES, DiffDocument, diff_format_of, render_html
from eval_skills.reporting.html.pages import page_assets
from tests.tables import each_row

MakeReport = Callable[..., SkillCompletionReport]
MakeItem = Callable[..., dict[str, Any]]
HOSTILE = "</script><!--<img src=x onerror=alert(1)> \" ' {{ 7 * 7 }} \u2028 & \x00\u202e\ud800"
TAGS = re.compile(r"<(/?[a-z!][a-z0-9-]*)")


@pytest.fixture
def document(make_report: MakeReport, make_item: MakeItem) -> Callable[..., DiffDocument]:
    """`echo` lost all its tasks, `same` stayed as it was, `gone` and `new` are on one side only."""

    def make(tasks: int = 8, answer: Any = "no", skill: str = "echo", **fields: Any) -> DiffDocument:
        good = [make_item(f"t{index}", status="pass", output="yes") for index in range(tasks)]
        why = [{"code": "NOT_EQUAL", "message": "no is not yes", "where": "$"}]
        bad = [make_item(f"t{index}", output=answer, reasons=why, latencyMs=2000.0) for index in range(tasks)]
        lone = [make_item("only", status="pass")]
        before = [make_report(skill, taskResults=good + lone, summary={"completionRate": 1.0}), make_report("gone")]
        after = [make_report(skill, taskResults=bad, summary={"completionRate": 0.0}), make_report("new")]
        same = make_report("same", taskResults=good)
        return DiffDocument(
            **{"diff": diff_reports([*before, same], [*after, same]), "before": "main", "after": "branch", **fields}
        )

    return make


def data_of(page: str) -> dict[str, Any]:
    [text] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return dict(json.loads(text))


def text_of(page: str, skill: str) -> str:
    """The section of a skill without its tags, on one line."""
    [section] = re.findall(rf'<section class="skill" data-skill="{re.escape(skill)}".*?</section>', page, re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", section)).split())


def test_p49_each_skill_has_its_verdict_and_what_the_sample_could_have_shown(document: Callable[..., DiffDocument]) -> None:
    page = render_html(document())
    worse = text_of(page, "echo@1.0.0")
    assert "means over the shared tasks, geometric ones where the change is in per cent" in page
    assert "✘ worse · mean difference -1.0000" in worse
    assert "What this sample could have shown is not known: the tasks' differences do not vary" in worse
    assert "Tasks before only: only" in worse
    assert "inconclusive · no task differs, and 8 tasks cannot show that nothing changed" in text_of(page, "same@1.0.0")
    assert "No task flipped." in text_of(page, "same@1.0.0")
    assert "Only B has this skill" in text_of(page, "new@1.0.0")
    assert "Only A has this skill" in text_of(page, "gone@1.0.0")
    assert "None" not in re.sub(r"<(style|script).*?</\1>", "", page, flags=re.DOTALL)


def test_p49_an_undecided_skill_says_what_its_sample_could_have_shown(make_report: MakeReport, make_item: MakeItem) -> None:
    before = [make_report(taskResults=[make_item(f"t{index}", status="pass") for index in range(8)])]
    after = [make_report(taskResults=[make_item(f"t{index}", status="pass" if index else "fail") for index in range(8)])]
    page = render_html(DiffDocument(diff=diff_reports(before, after), before="a", after="b"))
    said = text_of(page, "echo@1.0.0")
    assert "inconclusive · cannot decide at this size" in said
    assert re.search(r"This sample could only have shown ±\d+\.\d pp or more", said)
    assert 'class="banner quiet"' in page


def test_p48_good_and_bad_are_said_in_words_and_by_the_metric_not_by_the_sign(document: Callable[..., DiffDocument]) -> None:
    page = render_html(document())
    said = text_of(page, "echo@1.0.0")
    assert "completion 100.0 % 0.0 % -100.0 pp ↓ ✘ bad" in said
    assert "P95 12.5 ms 2,000 ms +1,987.5 ms composite" in said, "a percentile has no test of its own, and so no mark"
    assert page.count('class="change down"') == 2  # completion, and latency


def test_flipped_tasks_are_all_in_it_with_both_answers(document: Callable[..., DiffDocument]) -> None:
    data = data_of(render_html(document(30)))
    flips = {skill["name"]: skill["flips"] for skill in data["skills"]}
    assert {name: len(found) for name, found in flips.items()} == {
        "echo@1.0.0": 30,
        "gone@1.0.0": 0,
        "new@1.0.0": 0,
        "same@1.0.0": 0,
    }
    first = flips["echo@1.0.0"][0]
    assert (first["task"], first["change"]) == ("t0", "worse")
    sides = [(side["status"], side["rate"], data["texts"][side["output"]][0]) for side in (first["before"], first["after"])]
    assert sides == [("pass", "100.0 %", "yes"), ("fail", "0.0 %", "no")]
    assert [data["texts"][index][0] for index in first["after"]["reasons"]] == ["NOT_EQUAL: no is not yes (at $)"]


@pytest.mark.parametrize(
    ("failures", "says"),
    [(None, None), ([], "Gate passed:</strong> no skill is worse."), (["x is worse"], "<li>x is worse</li>")],
    ids=["no-gate", "passed", "failed"],
)
def test_the_gate_is_stated_where_there_is_one(
    document: Callable[..., DiffDocument], failures: list[str] | None, says: str | None
) -> None:
    page = render_html(document(failures=failures, remarks=["2 items are missing"]))
    assert (says in page) if says else ("Gate" not in page)
    assert "2 items are missing" in page


@pytest.mark.parametrize("place", ["answer", "skill", "before", "after", "remarks", "failures"])
def test_p68_hostile_text_stays_text_wherever_it_stands(document: Callable[..., DiffDocument], place: str) -> None:
    def rendered(text: str) -> str:
        return render_html(document(2, **{place: [text] if place in {"remarks", "failures"} else text}))

    page = rendered(HOSTILE)
    page.encode("utf-8")
    assert "alert(1)" in page
    assert "<img" not in page
    assert TAGS.findall(page) == TAGS.findall(rendered("tame"))


def test_nothing_is_fetched_and_the_policy_lets_only_our_own_texts_run(document: Callable[..., DiffDocument]) -> None:
    page = render_html(document())
    inline = [*re.findall(r"<script>(.*?)</script>", page, re.DOTALL), *re.findall(r"<style>(.*?)</style>", page, re.DOTALL)]
    [policy] = re.findall(r'<meta http-equiv="Content-Security-Policy" content="(.*?)">', page)
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in inline]
    assert re.findall(r"sha256-([A-Za-z0-9+/=]+)", policy.replace("&#43;", "+")) == hashes
    assert len(hashes) == 2
    assert not re.search(r"unsafe|https?:|\*", policy)
    assert not re.search(r"\s(src|style|on[a-z]+)=", re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL))


def test_no_file_of_ours_can_end_its_tag_or_write_markup() -> None:
    assets = page_assets(SCRIPTS, STYLES, libraries=())
    for text in (assets.script, assets.style):
        assert not re.search(r"</script|</style|<!--|innerHTML|outerHTML|insertAdjacent|document\.write|sourceMappingURL", text)
    assert assets.library == ""


def test_two_skills_of_one_name_have_names_of_their_own(make_report: MakeReport) -> None:
    reports = [make_report("a"), make_report("a", benchmarkId="other")]
    names = [
        skill["name"]
        for skill in data_of(render_html(DiffDocument(diff=diff_reports(reports, []), before="x", after="y")))["skills"]
    ]
    assert sorted(names) == ["a@1.0.0 on other", "a@1.0.0 on words"]


def test_the_bars_share_a_scale_that_holds_every_interval(document: Callable[..., DiffDocument]) -> None:
    page = render_html(document())
    assert set(re.findall(r'data-scale="([^"]+)"', page)) == {"1.0"}


def test_nothing_to_compare_is_said() -> None:
    page = render_html(DiffDocument(diff=diff_reports([], []), before="a", after="b"))
    assert "There is nothing to compare." in page


@each_row(
    ("output", "name"),
    [
        ("diff.html", "html"),
        ("D.HTM", "html"),
        ("x.json", "json"),
        ("x.md", "markdown"),
        ("folder/", "markdown"),
        ("x", "markdown"),
    ],
)
def test_p65_the_ending_of_a_file_says_its_format(output: str, name: str) -> None:
    assert diff_format_of(output) == name
    assert name in DIFF_FORMATS
