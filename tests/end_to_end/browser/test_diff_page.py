"""The page of a comparison in a real browser: verdicts, bars, flipped tasks to filter and search, and no stranger's code."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.diff.diff import diff_reports
from eval_skills.core.models import SkillCompletionReport
from eval_skills.reporting.diff.report import DiffDocument, render_html

pytestmark = pytest.mark.slow

PROBES = (
    "<script>document.documentElement.dataset.pwned=1</script>"
    "<img src=http://127.0.0.1:9/p.png onerror=document.documentElement.dataset.pwned=2>"
    "</script><svg onload=document.documentElement.dataset.pwned=3>"
    '"\'><a href="javascript:document.documentElement.dataset.pwned=4">x</a><style>*{display:none}</style><!--'
)
WHY = {"reasons": [{"code": "NOT_EQUAL", "message": "4 is not 5"}]}


def skill(skill_id: str, items: list[dict[str, Any]], version: str = "1.0.0") -> SkillCompletionReport:
    rate = sum(each["passed"] for each in items) / len(items)
    bounds = {"lower": max(0.0, rate - 0.1), "upper": min(1.0, rate + 0.1), "method": "wilson"}
    summary = {
        "completionRate": rate, "partialScore": rate, "errorRate": 0.0, "consistencyScore": 1.0, "compositeScore": 0.5 + rate / 2,
        "confidenceInterval": bounds, "passAtK": rate, "passHatK": None, "flakeRate": None,
    }  # fmt: skip
    return SkillCompletionReport.model_validate(
        {
            "skillId": skill_id,
            "skillVersion": version,
            "benchmarkId": "words",
            "timestamp": datetime(2026, 11, 21, tzinfo=UTC),
            "summary": summary,
            "latency": {"p50Ms": 1.0, "p95Ms": 20.0, "p99Ms": 30.0, "meanMs": 5.0},
            "tokenCost": {"promptTokens": None, "completionTokens": None, "totalTokens": None, "estimatedUSD": None},
            "taskResults": items,
        }
    )


def items(letters: str, **fields: Any) -> list[dict[str, Any]]:
    """An item per letter, p(ass) or f(ail)."""
    return [
        {
            "taskId": f"t{index:02d}", "runIndex": 0, "status": "pass" if letter == "p" else "fail", "passed": letter == "p",
            "latencyMs": 5.0, "output": "yes" if letter == "p" else "no", **({} if letter == "p" else fields),
        }
        for index, letter in enumerate(letters)
    ]  # fmt: skip


def written(folder: Path, old: list[SkillCompletionReport], new: list[SkillCompletionReport], **fields: Any) -> Path:
    document = DiffDocument(**{"diff": diff_reports(old, new), "before": "main", "after": "branch", **fields})
    file = folder / "diff.html"
    file.write_bytes(render_html(document).encode("utf-8"))
    return file


@pytest.fixture
def diff(tmp_path: Path) -> Path:
    """One skill that got worse in 24 tasks and better in one, one that got better, one too small to tell, one new, one gone."""
    before = [
        skill("loser", items("p" * 24 + "f", **WHY)),
        skill("winner", items("f" * 12)),
        skill("small", items("pp")),
        skill("gone", items("p")),
    ]
    after = [
        skill("loser", items("f" * 24 + "p", **WHY)),
        skill("winner", items("p" * 12)),
        skill("small", items("pf")),
        skill("new", items("p")),
    ]
    return written(tmp_path, before, after, failures=["loser is worse"], remarks=["2 items are missing"])


def test_it_opens_without_a_network_and_without_a_complaint(page: Any, diff: Path) -> None:
    page.open(diff)
    verdicts = dict(zip(page.texts("#verdict-table a[data-open]"), page.texts("#verdict-table .tag"), strict=True))
    assert verdicts == {
        "loser@1.0.0": "✘ worse", "winner@1.0.0": "✔ better", "small@1.0.0": "inconclusive",
        "new@1.0.0": "added", "gone@1.0.0": "removed",
    }  # fmt: skip
    assert page.complaints() == []
    assert page.requests() == [diff.as_uri()]


def test_the_policy_stops_requests_and_markup_made_of_text(page: Any, diff: Path) -> None:
    page.open(diff)
    assert page.value("fetch('http://127.0.0.1:9/').then(() => 'fetched', () => 'refused')") == "refused"
    markup = "(() => { try { document.body.innerHTML = '<p>' } catch (error) { return error.name } })()"
    assert page.value(markup) == "TypeError"


def test_the_bars_stand_on_their_side_of_zero_on_one_scale(page: Any, diff: Path) -> None:
    page.open(diff)
    place = (
        "(name) => { const rows = [...document.querySelectorAll('#verdict-table tbody tr')];"
        " const row = rows.find((it) => it.textContent.includes(name));"
        " const [range, zero] = ['.range', '.zero'].map((part) => row.querySelector(part).getBoundingClientRect());"
        " return [range.width > 1, Math.sign(Math.round(range.x + range.width / 2 - zero.x))] }"
    )
    assert page.value(f"['loser', 'winner'].map({place})") == [[True, -1], [True, 1]]
    assert page.value("document.querySelectorAll('.difference .point').length") == 6


@pytest.mark.parametrize(
    ("selector", "value", "left", "rows"),
    [
        pytest.param("#filter-change", "better", 14, 14, id="better"),
        pytest.param("#filter-change", "worse", 24, 20, id="worse"),
        pytest.param("#filter-search", "T00", 2, 2, id="task-in-any-case"),
        pytest.param("#filter-search", "4 is not", 25, 20, id="in-a-reason"),
        pytest.param("#filter-search", "nowhere", 0, 0, id="nothing"),
    ],
)
def test_filters(page: Any, tmp_path: Path, selector: str, value: str, left: int, rows: int) -> None:
    before = [skill("loser", items("p" * 24 + "f", **WHY)), skill("winner", items("f" * 13))]
    after = [skill("loser", items("f" * 24 + "p", **WHY)), skill("winner", items("p" * 13))]
    page.open(written(tmp_path, before, after))
    assert page.text("#filter-count") == "38 of 38 flipped tasks"
    page.choose(selector, value)
    assert page.text("#filter-count") == f"{left} of 38 flipped tasks"
    assert len(page.texts(".flips tbody tr")) == rows


def test_both_answers_stand_side_by_side_with_their_outcome_and_reasons(page: Any, diff: Path) -> None:
    page.open(diff)
    cells = [" ".join(text.split()) for text in page.texts("[data-skill='loser@1.0.0'] .flips tbody tr:first-child td")]
    assert cells == [
        "t00 ✘ worse",
        "✓ passed text yes",
        "✗ failed text no NOT_EQUAL: 4 is not 5 How B differs from A [A: yes ] [B: no ]",
    ]
    boxes = "[...document.querySelectorAll('.flips tbody tr:first-child')][0].cells"
    assert len(set(page.value(f"[...{boxes}].map((it) => it.getBoundingClientRect().y)"))) == 1


def test_of_several_runs_the_shown_one_is_named(page: Any, tmp_path: Path) -> None:
    def runs(letters: str) -> list[dict[str, Any]]:
        return [{**each, "taskId": "t", "runIndex": index} for index, each in enumerate(items(letters))]

    page.open(written(tmp_path, [skill("a", runs("ppp"))], [skill("a", runs("pff"))]))
    assert page.texts(".flips .outcome") == [
        "✓ passed run 1 of 3, 100.0 % of them passed",
        "✗ failed run 2 of 3, 33.3 % of them passed",
    ]


def test_the_address_holds_the_filters(page: Any, diff: Path) -> None:
    page.open(diff, "#flips.verdict=better&flips.change=better&flips.q=t1")
    assert page.text("#filter-count") == "2 of 38 flipped tasks"
    assert page.texts(".skill:not([hidden]) > h2")[0].startswith("winner@1.0.0")
    page.choose("#filter-verdict", "worse")
    page.choose("#filter-change", "worse")
    assert page.value("location.hash") == "#flips.verdict=worse&flips.change=worse&flips.q=t1"
    assert page.texts("#verdict-table a[data-open]")[0] == "loser@1.0.0"


def test_many_flipped_tasks_come_a_page_at_a_time(page: Any, diff: Path) -> None:
    page.open(diff)
    rows = "[data-skill='loser@1.0.0'] .flips tbody tr"
    assert len(page.texts(rows)) == 20
    page.click("[data-skill='loser@1.0.0'] .more")
    assert len(page.texts(rows)) == 25


def test_one_click_shows_all_of_a_long_list(page: Any, tmp_path: Path) -> None:
    page.open(written(tmp_path, [skill("a", items("p" * 46))], [skill("a", items("f" * 46))]))
    assert page.texts(".flips .more") == ["Show 20 more of 26", "Show all 46"]
    page.click(".flips .more + .more")
    assert len(page.texts(".flips tbody tr")) == 46
    assert page.value("[...document.querySelectorAll('.flips .more')].map((it) => it.hidden)") == [True, True]


def test_the_first_lines_say_what_got_worse_and_better(page: Any, diff: Path) -> None:
    page.open(diff)
    assert page.text(".summary").splitlines() == [
        "5 skills: 1 better, 1 worse, 0 equivalent, 1 inconclusive, 1 added, 1 removed; the biggest loss: loser@1.0.0, -92.0 pp.",
        "Tasks of all skills: 25 got worse, 13 got better, 1 equal, 0 not comparable.",
    ]


@pytest.mark.parametrize(
    ("fragment", "chosen", "sought", "notice"),
    [
        pytest.param("#skill=winner@1.0.0", "winner@1.0.0", None, "", id="skill"),
        pytest.param("#skill=winner", "winner@1.0.0", None, "", id="without-version"),
        pytest.param("#skill=loser@1.0.0&task=t23", "loser@1.0.0", "t23", "", id="a-task-beyond-the-first-page"),
        pytest.param("#skill=nobody", None, None, "This comparison has no skill “nobody”.", id="no-such-skill"),
        pytest.param("#skill=loser&task=<b>", "loser@1.0.0", None, "loser@1.0.0 has no flipped task “<b>”.", id="no-such-task"),
        pytest.param("#%E0%A4&&=", None, None, "", id="nonsense"),
    ],
)
def test_deep_links(page: Any, diff: Path, fragment: str, chosen: str | None, sought: str | None, notice: str) -> None:
    page.open(diff, fragment)
    expected = chosen or page.texts("#verdict-table a[data-open]")[0]
    assert page.value("document.querySelector('#skill-choice').value") == expected
    assert page.texts("tr.sought td:first-child a") == ([sought] if sought else [])
    assert page.value("document.querySelector('#notice').textContent") == notice
    assert page.complaints() == []


def test_a_row_leads_to_its_skill_and_the_slash_to_the_search(page: Any, diff: Path) -> None:
    page.open(diff)
    page.value(
        "[...document.querySelectorAll('#verdict-table a[data-open]')].find((it) => it.textContent === 'winner@1.0.0').focus()"
    )
    page.press("Enter")
    page.until("location.hash === '#skill=winner@1.0.0' && scrollY > 0")
    page.press("/")
    page.write("t11")
    page.until("document.querySelector('#filter-count').textContent.startsWith('2 of ')")


def test_p68_stored_scripts_stay_text_in_every_field(page: Any, tmp_path: Path) -> None:
    def probe(field: str) -> str:
        return f"[{field}] {PROBES}"

    reason = {"code": probe("code"), "message": probe("message"), "where": probe("where")}
    hostile = {"output": probe("answer"), "reasons": [reason]}
    before, after = items("pp"), items("fp", **hostile)
    for each in (before[0], after[0]):
        each["taskId"] = probe("task")
    after[1]["taskId"] = probe("only")
    file = written(
        tmp_path,
        [skill(probe("skill"), before, probe("version"))],
        [skill(probe("skill"), after, probe("version"))],
        before=probe("A"), after=probe("B"), failures=[probe("failure")], remarks=[probe("remark")],
    )  # fmt: skip
    page.open(file)
    everything = page.value("document.documentElement.textContent.replace(document.querySelector('#data').textContent, '')")
    fields = ("code", "message", "where", "answer", "task", "only", "skill", "version", "A", "B", "failure", "remark")
    assert [field for field in fields if probe(field) not in everything] == []
    assert page.value("'pwned' in document.documentElement.dataset") is False
    assert page.value("document.querySelectorAll('img, svg, iframe, style:not(head > style), a[href^=javascript]').length") == 0
    assert page.complaints() == []
    assert page.requests() == [file.as_uri()]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_light_and_dark(page: Any, diff: Path, dark: bool, pictures: Callable[[str], Path]) -> None:
    page.look(dark=dark)
    page.open(diff)
    assert page.value("getComputedStyle(document.body).backgroundColor") == ("rgb(20, 23, 28)" if dark else "rgb(255, 255, 255)")
    page.picture(pictures(f"diff-{'dark' if dark else 'light'}"))


def test_a_phone_shows_it_without_scrolling_sideways(page: Any, diff: Path, pictures: Callable[[str], Path]) -> None:
    page.look(width=390, height=800)
    page.open(diff)
    assert page.value("document.documentElement.scrollWidth") <= 390
    page.picture(pictures("diff-phone"))


def test_nothing_to_compare_opens(page: Any, tmp_path: Path) -> None:
    page.open(written(tmp_path, [], []))
    assert "There is nothing to compare." in page.text("main")
    assert page.complaints() == []


def test_on_a_narrow_screen_no_change_of_a_figure_is_cut(page: Any, tmp_path: Path) -> None:
    old, new = skill("s", items("p" * 8)), skill("s", items("f" * 8))
    slow = [each.model_copy(update={"latency": each.latency.model_copy(update={"p95_ms": 19_800_000.0})}) for each in (old, new)]
    page.look(width=400)
    page.open(written(tmp_path, slow[:1], slow[1:]))
    cut = "[...document.querySelectorAll('.figures-table')].filter((it) => it.scrollWidth > it.parentElement.clientWidth).length"
    assert page.value(cut) == 0
