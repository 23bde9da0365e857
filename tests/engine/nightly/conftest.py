"""What the tests of nights share."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_skills.core.store import Store
from tests.engine.nightly.made_nights import Nights


@pytest.fixture
def nights(tmp_path: Path) -> Nights:
    return Nights(Store(tmp_path / "store"))
