"""Did the agent call the functions that the Berkeley Function-Calling Leaderboard expects?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from eval_skills.core.errors import InputError
from eval_skills.core.models import Reason, SkillResponse
from eval_skills.core.text import excerpt, nearest
from eval_skills.scorers.bfcl.matching import WRONG_FUNCTION, Called, Expected, first_fit, fits_of, largest_matching
from eval_skills.scorers.bfcl.values import TYPES, Fault, Parameter
from eval_skills.scorers.registry import scorer
from eval_skills.scorers.score import Score, remark
from eval_skills.scorers.tools.calls import known_calls
from eval_skills.scorers.trajectory.calls import read_arguments

Category = Literal["simple", "multiple", "parallel", "parallel_multiple", "irrelevance", "relevance"]

_WITHOUT_GOLD = ("irrelevance", "relevance")
_MAX_FAULTS = 10
_COUNTED_BY = {"simple": "simple_function_checker", "multiple": "multiple_function_checker"}
_OF_PARALLEL = "parallel_function_checker_no_order"
_CODES = {
    WRONG_FUNCTION: "BFCL_WRONG_FUNCTION",
    "simple_function_checker:missing_required": "BFCL_MISSING_ARGUMENT",
    "simple_function_checker:missing_optional": "BFCL_MISSING_ARGUMENT",
    "simple_function_checker:unexpected_param": "BFCL_UNEXPECTED_ARGUMENT",
    "type_error:simple": "BFCL_WRONG_TYPE",
    "type_error:nested": "BFCL_WRONG_TYPE",
}
"""The code of a reason by the official error type; of all others ``BFCL_WRONG_VALUE``."""


@scorer("bfcl")
@dataclass(frozen=True, slots=True, kw_only=True)
class Bfcl:
    """1 when the calls are right by the rule that BFCL's leaderboard publishes for Python, else 0; no partial credit.

    `groundTruth` are the expected calls, ``{function: {parameter: [allowed values]}}``, and `functions` their documents, both as
    the data files have them. By `category`, ``simple`` and ``multiple`` expect one call, ``parallel`` and ``parallel_multiple``
    as many as `groundTruth` has, in any order; ``irrelevance`` expects none, ``relevance`` at least one of anything whose
    arguments can be read. A function is known by its name, also with ``_`` for its dots. Required parameters must be given,
    others only where `groundTruth` has them, and may be absent where it allows ``""``. Types are exact; texts compare without
    case, blanks and ``, . / - _ * ^``.

    Several calls are paired as published: each expected one, in order, takes the first free call that fits, which can fail
    where another pairing would pass (``BFCL_FIRST_FIT`` says so). With `matching` ``optimal`` the best pairing counts. The
    metadata holds `official`, the published verdict, and where that is false `errorType`, the official name of the error. An
    answer that does not say what it called is not judged, never 0.

    Source: Patil et al. 2025, "The Berkeley Function Calling Leaderboard", ICML, and its checker (ShishirPatil/gorilla 6ea57973).

    Raises:
        InputError: `groundTruth` does not suit the category or names a function that `functions` does not have, or a parameter
            has an unknown type.
    """

    category: Category
    functions: tuple[dict[str, Any], ...] = ()
    ground_truth: tuple[dict[str, dict[str, list[Any]]], ...] = ()
    matching: Literal["official", "optimal"] = "official"
    _expected: tuple[Expected, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._refuse_wrong_number()
        functions = {each.get("name"): (place, each) for place, each in enumerate(self.functions)}
        expected = tuple(_expected(call, place, functions) for place, call in enumerate(self.ground_truth))
        object.__setattr__(self, "_expected", expected)

    def score(self, response: SkillResponse) -> Score | None:
        """1 or 0, with the reasons of the call that comes nearest to what is expected; None when the calls are unknown."""
        calls = known_calls(response)
        if calls is None:
            return None
        read = [(call.name, {} if call.arguments is None else read_arguments(call.arguments)) for call in calls]
        called = [Called(name, arguments, place) for place, (name, arguments) in enumerate(read) if arguments is not None]
        if self.category == "irrelevance":
            return _judged_none([name for name, _ in read])
        if self.category == "relevance":
            return _judged_any(called)
        if unreadable := [f"{name}" for name, arguments in read if arguments is None]:
            message = f"the arguments of {excerpt(unreadable)} are not a JSON object"
            return _failed("ast_decoder:decoder_failed", [Reason(code="BFCL_UNREADABLE", message=message, where="toolCalls")])
        return self._judged(called)

    def _refuse_wrong_number(self) -> None:
        count = len(self.ground_truth)
        if self.category in _WITHOUT_GOLD and count:
            raise InputError(f"the category {self.category} expects no certain calls; leave this out", path="groundTruth")
        if self.category in _COUNTED_BY and count != 1:
            raise InputError(f"the category {self.category} expects one call, and here are {count}", path="groundTruth")
        if not count and self.category not in _WITHOUT_GOLD:
            raise InputError("no calls are expected; name at least one, or choose the category irrelevance", path="groundTruth")

    def _judged(self, called: Sequence[Called]) -> Score:
        if len(called) != len(self._expected):
            return _failed(f"{_COUNTED_BY.get(self.category, _OF_PARALLEL)}:wrong_count", [self._count_reason(called)])
        if self.category in _COUNTED_BY:
            faults = list(self._expected[0].faults(called[0]))
            return _failed(faults[0].kind, _reasons(faults, called[0])) if faults else _passed()
        return self._paired(called)

    def _paired(self, called: Sequence[Called]) -> Score:
        fits = fits_of(self._expected, called)
        if first_fit(fits):
            return _passed()
        error_type = f"{_OF_PARALLEL}:cannot_find_match"
        pairs = largest_matching(fits)
        if len(pairs) < len(self._expected):
            return _failed(error_type, self._unpaired_reasons(called, pairs))
        message = (
            "every call fits, but not when each expected call in order takes the first that fits, as the published rule has it"
        )
        if self.matching == "optimal":
            found = (remark("BFCL_FIRST_FIT", f"{message}: the official verdict is fail", "toolCalls"),)
            return Score(1.0, reasons=found, metadata={"official": False, "errorType": error_type})
        reason = Reason(code="BFCL_FIRST_FIT", message=f"{message}; matching: optimal pairs them", where="toolCalls")
        return _failed(error_type, [reason])

    def _unpaired_reasons(self, called: Sequence[Called], pairs: Mapping[int, int]) -> list[Reason]:
        """For each expected call that cannot be paired, what the nearest of the calls that are left over lacks."""
        left = [call for place, call in enumerate(called) if place not in pairs.values()]
        reasons: list[Reason] = []
        for index, expected in enumerate(self._expected):
            if index in pairs:
                continue
            named = [call for call in left if expected.is_named(call.name)]
            if not named:
                message = f"expected a call of {expected.name!r}, got {excerpt([call.name for call in left])}"
                reasons.append(Reason(code="BFCL_WRONG_FUNCTION", message=message, where="toolCalls"))
                continue
            nearest_one = min(named, key=lambda call: len(list(expected.faults(call))))
            left.remove(nearest_one)
            reasons += _reasons(list(expected.faults(nearest_one)), nearest_one)
        return reasons[:_MAX_FAULTS]

    def _count_reason(self, called: Sequence[Called]) -> Reason:
        spelled = {name.replace(".", "_"): name for name in (each.name for each in self._expected)}
        wanted = Counter(each.name for each in self._expected)
        got = Counter(spelled.get(call.name.replace(".", "_"), call.name) for call in called)
        parts = [
            f"{word} {excerpt(list(names.elements()))}"
            for word, names in (("missing", wanted - got), ("too many", got - wanted))
            if names
        ]
        message = f"expected {_calls(len(self._expected))}, got {_calls(len(called))}: {', '.join(parts)}"
        return Reason(code="BFCL_WRONG_COUNT", message=message, where="toolCalls")


def _expected(call: Mapping[str, Any], place: int, functions: Mapping[Any, tuple[int, Mapping[str, Any]]]) -> Expected:
    at = f"groundTruth[{place}]"
    if len(call) != 1:
        raise InputError(f"expected an object with one function, got {excerpt(list(call))}", path=at)
    name, allowed = next(iter(call.items()))
    if name not in functions:
        known = [str(each) for each in functions]
        raise InputError(f"functions has no {name!r}{nearest(name, known)}; it has {', '.join(known) or 'none'}", path=at)
    where, document = functions[name]
    parameters = document.get("parameters")
    inside = parameters if isinstance(parameters, dict) else {}
    properties, required = inside.get("properties"), inside.get("required", [])
    if not isinstance(properties, dict) or not isinstance(required, list):
        raise InputError("expected properties (an object) and required (a list)", path=f"functions[{where}].parameters")
    path = f"functions[{where}].parameters.properties"
    # some published answers name parameters that the document does not have: giving one is an error by the rule
    types = {each: _parameter(properties[each], f"{path}.{each}") for each in allowed if each in properties}
    return Expected(name, types, tuple(required), allowed)


def _parameter(document: Any, path: str) -> Parameter:
    written = document.get("type") if isinstance(document, dict) else None
    outer = _type(written, path)
    if outer is not list:
        return Parameter(str(written), outer)
    items = document.get("items")
    return Parameter(str(written), outer, _type(items.get("type") if isinstance(items, dict) else None, f"{path}.items"))


def _type(written: Any, path: str) -> type:
    if not isinstance(written, str) or written not in TYPES:
        raise InputError(f"expected a type of BFCL's Python categories ({', '.join(TYPES)}), got {excerpt(written)}", path=path)
    return TYPES[written]


def _judged_none(names: Sequence[str]) -> Score:
    if not names:
        return _passed()
    message = f"no function helps here, so none should be called; got {excerpt(list(names))}"
    return _failed("irrelevance_error:decoder_success", [Reason(code="BFCL_CALLED", message=message, where="toolCalls")])


def _judged_any(called: Sequence[Called]) -> Score:
    if called:
        return _passed()
    message = "expected at least one call whose arguments can be read, got none"
    return _failed("relevance_error:decoder_failed", [Reason(code="BFCL_NOT_CALLED", message=message, where="toolCalls")])


def _passed() -> Score:
    return Score(1.0, metadata={"official": True})


def _failed(error_type: str, reasons: Iterable[Reason]) -> Score:
    return Score(0.0, reasons=tuple(reasons), metadata={"official": False, "errorType": error_type})


def _reasons(faults: Sequence[Fault], call: Called) -> list[Reason]:
    where = f"toolCalls[{call.place}]"
    return [
        Reason(code=_CODES.get(each.kind, "BFCL_WRONG_VALUE"), message=f"{call.name}: {each.message}", where=where)
        for each in faults[:_MAX_FAULTS]
    ]


def _calls(count: int) -> str:
    return f"{count} call{'' if count == 1 else 's'}"
