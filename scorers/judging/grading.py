"""How a model grades an answer: a number within a scale, or one of several choices; and what the votes of a panel amount to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, create_model

from eval_skills.core.errors import InputError
from eval_skills.core.models import Reason
from eval_skills.core.text import beside, one_line
from eval_skills.scorers.judging.aggregation import Decision, decide, describe_decision, extremes, facts_of, passes, wanted
from eval_skills.scorers.judging.panel import COULD_DECIDE, Panel, Votes
from eval_skills.scorers.judging.reply import REASONING, Reply
from eval_skills.scorers.score import OpenValue, Score, remark

if TYPE_CHECKING:
    from eval_skills.scorers.judging.judge import Ruling

MAX_CHOICES = 50


class Grade(Reply):
    """Reasoning first; the subclass of a `Grading` adds what follows from it: `score` or `choice`."""

    reasoning: str = REASONING


@dataclass(frozen=True, slots=True)
class Grading:
    """The form of a grade (`reply`, a subclass of `Grade`) and what each one is worth in [0, 1].

    Without `choices` it is a number from `low` to `high`.
    """

    reply: type[Grade]
    low: float
    high: float
    choices: Mapping[str, float] | None = None

    @classmethod
    def of(cls, scale: Sequence[float] | None = None, choices: Mapping[str, float] | None = None) -> Grading:
        """A number from scale[0] to scale[1] (None: from 0 to 1), or one of the names of `choices`.

        Raises:
            InputError: both are given, the scale has no extent, or there are fewer than two choices, too many, or all are worth
                the same.
        """
        if scale is not None and choices is not None:
            raise InputError("a scale and choices exclude each other; keep one", path="scale")
        if choices is not None:
            return cls(_choosing(choices), 0.0, 1.0, dict(choices))
        low, high = scale or (0.0, 1.0)
        if not isfinite(high - low):
            raise InputError(f"give two finite numbers whose difference is finite, got {low:g} to {high:g}", path="scale")
        if not low < high:
            raise InputError(f"the lower end comes first and lies below the upper one, got {low:g} to {high:g}", path="scale")
        return cls(_scoring(low, high), low, high)

    def share(self, grade: Grade) -> float:
        """What a grade is worth, in [0, 1]."""
        if self.choices is not None:
            return self.choices[dict(grade)["choice"]]
        share = (float(dict(grade)["score"]) - self.low) / (self.high - self.low)
        return min(1.0, max(0.0, share))  # it was checked; only the last binary digit can lie outside

    def given(self, grade: Grade) -> str:
        """The grade as the model gave it: ``4 of 1 to 5``, ``'partly'``."""
        if self.choices is not None:
            return repr(dict(grade)["choice"])
        ends = "" if (self.low, self.high) == (0, 1) else f" of {self.low:g} to {self.high:g}"
        return f"{dict(grade)['score']:.12g}{ends}"


def _scoring(low: float, high: float) -> type[Grade]:
    described = f"A number from {low:g} (nothing of what was asked) to {high:g} (all of it)"
    return create_model("Grade", __base__=Grade, score=(float, Field(ge=low, le=high, description=described)))


def _choosing(choices: Mapping[str, float]) -> type[Grade]:
    if len(choices) < 2 or any(not name.strip() for name in choices):
        raise InputError("give at least two choices, each with a name and a score from 0 to 1", path="choices")
    if len(choices) > MAX_CHOICES:
        raise InputError(f"at most {MAX_CHOICES} choices can be offered, got {len(choices):,}", path="choices")
    if len(set(choices.values())) < 2:
        raise InputError("all choices have the same score; give at least two scores", path="choices")
    described = f"The one that fits, of {', '.join(map(repr, choices))}"
    one_of: Any = Literal[tuple(choices)]
    return create_model("Grade", __base__=Grade, choice=(one_of, Field(description=described)))


_SHOWN, _KEPT, _DISSENT_SHOWN = 400, 4_000, 160


@dataclass(frozen=True, slots=True)
class GradedVotes:
    """The votes about one answer, graded by `grading`; it passes from `threshold` on."""

    panel: Panel
    grading: Grading
    threshold: float
    votes: Votes[Ruling[Grade]]

    def score(self, *, code: str, where: str, version: str) -> Score:
        """The verdict. `code` and `where` are those of the reason, `version` is that of the question's words.

        A majority that does not pass the answer fails it, also where the task's `minScore` is lower: its score is a share of
        votes, so that half of them, or a third, could be enough points.

        Raises:
            JudgeError: the votes that were not given could decide whether the answer passes.
        """
        decision = decide(self.panel, self.votes, self._worth, self.threshold)
        open_value = self._open_value(decision)
        ruling = self._nearest_vote(decision)
        reason = Reason(code=code, message=self._message(ruling, decision), where=where)
        outvoted = self.panel.aggregate == "majority" and not self.panel.is_single and not decision.passed
        reasons, gates = ((), (reason,)) if outvoted else ((reason,), ())
        return Score(
            decision.value,
            passed=decision.passed,
            reasons=(*reasons, *self._dissent(decision, where), *truncation_remarks(ruling.truncated)),
            gates=gates,
            metadata={"judge": self._facts(ruling, version) | facts_of(self.panel, self.votes, decision)},
            open_value=open_value,
        )

    def _open_value(self, decision: Decision) -> OpenValue | None:
        """Between which values the panel's lies, whatever the missing votes say; None where they change nothing.

        Raises:
            JudgeError: they could decide whether the answer passes.
        """
        possible = extremes(self.panel, self.votes, self._worth, self.threshold)
        if not possible:
            return None
        missing = self.votes.without_verdict(COULD_DECIDE)
        if len({each.passed for each in possible}) > 1:
            raise missing
        values = [decision.value, *(each.value for each in possible)]
        return None if len(set(values)) == 1 else OpenValue(min(values), max(values), missing)

    def _worth(self, ruling: Ruling[Grade]) -> float:
        return self.grading.share(ruling.reply)

    def _nearest_vote(self, decision: Decision) -> Ruling[Grade]:
        """The vote nearest to the verdict, of those on its side: its reasoning stands for the panel."""

        def distance(ruling: Ruling[Grade]) -> tuple[bool, float]:
            value = self._worth(ruling)
            return passes(value, self.threshold) != decision.passed, abs(value - decision.value)

        return min(self.votes.counted, key=distance)

    def _message(self, ruling: Ruling[Grade], decision: Decision) -> str:
        single = f"{ruling.model} gave {self.grading.given(ruling.reply)}"
        given = single if self.panel.is_single else describe_decision(self.panel, decision)
        # the model's own number is the score already, where nothing was mapped or put together
        own = f"{ruling.model} gave {decision.value:.12g}"
        got = "" if given == own else f", got {beside(decision.value, self.threshold)}"
        said = one_line(ruling.reply.reasoning, _SHOWN)
        return f"{given}, expected {wanted(self.panel, self.threshold)}{got}: {said}"

    def _dissent(self, decision: Decision, where: str) -> tuple[Reason, ...]:
        """A remark with the first vote of the other side, if there is one: what the panel outvoted."""
        others = [each for each in self.votes.counted if passes(self._worth(each), self.threshold) != decision.passed]
        if not others:
            return ()
        said = one_line(others[0].reply.reasoning, _DISSENT_SHOWN)
        agreed = 1.0 if decision.agreement is None else decision.agreement
        # half of the members: a tie, which does not pass; a mean may be what fewer of them say
        how = "outvoted" if agreed > 0.5 else "as many say otherwise" if agreed == 0.5 else "more say otherwise"
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
