"""What the tests of importers share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.importers.cases import STOCKS


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    folder = tmp_path / "My Suite"
    (folder / "sub").mkdir(parents=True)
    (folder / "stocks.yaml").write_text(STOCKS)
    (folder / "sub" / "more.yml").write_text("name: More_1.2\ninput: {query: q}\nexpected: {tools: [a]}\n")
    return folder
