"""The HTML report runs no stranger's code, whatever is stored in its fields."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from eval_skills.core.models import Benchmark
from tests.end_to_end.browser.reports import context, item, skill, written

PROBES = (
    "<script>document.documentElement.dataset.pwned=1</script>"
    "<img src=http://127.0.0.1:9/p.png onerror=document.documentElement.dataset.pwned=2>"
    "</script><svg onload=document.documentElement.dataset.pwned=3>"
    '"\'><a href="javascript:document.documentElement.dataset.pwned=4">x</a><style>*{display:none}</style><!--'
)


def test_the_policy_stops_scripts_requests_and_markup_made_of_text(page: Any, report: Path) -> None:
    page.open(report)
    fetched = "fetch('http://127.0.0.1:9/').then(() => 'fetched', () => 'refused')"
    markup = "(() => { try { document.body.innerHTML = '<p>' } catch (error) { return error.name } })()"
    inline = "(() => { const it = document.createElement('script'); it.append('window.ran = 1'); document.body.append(it) })()"
    assert page.value(fetched) == "refused"
    assert page.value(markup) == "TypeError"
    assert page.value(f"{inline}; 'ran' in window") is False
    assert page.requests() == [report.as_uri()]


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
