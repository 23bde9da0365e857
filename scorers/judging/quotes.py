"""Whether words that a model quotes are in the material."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self
from unicodedata import normalize

import regex

if TYPE_CHECKING:
    from eval_skills.scorers.judging.prompt import Material

_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_WORD = regex.compile(rf"[{_UNSPACED}\p{{So}}]|[\w--[{_UNSPACED}]]++", regex.V1)
_OMISSION = regex.compile(r"…|\.\.\.")
_BETWEEN = regex.compile(r"[\n;]|\\n")


@dataclass(frozen=True, slots=True)
class Quotable:
    """Materials as words, to look quotations up in.

    Case, white space, punctuation, quotation marks of any kind and JSON's escapes are free; words and figures are whole ones, so
    ``7`` does not stand in ``1976``. Where a quotation leaves something out (``…`` or ``...``), every part of it stands in the
    same material; where it lists several (by lines or semicolons), each of them stands somewhere. What has neither a word nor a
    figure stands nowhere.
    """

    texts: tuple[str, ...]

    @classmethod
    def of(cls, materials: Iterable[Material]) -> Self:
        """The materials, whole, as they stand and as they read once JSON's escapes are undone."""
        return cls.of_texts(each.text for each in materials)

    @classmethod
    def of_texts(cls, texts: Iterable[str]) -> Self:
        """These texts, likewise."""
        return cls(tuple(f"{_words(each)}\n{_words(_unescaped(each))}" for each in texts))

    def holds(self, quote: str) -> bool:
        """Whether the quotation stands in one of the materials."""
        return self._holds_whole(quote) or self._holds_each([part for part in _BETWEEN.split(quote) if _words(part).strip()])

    def holds_all(self, phrases: Iterable[str]) -> bool:
        """Whether all of these stand in the same one of the materials, each with nothing left out."""
        wanted = [_words(_unescaped(each)) for each in phrases]
        return any(all(each in text for each in wanted) for text in self.texts)

    def share(self, quotes: Iterable[str]) -> float | None:
        """The share of quotations that do stand there, in [0, 1]; blank ones do not count, None without any."""
        wanted = [each for each in quotes if each.strip()]
        return sum(map(self.holds, wanted)) / len(wanted) if wanted else None

    def _holds_each(self, parts: Sequence[str]) -> bool:
        return len(parts) > 1 and all(map(self._holds_whole, parts))

    def _holds_whole(self, quote: str) -> bool:
        parts = [words for each in _OMISSION.split(quote) if (words := _words(each)).strip()]
        return bool(parts) and any(all(part in text for part in parts) for text in self.texts)


def quotes_found(quotes: Iterable[str], materials: Sequence[Material]) -> float | None:
    """The share of quotations that do occur in one of the materials; see `Quotable`."""
    return Quotable.of(materials).share(quotes)


def _unescaped(text: str) -> str:
    return text.replace('\\"', '"').replace("\\n", " ").replace("\\t", " ").replace("\\/", "/")


def _words(text: str) -> str:
    """The words with a blank around each, so that one within another is not found."""
    return f" {' '.join(_WORD.findall(normalize('NFKC', text).casefold()))} "
