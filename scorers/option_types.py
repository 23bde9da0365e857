"""Values of options in their types, and the place where one does not fit."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from pydantic import ConfigDict, PydanticUserError, TypeAdapter, ValidationError

from eval_skills.core.documents.validation_errors import kind_wanted
from eval_skills.core.text import nearest
from eval_skills.scorers.option_words import (
    ARRAYS,
    OBJECTS,
    bare,
    described,
    has_words,
    is_of_fixed_length,
    is_union,
    kind_of,
    one_of,
    shown,
    tells_its_rules,
)

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_STRICT = ConfigDict(strict=True, allow_inf_nan=False)
_PLACE_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Misfit:
    """A value that is not of its type: where it is inside the option (``[1]``, ``.right``), and what is wrong with it."""

    place: str
    wrong: str
    value: Any
    choices: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.wrong}, got {shown(self.value)}{self._nearest}"

    @property
    def _nearest(self) -> str:
        return nearest(self.value, list(self.choices)) if isinstance(self.value, str) and self.choices else ""


def converted(hint: Any, value: Any) -> Any:
    """The value in the type, taken strictly: ``"5"`` is no number, and NaN is none. An array may stand for a tuple or a set.

    Raises:
        ValidationError: it does not fit.
    """
    return _adapter(hint).validate_python(_shaped(hint, value), strict=True)


def misfit(hint: Any, value: Any, place: str = "") -> Misfit:
    """Where a value that does not fit a type fails it, as deep inside as can be told; in pydantic's words where ours end."""
    plain, args = bare(hint), get_args(bare(hint))
    if _holds(plain, value):
        for each, (key, part) in zip(_types(plain, value), _parts(value), strict=False):
            if not _fits(each, part):
                return misfit(each, part, place + key)
        return _first_fault(hint, value, place)
    if _breaks_a_rule(hint, value):
        return _first_fault(hint, value, place)
    if is_union(plain):
        inner = next((each for each in args if _holds(each, value) or _breaks_a_rule(each, value)), None)
        if not place:  # null is an option that is left out
            args = tuple(each for each in args if each is not NoneType)
        if inner is not None or len(args) == 1:
            return misfit(args[0] if inner is None else inner, value, place)
        return Misfit(place, f"expected {one_of(args)}", value, _choices(args))
    if not has_words(plain):
        return _first_fault(hint, value, place)
    return Misfit(place, f"expected {described(hint)}", value, _choices([hint]))


def _choices(hints: Sequence[Any]) -> tuple[str, ...]:
    return tuple(str(choice) for each in hints if get_origin(each) is Literal for choice in get_args(each))


def _holds(hint: Any, value: Any) -> bool:
    """Whether the value is of the kind of a list or an object that the type is, whatever it holds."""
    plain = bare(hint)
    if kind_of(plain) in ARRAYS:
        return isinstance(value, list | tuple) and (not is_of_fixed_length(plain) or len(value) == len(get_args(plain)))
    return kind_of(plain) in OBJECTS and isinstance(value, dict)


def _types(plain: Any, value: Any) -> Sequence[Any]:
    """The types of what the value holds, which is of the kind of the type."""
    args = get_args(plain)
    if is_of_fixed_length(plain):
        return args
    return [args[-1 if isinstance(value, dict) else 0] if args else Any] * len(value)


def _parts(value: Any) -> Iterable[tuple[str, Any]]:
    """What the value holds, by its place."""
    if isinstance(value, dict):
        return [(f".{key}"[:_PLACE_SHOWN], each) for key, each in value.items()]
    return [(f"[{number}]", each) for number, each in enumerate(value)]


def _shaped(hint: Any, value: Any) -> Any:
    """The value, in which each array is the tuple or the set that the type asks for in its place."""
    plain = bare(hint)
    if is_union(plain):
        held = [each for each in get_args(plain) if _holds(each, value)]
        held = [each for each in held if len(held) == 1 or _fits(each, value)] or held
        return _shaped(held[0], value) if held else value
    if isinstance(value, tuple) or not _holds(plain, value):
        return value
    shaped = [_shaped(each, part) for each, (_, part) in zip(_types(plain, value), _parts(value), strict=True)]
    if isinstance(value, dict):
        return dict(zip(value, shaped, strict=True))
    kind = kind_of(plain)
    is_set = kind in (set, frozenset) and all(isinstance(each, Hashable) for each in shaped)
    return kind(shaped) if kind is tuple or is_set else shaped


def _adapter(hint: Any) -> TypeAdapter[Any]:
    try:
        return TypeAdapter(hint, config=_STRICT)
    except PydanticUserError as error:
        if error.code != "type-adapter-config-unused":
            raise
        return TypeAdapter(hint)  # a model has its own


def _faults(hint: Any, value: Any) -> list[ErrorDetails]:
    try:
        converted(hint, value)
    except ValidationError as error:
        return error.errors(include_url=False)
    return []


def _fits(hint: Any, value: Any) -> bool:
    return not _faults(hint, value)


def _first_fault(hint: Any, value: Any, place: str) -> Misfit:
    first = _faults(hint, value)[0]
    inside = "".join(f"[{key}]" if isinstance(key, int) else f".{key}"[:_PLACE_SHOWN] for key in first["loc"] if key != "[key]")
    wanted = kind_wanted(first)
    wrong = first["msg"].removeprefix("Value error, ") if wanted is None else f"expected {wanted}"
    return Misfit(place + inside, wrong, first["input"])


def _breaks_a_rule(hint: Any, value: Any) -> bool:
    """Whether the value is of the type but for a rule that we have no words for."""
    return not tells_its_rules(hint) and _fits(bare(hint), value)
