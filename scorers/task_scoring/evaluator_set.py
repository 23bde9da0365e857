"""Several evaluators that make one verdict: models are asked last, and only as long as the verdict is open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from eval_skills.core.errors import JudgeError, ScorerError
from eval_skills.core.models import SkillResponse
from eval_skills.core.text import plural
from eval_skills.scorers.judging.budget import questions_so_far
from eval_skills.scorers.registry import asked_a_model, score_by
from eval_skills.scorers.score import OpenValue, Score
from eval_skills.scorers.task_scoring.combining import Outcome
from eval_skills.scorers.task_scoring.entries import NEEDS_VERDICT, Found, Group, Need, PlacedScorer, Results, said_of
from eval_skills.scorers.task_scoring.set_reasons import score_of_set
from eval_skills.scorers.tools.calls import nothing_to_judge


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorSet:
    """The evaluators of a task, nested as they are written, as one scorer.

    Those that ask no model come first, all of them; a model is asked only where its verdict may still change that of the set.
    With `in_order` every scorer is asked, in the order written. `need` says what must be known of it: the verdict; or the value,
    unless a required evaluator failed; or both, unless the verdict is that it fails.
    """

    group: Group
    in_order: bool = False
    need: Need = NEEDS_VERDICT
    _judged: tuple[PlacedScorer, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_judged", tuple(each for each in self.group.scorers if each.models))

    @property
    def scorers(self) -> tuple[PlacedScorer, ...]:
        """All scorers, in the order written."""
        return self.group.scorers

    @property
    def judged(self) -> tuple[PlacedScorer, ...]:
        """Those that ask models."""
        return self._judged

    @property
    def models(self) -> tuple[str | None, ...]:
        """The judging models of all of them, None being the run's."""
        return tuple(dict.fromkeys(model for each in self._judged for model in each.models))

    @property
    def needless(self) -> PlacedScorer | None:
        """A scorer whose model would never be asked; None where there is none."""
        if self.in_order:
            return None
        needed = {each.place for each in self.group.needed(self.need, {})}
        return next((each for each in self._judged if each.place not in needed), None)

    async def score(self, response: SkillResponse, *, in_thread: bool = False) -> Score:
        """The score of the set; scorers that are not asynchronous run in a thread with `in_thread`.

        Raises:
            JudgeError: the verdict is open since a judge failed.
            ScorerError: it is open since another scorer failed, found nothing to judge, or could not find out all of it.
        """
        results = await self._results(response, in_thread)
        if not self._is_settled(results):
            raise self._open(results)
        score = score_of_set(self.group, results, "the verdict was known")
        open_value = self._open_value(results)
        return score if open_value is None else replace(score, open_value=open_value)

    async def score_freely(self, response: SkillResponse, *, in_thread: bool = False) -> Score | None:
        """The score by those that ask no model, of an answer that fails for another reason; None where nothing was scored."""
        results = {each.place: await _ask(each, response, in_thread) for each in self.scorers if not each.models}
        if self.group.outcome(results).value is None:
            return None
        return score_of_set(self.group, results, "a gate failed first")

    def _is_settled(self, results: Results) -> bool:
        outcome = self.group.outcome(results)
        fails = self._fails(outcome)
        if fails is not False or not self.need.value:
            return fails is not None
        return self.group.outcome({place: found.as_it_counts() for place, found in results.items()}).is_whole

    def _fails(self, outcome: Outcome) -> bool | None:
        """Whether it fails, whatever its value; None where that is unknown."""
        if not self.need.verdict:
            return outcome.gated
        return None if outcome.passed is None else not outcome.passed

    def _open_value(self, results: Results) -> OpenValue | None:
        """What the votes that panels did not get leave open, where the value counts and it does not fail in any case."""
        outcome = self.group.outcome(results)
        if not self.need.value or self._fails(outcome) or outcome.is_whole:
            return None
        missing = self._short_of_votes(results)
        return OpenValue(outcome.low, outcome.high, _needed_verdict(missing, results))

    async def _results(self, response: SkillResponse, in_thread: bool) -> dict[str, Found]:
        first = self.scorers if self.in_order else [each for each in self.scorers if not each.models]
        results = {each.place: await _ask(each, response, in_thread) for each in first}
        while not self._is_settled(results):
            if (following := next(self.group.needed(self.need, results), None)) is None:
                break
            results[following.place] = await _ask(following, response, in_thread)
        return results

    def _open(self, results: Results) -> ScorerError | JudgeError:
        """Why the verdict is open. That a judge failed comes first: it may be asked again."""
        scored = {place: found for place, found in results.items() if found.is_known}
        missing = [each for each in self.group.needed(self.need, scored) if each.place in results]
        missing.sort(key=lambda each: not isinstance(results[each.place].error, JudgeError))
        return _needed_verdict(missing or self._short_of_votes(results), results)

    def _short_of_votes(self, results: Results) -> list[PlacedScorer]:
        """The panels that have a verdict, and lack votes that could decide that of the set."""
        others = {place: found for place, found in results.items() if found.open_value is None}
        return [each for each in self.group.needed(self.need, others) if each.place in results]


def _needed_verdict(missing: Sequence[PlacedScorer], results: Results) -> ScorerError | JudgeError:
    """The error of the first of these scorers, which says how many others there are."""
    first, more = missing[0], len(missing) - 1
    others = f", as that of {plural(more, 'other')}" if more else ""
    verdict = f"(evaluator {first.name} at {first.place}, whose verdict is needed{others})"
    error = results[first.place].failure
    if not isinstance(error, JudgeError):
        return ScorerError(f"{said_of(results[first.place])} {verdict}")
    found = JudgeError(f"{error} {verdict}", code=error.code, retry_after_s=error.retry_after_s)
    found.__cause__ = error
    return found


async def _ask(scorer: PlacedScorer, response: SkillResponse, in_thread: bool) -> Found:
    before = questions_so_far()
    try:
        score = await score_by(scorer.scorer, response, in_thread=in_thread)
    except Exception as error:  # noqa: BLE001 - a scorer may be anyone's code: what is unknown then is told apart from a failure
        return Found(error=error)
    nothing = nothing_to_judge(scorer.name, response) if score is None else None
    return Found(score, nothing=nothing, by_a_model=asked_a_model(scorer.scorer, before))
