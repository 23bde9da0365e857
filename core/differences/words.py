"""Two texts compared word by word."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

PartKind = Literal["equal", "removed", "added", "skipped"]

MAX_WORDS = 5_000
"""Of longer texts the words after these are not compared."""

PART_CHARS = 400
"""A part longer than this is shown by its beginning and, where both texts have it, its end."""

LITTLE = 0.25
"""Texts that have a smaller share of their characters in common are shown as one text in place of the other."""

_WORD = re.compile(r"\d+(?:[.,]\d+)+|\w+|[^\w\s]")
_WORD_OR_SPACE = re.compile(rf"{_WORD.pattern}|\s")


class Part(NamedTuple):
    """A piece of one text or of both: `removed` is expected and not there, `added` is there and not expected, `skipped` says in
    words what is not shown."""

    kind: PartKind
    text: str


@dataclass(frozen=True, slots=True)
class Words:
    """The texts as `parts`, in order. `left_out` says what of them was not compared; empty where all of it was."""

    parts: tuple[Part, ...]
    left_out: str = ""

    @property
    def is_equal(self) -> bool:
        """Whether the texts are the same, as far as they were compared."""
        return not self.left_out and all(part.kind in ("equal", "skipped") for part in self.parts)


def word_difference(expected: str, got: str) -> Words:
    """How `got` differs from `expected`, by a longest common subsequence of their words (Hirschberg 1975).

    White space counts only where the words are all the same, and never around the whole text. Common words that stand alone
    within longer changes are taken for part of the change, and so are all of texts that have little in common: see `LITTLE`.
    """
    expected, got = expected.strip(), got.strip()
    (one, rest_of_one), (other, rest_of_other) = _split(expected, _WORD), _split(got, _WORD)
    if [each.word for each in one] == [each.word for each in other]:
        (one, rest_of_one), (other, rest_of_other) = _split(expected, _WORD_OR_SPACE), _split(got, _WORD_OR_SPACE)
    parts = _joined(_readable(_joined(_parts(expected, one, got, other))))
    left_out = _left_out(rest_of_one, rest_of_other)
    if not left_out and _in_common(parts) < LITTLE:
        parts = [part for part in (Part("removed", expected), Part("added", got)) if part.text]
    return Words(tuple(_bounded(parts)), left_out)


def matched_runs(one: Sequence[Hashable], other: Sequence[Hashable]) -> Iterator[tuple[bool, slice, slice]]:
    """Runs of both sequences in order: (True, here, there) are the same, (False, here, there) stand in each other's place.

    A longest common subsequence; of a run that differs either side may be empty.
    """
    from rapidfuzz.distance import LCSseq

    numbers: dict[Hashable, int] = {}  # rapidfuzz compares hashes, and those of -1 and -2 are one
    left, right = ([numbers.setdefault(each, len(numbers)) for each in side] for side in (one, other))
    here = there = 0
    for step in LCSseq.opcodes(left, right):
        if step.tag != "equal":
            continue
        if step.src_start > here or step.dest_start > there:
            yield False, slice(here, step.src_start), slice(there, step.dest_start)
        yield True, slice(step.src_start, step.src_end), slice(step.dest_start, step.dest_end)
        here, there = step.src_end, step.dest_end
    if here < len(one) or there < len(other):
        yield False, slice(here, len(one)), slice(there, len(other))


class _Word(NamedTuple):
    """A word, and where it ends in its text with the white space behind it."""

    word: str
    start: int
    end: int


def _split(text: str, pattern: re.Pattern[str]) -> tuple[list[_Word], int]:
    """The first `MAX_WORDS` words, and how many characters come after them."""
    starts: list[tuple[str, int]] = []
    for found in pattern.finditer(text):
        if len(starts) == MAX_WORDS:
            return _placed(starts, found.start()), len(text) - found.start()
        starts.append((found[0], found.start()))
    return _placed(starts, len(text)), 0


def _placed(starts: list[tuple[str, int]], end: int) -> list[_Word]:
    ends = [*(start for _, start in starts[1:]), *([end] if starts else [])]
    return [_Word(word, start, stop) for (word, start), stop in zip(starts, ends, strict=True)]


def _parts(expected: str, one: list[_Word], got: str, other: list[_Word]) -> Iterator[Part]:
    for same, here, there in matched_runs([each.word for each in one], [each.word for each in other]):
        if same:
            yield Part("equal", _text(got, other[there]))
            continue
        yield Part("removed", _text(expected, one[here]))
        yield Part("added", _text(got, other[there]))


def _text(text: str, words: list[_Word]) -> str:
    return text[words[0].start : words[-1].end] if words else ""


def _joined(parts: Iterable[Part]) -> list[Part]:
    """Without empty parts; between two equal parts there is at most one of each other kind, the removed one first."""
    joined: list[Part] = []
    removed = added = ""
    for part in [*parts, Part("equal", "")]:
        if part.kind == "removed":
            removed += part.text
        elif part.kind == "added":
            added += part.text
        else:
            joined += [Part("removed", removed), Part("added", added), part]
            removed = added = ""
    return [part for part in joined if part.text]


def _readable(parts: list[Part]) -> list[Part]:
    """Equal parts that are no longer than the changes on both sides become part of them: they agree by chance."""
    shown: list[Part] = []
    for place, part in enumerate(parts):
        length = len(part.text)
        before = max((len(each.text) for each in _changes(parts[:place][-2:])), default=0)
        after = max((len(each.text) for each in _changes(parts[place + 1 : place + 3])), default=0)
        if part.kind == "equal" and length < min(before, after):
            shown += [Part("removed", part.text), Part("added", part.text)]
        else:
            shown.append(part)
    return shown


def _changes(parts: Sequence[Part]) -> list[Part]:
    return [each for each in parts if each.kind != "equal"]


def _in_common(parts: Sequence[Part]) -> float:
    equal, one, other = (sum(len(each.text) for each in parts if each.kind == kind) for kind in ("equal", "removed", "added"))
    return equal / (equal + max(one, other)) if parts else 1.0


def _bounded(parts: Iterable[Part]) -> Iterator[Part]:
    for kind, text in parts:
        if len(text) <= PART_CHARS:
            yield Part(kind, text)
            continue
        end = PART_CHARS // 2 if kind == "equal" else 0
        yield Part(kind, text[: PART_CHARS - end])
        yield Part("skipped", f"{len(text) - PART_CHARS:,} more characters")
        if end:
            yield Part(kind, text[-end:])


def _left_out(expected: int, got: int) -> str:
    sides = [f"{count:,} characters of the {name}" for count, name in ((expected, "expected text"), (got, "answer")) if count]
    return f"not compared: the last {' and '.join(sides)}" if sides else ""
