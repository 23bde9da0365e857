"""Drafts from schemas, the store, a model and a reference skill."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.config.judging import JudgeOptions
from eval_skills.core.errors import InputError, JudgeError, UsageError
from eval_skills.core.models import Benchmark, EvalTask, Skill
from eval_skills.core.skills import load_skill
from eval_skills.core.store import Store, land_rows
from eval_skills.engine.task_making.drafts import answer_schema, write_benchmark
from eval_skills.engine.task_making.making import MadeBenchmark, MakingRequest, make_tasks, skill_of_document
from tests.scripted_model import Asked, Says, ScriptedModel, failure
from tests.tables import each_row

PETS = Path(__file__).parents[2] / "scaffolding" / "pets.yaml"
INPUT: dict[str, Any] = {
    "type": "object", "required": ["what"], "properties": {"what": {"type": "string"}, "n": {"type": "integer"}},
}  # fmt: skip


def moody(**fields: Any) -> Skill:
    described = {
        "id": "moody", "name": "Moody", "version": "1.0.0", "adapterType": "subprocess", "entrypoint": "x", "inputSchema": INPUT
    }  # fmt: skip
    return Skill.model_validate(described | fields)


def made(skill: Skill | None = None, count: int = 30, **more: Any) -> MadeBenchmark:
    return make_tasks(MakingRequest(skill=skill or moody(), count=count, **more))


def tasks(benchmark: Benchmark, by: str) -> list[EvalTask]:
    return [task for task in benchmark.tasks if task.metadata["generated"]["by"] == by]


def test_drafts_are_marked_and_the_same_for_the_same_seed() -> None:
    one, other = made(seed=4), made(seed=4)
    assert one.benchmark == other.benchmark
    assert one.benchmark.metadata == {"generated": {"skill": "moody@1.0.0", "from": ["schema"], "seed": 4}}
    assert all(task.is_unreviewed and task.metadata["generated"]["seed"] == 4 for task in one.benchmark.tasks)


def test_a_valid_input_expects_the_output_schema_and_an_invalid_one_nothing() -> None:
    found = made(moody(outputSchema={"type": "integer"}))
    expecting = {task.id: task.evaluator_type for task in found.benchmark.tasks if "invalid" not in task.tags}
    assert set(expecting.values()) == {"json_schema"}
    invalid = [task for task in found.benchmark.tasks if "invalid" in task.tags]
    assert invalid
    assert all(task.lacks_expectation and "say what" in task.metadata["generated"]["needs"] for task in invalid)
    assert [remark for remark in found.remarks if "no evaluator can say that a skill must end in an error" in remark]


def test_without_an_output_schema_nothing_is_expected() -> None:
    tasks = made().benchmark.tasks
    assert tasks
    assert all(task.lacks_expectation for task in tasks)


@each_row(
    ("schema", "expected"),
    [
        pytest.param({}, None, id="none"),
        pytest.param({"description": "a text"}, None, id="words-only"),
        pytest.param({"type": "string"}, {"type": "string"}, id="plain"),
        pytest.param(
            {"properties": {"result": {"type": "number"}}},
            {"anyOf": [{"properties": {"result": {"type": "number"}}}, {"type": "number"}]},
            id="in-an-envelope",
        ),
    ],
)
def test_what_the_output_schema_says_of_an_answer(schema: dict[str, Any], expected: Any) -> None:
    assert answer_schema(moody(outputSchema=schema)) == expected


def test_a_skill_that_says_nothing_of_its_input_gives_no_tasks() -> None:
    with pytest.raises(InputError, match="write an inputSchema, or take tasks --from store"):
        made(moody(inputSchema={}))


@pytest.mark.parametrize("count", [0, -1, 10_001])
def test_the_count_has_bounds(count: int) -> None:
    with pytest.raises(UsageError, match="--count is"):
        made(count=count)


def test_an_operation_of_a_document_stands_for_a_skill() -> None:
    skill = skill_of_document(PETS, "listPets")
    assert {"kind", "limit"} <= made(skill).benchmark.tasks[1].input_data.keys()
    with pytest.raises(UsageError, match="operations; name one with --operation"):
        skill_of_document(PETS, None)


# the store

Land = Callable[..., str]


@pytest.mark.slow
def test_failures_of_runs_become_tasks_again_with_what_was_expected(landed_run: Land, store: Store, tmp_path: Path) -> None:
    answers = {"fine": "right", "once": "wrong", "twice": "wrong", "like-twice": "right"}
    asked = [
        {"id": name, "inputData": {"what": name.removeprefix("like-")}, "expectedOutput": {"value": "right"}} for name in answers
    ]
    (tmp_path / "tasks.json").write_text(json.dumps(asked), encoding="utf-8")
    landed_run(answers, at=datetime(2026, 3, 1, tzinfo=UTC))
    last = landed_run({**answers, "once": "right"}, at=datetime(2026, 3, 2, tzinfo=UTC))
    found = made(store=store, sources=["store"])
    assert found.remarks == []
    assert [task.metadata["generated"]["task"] for task in found.benchmark.tasks] == ["tasks/twice", "tasks/once", "tasks/fine"]
    first = found.benchmark.tasks[0]
    assert first.metadata == {
        "generated": {"by": "store", "run": last, "task": "tasks/twice", "failed": 2, "items": 2},
        "reviewed": False,
    }
    assert (first.id, first.input_data, first.expected_value) == ("store-001", {"what": "twice"}, "right")


@pytest.mark.slow
def test_a_task_of_a_run_names_the_evaluator_that_judged_it_by_default(landed_run: Land, store: Store, tmp_path: Path) -> None:
    own = {"inputData": {"what": "own"}, "expectedOutput": {"type": "gaia", "value": "right"}}
    turns = [{"input": "hi"}, {"input": "bye", "expected": "right"}]
    asked: dict[str, dict[str, Any]] = {
        "by-default": {"inputData": {"what": "it"}, "expectedOutput": {"value": "right"}},
        "own": own,
        "named": {"inputData": {"what": "named"}, "evaluator": "gaia", "expectedOutput": {"value": "right"}},
        "talk": {"turns": turns},
    }
    (tmp_path / "tasks.json").write_text(json.dumps([{"id": name, **each} for name, each in asked.items()]), encoding="utf-8")
    landed_run(dict.fromkeys(asked, "right"), evaluator="levenshtein")
    drafts = made(store=store, sources=["store"]).benchmark.tasks
    assert [task.evaluator_type for task in drafts if task.turns is None] == ["levenshtein", "gaia", "gaia"]
    [named] = [task for task in drafts if task.turns is None and task.input_data == {"what": "named"}]
    assert named.expected_output is not None
    assert named.expected_output.type is None, "its own evaluator is not contradicted"
    [talk] = [task.turns for task in drafts if task.turns is not None]
    assert [turn.evaluator_type for turn in talk] == [None, "levenshtein"]


SAMPLE = {
    "monitor_id": "m", "monitor_run_id": "20261122T080000Z-0001", "sampled_at": datetime(2026, 11, 22, tzinfo=UTC),
    "output_preview": "?", "scorer": "exact_match", "origin": "monitor", "source": "log:1",
}  # fmt: skip


def sampled(store: Store, *rows: tuple[str, str, bool]) -> None:
    samples = [
        SAMPLE | {
            "interaction_id": str(number), "skill_id": skill, "query_preview": question, "passed": passed,
            "status": "pass" if passed else "fail", "score": float(passed),
        }
        for number, (skill, question, passed) in enumerate(rows)
    ]  # fmt: skip
    land_rows(store, "samples", "20261122T080000Z-0001", samples)


def test_what_failed_in_production_comes_first_and_fits_the_schema(store: Store) -> None:
    sampled(
        store,
        ("moody", "went well", True),
        ("moody@1.0.0", '{"what": "failed", "n": 2}', False),
        ("moody", "went well", True),
        ("other", "of another skill", False),
        ("moody", "long " * 40, False),
        ("moody", '{"n": 2}', False),
    )
    found = made(store=store, sources=["store"])
    assert [task.input_data for task in found.benchmark.tasks] == [{"what": "failed", "n": 2}, {"what": "went well"}]
    assert all(task.lacks_expectation for task in found.benchmark.tasks)
    assert sorted(found.remarks) == [
        "left out 1: samples that do not fit the input schema",
        "left out 1: samples whose question is empty, or longer than what a monitor keeps",
    ]


def test_a_benchmark_that_was_changed_since_gives_no_task(landed_run: Land, store: Store, write_expectations: Any) -> None:
    landed_run({"gone": "wrong"})
    write_expectations(other="right")
    with pytest.raises(InputError, match="left out 1: their benchmark is gone, or was changed since"):
        made(store=store, sources=["store"])


def test_secrets_are_replaced(landed_run: Land, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SECRET", "hunter2hunter2")
    task = {"id": "a", "inputData": {"what": "say hunter2hunter2"}, "expectedOutput": {"value": "right"}}
    (tmp_path / "tasks.json").write_text(json.dumps([task]), encoding="utf-8")
    landed_run({"a": "wrong"})
    [made_of] = made(store=store, sources=["store"], secrets=["MY_SECRET"]).benchmark.tasks
    assert made_of.input_data == {"what": "say [redacted:MY_SECRET]"}


def test_several_sources_have_a_like_share(landed_run: Land, store: Store) -> None:
    landed_run({"a": "wrong"})
    found = made(store=store, sources=["store", "schema"], count=9).benchmark
    assert (len(tasks(found, "store")), len(tasks(found, "schema"))) == (1, 8)


def test_without_a_store_there_is_nothing_to_take() -> None:
    with pytest.raises(UsageError, match="there is no store"):
        made(sources=["store"])


# a model


def judging(model: ScriptedModel, **more: Any) -> JudgeOptions:
    llm = {"model": "openai/scripted", "apiBase": model.url, "apiKeyEnv": None}
    return JudgeOptions.model_validate({"llm": llm, **more})


def proposals(*inputs: Any) -> Says:
    listed = [
        {"about": f"number {n}", "input": text if isinstance(text, str) else json.dumps(text)} for n, text in enumerate(inputs)
    ]
    return Says({"inputs": listed})


def test_inputs_of_a_model_are_checked_and_unlike_each_other(model: ScriptedModel) -> None:
    model.script(
        proposals(
            {"what": "buy milk and bread"}, {"what": "Buy milk, and bread!"}, {"what": "buy milk and bread"},
            {"what": 5}, "{", {"what": "Wetter in Łódź?"},
        ),
        proposals({"what": "three"}),
    )  # fmt: skip
    found = made(sources=["model"], count=3, judging=judging(model), seed=7)
    assert [task.input_data["what"] for task in found.benchmark.tasks] == [
        "buy milk and bread",
        "Wetter in Łódź?",
        "three",
    ]
    assert all(task.lacks_expectation for task in found.benchmark.tasks)
    marks = [task.metadata["generated"] for task in found.benchmark.tasks]
    assert all({"by": "model", "model": "openai/scripted", "seed": 7}.items() <= mark.items() for mark in marks)
    assert {remark.rpartition(": ")[2] for remark in found.remarks} == {
        "not valid by the input schema", "not JSON", "the same as another one", "almost the same as another one",
    }  # fmt: skip
    assert found.spent is not None
    assert found.spent.asked == 2
    assert "Wetter in Łódź?" in model.asked[1].prompt, "the model is told what there is"
    assert "expected type" in model.asked[1].prompt, "and what was wrong"


def test_the_same_call_costs_once(model: ScriptedModel) -> None:
    model.otherwise = proposals({"what": "a"}, {"what": "b"})
    first = made(sources=["model"], count=2, judging=judging(model))
    again = made(sources=["model"], count=2, judging=judging(model))
    assert first.benchmark == again.benchmark
    assert (len(model.asked), again.spent and again.spent.cached) == (1, 1)


def test_a_model_that_repeats_itself_is_not_asked_for_ever(model: ScriptedModel) -> None:
    model.otherwise = proposals({"what": "a"})
    found = made(sources=["model"], count=30, judging=judging(model))
    assert len(found.benchmark.tasks) == 1
    assert "the model thought up 1 of 30 inputs" in found.remarks
    assert len(model.asked) == 3


def test_a_model_that_fails_later_leaves_what_there_is(model: ScriptedModel) -> None:
    model.script(proposals({"what": "a"}))
    model.otherwise = failure(400, "no more")
    found = made(sources=["model"], count=5, judging=judging(model))
    assert len(found.benchmark.tasks) == 1
    assert any("the model was not asked on" in remark for remark in found.remarks)


def test_a_model_that_never_answers_is_an_error(model: ScriptedModel) -> None:
    model.otherwise = failure(401, "who are you")
    with pytest.raises(JudgeError):
        made(sources=["model"], count=5, judging=judging(model))


def test_no_more_is_spent_than_allowed(model: ScriptedModel) -> None:
    priced = judging(model, maxJudgeCost=0.05).model_copy()
    llm = priced.llm.model_copy(update={"input_price": 0.0, "output_price": 5.0})  # 0.02 USD for 4,000 tokens at most

    def otherwise(asked: Asked) -> Says:
        return Says(
            {"inputs": [{"about": "x", "input": json.dumps({"what": f"{len(model.asked)}"})}]},
            usage={"prompt_tokens": 1, "completion_tokens": 4000},
        )

    model.otherwise = otherwise
    found = made(sources=["model"], count=30, judging=priced.model_copy(update={"llm": llm}))
    assert len(model.asked) == 2
    assert any("--max-judge-cost" in remark for remark in found.remarks)


# a reference skill


@pytest.mark.slow
def test_answers_of_a_reference_are_expected_exactly(write_skill: Callable[..., Path]) -> None:
    reference = load_skill(write_skill(inputSchema=INPUT))
    found = made(reference, reference=reference, count=12)
    valid = [task for task in found.benchmark.tasks if "invalid" not in task.tags]
    assert {task.evaluator_type for task in valid} == {"exact_match"}
    assert all(task.expected_value == task.input_data["what"] for task in valid)
    assert all(task.metadata["generated"]["reference"] == "moody@1.0.0" and task.is_unreviewed for task in valid)
    assert all(task.lacks_expectation for task in found.benchmark.tasks if "invalid" in task.tags)


@pytest.mark.slow
def test_what_the_reference_does_not_answer_stays_open(write_skill: Callable[..., Path]) -> None:
    schema = {"type": "object", "required": ["what"], "properties": {"what": {"enum": ["refuse", "ok"]}}}
    reference = load_skill(write_skill(inputSchema=schema))
    found = made(reference, reference=reference, count=6)
    answers = {task.input_data["what"]: task for task in found.benchmark.tasks if "invalid" not in task.tags}
    assert answers["ok"].expected_value == "ok"
    assert answers["refuse"].lacks_expectation
    assert "did not answer it" in answers["refuse"].metadata["generated"]["needs"]
    assert any("moody@1.0.0 did not answer" in remark for remark in found.remarks)


def test_the_file_is_never_overwritten_unasked(tmp_path: Path) -> None:
    path, benchmark = tmp_path / "new" / "d.json", made(count=3).benchmark
    write_benchmark(benchmark, path, force=False)
    with pytest.raises(UsageError, match="--force to overwrite it"):
        write_benchmark(benchmark, path, force=False)
    write_benchmark(benchmark, path, force=True)
    assert [*json.loads(path.read_text("utf-8"))["tasks"][0]][:3] == ["id", "description", "inputData"]
