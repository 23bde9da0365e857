from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from eval_skills.core.errors import InputError, UsageError
from eval_skills.engine.triggers.experiment import queries_of, read_queries


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


def test_of_a_file_of_queries_that_was_named_it_is_said_what_is_there(tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "queries.pipe")
    for named, said in (
        (tmp_path, "this is a folder; name a file"),
        (pipe, "not a regular file"),
        (tmp_path / "x", "no such file"),
    ):
        with pytest.raises(InputError, match=said):
            read_queries(queries_of(tmp_path, named))
    with pytest.raises(
        UsageError, match=r"there is no .*eval_queries\.json; write one, or name a file of queries with --queries"
    ):
        queries_of(tmp_path, None)
