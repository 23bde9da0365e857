"""What an agent had seen before it answered, and whether it holds a claim."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import regex

from eval_skills.core.messages.roles import inner_message, role_in
from eval_skills.core.messages.tool_results import results_of
from eval_skills.core.models import SkillResponse
from eval_skills.scorers.answer import scalar_text
from eval_skills.scorers.claims.dates import Clock, Day, clocks_in, days_in
from eval_skills.scorers.claims.names import Words, words_of
from eval_skills.scorers.claims.numbers import Amount, known_amounts
from eval_skills.scorers.claims.texts import Address, Phrase, folded, known_addresses, plain

if TYPE_CHECKING:
    from eval_skills.scorers.claims.extraction import Claim, Fact

_WORDS = ("content", "parts", "output", "result")
"""Where messages that are not the agent's hold their text: Gemini's in `parts`, OpenAI's items in `output`."""

_EXACT = Context(prec=400)


class Evidence:
    """The texts that an agent was given, indexed on first use by what claims are made of."""

    def __init__(self, text: str) -> None:
        self._text = plain(text)

    def supports(self, claim: Claim) -> bool:
        """Whether every fact of one of the claim's readings occurs."""
        return any(all(map(self.holds, reading)) for reading in claim.readings)

    def holds(self, fact: Fact) -> bool:
        """Whether the fact occurs: a number also rounded to the fact's digits, a date also where it says more, a phrase as
        whole words, a page also as the beginning of an address below it."""
        match fact:
            case Amount():
                return self._holds_amount(fact)
            case Day():
                return any(_agrees(fact, known) for known in self._days)
            case Clock():
                return fact in self._clocks
            case Phrase():
                return fact.text in self._folded and _phrase(fact).search(self._folded) is not None
            case Address():
                return self._holds_address(fact.text)
            case Words():
                return fact.words <= self._words

    def _holds_amount(self, fact: Amount) -> bool:
        exponent = int(fact.value.as_tuple().exponent)
        units = (None, fact.unit) if fact.unit else self._amounts.keys()
        if any(fact.value in self._rounded(unit, exponent) for unit in units):
            return True
        # a share and its percentage are one figure
        if fact.unit == "%":
            return fact.value.scaleb(-2, _EXACT) in self._rounded(None, exponent - 2)
        return fact.unit is None and fact.value.scaleb(2, _EXACT) in self._rounded("%", exponent + 2)

    def _rounded(self, unit: str | None, exponent: int) -> frozenset[Decimal]:
        key = (unit, exponent)
        if key not in self._rounded_to:
            self._rounded_to[key] = frozenset(each for value in self._amounts.get(unit, ()) for each in _rounded(value, exponent))
        return self._rounded_to[key]

    def _holds_address(self, page: str) -> bool:
        below = takewhile(lambda each: each.startswith(page), self._addresses[bisect_left(self._addresses, page) :])
        return any(each[len(page) :][:1] in ("", "/", "?") for each in below)

    @cached_property
    def _amounts(self) -> dict[str | None, set[Decimal]]:
        amounts: dict[str | None, set[Decimal]] = {}
        for value, unit in known_amounts(self._text):
            # a claim without a sign may report a change of -5 as a fall by 5
            amounts.setdefault(unit, set()).update((value, value.copy_abs()))
        return amounts

    @cached_property
    def _rounded_to(self) -> dict[tuple[str | None, int], frozenset[Decimal]]:
        return {}

    @cached_property
    def _days(self) -> frozenset[Day]:
        return frozenset(day for _, _, readings in days_in(self._text) for reading in readings for day in reading)

    @cached_property
    def _clocks(self) -> frozenset[Clock]:
        return frozenset(readings[0][0] for _, _, readings in clocks_in(self._text))

    @cached_property
    def _folded(self) -> str:
        return folded(self._text)

    @cached_property
    def _addresses(self) -> list[str]:
        return sorted(known_addresses(self._text))

    @cached_property
    def _words(self) -> frozenset[str]:
        return words_of(self._text)


def seen_in(input_data: Any, response: SkillResponse) -> list[Any]:
    """The values that the agent was given: the task's input, results and errors of tools, and messages that are not its own.

    Of its own messages these are the results of tools that the model's service ran itself, never its text.
    """
    seen = [input_data]
    for call in response.tool_calls or ():
        seen += [call.result, call.error]
    for message in map(inner_message, response.messages or ()):
        if (role := role_in(message)) == "assistant":
            seen += [part for result in results_of(message, role) for part in (result.content, result.error)]
        else:
            seen += [message.get(key) for key in _WORDS]
    return seen


def evidence_text(values: list[Any]) -> str:
    """All texts inside the values, one a line, keys of objects too; JSON inside a text is read as well."""
    texts: list[str] = []
    rest = values[::-1]
    while rest:  # a stack of its own: a result may be nested deeper than Python recurses
        part = rest.pop()
        if isinstance(part, dict):
            rest.extend(each for pair in reversed(part.items()) for each in reversed(pair))
        elif isinstance(part, list | tuple):
            rest.extend(reversed(part))
        elif part is not None:
            texts.append(scalar_text(part))
            rest.extend(parsed_json(part))
    return "\n".join(texts)


def parsed_json(value: Any) -> Iterator[Any]:
    """The object or array that a text spells; nothing for anything else."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            yield json.loads(value)
        except (ValueError, RecursionError):
            return


def _agrees(said: Day, known: Day) -> bool:
    return said.month == known.month and said.year in (None, known.year) and said.day in (None, known.day)


def _phrase(phrase: Phrase) -> regex.Pattern[str]:
    before, after = (r"(?<!\w[.@+_-]|[@+_-])", r"(?![.@+_-]\w)") if phrase.is_token else ("", "")
    return regex.compile(rf"(?<!\w){before}{regex.escape(phrase.text)}(?!\w){after}")


def _rounded(value: Decimal, exponent: int) -> tuple[Decimal, ...]:
    if int(value.as_tuple().exponent) >= exponent:
        return (value,)
    unit = Decimal((0, (1,), exponent))
    return tuple(value.quantize(unit, rounding=how, context=_EXACT) for how in (ROUND_HALF_UP, ROUND_HALF_EVEN))
