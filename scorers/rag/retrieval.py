"""What was retrieved: is what was needed among it, and does it stand first?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eval_skills.core.models import Reason, SkillResponse
from eval_skills.core.text import excerpt, one_line
from eval_skills.scorers.answer import text_of
from eval_skills.scorers.claims.judged import verified_claims
from eval_skills.scorers.claims.lookup import MAX_REASONS
from eval_skills.scorers.claims.questions import QUESTIONS_ABOUT_CLAIMS
from eval_skills.scorers.claims.questions import VERSION as CLAIMS_VERSION
from eval_skills.scorers.judging.grading import truncation_remarks
from eval_skills.scorers.judging.judges import together
from eval_skills.scorers.judging.prompt import Material
from eval_skills.scorers.rag.contexts import WithReference, contexts_of, materials_of
from eval_skills.scorers.rag.questions import BATCH, VERSION, usefulness
from eval_skills.scorers.registry import scorer
from eval_skills.scorers.score import Score, remark


@scorer("context_precision")
@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPrecision(WithReference):
    """How far up the useful contexts stand, in [0, 1]; passes from `threshold` on (0.7 unless set, equality passes).

    A model (`model`, else the run's) says of each context whether it is needed to arrive at the reference answer (`reference`,
    else `expectedOutput.value`). The value is the mean of precision@k, the useful ones among the first k / k, over the ranks k of
    useful contexts: 1 when they stand before all others, 0 when there is none. Contexts are the answer's `metadata.contexts`,
    else the task's, else the results of tools, in their order; each element of a list is one. Without contexts there is nothing
    to score and the item is an error, as it is where the model's reply cannot be read. The answer itself is not looked at.

    Source: context precision of the Ragas documentation, Σ precision@k · v_k / Σ v_k over the ranks k, with v_k 1 for a useful
    context and 0 for any other; it is the average precision of information retrieval.

    Raises:
        InputError: there is no reference answer.
    """

    @property
    def version(self) -> str:
        """Of the prompt."""
        return f"context_precision, {VERSION}"

    async def score(self, response: SkillResponse) -> Score:
        """The mean precision, with a reason for each context that is not needed.

        Raises:
            ScorerError: nothing was retrieved.
            JudgeError: the model gave no readable reply.
        """
        contexts, voter, task = contexts_of(self.task, response), self.voter, Material.of_task(self.task)
        shown, starts = materials_of(contexts), range(0, len(contexts), BATCH)
        asked = (usefulness(task, self.wanted, shown[at : at + BATCH], at + 1) for at in starts)
        rulings = await together(voter.ask(question) for question in asked)
        judged = sorted((each for ruling in rulings for each in ruling.reply.verdicts), key=lambda each: each.number)
        useful = [each.holds for each in judged]
        value = average_precision(useful)
        reasons = [
            Reason(
                code="CONTEXT_NOT_USEFUL",
                message=f"context {each.number}, {excerpt(contexts[each.number - 1], 80)}: {one_line(each.reasoning, 200)}",
                where=f"contexts[{each.number - 1}]",
            )
            for each in [each for each in judged if not each.holds][:MAX_REASONS]
        ]
        model = rulings[0].model
        summary = f"useful contexts: {sum(useful)} of {len(useful)}, at ranks {_ranks(useful)}, judged by {model}"
        truncated = {name: cut for ruling in rulings for name, cut in ruling.truncated.items()}
        return Score(
            value,
            passed=self.passes(value),
            reasons=(*reasons, remark("CONTEXTS_JUDGED", summary, "contexts"), *truncation_remarks(truncated)),
            metadata={"contexts": len(contexts), "judge": {"model": model, "version": self.version, "useful": useful}},
        )


@scorer("context_recall")
@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRecall(WithReference):
    """Claims of the reference answer that the retrieved contexts support / claims, in [0, 1]; passes from `threshold` on (0.7
    unless set, equality passes).

    A model (`model`, else the run's) lists the claims of the reference answer (`reference`, else `expectedOutput.value`), at most
    50, and looks each up in the contexts alone; what it calls supported without a quotation that stands there does not count.
    Contexts are the answer's `metadata.contexts`, else the task's, else the results of tools; each element of a list is one.
    Without contexts, or where the reference claims nothing, there is nothing to score and the item is an error, as it is where
    the model's reply cannot be read. The answer itself is not looked at.

    Source: context recall of the Ragas documentation, claims of the reference that are supported by the contexts / claims of the
    reference; the quotations are ours.

    Raises:
        InputError: there is no reference answer.
    """

    @property
    def version(self) -> str:
        """Of the prompts."""
        return f"context_recall, {CLAIMS_VERSION}"

    @property
    def questions(self) -> int:
        """About how many questions an answer takes."""
        return QUESTIONS_ABOUT_CLAIMS

    async def score(self, response: SkillResponse) -> Score:
        """The share, with a reason for each claim of the reference that nothing retrieved supports.

        Raises:
            ScorerError: nothing was retrieved, or the reference claims nothing.
            JudgeError: the model gave no readable reply.
        """
        contexts = contexts_of(self.task, response)
        found = await verified_claims(text_of(self.wanted), self.task.input_data, materials_of(contexts), self.voter)
        return self.share_of(found, contexts, "nothing to score: the model finds no claim in the reference answer")


def average_precision(useful: Sequence[bool]) -> float:
    """Σ precision@k · v_k / Σ v_k over the ranks k from 1, in [0, 1]; 0 where none is useful."""
    hits, total = 0, 0.0
    for rank, each in enumerate(useful, 1):
        if each:
            hits += 1
            total += hits / rank
    return total / hits if hits else 0.0


def _ranks(useful: Sequence[bool]) -> str:
    return ", ".join(str(rank) for rank, each in enumerate(useful, 1) if each) or "none"
