"""Did the agent take the expected way?"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask, Reason, SkillResponse
from eval_skills.core.text import nearest
from eval_skills.scorers.registry import scorer
from eval_skills.scorers.score import Score, remark
from eval_skills.scorers.settings import ScoringSettings
from eval_skills.scorers.tools.calls import calls_by_result, calls_elsewhere, reported_calls
from eval_skills.scorers.trajectory.arguments import ArgumentsMode, rules_of
from eval_skills.scorers.trajectory.calls import Spelling, read_call
from eval_skills.scorers.trajectory.comparison import Comparison, TrajectoryComparison, TrajectoryMode
from eval_skills.scorers.trajectory.edits import MAX_SHOWN, CallPair
from eval_skills.scorers.trajectory.messages import Message, Trajectory, read_reference, read_trajectory
from eval_skills.scorers.trajectory.shapes import UnreadableTrajectory

LONG_MESSAGES = 200
"""Longer trajectories are compared in a thread, so that other items go on."""

REFERENCE = "expected.trajectory"


@scorer("trajectory_match")
@dataclass(frozen=True, slots=True, kw_only=True)
class TrajectoryMatch:
    """1 if the messages of the answer match the task's `expected.trajectory`, else 0; precision, recall and f1 as metadata.

    `mode` is `strict` (the messages' roles and each one's calls), `unordered` (all calls, in any order), `subset` (no other calls
    than expected) or `superset` (at least the expected calls). `tool_args_mode` compares arguments: `exact`, `ignore`, `subset`
    or `superset`; with `deep` the latter two reach into nested objects. `overrides` rules single tools by name: one of these
    modes, or a list of key paths (``filter.dates.0``) that alone are compared.

    Calls are those of the messages; where messages hold none, those of `toolCalls`, which say nothing of messages: in mode
    `strict` such an answer fails. An answer that has neither is not judged. Why an answer fails is the smallest edit that would
    make it match.

    Raises:
        InputError: the task has no `expected.trajectory`, that is unreadable or holds no call for `superset` to ask for, or an
            override has no effect: it is empty, or its tool is not in the reference.
    """

    task: EvalTask
    mode: TrajectoryMode = "strict"
    tool_args_mode: ArgumentsMode = "exact"
    overrides: dict[str, Any] = field(default_factory=dict)
    deep: bool = False
    settings: ScoringSettings = field(default_factory=ScoringSettings)
    _reference: Trajectory = field(init=False, repr=False, compare=False)
    _comparison: TrajectoryComparison = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        given = self.task.expected.trajectory if self.task.expected else None
        if given is None:
            raise InputError("scorer 'trajectory_match' needs this value; add it", path=REFERENCE)
        try:
            reference = read_reference(given, REFERENCE, self._spelling)
        except UnreadableTrajectory as error:
            raise InputError(error.message, path=str(error.source)) from error
        rules = rules_of(self.tool_args_mode, self.overrides, deep=self.deep, spelling=self._spelling)
        self._refuse_vacuous(reference)
        object.__setattr__(self, "_reference", reference)
        object.__setattr__(self, "_comparison", TrajectoryComparison(self.mode, rules))

    async def score(self, response: SkillResponse) -> Score | None:
        """1 or 0, with one reason for each edit; None when neither messages nor calls are known, and where it depends on a call
        that is not known."""
        if response.messages is None and response.tool_calls is None:
            return None
        if len(response.messages or ()) > LONG_MESSAGES or len(response.tool_calls or ()) > LONG_MESSAGES:
            return await asyncio.to_thread(self._score_of_known, response)
        return self._score_of_known(response)

    def _score_of_known(self, response: SkillResponse) -> Score | None:
        score = self._score(response)
        if calls_elsewhere(response) is None:
            return score
        is_missing = score.metadata.get("trajectory", {}).get("missing")  # or it is the one that is not known
        return score if score.passed == (self.mode == "superset") and not is_missing else None

    def pairs(self, response: SkillResponse) -> tuple[Trajectory, Trajectory, list[CallPair]]:
        """The trajectory of an answer, the expected one, and which of their calls this scorer holds to belong together.

        Raises:
            UnreadableTrajectory: the answer's is not one.
            ScorerError: a matcher function of the caller's failed.
        """
        trajectory = self._trajectory(response)
        return trajectory, self._reference, self._comparison.pairs(trajectory, self._reference)

    def _refuse_vacuous(self, reference: Trajectory) -> None:
        if self.mode == "superset" and not reference.calls:
            raise InputError(
                "mode superset asks for the calls of the reference, and it has none, so any answer would pass; add calls, or "
                "choose another mode",
                path=REFERENCE,
            )
        spelling = self._spelling or str
        there = {call.name: call.written for call in reference.calls}
        for tool, override in self.overrides.items():
            if override == []:
                raise InputError('an empty list compares nothing; name key paths, or write "ignore"', path=f"overrides.{tool}")
            if spelling(tool) not in there:
                known = list(there.values())
                raise InputError(
                    f"the reference has no call of {tool!r}{nearest(tool, known)}, so the override would have no effect; "
                    f"its tools are {', '.join(dict.fromkeys(known)) or 'none'}",
                    path=f"overrides.{tool}",
                )

    @property
    def _spelling(self) -> Spelling | None:
        return None if self.settings.tool_names == "exact" else self.settings.spelled

    def _score(self, response: SkillResponse) -> Score:
        if self.mode == "strict" and response.messages is None:
            return _failed(
                "TRAJECTORY_UNKNOWN", "strict compares messages, and only toolCalls were reported; choose another mode"
            )
        try:
            trajectory = self._trajectory(response)
        except UnreadableTrajectory as error:
            return _failed("TRAJECTORY_UNREADABLE", str(error))
        comparison = self._comparison.compare(trajectory, self._reference)
        as_stored = len(trajectory.messages) == len(response.messages or ())
        reasons = _reasons(comparison, as_stored) + _malformed(trajectory, comparison)
        return Score(float(comparison.matches), reasons=reasons, metadata={"trajectory": comparison.figures})

    def _trajectory(self, response: SkillResponse) -> Trajectory:
        trajectory = read_trajectory(response.messages, "messages", self._spelling)
        lost = calls_by_result(response)
        reported = () if trajectory.calls or self.mode == "strict" else reported_calls(response.tool_calls or ())
        if not reported and not lost:
            return trajectory
        calls = [read_call(call.model_dump(exclude_unset=True), self._spelling) for call in (*reported, *lost)]
        calls = [*trajectory.calls, *calls[: len(reported)], *(call._replace(arguments=None) for call in calls[len(reported) :])]
        messages = [] if reported else trajectory.messages
        return Trajectory([*messages, Message("assistant", len(trajectory.calls), len(calls))], calls)


def _failed(code: str, message: str) -> Score:
    return Score(0.0, reasons=(Reason(code=code, message=message, where="messages"),))


def _reasons(comparison: Comparison, as_stored: bool) -> tuple[Reason, ...]:
    """One reason for each edit. Where messages were put together or split, their numbers are not those of the stored ones."""
    edits = [
        edit if as_stored or not edit.where.startswith("messages[") else edit._replace(where="messages")
        for edit in comparison.edits
    ]
    shown = [Reason(code=edit.code, message=edit.text, where=edit.where) for edit in edits[:MAX_SHOWN]]
    if len(edits) > MAX_SHOWN:
        shown.append(Reason(code=edits[MAX_SHOWN].code, message=f"and {len(edits) - MAX_SHOWN} more", where="messages"))
    return tuple(shown)


def _malformed(trajectory: Trajectory, comparison: Comparison) -> tuple[Reason, ...]:
    """A remark on unreadable calls that did not make the answer fail."""
    malformed = [call for call in trajectory.calls if call.arguments is None] if comparison.matches else []
    if not malformed:
        return ()
    message = f"{len(malformed)} calls have arguments that are not a JSON object, the first is {malformed[0]}"
    return (remark("MALFORMED_TOOL_CALL", message, "messages"),)
