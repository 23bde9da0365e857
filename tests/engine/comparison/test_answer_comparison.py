"""Stored answers compared by a model: what is compared with what, what lands, and what is refused."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eval_skills.core.errors import InputError, RunError, UsageError, UserError
from eval_skills.core.judging.pairs import Preference
from eval_skills.core.judging.preferences import win_rates
from eval_skills.core.store import Store, prune_items
from eval_skills.engine.comparison.compare import AnswerComparison
from eval_skills.engine.comparison.pairs import ComparisonPlan, plan_comparison
from eval_skills.engine.comparison.request import CompareRequest
from eval_skills.engine.comparison.sides import sides_of
from eval_skills.engine.comparison.summary import ComparisonSummary
from eval_skills.scorers.judging.budget import Spending
from tests.cli.conftest import leave_run
from tests.engine.comparison.compared import compare
from tests.scripted_model import Asked, Says, ScriptedModel, failure

if TYPE_CHECKING:
    from tests.engine.evaluations import LandedRun

pytestmark = pytest.mark.slow  # of seconds each, for whole evaluations

Plan = Callable[..., ComparisonPlan]


@pytest.fixture
def model(model: ScriptedModel) -> ScriptedModel:
    model.otherwise = prefers_right
    return model


@pytest.fixture
def plan(model: ScriptedModel, tmp_path: Path) -> Plan:
    """A comparison of two runs with the scripted model; it is not asked for one token first, unless that is said."""

    def make(run_a: str, run_b: str, llm: dict[str, Any] | None = None, **fields: Any) -> ComparisonPlan:
        given = {"llm": {"model": "openai/scripted", "apiBase": model.url, **(llm or {})}, "noJudgeCheck": True}
        store = fields.pop("store", str(tmp_path / "store"))
        return plan_comparison(CompareRequest.model_validate({"runA": run_a, "runB": run_b, "store": store, **given, **fields}))

    return make


@pytest.fixture(autouse=True)
def tasks_file(tmp_path: Path) -> Path:
    """Tasks that are asked different things; `landed_run` would ask all the same."""
    names = [*(f"t{n}" for n in range(7)), "t", "u", "v"]
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps([{"id": n, "inputData": {"q": n}, "expectedOutput": {"value": "right"}} for n in names]))
    return path


def says(better: str) -> Says:
    return Says({"reasoning": "because", "better": better})


def prefers_right(asked: Asked) -> Says:
    """The answer "right" is better, wherever it stands."""
    first, second = (asked.prompt.partition(f"<<<{name} answer ")[2].split("\n")[1] for name in ("first", "second"))
    return says("tie" if (first == "right") == (second == "right") else "first" if first == "right" else "second")


def test_the_better_run_wins_task_by_task_and_it_lands(landed_run: LandedRun, plan: Plan, model: ScriptedModel) -> None:
    tasks = [f"t{n}" for n in range(7)]
    a, b = landed_run(dict.fromkeys(tasks, "right")), landed_run(dict.fromkeys(tasks, "wrong") | {"t6": "right"})
    summary = compare(plan(a, b))
    found = summary.figures
    assert (found.wins_a, found.wins_b, found.ties, found.identical) == (6, 0, 1, 1)
    assert (found.verdict, found.p_value) == ("a", 0.03125)
    assert summary.line == "A (moody@1.0.0) is preferred: 6 tasks for A, 0 for B, p = 0.0312"
    assert len(model.asked) == 12, "equal answers are not asked about"
    frame = Store(summary.store).preferences()
    assert frame["outcome"].tolist() == ["a"] * 6 + ["tie"]
    assert set(frame["comparison_id"]) == {summary.comparison_id}
    assert (frame["judge_tokens"].iloc[0], frame["reasoning_a_first"].iloc[0]) == (240, "because")
    assert (frame["run_a"].iloc[0], frame["run_b"].iloc[0]) == (a, b)


def test_made_again_it_asks_nothing_and_lands_in_the_same_place(landed_run: LandedRun, plan: Plan, model: ScriptedModel) -> None:
    a, b = landed_run({"t": "right", "u": "x"}), landed_run({"t": "wrong", "u": "y"})
    first, asked = compare(plan(a, b)), len(model.asked)
    second = compare(plan(a, b))
    assert (second.comparison_id, len(model.asked)) == (first.comparison_id, asked)
    assert (second.spent.happened, second.judged_before, second.judging) == (False, 2, []), "not even the cache is needed"
    assert len(Store(second.store).preferences()) == 2
    assert plan(a, b, criteria="Shorter is better.").comparison_id != first.comparison_id
    assert plan(a, b, llm={"model": "openai/other"}).comparison_id != first.comparison_id


def test_a_repeat_from_the_cache_keeps_what_was_recorded(landed_run: LandedRun, plan: Plan) -> None:
    a, b = landed_run({"t": "right"}), landed_run({"t": "wrong"})
    priced = {"inputPrice": 1.0, "outputPrice": 1.0}
    store = Store(compare(plan(a, b, llm=priced)).store)
    paid = store.preferences()
    assert (paid["judge_tokens"].item(), paid["judge_cost_usd"].item() > 0) == (240, True)
    again = compare(plan(a, b, llm=priced))
    assert (again.spent.asked, again.spent.cost_usd) == (0, 0.0), "what this call cost is said as it is"
    assert store.preferences().equals(paid)


def test_a_comparison_made_anew_has_an_id_of_its_own_and_is_the_one_that_is_repeated(
    landed_run: LandedRun, plan: Plan, model: ScriptedModel
) -> None:
    a, b = landed_run({"t": "right"}), landed_run({"t": "wrong"})
    first = compare(plan(a, b))
    model.otherwise = says("first")
    anew = compare(plan(a, b, noJudgeCache=True))
    assert anew.comparison_id != first.comparison_id
    assert (first.figures.wins_a, anew.figures.wins_a, anew.figures.disagreements) == (1, 0, 1)
    assert first.line.startswith("undecided: 1 task for A, 0 for B, p = 1")
    repeated = compare(plan(a, b))
    assert (repeated.comparison_id, repeated.spent.asked) == (anew.comparison_id, 0)
    assert (repeated.figures, repeated.rows[0]["judge_tokens"]) == (anew.figures, 240)
    outcomes = Store(first.store).preferences().set_index("comparison_id")["outcome"]
    assert outcomes.to_dict() == {first.comparison_id: "a", anew.comparison_id: "tie"}


def test_pairs_that_left_no_verdict_say_how_their_task_runs_ended(landed_run: LandedRun, plan: Plan) -> None:
    a, b = landed_run({"t": "right", "u": "right"}), landed_run({"t": "wrong", "u": "wrong"})
    left = "were not compared (the server is gone); what was judged is in the cache"

    async def one_pair() -> None:
        async with AnswerComparison(plan(a, b)) as comparison:
            await comparison.compare(comparison.pairs["t#1"])
            with pytest.raises(RunError, match=re.escape(f"1 of 2 pairs {left}")):
                comparison.finish({"t#1": "A is better", "u#1": "the server is gone"})

    asyncio.run(one_pair())


class TestTheVerdictOfAJudgeThatLooksAtThePlace:
    def line(self, tmp_path: Path, pairs: list[Preference]) -> str:
        figures = win_rates(pairs)
        return ComparisonSummary(
            "c", "ra", "rb", "sa", "sb", "b@1", "openai/x", "1", figures, 0, str(tmp_path), Spending(), []
        ).line

    def test_it_is_said_instead_of_too_few_tasks(self, tmp_path: Path) -> None:
        always_first = [Preference(f"t{n}", "tie", "a", "b") for n in range(12)]
        expected = "undecided: this judge chose by position: both orders agree on 0.0 % of 12 pairs"
        assert self.line(tmp_path, always_first) == expected

    def test_of_few_pairs_that_disagree_only_that_is_said(self, tmp_path: Path) -> None:
        line = self.line(tmp_path, [Preference(f"t{n}", "tie", "a", "b") for n in range(3)])
        assert line == "undecided: 0 tasks for A, 0 for B, p = 1 (both orders agree on 0.0 % of 3 pairs)"

    def test_a_judge_that_mostly_agrees_with_itself_is_not_blamed(self, tmp_path: Path) -> None:
        pairs = [Preference(f"t{n}", "a", "a", "a") for n in range(3)] + [Preference("u", "tie", "a", "b")]
        assert self.line(tmp_path, pairs).endswith("(too few tasks differ for any split to decide)")


def test_items_without_an_answer_are_not_judged_and_are_counted(landed_run: LandedRun, plan: Plan) -> None:
    broken = {"status": "error", "passed": False, "score": None, "output": None, "error_kind": "infra"}
    a = landed_run({"t": "right", "u": "right", "v": "right"}, u=broken)
    b = landed_run({"t": "wrong", "u": "wrong", "v": "x"}, v={**broken, "error_kind": "judge", "output": "x"})
    summary = compare(plan(a, b))
    assert (summary.unanswered, summary.figures.pairs) == (1, 2), "an answer whose scoring broke is an answer"


def test_a_side_that_failed_to_answer_loses_the_pair_and_no_model_is_asked(
    landed_run: LandedRun, plan: Plan, model: ScriptedModel
) -> None:
    silent = {"status": "error", "passed": False, "score": None, "output": None, "error_kind": "skill"}
    late = {**silent, "status": "timeout", "error_kind": "timeout"}
    tasks = [f"t{n}" for n in range(7)]
    a = landed_run(dict.fromkeys(tasks, "right"), t0=silent, t1=late)
    b = landed_run(dict.fromkeys(tasks, "wrong"), **dict.fromkeys(tasks[1:], silent))
    summary = compare(plan(a, b))
    assert (summary.figures.forfeits_a, summary.figures.forfeits_b, summary.figures.ties) == (1, 5, 1)
    assert (summary.figures.verdict, summary.unanswered, model.asked) == ("undecided", 0, [])
    assert (summary.has_landed, summary.is_complete) == (False, True), "no row is there that a comparison could be found by"


def test_an_answer_that_something_else_kept_away_leaves_the_verdict_open(landed_run: LandedRun, plan: Plan) -> None:
    lost = {"status": "error", "passed": False, "score": None, "output": None, "error_kind": "infra"}
    tasks = [f"t{n}" for n in range(7)]
    found = compare(plan(landed_run(dict.fromkeys(tasks, "right")), landed_run(dict.fromkeys(tasks, "wrong"), t6=lost)))
    assert (found.figures.wins_a, found.unanswered, found.figures.verdict) == (6, 1, "undecided"), "six alone would decide"
    assert found.line.startswith("undecided: 1 pair without a verdict may decide it; run it again with eval --resume")


def test_a_pair_without_a_verdict_is_an_error_and_no_tie(landed_run: LandedRun, plan: Plan, model: ScriptedModel) -> None:
    def sometimes(asked: Asked) -> Says:
        return Says("no idea") if "odd" in asked.prompt else prefers_right(asked)

    model.otherwise = sometimes
    summary = compare(plan(landed_run({"t": "right", "u": "odd"}), landed_run({"t": "wrong", "u": "wrong"})))
    assert (summary.figures.pairs, summary.figures.errors, summary.figures.ties) == (1, 1, 0)
    row = Store(summary.store).preferences().set_index("task_id").loc["u"]
    assert (row["outcome"], row["error_kind"]) == ("error", "judge")
    assert "no readable verdict" in row["error_message"]


@pytest.mark.parametrize("anew", [False, True], ids=["cached", "no-cache"])
def test_a_judge_that_dies_in_the_middle_is_asked_only_for_what_is_missing(
    landed_run: LandedRun, plan: Plan, model: ScriptedModel, anew: bool
) -> None:
    tasks = [f"t{n}" for n in range(4)]
    a, b = landed_run(dict.fromkeys(tasks, "right")), landed_run(dict.fromkeys(tasks, "wrong"))
    model.otherwise = lambda asked: failure(401, "bad key") if len(model.asked) > 4 else prefers_right(asked)
    stopped = compare(plan(a, b, judgeConcurrency=1, noJudgeCache=anew))
    assert (stopped.is_complete, 0 < stopped.figures.errors < 4) == (False, True)
    assert (
        f"judge: {stopped.figures.errors} of 4 pairs could not be judged: openai/scripted refused access" in stopped.judging[-1]
    )
    assert ("without --no-judge-cache" in stopped.judging[-1]) is anew
    landed, known = Store(stopped.store).preferences(), len(model.asked)
    model.otherwise = prefers_right
    done = compare(plan(a, b))
    assert (done.comparison_id, done.is_complete, done.figures.wins_a) == (stopped.comparison_id, True, 4)
    assert done.judged_before == 4 - stopped.figures.errors
    assert len(model.asked) - known <= 2 * stopped.figures.errors, "no verdict is paid for twice"
    after = Store(done.store).preferences()
    paid, facts = landed["outcome"] != "error", ["task_id", "compared_at", "judge_tokens", "reasoning_a_first"]
    assert after[paid][facts].values.tolist() == landed[paid][facts].values.tolist(), "what had landed stands as it was"
    assert (after["outcome"] == "a").all()


def test_what_the_judge_was_paid_where_it_failed_stays_in_the_rows(
    landed_run: LandedRun, plan: Plan, model: ScriptedModel
) -> None:
    tasks = ("t", "u", "v")
    a, b = landed_run(dict.fromkeys(tasks, "right")), landed_run({"t": "wrong", "u": "unread", "v": "refused"})

    def sometimes(asked: Asked) -> Says:
        if "\nrefused\n" in asked.prompt:
            return failure(422, "not this one")
        return Says("no JSON at all") if "\nunread\n" in asked.prompt else prefers_right(asked)

    model.otherwise = sometimes
    compare(plan(a, b))
    spent = 120 * sum("\nrefused\n" not in asked.prompt for asked in model.asked)
    model.otherwise = prefers_right
    model.asked.clear()
    done = compare(plan(a, b))
    tokens = {row["task_id"]: row["judge_tokens"] for row in done.rows}
    assert (tokens["t"], tokens["v"]) == (240, 240), "a request that was refused cost nothing"
    assert sum(tokens.values()) == spent + 120 * len(model.asked)


def test_two_that_were_planned_at_once_land_once_one_after_the_other(
    landed_run: LandedRun, plan: Plan, model: ScriptedModel
) -> None:
    a, b = landed_run({"t": "right"}), landed_run({"t": "wrong"})
    first = plan(a, b)
    other = replace(plan(a, b), comparison_id="29990101T000000Z-0000")
    done, asked = compare(first), len(model.asked)
    again = compare(other)
    assert (again.comparison_id, again.judged_before, len(model.asked)) == (done.comparison_id, 1, asked)
    assert len(Store(done.store).preferences()) == 1
    fresh = [plan(a, b, noJudgeCache=True) for _ in range(2)]
    fresh[1] = replace(fresh[1], comparison_id=fresh[0].comparison_id)
    assert len({compare(each).comparison_id for each in fresh}) == 2, "what is judged anew goes on with nothing"
    assert len(model.asked) == asked + 4


def test_two_calls_that_make_the_same_comparison_at_once(landed_run: LandedRun, plan: Plan, model: ScriptedModel) -> None:
    a, b = landed_run({"t": "right"}), landed_run({"t": "wrong"})

    async def both() -> None:
        async with AnswerComparison(plan(a, b)):
            with pytest.raises(UsageError, match=f"the comparison of run {a} and run {b} is being written by process"):
                async with AnswerComparison(plan(a, b)):
                    raise AssertionError("it was let in")
            async with AnswerComparison(plan(a, b, criteria="Shorter is better.")):
                pass  # another comparison is nobody else's business

    asyncio.run(both())
    assert compare(plan(a, b)).figures.wins_a == 1, "the locks are free again"
    assert not list(Path(plan(a, b).store.layout.root).glob("*.lock"))


def test_a_comparison_that_cannot_begin_leaves_no_lock(landed_run: LandedRun, plan: Plan, model: ScriptedModel) -> None:
    model.otherwise = failure(401, "bad key")
    made = plan(landed_run({"t": "right"}), landed_run({"t": "wrong"}), noJudgeCheck=False)
    for _ in range(2):
        with pytest.raises(UsageError, match="nothing was compared"):
            compare(made)
    assert not list(Path(made.store.layout.root).glob("*.lock"))


def test_a_comparison_that_cannot_begin_leaves_no_connection(landed_run: LandedRun, plan: Plan, model: ScriptedModel) -> None:
    model.otherwise = failure(401, "bad key")
    made = plan(landed_run({"t": "right"}), landed_run({"t": "wrong"}), noJudgeCheck=False)

    before = model.connections()

    async def open_connections() -> int:
        with pytest.raises(UsageError, match="nothing was compared"):
            async with AnswerComparison(made):
                raise AssertionError("it was let in")
        return model.connections()

    assert (len(model.asked), asyncio.run(open_connections())) == (0, before)
    assert model.asked


def test_where_no_pair_has_a_verdict_nothing_lands(landed_run: LandedRun, plan: Plan, model: ScriptedModel) -> None:
    model.otherwise = failure(401, "bad key")
    made = plan(landed_run({"t": "right"}), landed_run({"t": "wrong"}))
    with pytest.raises(RunError, match=r"no pair could be judged: .*bad key"):
        compare(made)
    assert made.store.preferences().empty


def test_a_spent_budget_lands_nothing_and_a_higher_one_goes_on(landed_run: LandedRun, plan: Plan, model: ScriptedModel) -> None:
    tasks = [f"t{n}" for n in range(4)]
    a, b = landed_run(dict.fromkeys(tasks, "right")), landed_run(dict.fromkeys(tasks, "wrong"))
    priced = {"inputPrice": 0.0, "outputPrice": 1_000.0}
    stopped = compare(plan(a, b, llm=priced, maxJudgeCost=1.53, judgeConcurrency=1))
    assert (stopped.out_of_budget, Store(stopped.store).preferences().empty) == (True, True)
    said = "and not everything was judged; nothing landed, what it judged is in its cache and costs nothing again"
    assert said in stopped.judging[-1], "in the words of every other command"
    asked = len(model.asked)
    assert 0 < asked < 8
    done = compare(plan(a, b, llm=priced))
    assert (done.out_of_budget, len(model.asked), done.figures.wins_a) == (False, 8, 4)


def test_the_tasks_own_criteria_count_unless_others_are_given(
    landed_run: LandedRun, plan: Plan, model: ScriptedModel, tmp_path: Path
) -> None:
    judged = {"evaluator": {"type": "llm_judge", "criteria": ["Be kind.", "Be short."], "model": "openai/x"}}
    (tmp_path / "tasks.json").write_text(json.dumps([{"id": "t", "inputData": {}, **judged}]))
    made = plan(landed_run({"t": "right"}), landed_run({"t": "wrong"}))
    assert made.pairs[0].comparing.criteria == "1. Be kind.\n2. Be short."
    assert plan(made.a.run_id, made.b.run_id, criteria="Be loud.").pairs[0].comparing.criteria == "Be loud."


def test_one_token_is_asked_for_before_anything_else(landed_run: LandedRun, plan: Plan, model: ScriptedModel) -> None:
    model.otherwise = failure(404, "no such model")
    with pytest.raises(UsageError, match="nothing was compared: there is no model openai/scripted"):
        compare(plan(landed_run({"t": "right"}), landed_run({"t": "wrong"}), noJudgeCheck=False))
    assert len(model.asked) == 1


class TestWhatIsComparedWithWhat:
    def test_what_only_one_run_has_and_what_changed_is_left_out_and_said(
        self, landed_run: LandedRun, plan: Plan, write_expectations: Callable[..., str]
    ) -> None:
        write_expectations(t="right", u="right", v="right")
        a = landed_run({"t": "right", "u": "x", "v": "x"})
        write_expectations(t="right", u="other", w="right")
        b = landed_run({"t": "wrong", "u": "y", "w": "y"})
        made = plan(a, b)
        assert [str(pair) for pair in made.pairs] == ["t#1"]
        told = "; ".join(made.remarks)
        assert "2 items left out: only one of the runs has them" in told
        assert "1 pair left out: the task was changed since one of the runs: 'u'" in told

    def test_answers_that_were_cut_are_left_out(self, landed_run: LandedRun, plan: Plan) -> None:
        made = plan(landed_run({"t": "right", "u": "x" * 70_000}), landed_run({"t": "wrong", "u": "y"}))
        assert [str(pair) for pair in made.pairs] == ["t#1"]
        assert made.remarks == ["1 pair left out: an answer was cut to 64 KiB when it landed"]

    def test_skills_of_one_run(self, landed_run: LandedRun, plan: Plan) -> None:
        run = landed_run({"t": "right"}, skill_id="old")
        other = landed_run({"t": "wrong"}, skill_id="new")
        made = plan(run, other)
        assert (made.a.skill, made.b.skill) == ("old@1.0.0", "new@1.0.0"), "one skill on each side needs no name"

    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            pytest.param({"runB": "20200101T000000Z-0000"}, "no run 20200101T000000Z-0000", id="unknown-run"),
            pytest.param({"runB": "nonsense"}, "is not a run id", id="no-run-id"),
            pytest.param({"runB": "A"}, "both sides are moody@1.0.0 of run", id="with-itself"),
            pytest.param({"skillA": "mody"}, "--skill-a 'mody' is not in that run (did you mean 'moody'?)", id="skill"),
            pytest.param({"benchmark": "nope"}, "unknown benchmark 'nope'", id="unknown-benchmark"),
            pytest.param({"llm": {}}, "no judging model is named", id="no-model"),
            pytest.param(
                {"llm": {"model": "a/b", "apiKeyEnv": "NOT_THERE"}}, "the environment variable NOT_THERE is not set", id="no-key"
            ),
        ],
    )
    def test_p40_what_cannot_be_compared_is_refused(
        self, landed_run: LandedRun, tmp_path: Path, model: ScriptedModel, fields: dict[str, Any], message: str
    ) -> None:
        a, b = landed_run({"t": "right"}), landed_run({"t": "wrong"})
        given = {"runA": a, "runB": b, "store": str(tmp_path / "store"), "llm": {"model": "a/b", "apiBase": model.url}, **fields}
        given["runB"] = a if given["runB"] == "A" else given["runB"]
        with pytest.raises(UserError) as caught:
            plan_comparison(CompareRequest.model_validate(given))
        assert message in str(caught.value)
        assert not model.asked

    def test_runs_of_different_benchmarks(self, landed_run: LandedRun, plan: Plan) -> None:
        a, b = landed_run({"t": "right"}), landed_run({"t": "wrong"}, benchmark_id="other")
        with pytest.raises(InputError, match="their answers do not compare"):
            plan(a, b)

    def test_nothing_in_common(self, landed_run: LandedRun, plan: Plan, write_expectations: Callable[..., str]) -> None:
        a = landed_run({"t": "right"})
        write_expectations(u="right")
        b = landed_run({"u": "wrong"})
        with pytest.raises(InputError, match="can be compared: 2 items left out: only one of the runs has them"):
            plan(a, b)


def test_the_criteria_of_several_judges_count_without_what_is_not_wanted(
    landed_run: LandedRun, plan: Plan, tmp_path: Path
) -> None:
    judges = [
        {"type": "llm_judge", "criteria": text, "model": "openai/x", "not": text == "Is it rude?"}
        for text in ("Be kind.", "Is it rude?")
    ]
    inner = {"evaluators": [{"type": "llm_judge", "criteria": "Be short.", "model": "openai/x"}]}
    task = {"id": "t", "inputData": {}, "evaluators": [*judges, inner]}
    (tmp_path / "tasks.json").write_text(json.dumps([task]))
    made = plan(landed_run({"t": "right"}), landed_run({"t": "wrong"}))
    assert made.pairs[0].comparing.criteria == "Be kind.\nBe short."


def test_a_run_whose_items_were_deleted_is_not_to_be_continued(tmp_path: Path) -> None:
    leave_run(tmp_path, run_id := "20260101T100000Z-0001")
    store = Store(tmp_path)
    prune_items(store, before=datetime(2026, 2, 1, tzinfo=UTC), keep=())
    with pytest.raises(InputError, match=r"its items were deleted on .*: no answers to compare$"):
        sides_of(store, CompareRequest(run_a=run_id, run_b=run_id))
