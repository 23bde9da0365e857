"""What is read out of a verdict's metadata, which a plug-in may fill with anything."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.core.models import Verdict
from tests.tables import each_row


@each_row(
    ("judge", "agreement"),
    [
        pytest.param({"panel": {"agreement": 0.5}}, 0.5, id="share"),
        pytest.param({"panel": {"agreement": 1}}, 1.0, id="all"),
        pytest.param({"panel": {"agreement": 67}}, None, id="percent"),
        pytest.param({"panel": {"agreement": -0.1}}, None, id="below"),
        pytest.param({"panel": {"agreement": float("nan")}}, None, id="p06-nan"),
        pytest.param({"panel": {"agreement": True}}, None, id="bool"),
        pytest.param({"panel": {"agreement": "0.5"}}, None, id="text"),
        pytest.param({"panel": {"agreement": [0.5]}}, None, id="list"),
        pytest.param({"panel": {}}, None, id="none"),
        pytest.param({"panel": [1]}, None, id="another-panel"),
        pytest.param("me", None, id="another-judge"),
    ],
)
def test_only_a_share_is_an_agreement(judge: Any, agreement: float | None) -> None:
    verdict = Verdict(status="pass", score=1.0, passed=True, metadata={"judge": judge})
    assert verdict.judge_agreement == agreement
    assert isinstance(verdict.judge_agreement, float | None)
