"""A run says whether its skills, or others, rewrote what it depends on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from eval_skills.engine.evaluation.in_process import evaluate_in_process
from tests.engine.evaluations import SKILL, MakePlan

CHEAT = """
import os
open("skill.py", "a").write("# grown")
tasks = open("../../tasks.json").read()
open("../../tasks.json", "w").write(tasks.replace("ok", "other"))
"""


@pytest.mark.parametrize(("source", "changed"), [(SKILL, []), (CHEAT + SKILL, ["skills/moody", "tasks.json"])])
def test_what_was_rewritten_during_a_run_is_a_remark(
    make_plan_of: MakePlan, write_skill: Callable[..., Path], tmp_path: Path, source: str, changed: list[str]
) -> None:
    folder = write_skill()
    (folder / "skill.py").write_text(source)
    summary = evaluate_in_process(make_plan_of("ok", timeout_ms=120_000))
    names = {"skills/moody": "the folder of moody@1.0.0", "tasks.json": str(tmp_path / "tasks.json")}
    assert [remark.partition(" changed during the run (sha256:")[0] for remark in summary.remarks] == [
        names[name] for name in changed
    ]
    assert summary.reports[0].summary.completion_rate == 1, "it is judged by what was read before"


def test_a_folder_that_the_run_writes_to_is_not_compared(make_plan_of: MakePlan, write_skill: Callable[..., Path]) -> None:
    folder = write_skill()
    assert evaluate_in_process(make_plan_of("ok", timeout_ms=120_000, store=str(folder / "store"))).remarks == []


FORGER = """
import pathlib
for file in pathlib.Path("../../store").rglob("*"):
    if file.name in ("manifest.json", "journal.jsonl") or file.suffix == ".parquet":
        file.open("ab").write(b" ")
"""


@pytest.mark.slow
def test_what_a_skill_does_to_the_store_is_a_remark(
    make_plan_of: MakePlan, write_skill: Callable[..., Path], tmp_path: Path
) -> None:
    folder = write_skill()
    store = str(tmp_path / "store")
    first = make_plan_of("ok", timeout_ms=120_000, store=store)
    assert evaluate_in_process(first).remarks == []
    second = make_plan_of("ok", timeout_ms=120_000, store=store)
    assert evaluate_in_process(second).remarks == [], "an honest run beside others"
    (folder / "skill.py").write_text(FORGER + SKILL)
    summary = evaluate_in_process(make_plan_of("ok", timeout_ms=120_000, store=store))
    own, finished, journal = summary.remarks
    assert own.endswith("keep them from writing there")
    assert finished.startswith("the store changed during the run, and not by eval-skills: items/date=")
    assert "3 more; run skills with --sandbox bwrap" in finished
    assert journal.startswith("the journal of this run has ")
