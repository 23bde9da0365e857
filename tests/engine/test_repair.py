"""A store is put in order: nothing is lost that can be had, and nothing is deleted that somebody may want back."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eval_skills.cli.main import call
from eval_skills.core.store import land_items
from eval_skills.core.store.verify import verify
from eval_skills.engine.evaluation.executor import LocalExecutor
from eval_skills.engine.evaluation.in_process import evaluate_here
from eval_skills.engine.repair import repair

if TYPE_CHECKING:
    from eval_skills.core.models import ItemResult
    from eval_skills.engine.evaluation.plan import RunPlan
    from tests.engine.evaluations import MakePlan


@pytest.mark.slow
def test_reports_are_made_anew_from_their_items_and_damaged_items_put_aside(
    make_plan_of: MakePlan, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    plans = [make_plan_of("ok", "wrong") for _ in range(2)]
    for plan in plans:
        asyncio.run(evaluate_here(plan))
    store = plans[0].store
    before = store.reports_of(plans[0].run_id)[0].summary
    files = store.tables.files("reports")
    Path(files[plans[0].run_id]).write_bytes(b"x")
    items = Path(store.tables.files("items")[plans[1].run_id])
    items.write_bytes(items.read_bytes()[:-1])
    command = ["store", "verify", "--store", store.path]
    assert call(command) == 1
    assert "3 found" in capsys.readouterr().out
    assert call([*command, "--json"]) == 1
    listed = json.loads(capsys.readouterr().out)["findings"]
    assert {plans[0].run_id, plans[1].run_id} == {each["runId"] for each in listed}
    found = repair(store)
    assert [(each.kind, each.repaired) for each in found.findings] == [
        ("damaged", f"now {items.name}.broken"),
        ("damaged", f"now {plans[0].run_id}.parquet.broken"),
        ("without-reports", "reports made anew from the items"),
    ]
    assert store.reports_of(plans[0].run_id)[0].summary == before
    assert items.with_name(f"{items.name}.broken").exists(), "what it holds is kept"
    assert call(command) == 0
    assert "all as written" in capsys.readouterr().out
    (store.layout.root / "digests.jsonl").unlink()
    assert len(repair(store).undigested) == 3
    assert repair(store).undigested == [], "they have digests now"


def test_reports_that_are_made_anew_without_a_manifest_have_the_origin_of_their_items(make_plan_of: MakePlan) -> None:
    """Else a scoring would count as a run of its own, in trends and as `latest`."""
    plan = make_plan_of("ok")
    store, run_id = plan.store, plan.run_id
    results = asyncio.run(results_of_all(plan))
    land_items(store, run_id, [each.model_copy(update={"origin": "rescore"}) for each in results])
    assert [each.repaired for each in repair(store).findings if each.kind == "without-reports"] == [
        "reports made anew from the items"
    ]
    [row] = store.tables.rows("reports", ["origin", "benchmark_version"], [run_id])
    assert row == {"origin": "rescore", "benchmark_version": plan.benchmark.version}


def _killed(_: int) -> None:
    raise KeyboardInterrupt


def test_the_readable_lines_of_a_broken_journal_can_be_resumed(make_plan_of: MakePlan, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = make_plan_of("ok", "wrong")
    store, journal = plan.store, plan.store.journal_path(plan.run_id)
    results = asyncio.run(results_of_all(plan))
    journal.parent.mkdir(parents=True, exist_ok=True)
    lines = [result.model_dump_json(by_alias=True).encode() + b"\n" for result in results]
    journal.write_bytes(lines[0] + b"{garbled\n" + lines[1])
    damaged = journal.read_bytes()
    with monkeypatch.context() as killed:
        killed.setattr("os.fsync", _killed)
        with pytest.raises(KeyboardInterrupt):
            repair(store)
    assert journal.read_bytes() == damaged, "a repair that is killed loses nothing"
    (broken,) = repair(store).findings
    assert journal.with_name("journal.jsonl.broken").read_bytes() == damaged
    assert broken.repaired == "now journal.jsonl.broken; 2 items kept for --resume, 1 line left out"
    assert journal.read_bytes() == b"".join(lines)
    assert verify(store).findings == []


async def results_of_all(plan: RunPlan) -> list[ItemResult]:
    async with LocalExecutor(plan) as here:
        return [(await here.execute(item, ())).result for item in plan.items]
