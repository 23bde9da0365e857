"""The page on the Python API: every block of it runs, and prints what the page shows."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "python-api.md"
BLOCK = re.compile(r"```python\n(?P<code>.*?)```(?:\n\n```text\n(?P<shown>.*?)```)?", re.DOTALL)

FILE = re.compile(r'```\w+ title="(?P<name>[^"]+)"\n(?P<content>.*?)```', re.DOTALL)


@pytest.mark.slow
def test_every_block_runs_and_prints_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, examples: Path) -> None:
    (tmp_path / "examples").symlink_to(examples.parent)
    monkeypatch.chdir(tmp_path)
    for file in FILE.finditer(PAGE.read_text(encoding="utf-8")):
        place = tmp_path / file["name"]
        place.parent.mkdir(exist_ok=True)
        place.write_text(file["content"], encoding="utf-8")
    names: dict[str, Any] = {"__name__": "page"}
    blocks = list(BLOCK.finditer(PAGE.read_text(encoding="utf-8")))
    assert len(blocks) > 10
    for number, block in enumerate(blocks, start=1):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(block["code"], f"block {number} of {PAGE.name}", "exec"), names)
        assert block["shown"] is None or printed.getvalue() == block["shown"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["agent.py", "eval-store", "examples", "swiss-cities"]
