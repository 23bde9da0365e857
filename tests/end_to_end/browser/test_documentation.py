"""The built documentation in a browser: opened from a folder, searched, and asking no other host for anything."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
ZENSICAL = Path(sys.executable).with_name("zensical")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built strictly from a copy of the pages."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "zensical.toml", folder)
    for room in (ROOT / "eval_skills").iterdir():
        if room.is_symlink():
            (folder / room.name).symlink_to(ROOT / room.name)
    (folder / "eval_skills").symlink_to(ROOT / "eval_skills")
    for command in (
        [str(ZENSICAL), "build", "--strict", "--clean"],
        [sys.executable, str(ROOT / "docs" / "offline.py"), "build/site"],
    ):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "build" / "site"


def test_every_page_is_built_and_no_program_lies_beside_them(site: Path) -> None:
    pages = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    assert {str(page.relative_to(site).with_suffix(".md")) for page in site.rglob("*.html")} >= pages
    assert not [*site.rglob("*.py"), *site.rglob("*.yaml")]


def test_the_python_reference_has_docstrings(site: Path) -> None:
    text = (site / "reference" / "python.html").read_text(encoding="utf-8")
    assert 'id="eval_skills.api.evaluate.evaluate"' in text
    assert "Raises" in text


EVERY = (
    "(function every(root) {"
    " return [...root.querySelectorAll('*')].flatMap(each => [each, ...(each.shadowRoot ? every(each.shadowRoot) : [])]) })"
)
"""All elements, those in shadow trees too, where the search lives."""


def test_search_works_from_a_folder_and_nothing_is_asked_of_another_host(site: Path, page: Any) -> None:
    page.call("Page.navigate", url=(site / "index.html").as_uri())
    page.until("document.readyState === 'complete'")
    page.click(".md-search__button")
    page.until(f"{EVERY}(document).some(each => each.matches('input[role=combobox]'))")
    page.value(f"{EVERY}(document).find(each => each.matches('input[role=combobox]')).focus()")
    page.call("Input.insertText", text="bubblewrap")
    page.until(f"{EVERY}(document).some(each => each.matches('a[href*=limits-and-sandbox]') && each.getRootNode() !== document)")
    asked = [
        event["params"]["request"]["url"] for event in page.chromium.events if event.get("method") == "Network.requestWillBeSent"
    ]
    assert asked
    assert [url for url in asked if not url.startswith(("file:", "data:", "about:"))] == []
