"""What the answer made of the contexts: is it true to them, and is it about the question?"""

from __future__ import annotations

from dataclasses import dataclass

from eval_skills.core.errors import ScorerError
from eval_skills.core.models import Reason, SkillResponse
from eval_skills.core.text import excerpt, one_line
from eval_skills.scorers.claims.judged import CLAIM_CHARS, verified_claims
from eval_skills.scorers.claims.lookup import MAX_REASONS
from eval_skills.scorers.claims.questions import QUESTIONS_ABOUT_CLAIMS, extraction
from eval_skills.scorers.claims.questions import VERSION as CLAIMS_VERSION
from eval_skills.scorers.judging.grading import truncation_remarks
from eval_skills.scorers.judging.judges import together
from eval_skills.scorers.judging.prompt import Material
from eval_skills.scorers.rag.contexts import RetrievalJudge, answer_of, contexts_of, materials_of
from eval_skills.scorers.rag.questions import BATCH, VERSION, relevance
from eval_skills.scorers.registry import scorer
from eval_skills.scorers.score import EMPTY_ANSWER, Score

NO_CLAIMS = "nothing to score: the model finds no claim in the answer"


@scorer("faithfulness")
@dataclass(frozen=True, slots=True, kw_only=True)
class Faithfulness(RetrievalJudge):
    """Claims of the answer that the retrieved contexts support / claims, in [0, 1]; passes from `threshold` on (0.7 unless set,
    equality passes).

    A model (`model`, else the run's) lists the answer's claims, at most 50, and looks each up in the contexts alone: what is true
    and not in them counts as unsupported, and so does what the model calls supported without a quotation that stands there.
    Contexts are the answer's `metadata.contexts`, else the task's, else the results of tools; each element of a list is one.
    Without contexts, or where the answer claims nothing, there is nothing to score and the item is an error, as it is where the
    model's reply cannot be read. An answer without text gets 0, and no model is asked.

    Source: faithfulness F = |V| / |S| of Es et al. 2023, "RAGAS", arXiv:2309.15217, section 3; the quotations are ours.
    """

    @property
    def version(self) -> str:
        """Of the prompts."""
        return f"faithfulness, {CLAIMS_VERSION}"

    @property
    def questions(self) -> int:
        """About how many questions an answer takes."""
        return QUESTIONS_ABOUT_CLAIMS

    async def score(self, response: SkillResponse) -> Score:
        """The share, with a reason for each claim that is not supported.

        Raises:
            ScorerError: nothing was retrieved, or nothing is claimed.
            JudgeError: the model gave no readable reply.
        """
        if not (answer := answer_of(response)).strip():
            return Score(0.0, passed=False, reasons=(EMPTY_ANSWER,))
        contexts = contexts_of(self.task, response)
        found = await verified_claims(answer, self.task.input_data, materials_of(contexts), self.voter)
        return self.share_of(found, contexts, NO_CLAIMS)


@scorer("answer_relevance")
@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRelevance(RetrievalJudge):
    """Claims of the answer that help with what was asked / claims, in [0, 1]; passes from `threshold` on (0.7 unless set,
    equality passes).

    A model (`model`, else the run's) lists the answer's claims, at most 50, and says of each whether it answers the task, a
    part of it, or explains an answer; whether it is true does not count. Contexts are not needed. Where the answer claims nothing
    there is nothing to score and the item is an error, as it is where the model's reply cannot be read. An answer without text
    gets 0, and no model is asked.

    Source: answer relevance of Es et al. 2023, "RAGAS", arXiv:2309.15217, section 3, is about the same: how directly an answer
    addresses the question, whatever its truth. It is computed there as the mean similarity between the question and questions
    that a model makes up from the answer; here it is judged claim by claim, so that every number has its reasons, and figures
    cannot be compared with those of Ragas.
    """

    @property
    def version(self) -> str:
        """Of the prompts."""
        return f"answer_relevance, {VERSION}, {CLAIMS_VERSION}"

    @property
    def questions(self) -> int:
        """About how many questions an answer takes."""
        return 2

    async def score(self, response: SkillResponse) -> Score:
        """The share, with a reason for each claim that does not help.

        Raises:
            ScorerError: nothing is claimed.
            JudgeError: the model gave no readable reply.
        """
        if not (answer := answer_of(response)).strip():
            return Score(0.0, passed=False, reasons=(EMPTY_ANSWER,))
        voter, task = self.voter, Material.of_task(self.task)
        listed = await voter.ask(extraction(answer, self.task.input_data))
        claims = list(dict.fromkeys(one_line(each.claim, CLAIM_CHARS) for each in listed.reply.claims))
        if not claims:
            raise ScorerError(NO_CLAIMS)
        starts = range(0, len(claims), BATCH)
        rulings = await together(voter.ask(relevance(task, claims[at : at + BATCH], at + 1)) for at in starts)
        judged = sorted((each for ruling in rulings for each in ruling.reply.verdicts), key=lambda each: each.number)
        others = [each for each in judged if not each.holds]
        reasons = [
            Reason(code="CLAIM_IRRELEVANT", message=f"claim {excerpt(claims[each.number - 1])}: {said}", where="output")
            for each in others[:MAX_REASONS]
            if (said := one_line(each.reasoning, 200))
        ]
        value = (len(claims) - len(others)) / len(claims)
        helpful = f"claims that help with the task: {len(claims) - len(others)} of {len(claims)}, judged by {listed.model}"
        reasons.append(Reason(code="CLAIMS_JUDGED", message=helpful, where="output", informational=True))
        facts = {
            "model": listed.model,
            "version": self.version,
            "claims": [[claims[each.number - 1], each.holds] for each in judged],
        }
        return Score(
            value,
            passed=self.passes(value),
            reasons=(*reasons, *truncation_remarks(listed.truncated)),
            metadata={"claims": len(claims), "irrelevant": len(others), "judge": facts},
        )
