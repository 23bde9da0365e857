"""What errors have in common."""

from __future__ import annotations

from eval_skills.core.errors import causes_of


def test_the_causes_of_an_error_are_each_named_once_even_in_a_circle() -> None:
    first, second, third = OSError("refused"), ValueError("unreadable"), RuntimeError("no answer")
    first.__cause__, second.__context__, third.__cause__ = third, first, second
    assert list(causes_of(third)) == [third, second, first]
