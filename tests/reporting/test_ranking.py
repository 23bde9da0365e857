"""The one order of skills."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

from eval_skills.core.models import SkillCompletionReport
from eval_skills.reporting import ranked

MakeReport = Callable[..., SkillCompletionReport]


def test_completion_then_composite_then_key_whatever_the_order_given(make_report: MakeReport) -> None:
    best = make_report("z", summary={"completionRate": 0.9, "compositeScore": 0.1})
    faster = make_report("y", summary={"completionRate": 0.8, "compositeScore": 0.9})
    slower = make_report("a", summary={"completionRate": 0.8, "compositeScore": 0.5})
    twin = make_report("b", summary={"completionRate": 0.8, "compositeScore": 0.5})
    expected = [best, faster, slower, twin]
    assert all(ranked(order) == expected for order in permutations(expected))


def test_p32_two_versions_of_one_skill_are_two_rows(make_report: MakeReport) -> None:
    newer, older = make_report(skillVersion="2.0.0"), make_report(skillVersion="1.0.0")
    assert [report.skill_key for report in ranked([newer, older])] == ["echo@1.0.0", "echo@2.0.0"]
