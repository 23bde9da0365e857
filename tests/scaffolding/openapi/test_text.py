"""What a document says is text, and stays it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from eval_skills.scaffolding.openapi.document import plain
from tests.scaffolding.openapi.documents import Load, one
from tests.tables import each_row


@each_row(
    ("text", "shown"),
    [
        pytest.param("<p>a <b>b</b></p>\n c", "a b c", id="tags"),
        pytest.param("x<script>alert(1)</script><style>p{}</style>y", "x y", id="script"),
        pytest.param("&lt;script&gt;alert(1)&lt;/script&gt; 1 &amp; 2 &lt; 3", "alert(1) 1 & 2 < 3", id="entities"),
        pytest.param("a\x1b[31mb\u202ec\0", "a [31mb c", id="control"),
        pytest.param("a < b and c > d", "a < b and c > d", id="signs"),
        pytest.param("x" * 600, "x" * 499 + "…", id="long"),
        pytest.param(None, "", id="none"),
        pytest.param(["x"], "", id="no-text"),
    ],
)
def test_plain_text(text: Any, shown: str) -> None:
    assert plain(text) == shown


def test_p68_html_and_markdown_stay_text_in_the_readme(load: Load) -> None:
    evil = "[click](javascript:alert(1)) `x` # h\n\n# Title <img src=x onerror=alert(1)> a &lt;b"
    parts = {"info": {"title": "<script>T</script>", "version": "<b>", "license": {"name": "<i>MIT</i>"}}}
    imported = load(one(summary=evil, description=evil, operationId="a</p><script>", tags=["<u>t</u>"]) | parts)
    readme, skill = imported.drafts[0].files["README.md"], imported.drafts[0].files["skill.json"]
    assert "<" not in readme.replace("```", "")
    assert "\\[click" in readme
    assert readme.count("\n# ") == 0
    assert json.loads(skill)["metadata"]["license"] == "MIT"
    assert json.loads(skill)["tags"] == ["openapi", "t"]
