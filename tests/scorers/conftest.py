"""What the tests of scorers share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from eval_skills.scorers import registry


@pytest.fixture
def own_scorers() -> Iterator[None]:
    """Scorers that the test registers are forgotten afterwards."""
    before = dict(registry._entries)
    yield
    registry._entries.clear()
    registry._entries.update(before)
