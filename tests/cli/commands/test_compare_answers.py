"""``compare-answers`` from the command line: what is refused, and a whole comparison through a Prefect server."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

import httpx
import pytest

from eval_skills.core.models import ItemResult
from eval_skills.core.store import Journal, Manifest, ManifestBenchmark, Store, land, started_at, write_manifest
from tests.scripted_model import Asked, Says, ScriptedModel, failure
from tests.tables import each_row

Run = Callable[..., Any]
FIRST, SECOND = "20260301T120000Z-0001", "20260302T120000Z-0002"
TASKS = [{"id": f"t{n}", "inputData": {"q": n}} for n in range(6)]
PRICED = {"EVAL_SKILLS_LLM__INPUT_PRICE": "0.0", "EVAL_SKILLS_LLM__OUTPUT_PRICE": "1000.0"}
SUMS = {"id": "sums", "name": "Sums", "version": "2.0.0", "tasks": [{**task, "expectedOutput": {"value": "x"}} for task in TASKS]}


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as server:
        server.otherwise = longer
        yield server


def longer(asked: Asked) -> Says:
    parts = [asked.prompt.partition(f"<<<{name} answer ")[2].partition("\n<<<end")[0] for name in ("first", "second")]
    return Says({"reasoning": "it says more", "better": "first" if len(parts[0]) > len(parts[1]) else "second"})


def leave(folder: Path, run_id: str, answer: str, *, every: bool = False, **more: Any) -> str:
    """A landed run of adder on sums that gave this answer to everything; `more` are fields of its second item, or of all."""
    store, began = Store(folder / "eval-store"), started_at(run_id)
    benchmark = ManifestBenchmark(id="sums", version="2.0.0")
    write_manifest(
        store.run_folder(run_id), Manifest(run_id=run_id, created_at=began, skills=[], benchmark=benchmark, planned_items=6)
    )
    own: dict[str, Any] = {"skill_id": "adder", "skill_version": "1.0.0", "benchmark_id": "sums", "benchmark_version": "2.0.0"}
    with Journal(store.journal_path(run_id)) as journal:
        for number, task in enumerate(TASKS):
            fields = {"status": "fail", "passed": False, "score": 0.0, "output": f"{answer} {number}", **own}
            fields |= more if every or number == 1 else {}
            journal.append(ItemResult(run_id=run_id, started_at=began, task_id=str(task["id"]), run_index=0, **fields))
    land(store, run_id)
    return run_id


def configure(place: Any, model: ScriptedModel) -> tuple[str, ...]:
    """The call that compares both runs with the scripted model, as the configuration says."""
    llm = {"model": "openai/scripted", "apiBase": model.url, "cacheDir": "cache"}
    place.write("eval-skills.config.yaml", {"llm": llm})
    return ("compare-answers", FIRST, SECOND, "--benchmark", str(place.write("sums.json", SUMS)))


@pytest.mark.slow
def test_a_whole_comparison(served: Any, model: ScriptedModel) -> None:
    error: dict[str, Any] = {"status": "error", "passed": False, "score": None, "output": None, "error_kind": "infra"}
    leave(served.folder, FIRST, "a long and thorough answer")
    leave(served.folder, SECOND, "short", **error)
    command = configure(served, model)
    done = served.call(*command)
    assert done.code == 0, done.err
    assert "A       adder@1.0.0   run 20260301T120000Z-0001" in done.out
    assert "judge   openai/scripted (comparison 1, prompt 1) on sums@2.0.0" in done.out
    assert "A is better      5  100.0 %  56.6 to 100.0 %" in done.out
    assert "1 pair open: something else than the skill kept an answer away" in done.out
    assert "t0#1               A       it says more" in done.out
    assert "undecided: 1 pair without a verdict may decide it; run it again with eval --resume RUN --retry-errors" in done.out
    assert "both orders agree on 100.0 % of 5 pairs" in done.out
    asked = len(model.asked)
    again = served.call(*command, "--json", "--no-judge-check")
    document = again.json
    assert (document["figures"]["winsA"], document["unanswered"], document["landed"]) == (5, 1, True)
    assert (document["judging"]["requests"], document["judgedBefore"], len(model.asked)) == (0, 5, asked)
    assert document["pairs"][0]["reasoningAFirst"] == "it says more"
    assert len(Store(served.folder / "eval-store").preferences()) == 5
    assert document["remarks"] == [], again.err


@pytest.mark.slow
def test_where_missing_answers_decide_all_pairs_it_says_that_nothing_landed(served: Any, model: ScriptedModel) -> None:
    silent: dict[str, Any] = {"status": "error", "passed": False, "score": None, "output": None, "error_kind": "skill"}
    leave(served.folder, FIRST, "an answer")
    leave(served.folder, SECOND, "none", every=True, **silent)
    command = configure(served, model)
    done = served.call(*command)
    assert (done.code, "nothing landed: no pair has two answers to judge" in done.out) == (0, True), done.err
    document = served.call(*command, "--json").json
    assert (document["landed"], document["figures"]["forfeitsB"], document["pairs"]) == (False, 6, [])
    assert Store(served.folder / "eval-store").preferences().empty


@pytest.mark.slow
def test_a_spent_budget_exits_3_and_a_judge_that_refuses_us_2(served: Any, model: ScriptedModel) -> None:
    leave(served.folder, FIRST, "a long and thorough answer")
    leave(served.folder, SECOND, "short")
    command = configure(served, model)
    stopped = served.call(*command, "--max-judge-cost", "1.51", environ=PRICED)
    said = "what is left of --max-judge-cost 1.51 ($1.4900) does not pay for another request, and not everything was judged"
    assert (stopped.code, said in stopped.out) == (3, True), stopped.err
    assert Store(served.folder / "eval-store").preferences().empty
    model.otherwise = failure(401, "bad key")
    refused = served.call(*command)
    assert refused.code == 2
    assert refused.err.strip().splitlines()[-1].startswith("eval-skills: nothing was compared: openai/scripted refused access")


def by_panel(asked: Asked) -> Says:
    """Two models go by the length, one takes the first place, and one is not there."""
    name = asked.body["model"]
    if name == "absent":
        return failure(404, "no such model")
    return Says({"reasoning": "it stands first", "better": "first"}) if name == "hasty" else longer(asked)


@pytest.mark.slow
def test_a_panel_tells_what_each_model_said(served: Any, model: ScriptedModel) -> None:
    leave(served.folder, FIRST, "a long and thorough answer")
    leave(served.folder, SECOND, "short")
    model.otherwise = by_panel
    command = (*configure(served, model), "--no-judge-check", "--panel", "openai/one", "openai/two", "openai/hasty")
    done = served.call(*command)
    assert done.code == 0, done.err
    assert "judge   openai/one + openai/two + openai/hasty (majority of 3 models) (comparison 1, prompt 1)" in done.out
    assert "A is better      6  100.0 %" in done.out
    assert "agreement: of a judged pair 66.7 % of the models say what its verdict is, on average" in done.out
    [hasty] = [line.split() for line in done.out.splitlines() if line.startswith("openai/hasty")]
    assert hasty == ["openai/hasty", "0", "0", "6", "0", "0.0", "%", "100.0", "%", "0.0", "%"]
    again = served.call(*command, "--json").json
    assert (again["judging"]["requests"], [each["model"] for each in again["panel"]]) == (
        0,
        ["openai/one", "openai/two", "openai/hasty"],
    )
    assert again["panel"][2]["figures"]["positionBias"]["bothFirst"] == 6
    assert [vote["aFirst"] for vote in again["pairs"][0]["votes"]] == ["a", "a", "a"]
    assert again["pairs"][0]["judgeAgreement"] == pytest.approx(2 / 3)
    half = served.call(*command[:-2], "openai/absent")
    assert (half.code, half.out) == (3, "")
    assert "no pair could be judged: only 1 of 2 votes of the panel were given" in half.err


@pytest.mark.slow
@each_row(
    ("config", "flags", "told"),
    [
        pytest.param({"llm": {"model": "ours"}}, ["--panel", "theirs"], "theirs", id="panel-for-the-configured-model"),
        pytest.param({"compare-answers": {"panel": ["ours"]}}, ["--judge-model", "typed"], "typed", id="what-is-typed-wins"),
        pytest.param({"llm": {"model": "x/y"}, "compare-answers": {"panel": ["ours"]}}, [], "ours", id="a-configured-panel"),
        pytest.param({}, ["--judge-model", "a", "--panel", "b"], "--judge-model and --panel exclude each other", id="both"),
        pytest.param({}, ["--panel", "openai/x", "openai/x"], "--panel: 'openai/x' is named twice", id="twice"),
        pytest.param({}, ["--judge-model", "openai/x", "--votes", "0"], "--votes: from 1 to 25 votes", id="no-votes"),
    ],
)
def test_who_judges(run_here: Run, place: Any, config: dict[str, Any], flags: list[str], told: str) -> None:
    """A model without a provider is refused by its name, before anything is asked."""
    leave(place.folder, FIRST, "one")
    leave(place.folder, SECOND, "two")
    place.write("eval-skills.config.yaml", config)
    result = run_here("compare-answers", FIRST, SECOND, "--benchmark", str(place.write("sums.json", SUMS)), *flags)
    assert (result.code, result.out) == (2, "")
    assert told in result.err, result.err
    assert len(result.err.strip().splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("sign", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)], ids=["ctrl-c", "kill-9"])
def test_p13_a_comparison_that_was_stopped_goes_on(served: Any, model: ScriptedModel, sign: signal.Signals, code: int) -> None:
    leave(served.folder, FIRST, "a long and thorough answer")
    leave(served.folder, SECOND, "short")
    command = (*configure(served, model), "--concurrency", "1", "--judge-concurrency", "1", "--no-judge-check")
    forever = threading.Event()

    def four_answers(asked: Asked) -> Says:
        return longer(asked) if len(model.asked) <= 4 else replace(longer(asked), hold=forever)

    model.otherwise = four_answers
    process = served.begin(*command)
    model.wait_for_asked(5)
    os.kill(process.pid, sign)
    ended, out, err = process.output(timeout=120)
    forever.set()
    assert (ended, out) == (code, ""), err
    if sign == signal.SIGINT:
        assert err.endswith("eval-skills: interrupted; what was judged is in the cache: make the same call again to go on\n")
    assert Store(served.folder / "eval-store").preferences().empty, "nothing is half-written"
    model.otherwise = longer
    done = served.call(*command, "--json")
    assert (done.code, done.json["figures"]["winsA"], done.json["judging"]["cached"]) == (0, 6, 4), done.err
    assert len(model.asked) == 5 + 8, "no verdict is paid for twice"


@pytest.mark.slow
def test_p13_a_judge_that_dies_in_the_middle_exits_3_and_the_next_call_goes_on(served: Any, model: ScriptedModel) -> None:
    leave(served.folder, FIRST, "a long and thorough answer")
    leave(served.folder, SECOND, "short")
    command = (*configure(served, model), "--concurrency", "1", "--judge-concurrency", "1", "--no-judge-check")
    model.otherwise = lambda asked: longer(asked) if len(model.asked) <= 4 else failure(401, "bad key")
    stopped = served.call(*command)
    assert stopped.code == 3, stopped.err
    assert "judge: 4 of 6 pairs could not be judged: openai/scripted refused access" in stopped.out
    model.otherwise = longer
    done = served.call(*command, "--json")
    assert (done.code, done.json["judgedBefore"], done.json["unjudged"]) == (0, 2, 0), done.err
    assert len(model.asked) == 5 + 8


@pytest.mark.slow
def test_two_comparisons_at_once_share_a_cache_a_store_and_the_rate_limit_of_the_server(
    served: Any, model: ScriptedModel, server_url: str
) -> None:
    leave(served.folder, FIRST, "a long and thorough answer")
    leave(served.folder, SECOND, "short")
    command = configure(served, model)
    limit = {"name": "eval-skills-judge-openai-scripted", "limit": 1000, "slot_decay_per_second": 0.0001}
    limits = f"{server_url}/v2/concurrency_limits"
    httpx.post(f"{limits}/", json=limit, timeout=60, trust_env=False).raise_for_status()
    try:
        both = [served.begin(*command), served.begin(*command, "--criteria", "More is better.")]
        ended = [process.output(timeout=300) for process in both]
        held = httpx.get(f"{limits}/{limit['name']}", timeout=60, trust_env=False).raise_for_status().json()
    finally:
        end = monotonic() + 120
        while (gone := httpx.delete(f"{limits}/{limit['name']}", timeout=60, trust_env=False)).status_code == 503:
            assert monotonic() < end, "the server's database stays locked"  # as it is while others write, for a moment
        gone.raise_for_status()
    assert [code for code, *_ in ended] == [0, 0], ended
    assert len(model.asked) == 26, "two tokens, and both orders of six pairs for each call"
    assert held["active_slots"] == 26, "each request of both calls took a place"
    frame = Store(served.folder / "eval-store").preferences()
    assert frame.groupby("comparison_id")["outcome"].apply(list).tolist() == [["a"] * 6] * 2


@pytest.fixture
def manifests(place: Any) -> dict[Path, str]:
    """The manifests of two runs in the project's store, and what is in them."""
    leave(place.folder, FIRST, "one")
    leave(place.folder, SECOND, "two")
    found = [place.folder / "eval-store" / "runs" / run_id / "manifest.json" for run_id in (FIRST, SECOND)]
    return {manifest: manifest.read_text() for manifest in found}


@pytest.mark.slow
@each_row(
    ("arguments", "message"),
    [
        pytest.param([FIRST], "RUN_B", id="one-run-only"),
        pytest.param(["nonsense", SECOND], "'nonsense' is not a run id", id="no-run-id"),
        pytest.param([FIRST, "20200101T000000Z-0000"], "no run 20200101T000000Z-0000", id="unknown-run"),
        pytest.param([FIRST, FIRST], "both sides are adder@1.0.0 of run", id="with-itself"),
        pytest.param(
            [FIRST, SECOND, "--skill-a", "ader"], "--skill-a 'ader' is not in that run (did you mean 'adder'", id="skill"
        ),
        pytest.param([FIRST, SECOND, "--benchmark", "coding-easy"], "does not have 't0'", id="another-benchmark"),
        pytest.param([FIRST, SECOND], "name their benchmark, as with --benchmark sums", id="benchmark-unknown"),
        pytest.param([FIRST, SECOND, "--concurrency", "0"], "--concurrency", id="nobody-compares"),
        pytest.param([FIRST, SECOND, "--max-judge-cost", "nan"], "--max-judge-cost", id="no-number"),
        pytest.param([FIRST, SECOND, "--criteria", " "], "--criteria", id="blank-criteria"),
        pytest.param([FIRST, SECOND, "--store", "nowhere"], "no such store", id="no-store"),
    ],
)
def test_p40_bad_input_is_one_line_and_exit_2(
    run_here: Run, place: Any, manifests: dict[Path, str], arguments: list[str], message: str
) -> None:
    for manifest, text in manifests.items():
        manifest.write_text(text if "--benchmark" in arguments else "{")
    result = run_here("compare-answers", *arguments, *([] if "--judge-model" in arguments else ["--judge-model", "openai/x"]))
    assert (result.code, result.out) == (2, ""), result.err
    assert message in result.err
    assert len(result.err.strip().splitlines()) == 1
    assert not (place.folder / "eval-store" / "preferences").exists()


@pytest.mark.slow
def test_without_a_model_it_says_how_to_name_one(run_here: Run, place: Any) -> None:
    leave(place.folder, FIRST, "one")
    leave(place.folder, SECOND, "two")
    result = run_here("compare-answers", FIRST, SECOND)
    assert (result.code, "no judging model is named; name one with --judge-model" in result.err) == (2, True)
