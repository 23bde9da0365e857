"""``--json`` of the commands that look things up: one document on stdout, before or after the command's name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "kind"),
    [
        pytest.param(["history"], list, id="history"),
        pytest.param(["--json", "history"], list, id="json-before-the-command"),
        pytest.param(["trend", "--skill", "adder"], dict, id="trend"),
        pytest.param(["trend", "--skill", "adder", "--output", "t.html"], dict, id="trend-output"),
        pytest.param(["query", "SELECT * FROM items"], list, id="query-items"),
        pytest.param(["query", "SELECT * FROM reports"], list, id="query-reports"),
        pytest.param(["query", "SELECT * FROM runs"], list, id="query-runs"),
        pytest.param(["benchmarks", "list"], dict, id="benchmarks-list"),
        pytest.param(["benchmarks", "show", "coding-easy"], dict, id="benchmarks-show"),
        pytest.param(["config", "list"], dict, id="config-list"),
        pytest.param(["config", "get", "llm"], dict, id="config-get"),
        pytest.param(["config", "set", "runs", "3"], dict, id="config-set"),
        pytest.param(["--json", "config", "get", "llm"], dict, id="json-before-a-command-of-a-group"),
        pytest.param(["completion", "zsh"], dict, id="completion"),
    ],
)
def test_p62_stdout_is_one_json_document(run_here: Run, past: Callable[..., str], command: list[str], kind: type) -> None:
    past("20260101T100000Z-0001")
    past("20260102T100000Z-0002", landed=False)
    result = run_here(*command, *([] if command[0] == "--json" else ["--json"]))
    assert (result.code, result.err) == (0, "")
    assert isinstance(result.json, kind)
    assert result.json
