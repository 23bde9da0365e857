"""A run, and an evaluator that asks a scripted model about it."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from eval_skills.scorers.trajectory import create_trajectory_llm_as_judge
from tests.scripted_model import Says, ScriptedModel

MODEL = "openai:scripted"
OUTPUTS = [
    HumanMessage("Weather in Oslo?"),
    AIMessage("", tool_calls=[{"id": "1", "name": "weather", "args": {"city": "Oslo"}}]),
    ToolMessage("7 degrees", tool_call_id="1"),
    AIMessage("It has 7 degrees."),
]
REFERENCE = [{"role": "assistant", "tool_calls": [{"name": "forecast", "args": {"town": "Oslo"}}]}]


def reply(score: Any = True, reasoning: str | None = "straight on") -> Says:
    return Says({"score": score} if reasoning is None else {"reasoning": reasoning, "score": score})


def evaluator(model: ScriptedModel, **options: Any) -> Any:
    return create_trajectory_llm_as_judge(model=MODEL, settings={"llm": {"apiBase": model.url}}, **options)
