"""``view --export`` as a call; the pages themselves are tested in `tests.viewer`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import eval_skills as es


@pytest.mark.slow
def test_an_export_says_where_it_is_and_nothing_else(place: Any, run_here: Callable[..., Any]) -> None:
    es.evaluate(str.upper, [{"input": "a", "expected": "A"}], store=place.folder / "eval-store")
    exported = run_here("view", "--export", "site", "--run", "latest")
    assert (exported.code, exported.err) == (0, "")
    assert exported.out.endswith("pages of 1 run; open site/index.html\n")
    assert "index.html" in run_here("view", "--export", "other", "--json").json["files"]
    again = run_here("view", "--export", "site")
    assert (again.code, again.out) == (2, "")
    assert "site is not an empty folder" in again.err
