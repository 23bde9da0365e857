"""``rescore``: stored answers judged again from the command line, without a skill and without Prefect."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.store import Store, land_items, results_of
from tests.scripted_model import ScriptedModel, failure, verdict

Run = Callable[..., Any]
RUN_ID = "20260301T120000Z-0001"


@pytest.fixture
def sums(place: Any) -> str:
    """A benchmark for the run of `past`, whose tasks expect what the skill never answered."""
    return write_sums(place, "17")


def write_sums(place: Any, value: str) -> str:
    tasks = [{"id": f"t{number}", "expectedOutput": {"value": value}} for number in range(4)]
    document = {"id": "sums", "name": "Sums", "version": "2.0.0", "tasks": tasks}
    return str(place.write("sums.json", document))


@pytest.mark.slow
def test_what_changed_is_compared_and_kept_apart(run_here: Run, past: Callable[..., str], place: Any, sums: str) -> None:
    past(RUN_ID, passed=4)
    result = run_here("rescore", RUN_ID, "--benchmark", sums)
    assert result.code == 0, result.err
    assert "adder@1.0.0 on sums: ✘ worse" in result.out or "adder@1.0.0 on sums: inconclusive" in result.out
    assert "completion  100.0 %" in result.out
    store = Store(place.folder / "eval-store")
    [scored] = [run_id for run_id in store.run_ids() if run_id != RUN_ID]
    assert f"store   {store.path}   run {scored}" in result.out or f"run {scored}" in result.out
    assert list(store.items(run_id=scored)["passed"]) == [False] * 4
    assert list(store.items(run_id=RUN_ID)["passed"]) == [True] * 4


@pytest.mark.slow
def test_a_benchmark_that_is_named_is_searched_in_the_projects_folder(
    run_here: Run, past: Callable[..., str], place: Any, sums: str
) -> None:
    past(RUN_ID, passed=4)
    place.write("benchmarks/sums.json", json.loads(Path(sums).read_text()))
    assert run_here("rescore", RUN_ID, "--benchmark", "sums", "--json").json["items"] == 4


@pytest.mark.slow
def test_p62_json_is_one_document(run_here: Run, past: Callable[..., str], sums: str) -> None:
    past(RUN_ID)
    document = run_here("rescore", "latest", "--benchmark", sums, "--json").json
    assert (document["of"], document["new"], document["items"]) == (RUN_ID, True, 4)
    assert document["diff"]["skills"][0]["skillId"] == "adder"
    again = run_here("rescore", "latest", "--benchmark", sums, "--json")
    assert (again.json["runId"], again.json["new"]) == (document["runId"], False)
    assert "nothing to do: this scoring of run" in again.err
    forced = run_here("rescore", RUN_ID, "--benchmark", sums, "--json", "--force")
    assert (forced.json["new"], forced.json["digest"]) == (True, document["digest"])


@pytest.mark.slow
def test_p09_a_cut_answer_is_no_success(run_here: Run, past: Callable[..., str], place: Any, sums: str) -> None:
    past(RUN_ID)
    store = Store(place.folder / "eval-store")
    first, *rest = results_of(store.item_table(RUN_ID))
    land_items(store, RUN_ID, [first.model_copy(update={"output": "x" * 70_000}), *rest])
    result = run_here("rescore", RUN_ID, "--benchmark", sums)
    assert result.code == 3, result.err
    assert "1 item not judged: the answer was cut when it landed; run it again" in result.out
    assert run_here("rescore", RUN_ID, "--benchmark", sums, "--json").json["cut"] == 1


@pytest.mark.slow
def test_p58_today_s_weights_come_from_the_configuration(run_here: Run, past: Callable[..., str], place: Any, sums: str) -> None:
    past(RUN_ID)
    before = run_here("rescore", RUN_ID, "--benchmark", sums, "--json").json
    place.write("eval-skills.config.yaml", "weights:\n  toolAccuracy: 0.9\n")
    assert run_here("rescore", RUN_ID, "--benchmark", sums, "--json").json["digest"] != before["digest"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["nonsense"], "'nonsense' is not a run id", id="no-run-id"),
        pytest.param(["../../etc"], "is not a run id", id="a-path"),
        pytest.param(["20200101T000000Z-0000"], "no run 20200101T000000Z-0000", id="unknown-run"),
        pytest.param([RUN_ID], "name its benchmark, as with --benchmark sums", id="benchmark-unknown"),
        pytest.param([RUN_ID, "--benchmark", "nope"], "unknown benchmark 'nope'", id="unknown-benchmark"),
        pytest.param([RUN_ID, "--benchmark", "coding-easy"], "nothing of run", id="no-task-in-common"),
        pytest.param([RUN_ID, "--benchmark", "sums.json", "--evaluator", "nope"], "--evaluator", id="unknown-evaluator"),
        pytest.param([RUN_ID, "--benchmark", "sums.json", "--concurrency", "0"], "oncurrency", id="nobody-judges"),
        pytest.param([RUN_ID, "--store", "nowhere"], "no such store", id="no-store"),
    ],
)
def test_p40_what_cannot_be_done_is_refused(
    run_here: Run, past: Callable[..., str], place: Any, sums: str, arguments: list[str], message: str
) -> None:
    past(RUN_ID)
    manifest = place.folder / "eval-store" / "runs" / RUN_ID / "manifest.json"
    known = json.loads(manifest.read_text())
    del known["crc32"]
    manifest.write_text(json.dumps(known | {"request": {"runs": "many"}}))
    before = place.files()
    result = run_here("rescore", *arguments)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert len(result.err.strip().splitlines()) == 1
    assert place.files() == before


@pytest.mark.slow
def test_a_benchmark_is_found_again_from_another_folder(
    run_here: Run, past: Callable[..., str], place: Any, sums: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    past(RUN_ID)
    run_id = run_here("rescore", RUN_ID, "--benchmark", "sums.json", "--json").json["runId"]
    monkeypatch.chdir(tmp_path)
    result = run_here("report", "convert", "--input", run_id, "--store", str(place.folder / "eval-store"), "--format", "json",
                      "--output", "r.json", "--json")  # fmt: skip
    assert result.json["remarks"] == []


@pytest.mark.slow
def test_p13_what_the_judge_fails_exits_3_and_the_next_call_goes_on(run_here: Run, past: Callable[..., str], place: Any) -> None:
    past(RUN_ID)
    tasks = [{"id": f"t{number}", "expectedOutput": {"type": "llm_judge", "criteria": "Be right."}} for number in range(4)]
    place.write("sums.json", {"id": "sums", "name": "Sums", "version": "2.0.0", "tasks": tasks})
    answers = results_of((store := Store(place.folder / "eval-store")).item_table(RUN_ID))
    land_items(store, RUN_ID, [each.model_copy(update={"output": each.task_id}) for each in answers])
    with ScriptedModel() as model:
        place.write("eval-skills.config.yaml", {"llm": {"model": "openai/x", "apiBase": model.url, "cacheDir": "cache"}})
        command = ["rescore", RUN_ID, "--benchmark", str(place.folder / "sums.json"), "--no-judge-check"]
        model.otherwise = lambda asked: failure(422, "not this one") if "\nt3\n" in asked.prompt else verdict()
        stopped = run_here(*command)
        assert stopped.code == 3, stopped.err
        told = "judge: 1 of 4 items could not be judged: openai/x does not take this request (HTTP 422: not this one)"
        assert told in stopped.out
        assert "; the same call continues with it" in stopped.out
        forced = run_here(*command, "--force")
        assert (forced.code, "; the same call without --force continues with it" in forced.out) == (3, True), forced.err
        model.otherwise, known = verdict(), len(model.asked)
        done = run_here(*command, "--json")
        assert (done.code, done.json["unjudged"], done.json["new"], len(model.asked)) == (0, 0, True, known + 1), done.err
        assert "continues with the answers that the judge failed" in done.err
        model.otherwise = failure(401, "bad key")
        lost = run_here(*command, "--force", "--no-judge-cache")
        assert (lost.code, lost.out) == (3, "")
        assert "judge: 4 of 4 items could not be judged: " in lost.err
        refused = run_here(*command[:-1], "--force")
        assert (refused.code, "nothing was run: openai/x refused access" in refused.err) == (2, True)


@pytest.mark.slow
def test_a_scoring_that_is_asked_for_again_counts_again_and_the_command_says_so(
    run_here: Run, past: Callable[..., str], place: Any
) -> None:
    past(RUN_ID, passed=4)

    def scored(value: str) -> Any:
        return run_here("rescore", RUN_ID, "--benchmark", write_sums(place, value), "--json")

    def shown() -> list[str]:
        rows = run_here("query", "SELECT DISTINCT run_id FROM items", "--json").json
        return [row["run_id"] for row in rows]

    first, second = scored("17").json["runId"], scored("18").json["runId"]
    assert shown() == [second]
    again = scored("17")
    assert f"{RUN_ID} is stored already as {first}, and counts again from now on; do it again with --force" in again.err
    assert (again.json["new"], shown()) == (False, [first])
    assert "nothing to do: this scoring of run" in scored("17").err
