"""Does the answer mean the same as a reference, as an embedding model sees it?"""

from __future__ import annotations

from dataclasses import dataclass

from eval_skills.core.models import SkillResponse
from eval_skills.core.models.base import Rate, Text
from eval_skills.scorers.answer import searchable_text
from eval_skills.scorers.judging.embedding import cosine
from eval_skills.scorers.judging.judges import together
from eval_skills.scorers.judging.model import EmbeddingModel
from eval_skills.scorers.judging.panel import configured
from eval_skills.scorers.registry import scorer
from eval_skills.scorers.score import EMPTY_ANSWER, Score
from eval_skills.scorers.settings import ScoringSettings
from eval_skills.scorers.text.references import Closeness, References

VERSION = "similarity 1"


@scorer("similarity")
@dataclass(frozen=True, slots=True, kw_only=True)
class Similarity(References):
    """Cosine of the angle between the embeddings of the answer and the reference, in [0, 1]; passes from `threshold` on (equality
    passes).

    A cosine below 0 counts as 0. `model`, else ``llm.embeddingModel``, is the embedding model, named as litellm does
    (``openai/text-embedding-3-small``). `value` is one reference or several, of which the closest counts. Which cosine means "the
    same" differs from model to model: find the threshold with pairs that you know. Embeddings see the topic well, and a negation
    or a wrong figure hardly.

    Each text is sent once and kept, in the judges' cache; requests are counted, limited and paid for like those of a judging
    model. A model that cannot be asked makes the item an error of kind ``judge``, never a guessed score. An answer without text
    gets 0, and no model is asked. An object answer is unwrapped, and its decoded values are compared.

    Source: Salton, Wong and Yang 1975, "A Vector Space Model for Automatic Indexing", doi:10.1145/361219.361220.

    Raises:
        InputError: there is no reference, or one is blank.
    """

    threshold: Rate = 0.75
    model: Text | None = None
    settings: ScoringSettings

    @property
    def models(self) -> tuple[EmbeddingModel, ...]:
        """The embedding model; an empty name where none is known."""
        return (EmbeddingModel(self.model or self.settings.llm.embedding_model or ""),)

    @property
    def version(self) -> str:
        """Of what is compared."""
        return VERSION

    async def score(self, response: SkillResponse) -> Score:
        """The cosine with the closest reference, 0 where it is negative.

        Raises:
            JudgeError: the model gave no vector that can be compared.
        """
        text = await searchable_text(response.output)
        if not text.strip():
            return Score(0.0, passed=False, reasons=(EMPTY_ANSWER,))
        [model] = self.models
        embedder = configured(lambda: self.settings.judges.embedder(model))
        answer, *wanted = await together(embedder.embed(each) for each in (text, *self.references))
        cosines = [cosine(answer, each) for each in wanted]
        best = max(cosines)
        how = f"cosine {best:.4g} by {embedder.model.name}"
        return self.judged(Closeness(max(0.0, best), self.references[cosines.index(best)], how))
