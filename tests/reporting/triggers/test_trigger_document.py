from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from eval_skills.core.triggers import Triggers
from eval_skills.reporting.triggers.document import TRIGGER_FORMATS, write_triggers
from eval_skills.reporting.triggers.figures import load_rows, outcome
from tests.core.test_triggers import triggers
from tests.tables import each_row

HOSTILE = "<script>alert(1)</script>|`\x1b[31m"


def hostile() -> Triggers:
    """A false alarm whose query, neighbour and agent are foreign markup."""
    found = triggers((True, "LL"), (False, "LL"), (False, "xx"))
    queries = [each.model_copy(update={"query": HOSTILE, "others": {HOSTILE: 1}}) for each in found.queries]
    return found.model_copy(update={"queries": queries, "neighbours": [HOSTILE], "agent": HOSTILE, "confusion": {HOSTILE: 1}})


def test_the_files_of_triggers(tmp_path: Path) -> None:
    found = triggers((True, "LL"), (False, "LL"), (False, "xx"), (False, "-xx"))
    table, markdown, junit = write_triggers(found, ["json", "markdown", "junit", "csv"], tmp_path)
    assert json.loads(table.read_text())["falseAlarms"]["rate"] == 2 / 3
    assert "## Queries that did not do as they should" in markdown.read_text()
    assert "## Queries none of whose runs was observed\n\n- query 2\n\n## All queries\n" in markdown.read_text()
    root = ElementTree.parse(junit).getroot()
    assert [root.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["4", "1", "1", "1"]
    ends = {str(case.get("name")).partition(":")[0]: [each.tag for each in case] for case in root.iter("testcase")}
    assert ends == {"q0": [], "q1": ["failure"], "q2": ["error"], "q3": ["skipped"]}


@pytest.mark.parametrize("name", TRIGGER_FORMATS)
def test_foreign_texts_are_text_in_every_format(tmp_path: Path, name: str) -> None:
    (file,) = write_triggers(hostile(), [name], tmp_path)
    text = file.read_text()
    assert "alert(1)" in text
    assert "<script>alert(1)" not in text or name == "json"
    assert "\x1b" not in text


def test_the_page_keeps_misses_false_alarms_and_unknown_queries_apart(tmp_path: Path) -> None:
    (file,) = write_triggers(triggers((True, "LL"), (True, "--"), (False, "LL"), (False, "xx")), ["html"], tmp_path)
    text = file.read_text()
    for heading in ("Not loaded, and should be", "False alarms", "Unknown"):
        assert f"{heading}: 1 of 4</h2>" in text
    assert "All queries: 4 of 4</h2>" in text


def test_the_page_has_no_section_for_what_did_not_happen(tmp_path: Path) -> None:
    (file,) = write_triggers(triggers((True, "LL"), (False, "--")), ["html"], tmp_path)
    text = file.read_text()
    assert not [name for name in ("missed", "alarms", "unknown") if f'id="{name}"' in text]


def test_what_was_loaded_adds_up_to_the_runs() -> None:
    rows = load_rows(triggers((True, "Lo-x"), (False, "L--"), (False, "ooT")))
    assert [(row.name, row.wanted, row.unwanted) for row in rows] == [
        ("csv", 1, 2),
        ("pdf", 1, 2),
        ("nothing", 1, 2),
        ("unknown (missing runs)", 1, 0),
    ]


@each_row(
    ("should", "runs", "kind"),
    [
        pytest.param(True, "LL", "pass", id="right"),
        pytest.param(False, "LL", "fail", id="wrong"),
        pytest.param(False, "xx", "unsure", id="unknown"),
        pytest.param(False, "-xx", "unsure", id="open"),
    ],
)
def test_what_is_not_certain_is_not_green_or_red(should: bool, runs: str, kind: str) -> None:
    assert outcome(triggers((should, runs)).queries[0])[0] == kind
