"""How much of an answer's letters, words or phrases a reference has: Levenshtein, ROUGE-L, ROUGE-N and BLEU."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Annotated, Literal

import regex
from pydantic import Field

from eval_skills.core.errors import InputError
from eval_skills.core.models import Reason
from eval_skills.core.models.base import Rate
from eval_skills.core.text import comparable, excerpt, plural
from eval_skills.scorers.registry import scorer
from eval_skills.scorers.score import Score
from eval_skills.scorers.text.references import Closeness, References

_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_DIGITS = 12
_WORD = regex.compile(rf"[{_UNSPACED}]|[\w--[_{_UNSPACED}]]++", regex.V1)


@scorer("levenshtein")
@dataclass(frozen=True, slots=True, kw_only=True)
class Levenshtein(References):
    """1 − edits / length of the longer text, in [0, 1]; passes from `threshold` on (equality passes). With ``maxEdits`` it is 1,
    and passes, where there are at most so many edits, else 0, and `threshold` does not count.

    An edit inserts, deletes or replaces one character. Texts compare without outer white space, with accents composed (NFC),
    and with case unless ``caseSensitive`` is false. `value` is one reference or several, of which the closest counts. An answer
    without text gets 0. An object answer is unwrapped, and its decoded values are compared, one a line.

    Source: Levenshtein 1966, Soviet Physics Doklady 10(8); computed by RapidFuzz (``Levenshtein.normalized_similarity``).

    Raises:
        InputError: there is no reference, or one is blank.
    """

    threshold: Rate = 0.8
    case_sensitive: bool = True
    max_edits: Annotated[int, Field(ge=0)] | None = None

    def closest(self, text: str) -> Closeness:
        """The reference with the least share of edits, or the fewest edits where these are limited."""
        answer = self._letters(text)
        found = [(self._edits(answer, each), max(len(answer), len(self._letters(each))), each) for each in self.references]
        if self.max_edits is None:
            edits, longer, reference = min(found, key=lambda each: each[0] / each[1])
            value = 1 - edits / longer
        else:
            edits, longer, reference = min(found, key=lambda each: each[0])
            value = float(edits <= self.max_edits)
        return Closeness(value, reference, f"{plural(edits, 'edit')} in {plural(longer, 'character')}")

    def judged(self, found: Closeness) -> Score:
        """The score of that closeness, or of the number of edits."""
        if self.max_edits is None:
            return References.judged(self, found)  # super() knows no class with slots
        message = f"expected at most {plural(self.max_edits, 'edit')}, got {found.how}, beside {excerpt(found.reference)}"
        reason = Reason(code="TEXT_CLOSENESS", message=message, where="output")
        return Score(found.value, passed=bool(found.value), reasons=(reason,))

    def _edits(self, answer: str, reference: str) -> int:
        from rapidfuzz.distance import Levenshtein as Distance

        return Distance.distance(answer, self._letters(reference))

    def _letters(self, text: str) -> str:
        return comparable(text, case_sensitive=self.case_sensitive).strip()


@scorer("rouge_l")
@dataclass(frozen=True, slots=True, kw_only=True)
class RougeL(References):
    """ROUGE-L: the words that the answer has in common with the reference in the same order, as an F-measure in [0, 1]; passes
    from `threshold` on (equality passes).

    With L words in the longest common subsequence, precision is L / words of the answer, recall L / words of the reference, and
    the value their harmonic mean. Words are runs of letters and digits, in scripts without blanks single characters; nothing is
    stemmed. Case does not count unless ``caseSensitive``. `value` is one reference or several, of which the closest counts. An
    answer without words gets 0. An object answer is unwrapped, and its decoded values are compared.

    Source: Lin 2004, "ROUGE: A Package for Automatic Evaluation of Summaries", section 3.1 with β = 1, as the package
    ``rouge-score`` computes it without a stemmer; the subsequence is found by RapidFuzz (``LCSseq``).

    Raises:
        InputError: there is no reference, or one has no words.
    """

    threshold: Rate = 0.7
    case_sensitive: bool = False

    def __post_init__(self) -> None:
        References.__post_init__(self)  # super() knows no class with slots
        _refuse_wordless(self.references)

    def closest(self, text: str) -> Closeness:
        """The reference with the highest F-measure."""
        return max((self._beside(self._words(text), each) for each in self.references), key=lambda found: found.value)

    def _beside(self, answer: list[str], reference: str) -> Closeness:
        from rapidfuzz.distance import LCSseq

        wanted = self._words(reference)
        common = LCSseq.similarity(answer, wanted)
        how = f"{common} words in common, in order, of {len(answer)} in the answer and {len(wanted)} in the reference"
        return Closeness(2 * common / (len(answer) + len(wanted)), reference, how)

    def _words(self, text: str) -> list[str]:
        return _words(text, case_sensitive=self.case_sensitive)


@scorer("rouge_n")
@dataclass(frozen=True, slots=True, kw_only=True)
class RougeN(References):
    """ROUGE-N: the phrases of `n` words (1 unless set) that the answer has in common with the reference, as an F-measure in
    [0, 1]; passes from `threshold` on (equality passes).

    A phrase counts as often as both have it. With M phrases in common, precision is M / phrases of the answer, recall
    M / phrases of the reference, and the value their harmonic mean; 0 where one has fewer words than a phrase. Words are those of
    `rouge_l`, and their order counts within a phrase only. Case does not count unless ``caseSensitive``. `value` is one
    reference or several, of which the closest counts. An answer without words gets 0. An object answer is unwrapped, and its
    decoded values are compared.

    Source: Lin 2004, "ROUGE: A Package for Automatic Evaluation of Summaries", section 2, as the F-measure that the package
    ``rouge-score`` computes without a stemmer.

    Raises:
        InputError: there is no reference, or one has no words.
    """

    threshold: Rate = 0.7
    n: Annotated[int, Field(ge=1, le=9)] = 1
    case_sensitive: bool = False

    def __post_init__(self) -> None:
        References.__post_init__(self)  # super() knows no class with slots
        _refuse_wordless(self.references)

    def closest(self, text: str) -> Closeness:
        """The reference with the highest F-measure."""
        answer = self._phrases(text)
        return max((self._beside(answer, each) for each in self.references), key=lambda found: found.value)

    def _beside(self, answer: Counter[tuple[str, ...]], reference: str) -> Closeness:
        wanted = self._phrases(reference)
        common, of_answer, of_reference = (answer & wanted).total(), answer.total(), wanted.total()
        value = 2 * common / (of_answer + of_reference) if common else 0.0
        phrases = f"{common} phrases of {plural(self.n, 'word')} in common"
        how = f"{phrases}, of {of_answer} in the answer and {of_reference} in the reference"
        return Closeness(value, reference, how)

    def _phrases(self, text: str) -> Counter[tuple[str, ...]]:
        words = _words(text, case_sensitive=self.case_sensitive)
        return Counter(zip(*(words[start:] for start in range(self.n)), strict=False))


def _words(text: str, *, case_sensitive: bool) -> list[str]:
    words: list[str] = _WORD.findall(comparable(text, case_sensitive=case_sensitive))
    return words


def _refuse_wordless(references: tuple[str, ...]) -> None:
    for each in references:
        if not _words(each, case_sensitive=True):
            raise InputError(f"{each!r} has no words, so there is nothing to compare with; give a reference", path="value")


@scorer("bleu")
@dataclass(frozen=True, slots=True, kw_only=True)
class Bleu(References):
    """Sentence BLEU in [0, 1]: how many of the answer's phrases of 1 to 4 words a reference has; passes from `threshold` on
    (equality passes).

    The value is the brevity penalty times the geometric mean of the precisions; a precision of 0 is smoothed exponentially, and
    texts shorter than 4 words count the phrases that they have (``effective_order``). `value` is one reference or several, which
    are compared with together. ``tokenize`` says how words are told apart, by sacreBLEU's names; ``char`` suits scripts without
    blanks. Case counts unless ``caseSensitive`` is false; accents are composed (NFC). An answer without text gets 0. An object
    answer is unwrapped, and its decoded values are compared. BLEU was made for whole corpora: of single sentences, prefer to
    compare means.

    Source: Papineni et al. 2002, "BLEU: a Method for Automatic Evaluation of Machine Translation"; smoothing and tokens of Post
    2018, arXiv:1804.08771 (sacreBLEU, whose ``sentence_score`` this is, divided by 100).

    Raises:
        InputError: there is no reference, or one is blank.
    """

    threshold: Rate = 0.5
    case_sensitive: bool = True
    tokenize: Literal["13a", "intl", "char", "zh", "none"] = "13a"

    def closest(self, text: str) -> Closeness:
        """All references together."""
        from sacrebleu.metrics.bleu import BLEU

        metric = BLEU(lowercase=not self.case_sensitive, tokenize=self.tokenize, effective_order=True)
        references = [comparable(each, case_sensitive=True) for each in self.references]
        found = metric.sentence_score(comparable(text, case_sensitive=True), references)
        matched = ", ".join(f"{right} of {total}" for right, total in zip(found.counts, found.totals, strict=True))
        how = f"phrases of 1, 2, 3, 4 words in common: {matched}, brevity penalty {found.bp:.4g}"
        value = round(
            found.score / 100, _DIGITS
        )  # a mean of logarithms is not exact: of equal texts it may be 1.0000000000000002
        return Closeness(min(1.0, value), self.value, how)
