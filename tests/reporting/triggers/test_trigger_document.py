from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

from eval_skills.reporting.triggers.document import write_triggers
from tests.core.test_triggers import triggers


def test_the_files_of_triggers(tmp_path: Path) -> None:
    found = triggers((True, "LL"), (False, "LL"), (False, "xx"))
    table, markdown, junit = write_triggers(found, ["json", "markdown", "junit", "html"], tmp_path)
    assert json.loads(table.read_text())["falseAlarms"]["rate"] == 1.0
    assert "## Queries that did not do as they should" in markdown.read_text()
    root = ElementTree.parse(junit).getroot()
    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("3", "1", "1")
