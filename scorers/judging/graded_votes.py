"""What a panel, or a single model, says of one answer in grades, with the reasons for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eval_skills.core.models import Reason
from eval_skills.core.text import one_line
from eval_skills.scorers.judging.aggregation import Decision, decide, facts_of, passes, told, wanted
from eval_skills.scorers.judging.grading import Grade, Grading
from eval_skills.scorers.judging.panel import Panel
from eval_skills.scorers.judging.votes import Ballots
from eval_skills.scorers.score import Score, remark

if TYPE_CHECKING:
    from eval_skills.scorers.judging.judge import Ruling

_SHOWN, _KEPT, _DISSENT_SHOWN = 400, 4_000, 160


@dataclass(frozen=True, slots=True)
class GradedVotes:
    """The votes about one answer, graded by `grading`; it passes from `threshold` on."""

    panel: Panel
    grading: Grading
    threshold: float
    ballots: Ballots[Ruling[Grade]]

    def score(self, *, code: str, where: str, version: str) -> Score:
        """The verdict. `code` and `where` are those of the reason, `version` is that of the question's words.

        A majority that does not pass the answer fails it whatever the task's `minScore`: its score is a share of votes, so that
        half of them, or a third, could be enough points.
        """
        decision = decide(self.panel, self.ballots, self._worth, self.threshold)
        ruling = self._telling(decision)
        reason = Reason(code=code, message=self._message(ruling, decision), where=where)
        outvoted = self.panel.aggregate == "majority" and not self.panel.is_single and not decision.passed
        told, gates = ((), (reason,)) if outvoted else ((reason,), ())
        return Score(
            decision.value,
            passed=decision.passed,
            reasons=(*told, *self._dissent(decision, where), *truncation_remarks(ruling.truncated)),
            gates=gates,
            metadata={"judge": self._facts(ruling, version) | facts_of(self.panel, self.ballots, decision)},
        )

    def _worth(self, ruling: Ruling[Grade]) -> float:
        return self.grading.share(ruling.reply)

    def _telling(self, decision: Decision) -> Ruling[Grade]:
        """The vote nearest to the verdict, of those on its side: its reasoning speaks for the panel."""

        def distance(ruling: Ruling[Grade]) -> tuple[bool, float]:
            value = self._worth(ruling)
            return passes(value, self.threshold) != decision.passed, abs(value - decision.value)

        return min(self.ballots.counted, key=distance)

    def _message(self, ruling: Ruling[Grade], decision: Decision) -> str:
        single = f"{ruling.model} gave {self.grading.given(ruling.reply)}"
        given = single if self.panel.is_single else told(self.panel, decision)
        # the model's own number is the score already, where nothing was mapped or put together
        got = "" if given == f"{ruling.model} gave {decision.value:g}" else f", got {decision.value:.4g}"
        said = one_line(ruling.reply.reasoning, _SHOWN)
        return f"{given}, expected {wanted(self.panel, self.threshold)}{got}: {said}"

    def _dissent(self, decision: Decision, where: str) -> tuple[Reason, ...]:
        """A remark with the first vote of the other side, if there is one: what the panel outvoted."""
        others = [each for each in self.ballots.counted if passes(self._worth(each), self.threshold) != decision.passed]
        if not others:
            return ()
        said = one_line(others[0].reply.reasoning, _DISSENT_SHOWN)
        how = (
            "as many say otherwise" if decision.agreement == 0.5 else "outvoted"
        )  # half of the members: a tie, which does not pass
        message = f"{how}: {others[0].model} gave {self.grading.given(others[0].reply)}: {said}"
        return (remark("JUDGE_DISSENT", message, where),)

    def _facts(self, ruling: Ruling[Grade], version: str) -> dict[str, Any]:
        return {
            "model": ruling.model,
            "given": self.grading.given(ruling.reply),
            "reasoning": ruling.reply.reasoning[:_KEPT],
            "cached": ruling.cached,
            "replies": ruling.readings,
            "version": version,
            "truncated": ruling.truncated,
        }


def truncation_remarks(truncated: dict[str, int]) -> tuple[Reason, ...]:
    """One remark for each material that the model did not see whole."""
    return tuple(
        remark("JUDGE_SAW_PART", f"{cut:,} characters of the {name} were left out of the prompt", name)
        for name, cut in truncated.items()
    )
