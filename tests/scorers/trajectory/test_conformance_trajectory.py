"""The published cases of trajectory matching."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.scorers.trajectory import create_async_trajectory_match_evaluator, create_trajectory_match_evaluator

FILE = Path(__file__).parents[3].parent / "shared" / "conformance" / "trajectory.json"
if not FILE.is_file():
    pytest.skip("shared/conformance is absent: it belongs to the developers' workplace, not to a clone", allow_module_level=True)

FUNCTIONS: dict[str, Callable[[dict[str, Any], dict[str, Any]], bool]] = {
    "always": lambda *_: True,
    "never": lambda *_: False,
    "output_has_more": lambda output, reference: len(output) > len(reference),
}
SIDES = ("outputs", "reference_outputs")
CASES = json.loads(FILE.read_text(encoding="utf-8"))["cases"]
PARAMETERS = [pytest.param(case["given"], case["expect"], id=case["name"]) for case in CASES]


def options(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of the factory, with functions where the file names them."""
    found = {key: value for key, value in given.items() if key not in (*SIDES, "extra")}
    for tool, override in found.get("tool_args_match_overrides", {}).items():
        if isinstance(override, dict):
            found["tool_args_match_overrides"] = {**found["tool_args_match_overrides"], tool: FUNCTIONS[override["$callable"]]}
    return found


def arguments(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of the call, as copies."""
    return copy.deepcopy({**{side: given[side] for side in SIDES}, **given.get("extra", {})})


def check(result: Any, expect: dict[str, Any]) -> None:
    assert (result["key"], result["score"]) == (expect["key"], expect["score"])
    assert isinstance(result["comment"], str) is expect.get("has_comment", not expect["score"])
    assert [name for name in expect.get("comment_has", ()) if name not in result["comment"]] == []


@pytest.mark.parametrize(("given", "expect"), PARAMETERS)
def test_case(given: dict[str, Any], expect: dict[str, Any]) -> None:
    if expect.get("refused"):
        with pytest.raises(ValueError, match=r"\S"):
            create_trajectory_match_evaluator(**options(given))(**arguments(given))
        return
    called_with = arguments(given)
    check(create_trajectory_match_evaluator(**options(given))(**called_with), expect)
    assert called_with == arguments(given), "p92: the call has changed its arguments"


@pytest.mark.parametrize(("given", "expect"), PARAMETERS)
async def test_case_asynchronously(given: dict[str, Any], expect: dict[str, Any]) -> None:
    if expect.get("refused"):
        with pytest.raises(ValueError, match=r"\S"):
            await create_async_trajectory_match_evaluator(**options(given))(**arguments(given))
        return
    check(await create_async_trajectory_match_evaluator(**options(given))(**arguments(given)), expect)


def test_all_cases_are_here() -> None:
    assert len(CASES) > 140
