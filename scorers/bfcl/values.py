"""Is one argument among those that BFCL allows? The published rules for Python, with their oddities.

Source of the rules: the checker of abstract syntax trees in ShishirPatil/gorilla at 6ea57973, `ast_checker.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from eval_skills.core.text import excerpt

TYPES: Mapping[str, type] = {
    "string": str,
    "integer": int,
    "float": float,
    "boolean": bool,
    "array": list,
    "tuple": list,
    "dict": dict,
    "any": str,
}
"""The names of types in BFCL's function documents, and what a value of each must be in Python: exactly that type."""

OPTIONAL = ""
"""The element of a list of allowed values that says that the parameter may be left out."""

_IGNORED = re.compile(r"[ ,./\-_*^]")


class Parameter(NamedTuple):
    """The type of a parameter: as it is written, in Python, and that of its elements where it is an array or a tuple."""

    written: str
    outer: type
    element: type | None = None


class Fault(NamedTuple):
    """Why a call does not fit: `kind` is the error type of the official checker, `message` one sentence for people."""

    kind: str
    message: str


def argument_fault(name: str, value: Any, allowed: Sequence[Any], parameter: Parameter) -> Fault | None:
    """Why the value of the parameter `name` is not accepted; None where it is.

    The type must be exactly that of the parameter (true is not an integer; an integer is taken for a float), of an array's
    elements one level deep. A value of another type is accepted where the first allowed value has that type, too: it stands for a
    variable, and is compared as it is.
    """
    if parameter.outer is float and type(value) is int:
        value = _as_float(value)
    given: type = type(value)
    wanted = _type_of(allowed)
    is_variable = wanted not in (None, parameter.outer)
    if given is not parameter.outer:
        if wanted is None or given is not wanted:
            return Fault("type_error:simple", f"{name}: expected {parameter.written}, got {_shown(value)}")
        is_variable = True
    elif parameter.element is not None and not any(_elements_fit(value, each, parameter.element) for each in allowed):
        return Fault(
            "type_error:nested", f"{name}: expected {parameter.written} of the types in {_shown(allowed)}, got {_shown(value)}"
        )
    if not is_variable and parameter.outer is dict:
        return _dict_fault(name, value, allowed)
    if not is_variable and parameter.element is dict:
        return _dicts_fault(name, value, allowed)
    return _plain_fault(name, value, allowed, parameter.outer if not is_variable else None)


def may_be_absent(allowed: Any) -> bool:
    """Whether the allowed values say that there may be none."""
    return isinstance(allowed, list | str | dict) and OPTIONAL in allowed


def normalised(text: str) -> str:
    """The text without blanks and ``, . / - _ * ^``, in lower case, with ``'`` as ``"``: so ``-5`` equals ``5``."""
    return _IGNORED.sub("", text).lower().replace("'", '"')


def _type_of(allowed: Iterable[Any]) -> type | None:
    """The type of the first allowed value; None where only absence is."""
    return next((type(each) for each in allowed if each != OPTIONAL), None)


def _as_float(value: int) -> float | int:
    try:
        return float(value)
    except OverflowError:
        return value


def _elements_fit(value: list[Any], allowed: Any, element: type) -> bool:
    """Whether the elements have the type of the document, or that of an allowed list's first element."""
    if type(allowed) is not list:
        return True
    wanted = _type_of(allowed)
    return all(type(each) is element or (wanted is not None and type(each) is wanted) for each in value)


def _plain_fault(name: str, value: Any, allowed: Sequence[Any], outer: type | None) -> Fault | None:
    """Texts are compared normalised, so are the texts in a list, whose order counts; all else as Python compares it."""
    if outer is str:
        kind, found = "value_error:string", normalised(value) in [normalised(each) for each in allowed if type(each) is str]
    elif outer is list:
        kind, found = "value_error:list/tuple", _texts_normalised(value) in [_texts_normalised(each) for each in allowed]
    else:
        kind, found = "value_error:others", value in allowed
    return None if found else Fault(kind, f"{name}: expected {_one_of(allowed)}, got {_shown(value)}")


def _texts_normalised(values: Any) -> list[Any] | None:
    """The elements, of a text its characters; None for what has none."""
    if not isinstance(values, list | str):
        return None
    return [normalised(each) if type(each) is str else each for each in values]


def _dict_fault(name: str, value: Any, allowed: Sequence[Any]) -> Fault | None:
    """An object fits one of the allowed ones, whose keys hold lists of allowed values; one level deep."""
    fault: Fault | None = Fault("dict_checker:unclear", f"{name}: expected {_one_of(allowed)}, got {_shown(value)}")
    for each in allowed:
        if each == OPTIONAL or not isinstance(each, dict) or not isinstance(value, dict):
            continue
        if (fault := _object_fault(name, value, each)) is None:
            return None
    return fault


def _object_fault(name: str, value: Mapping[str, Any], allowed: Mapping[str, Any]) -> Fault | None:
    missing = next((key for key, choices in allowed.items() if key not in value and not may_be_absent(choices)), None)
    if missing is not None:
        return Fault("value_error:dict_key", f"{name}.{missing} is missing")
    for key, given in value.items():
        if key not in allowed:
            return Fault("value_error:dict_key", f"{name}.{key} is not expected")
        choices = _texts_normalised(allowed[key]) or []
        if (normalised(given) if type(given) is str else given) not in choices:
            return Fault("value_error:dict_value", f"{name}.{key}: expected {_one_of(allowed[key])}, got {_shown(given)}")
    return None


def _dicts_fault(name: str, value: list[Any], allowed: Sequence[Any]) -> Fault | None:
    """A list of objects fits one of the allowed lists, object by object."""
    fault: Fault | None = Fault("list_dict_checker:unclear", f"{name}: expected {_one_of(allowed)}, got {_shown(value)}")
    for each in allowed:
        if not isinstance(each, list | str) or len(each) != len(value):
            fault = Fault("value_error:list_dict_count", f"{name}: expected {_one_of(allowed)}, got {len(value)} objects")
            continue
        pairs = enumerate(zip(value, each, strict=True))
        fault = next((found for at, (one, other) in pairs if (found := _dict_fault(f"{name}[{at}]", one, [other]))), None)
        if fault is None:
            return None
    return fault


def _one_of(allowed: Any) -> str:
    if not isinstance(allowed, list):
        return _shown(allowed)
    choices = [each for each in allowed if each != OPTIONAL]
    return _shown(choices[0]) if len(choices) == 1 else f"one of {_shown(choices)}"


def _shown(value: Any) -> str:
    return excerpt(value, 80)
