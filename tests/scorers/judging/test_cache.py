"""What a model said is kept: which questions are the same, and what is no verdict."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from eval_skills.scorers import ScoringSettings
from eval_skills.scorers.judging import Material, Question
from eval_skills.scorers.judging.budget import counted
from eval_skills.scorers.judging.grading import Grade, Grading
from tests.scorers.judging.asking import PRICED, Settings, asked, code_of, question
from tests.scripted_model import ScriptedModel, verdict
from tests.tables import each_row
from tests.warm_command import WarmCommand


async def test_p85_the_same_question_is_asked_once_and_costs_once(model: ScriptedModel, settings: Settings) -> None:
    with counted() as first:
        assert not (await asked(settings().judges)).cached
    with counted() as second:
        assert (await asked(settings().judges)).cached
    assert (first.asked, first.tokens) == (1, 120)
    assert (second.asked, second.cached, second.tokens, second.cost_usd) == (0, 1, 0, 0.0)
    assert len(model.asked) == 1


@each_row(
    ("llm", "other", "how"),
    [
        pytest.param({"model": "openai/other"}, {}, {}, id="model"),
        pytest.param({"temperature": 0.5}, {}, {}, id="temperature"),
        pytest.param({}, {"instructions": "Be kind."}, {}, id="instructions"),
        pytest.param({}, {"version": "2"}, {}, id="prompt-version"),
        pytest.param({}, {"answer": "43"}, {}, id="answer"),
        pytest.param({}, {"materials": (Material.of("tool result", "42"),)}, {}, id="name-of-material"),
        pytest.param({}, {"reply": Grading.of((0, 10)).reply}, {}, id="scale"),
        pytest.param({}, {"reply": Grading.of(choices={"a": 0, "b": 1}).reply}, {}, id="choices"),
        pytest.param({}, {"max_tokens": 101}, {}, id="max-tokens"),
        pytest.param({}, {}, {"vote": 1}, id="vote"),
    ],
)
def test_p85_whatever_matters_makes_another_question(
    settings: Settings, llm: dict[str, Any], other: dict[str, Any], how: dict[str, Any]
) -> None:
    def key(chosen: ScoringSettings, asking: Question[Grade], vote: int = 0) -> str:
        judge = chosen.judges.judge()
        return judge._key(asking, vote, judge.model.temperature)

    assert key(settings(), question()) == key(settings({"timeout_ms": 5, **PRICED}), question())
    assert key(settings(), question()) != key(settings(llm), question(**other), **how)


def test_p85_what_was_cut_out_of_the_prompt_matters_too(settings: Settings) -> None:
    def key(answer: str) -> str:
        return settings().judges.judge()._key(question(answer, limit=10), 0, 0.0)

    assert key("a" * 50 + "b" + "c" * 50) != key("a" * 50 + "x" + "c" * 50)


async def test_equal_questions_at_the_same_time_are_one(model: ScriptedModel, settings: Settings) -> None:
    judges = settings().judges
    rulings = await asyncio.gather(*(asked(judges) for _ in range(8)))
    assert sorted(ruling.cached for ruling in rulings) == [False] + [True] * 7
    assert len(model.asked) == 1


async def test_without_the_cache_everybody_asks(model: ScriptedModel, settings: Settings, tmp_path: Path) -> None:
    judges = settings(no_judge_cache=True).judges
    await asyncio.gather(*(asked(judges) for _ in range(3)))
    assert len(model.asked) == 3
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b'{"format": 1, "key', id="cut"),
        pytest.param(b"[" * 100_000, id="deep"),
        pytest.param(b"\xff\xfe", id="no-text"),
        pytest.param(b'{"format": 1, "key": "another", "model": "m", "reply": "{}"}', id="of-another-key"),
        pytest.param(None, id="a-verdict-that-does-not-fit"),
    ],
)
async def test_a_broken_entry_is_a_miss_and_is_replaced(
    model: ScriptedModel, settings: Settings, tmp_path: Path, content: bytes | None
) -> None:
    await asked(settings().judges)
    (entry,) = (tmp_path / "cache").rglob("*.json")
    entry.write_bytes(json.dumps(json.loads(entry.read_text()) | {"reply": "7"}).encode() if content is None else content)
    judges = settings().judges
    assert not (await asked(judges)).cached
    assert judges.cache is not None
    assert judges.cache.broken == 1
    assert (await asked(settings().judges)).cached


async def test_a_cache_that_cannot_be_written_costs_no_verdict(model: ScriptedModel, settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    judges = settings({"cache_dir": tmp_path / "file"}).judges
    assert not (await asked(judges)).cached
    assert judges.cache is not None
    assert judges.cache.unwritable


async def test_an_unreadable_reply_is_not_kept(model: ScriptedModel, settings: Settings) -> None:
    model.script(*[verdict(7)] * 3)
    assert await code_of(settings().judges) == "JUDGE_UNREADABLE"
    assert not (await asked(settings().judges)).cached


OTHER_PROCESS = """
import asyncio, sys
from tests.scorers.judging.asking import asked
from eval_skills.scorers import ScoringSettings
judges = ScoringSettings.of({"llm": {"model": "openai/scripted", "apiBase": sys.argv[1]}}).judges
async def main():
    return [(await asked(judges, str(n))).cached for n in range(20)]
print(sum(asyncio.run(main())))
"""


@pytest.mark.slow
async def test_processes_share_the_cache_while_both_write(
    model: ScriptedModel, settings: Settings, warm_command: WarmCommand
) -> None:
    others = [warm_command.python(OTHER_PROCESS, model.url) for _ in range(2)]
    found = [await asyncio.to_thread(other.output) for other in others]
    assert [code for code, *_ in found] == [0, 0], found
    cached = sum(int(out) for _, out, _ in found)
    assert len(model.asked) == 40 - cached
    assert 20 <= len(model.asked) <= 40
    assert all([(await asked(settings().judges, str(n))).cached for n in range(20)])
