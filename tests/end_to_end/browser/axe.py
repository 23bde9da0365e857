"""axe-core, the accessibility checker by Deque, in a page. Only the tests have it: nothing of it is installed."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

from tests.end_to_end.browser.conftest import Page

VENDOR = Path(__file__).parent / "vendor"

FOUND = (
    "axe.run(document, %s).then(({violations}) => violations.map(({id, nodes}) => "
    "[id, nodes.slice(0, 3).map((node) => `${node.html.slice(0, 200)}: ${node.failureSummary}`)]))"
)
EVERY_RULE, CONTRAST = "{}", "{runOnly: ['color-contrast']}"


def violations(page: Page) -> list[Any]:
    """What axe finds wrong in the page in light, and in the dark, where only contrasts are others; each with its first places."""
    page.value(f"{_source()}; undefined")
    found: list[Any] = []
    for dark, rules in ((False, EVERY_RULE), (True, CONTRAST)):
        page.look(dark=dark)
        page.until(f"matchMedia('(prefers-color-scheme: dark)').matches === {json.dumps(dark)}")
        found.extend(page.value(FOUND % rules))
    return found


@cache
def _source() -> str:
    (note,) = json.loads((VENDOR / "vendor.json").read_text(encoding="utf-8"))
    content: bytes = (VENDOR / str(note["file"])).read_bytes()
    assert hashlib.sha256(content).hexdigest() == note["sha256"], "not the file that its note names"
    return content.decode("utf-8")
