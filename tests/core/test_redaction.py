from __future__ import annotations

import pytest

from eval_skills.core.redaction import Redaction


@pytest.mark.parametrize(
    ("secrets", "text", "kept"),
    [
        pytest.param({"A": "hunter2"}, "x hunter2 y hunter2", "x [redacted:A] y [redacted:A]", id="every-hit"),
        pytest.param({"A": "abc"}, "abc", "abc", id="too-short"),
        pytest.param({"A": ""}, "abc", "abc", id="empty"),
        pytest.param({}, "abc", "abc", id="no-secrets"),
        pytest.param({"A": "hunter2", "B": "hunter2"}, "hunter2", "[redacted:A]", id="first-of-equals"),
        pytest.param({"A": "hunter", "B": "hunter2"}, "hunter2 hunter", "[redacted:B] [redacted:A]", id="longest-first"),
        pytest.param({"A": "redacted", "B": "hunter2"}, "hunter2", "[redacted:B]", id="marks-are-not-redacted"),
        pytest.param({"A": "a.*b"}, "a.*b axxb", "[redacted:A] axxb", id="no-pattern"),
        pytest.param({"A": "Hunter2"}, "hunter2", "hunter2", id="case-counts"),
    ],
)
def test_text(secrets: dict[str, str], text: str, kept: str) -> None:
    assert Redaction(secrets).text(text) == kept


def test_data_keeps_its_shape() -> None:
    data = {"n": 1, "f": 1.5, "t": True, "none": None, "list": ["true", {"k": "hunter2"}]}
    redaction = Redaction({"A": "hunter2", "B": "True"})
    assert redaction.data(data) == {**data, "list": ["true", {"k": "[redacted:A]"}]}
    assert Redaction().data(data) is data
