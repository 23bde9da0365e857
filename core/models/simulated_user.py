"""A model that plays the user of a conversation: who it is, what it wants and knows, and when it stops."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from eval_skills.core.models.base import Model, Text

MAX_SIMULATED_TURNS = 100
"""As many messages as a simulated user may write."""


class SimulatedUser(Model):
    """Who talks with the skill in place of written turns. `model` takes the place of the run's judging model."""

    goal: Text = Field(description="What the user wants to reach; by default the conversation is judged by it")
    persona: Text | None = Field(default=None, description="Who the user is, and how they write")
    facts: Any = Field(default=None, description="What the user knows and may tell when asked; any JSON. Or `knows`")
    opening: Text | None = Field(default=None, description="The first message, word for word; else the model writes it")
    max_turns: int = Field(
        default=10, ge=1, le=MAX_SIMULATED_TURNS, description="As many messages as the user may write; 10 unless set"
    )
    stop_when: Text | None = Field(
        default=None, description="When the user stops; unless set, when the goal is reached or cannot be reached"
    )
    model: Text | None = Field(default=None, description="The model that plays the user; the run's judging model unless set")
    temperature: float | None = Field(default=None, ge=0, le=2, description="`llm.temperature` unless set, else 0.7")
    seed: int | None = Field(
        default=None,
        ge=0,
        le=2**31 - 1,
        description="The seed of the first run; those of the next runs count on. Made of the task's id unless set",
    )

    @model_validator(mode="before")
    @classmethod
    def _facts_by_another_name(cls, data: Any) -> Any:
        if not isinstance(data, dict) or "knows" not in data:
            return data
        if "facts" in data:
            raise ValueError("facts and knows are the same key; leave one of them out")
        return {("facts" if key == "knows" else key): value for key, value in data.items()}
