"""Which inputs are the same, or almost."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from itertools import combinations
from typing import Any

from eval_skills.core.fingerprint import canonical_json
from eval_skills.core.text import comparable

ALIKE = 95.0
"""From here on two inputs are almost the same: 100 times 1 - the normalised Indel distance, as RapidFuzz computes it."""

SHORTEST = 20
"""Of shorter inputs one letter is a difference."""

MAX_PAIRS = 500_000
"""More pairs than these are not compared: some seconds."""

_NOISE, _NUMBER = re.compile(r"[^\w]+"), re.compile(r"-?\d+(?:\.\d+)?")


def same(asked: Any) -> str:
    """What is equal for equal inputs."""
    return canonical_json(asked)


def gist(asked: Any) -> str:
    """The input without case, blanks and punctuation; keys count, and so do the numbers' signs and points."""
    text = asked if isinstance(asked, str) else json.dumps(asked, ensure_ascii=False, sort_keys=True)
    return " ".join(_NOISE.sub(" ", comparable(text)).split())


def near_pairs(inputs: Sequence[Any], groups: Sequence[Hashable]) -> tuple[list[tuple[int, int]], int]:
    """The pairs (by place) of inputs of one group that are almost, and not entirely, the same; and how many pairs were left out.

    Inputs with other numbers are not alike, however few letters that is: 2 + 3 is not 2 + 4.
    """
    from rapidfuzz import fuzz

    gists, exact = [gist(each) for each in inputs], [same(each) for each in inputs]
    found, looked, left = list[tuple[int, int]](), 0, 0
    for members in _alike_in_numbers(inputs, groups):
        pairs = len(members) * (len(members) - 1) // 2
        if looked + pairs > MAX_PAIRS:
            left += pairs
            continue
        looked += pairs
        for one, other in combinations(members, 2):
            if exact[one] != exact[other] and _is_near(fuzz.ratio, gists[one], gists[other]):
                found.append((one, other))
    return found, left


def _is_near(ratio: Any, one: str, other: str) -> bool:
    if one == other:
        return bool(one)  # of signs alone nothing is left to compare
    return min(len(one), len(other)) >= SHORTEST and ratio(one, other, score_cutoff=ALIKE) > 0


def _alike_in_numbers(inputs: Sequence[Any], groups: Sequence[Hashable]) -> Iterable[list[int]]:
    found: dict[Hashable, list[int]] = defaultdict(list)
    for index, (asked, group) in enumerate(zip(inputs, groups, strict=True)):
        text = asked if isinstance(asked, str) else canonical_json(asked)
        found[group, tuple(_NUMBER.findall(text))].append(index)
    return found.values()
