"""What a judging model reads of an agent's messages."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from eval_skills.scorers.trajectory.transcript import text_of_steps, transcript


@pytest.mark.parametrize(
    "refused",
    [
        {"role": "assistant", "content": None, "refusal": "I will not."},
        {"type": "ai", "content": "", "additional_kwargs": {"refusal": "I will not."}},
        {"role": "assistant", "content": "Well.", "refusal": "I will not."},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "I will not."}]},
        SimpleNamespace(role="assistant", content=None, refusal="I will not."),
    ],
)
def test_a_refusal_is_shown_once(refused: Any) -> None:
    [step] = transcript([refused])
    assert str(step).count("I will not.") == 1
    assert "I will not." in text_of_steps([step])
