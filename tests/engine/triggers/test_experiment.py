from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval_skills.core.errors import InputError
from eval_skills.engine.triggers.experiment import read_queries


@pytest.mark.parametrize(
    ("second", "said"),
    [
        pytest.param({"query": "Add it up", "should_trigger": True}, r"\[2\] asks the same as \[0\]; leave", id="twice"),
        pytest.param(
            {"query": "add  it up ", "should_trigger": False},
            r"\[2\] asks the same as \[0\], with the opposite should_trigger",
            id="with-both-labels-in-other-spelling",
        ),
    ],
)
def test_a_query_is_asked_under_one_label_and_once(tmp_path: Path, second: dict[str, object], said: str) -> None:
    asked = [{"query": "Add it up", "should_trigger": True}, {"query": "Paint it", "should_trigger": False}, second]
    file = tmp_path / "queries.json"
    file.write_text(json.dumps(asked))
    with pytest.raises(InputError, match=said):
        read_queries(file)
    file.write_text(json.dumps(asked[:2]))
    assert [each.id for each in read_queries(file)] == ["q001", "q002"]
