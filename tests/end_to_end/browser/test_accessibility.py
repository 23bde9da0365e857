"""Reports as axe-core sees them: names, roles, contrasts, in light and in the dark. The viewer's pages: test_viewer_pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.browser.axe import violations
from tests.end_to_end.browser.conftest import Page
from tests.end_to_end.browser.kinds import KINDS
from tests.end_to_end.browser.reports import agent_report, context, written

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", KINDS)
def test_a_report(page: Page, tmp_path: Path, kind: str) -> None:
    page.open(KINDS[kind](tmp_path))
    assert violations(page) == []


def test_a_task_that_is_open(page: Page, tmp_path: Path) -> None:
    page.open(agent_report(tmp_path), "#skill=an_agent_of_some_name@1.0.0&task=trip")
    page.value("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    assert violations(page) == []


def test_a_report_of_nothing(page: Page, tmp_path: Path) -> None:
    page.open(written(tmp_path, [], context()))
    assert violations(page) == []
