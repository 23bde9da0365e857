"""``backfill``: a past time rebuilt from the command line."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from eval_skills.core.store import Store
from tests.scripted_model import ScriptedModel, failure, verdict

Run = Callable[..., Any]
FIRST, SECOND = "20260301T120000Z-0001", "20260302T120000Z-0002"


@pytest.mark.slow
def test_the_table_the_trend_and_the_second_call(served: Any, past: Callable[..., str]) -> None:
    past(FIRST, passed=4), past(SECOND, passed=1)
    result = served.call("backfill", "--mode", "recompute", "--output", "trend.html")
    assert result.code == 0, result.err
    rows = [line.split() for line in result.out.splitlines()]
    assert rows[0] == ["period", "skill", "benchmark", "completion", "change", "p", "verdict"]
    assert rows[1] == ["2026-03-01", "adder@1.0.0", "sums", "100.0", "%", "–", "–", "first"]
    assert rows[2] == ["2026-03-02", "adder@1.0.0", "sums", "25.0", "%", "-75.0", "pp", "0.125", "inconclusive"]
    assert "adder on sums: 100.0 % → 25.0 %\n█▃" in result.out
    assert "recompute: 2 periods; 1 inconclusive" in result.out
    assert result.err.splitlines()[0] == "2 periods: 2 to do, 0 up to date"
    page = (served.folder / "trend.html").read_text()
    assert "adder on sums" in page
    assert len(Store(served.folder / "eval-store").comparisons()) == 2
    nobody = served.environ | {"PREFECT_API_URL": "http://127.0.0.1:1/api"}
    again = served.call("backfill", "--mode", "recompute", "--json", environ=nobody)
    assert (again.code, again.json["done"]) == (0, []), again.err
    assert again.json["summary"] == "nothing to do: 2 periods up to date; do it again with --force"
    assert [row["completionRate"] for row in again.json["comparisons"]] == [1.0, 0.25]
    asked = served.call("query", "SELECT period, verdict FROM comparisons ORDER BY 1", "--json")
    assert asked.json == [{"period": "2026-03-01", "verdict": None}, {"period": "2026-03-02", "verdict": "inconclusive"}]


@pytest.mark.slow
def test_p13_what_the_judge_failed_is_told_ends_with_3_and_is_asked_again(served: Any, past: Callable[..., str]) -> None:
    for run_id in (FIRST, SECOND):
        past(run_id, judged=[{"output": "dead"}, {"output": "alive"}])
    judged = {"type": "llm_judge", "criteria": "Be right."}
    tasks = [{"id": f"t{n}", "inputData": {"n": n}, "expectedOutput": judged} for n in range(4)]
    sums = served.write("sums.json", {"id": "sums", "name": "Sums", "version": "2.0.0", "tasks": tasks})
    judge = ("--judge-model", "openai/scripted", "--no-judge-check")
    call = ("backfill", "--mode", "rescore", "--benchmark", str(sums), *judge)
    with ScriptedModel() as model:
        served.write("eval-skills.config.yaml", {"llm": {"apiBase": model.url, "cacheDir": "cache"}})
        model.otherwise = lambda asked: failure(422, "out of order") if "\ndead\n" in asked.prompt else verdict()
        first = served.call(*call)
        assert first.code == 3, first.err
        assert "judge: 2 items could not be judged (2026-03-01: 1, 2026-03-02: 1): openai/scripted does not take" in first.out
        assert re.search(r"^2026-03-01 \(1 not judged\) +adder@1.0.0 ", first.out, re.MULTILINE), "its rate counts it as failed"
        again = served.call(*call, "--json")
        assert (again.code, again.json["unjudged"]) == (3, {"2026-03-01": 1, "2026-03-02": 1}), again.err
        model.otherwise = verdict()
        mended = served.call(*call, "--json")
        assert (mended.code, mended.json["unjudged"], mended.json["judging"]) == (0, {}, []), mended.err
        assert [row["completionRate"] for row in mended.json["comparisons"]] == [0.5, 0.5]
        assert "not judged)" not in served.call(*call).out


@pytest.mark.slow
def test_p40_a_replay_in_which_nothing_can_be_evaluated_does_not_pass(served: Any) -> None:
    skill = served.folder / "repository" / "skills" / "broken" / "skill.json"
    skill.parent.mkdir(parents=True)
    skill.write_text("{")
    git = ["git", "-C", str(served.folder / "repository"), "-c", "user.name=n", "-c", "user.email=e@example.org"]
    for words in (["init", "--quiet"], ["add", "-A"], ["commit", "--quiet", "-m", "m"]):
        subprocess.run([*git, *words], check=True)
    result = served.call("backfill", "--mode", "replay", "--skills-repo", "repository", "--skills-path", "skills")
    assert result.code == 3
    assert "skill.json" in result.out
    assert result.err.splitlines()[-1].startswith("eval-skills: no period has a figure")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param([], "--mode", id="no-mode"),
        pytest.param(["--mode", "redo"], "redo", id="unknown-mode"),
        pytest.param(["--mode", "recompute", "--every", "hour"], "hour", id="unknown-period"),
        pytest.param(["--mode", "recompute", "--since", "yesterday"], "give a day such as", id="no-day"),
        pytest.param(
            ["--mode", "recompute", "--since", "2026-03-02", "--until", "2026-03-01"], "--until is not after", id="reversed"
        ),
        pytest.param(["--mode", "recompute", "--since", "2026-04-01"], "it holds 1 run from 2026-03-01", id="nothing-then"),
        pytest.param(["--mode", "rescore", "--every", "tag"], "--every tag is for --mode replay", id="tags-of-runs"),
        pytest.param(["--mode", "replay"], "--skills-repo and --mode replay belong together", id="no-repository"),
        pytest.param(["--mode", "replay", "--skills-repo", "nowhere"], "nowhere: no such folder", id="missing-repository"),
        pytest.param(["--mode", "replay", "--skills-repo", ".", "--skills-path", "/etc"], "leads out of", id="outside"),
        pytest.param(["--mode", "replay", "--skills-repo", ".", "--benchmark", "nope"], "unknown benchmark", id="benchmark"),
        pytest.param(["--mode", "recompute", "--output", "trend.png"], "ends in .html", id="a-picture"),
        pytest.param(["--mode", "recompute", "--output", "file/trend.html"], "cannot be written here", id="below-a-file"),
        pytest.param(["--mode", "recompute", "--store", "nowhere"], "nowhere", id="no-store"),
    ],
)
def test_p40_what_cannot_be_done_is_refused_before_anything_starts(
    run_here: Run, past: Callable[..., str], place: Any, arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(place.folder.parent))
    past(FIRST)
    place.write("file", "text")
    before = place.files()
    result = run_here("backfill", *arguments)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert len(result.err.strip().splitlines()) == 1
    assert place.files() == before
