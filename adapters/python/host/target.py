"""What a call of the skill calls: the object that its entrypoint names. Standard library only."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable
from typing import Any

from eval_skills.adapters.python.host.errors import NotLoaded, a_type, described, holding, near, show_traceback


def find(place: str, attribute: str) -> Any:
    """The object at `attribute` (dots allowed) of the module or file `place`.

    Raises:
        NotLoaded: it does not exist, or the import failed; its traceback is shown.
    """
    try:
        found = import_file(place) if place.endswith(".py") else import_module(place)
    except BaseException as error:  # noqa: BLE001 - a module may raise anything, even SystemExit
        show_traceback(error)
        raise NotLoaded(why_not_imported(place, error)) from None
    for name in attribute.split("."):
        if not hasattr(found, name):
            known = [each for each in dir(found) if not each.startswith("_")]
            raise NotLoaded(f"{place} has no attribute {attribute!r}{near(name, known) or holding(known)}")
        found = getattr(found, name)
    return found


def import_module(name: str) -> Any:
    """The module, from the skill's folder before anywhere else."""
    file = name.replace(".", os.sep) + ".py"
    if name in sys.modules and os.path.isfile(file):  # a name that the standard library has too, imported by this program
        return import_file(file)
    return importlib.import_module(name)


def import_file(path: str) -> Any:
    """The module in a file of whatever name, which finds its neighbours as a program would."""
    file = os.path.abspath(path)
    sys.path.insert(0, os.path.dirname(file))
    name = os.path.splitext(os.path.basename(file))[0]
    name = f"skill_{name}" if name in sys.modules else name
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def why_not_imported(place: str, error: BaseException) -> str:
    """A sentence on an import that failed."""
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    if missing is None:
        return f"importing {place} failed: {described(error)}"
    if f"{place}.".startswith(f"{missing}."):
        files = [name[:-3] for name in os.listdir() if name.endswith(".py")]
        return f"there is no module {missing!r} in {os.getcwd()}, nor one installed for {sys.executable}{near(missing, files)}"
    remedy = f"install it for {sys.executable}, or name another interpreter in adapterConfig.python"
    return f"importing {place} failed: {described(error)}; {remedy}"


def callable_of(name: str, target: Any, init: dict[str, Any]) -> Callable[..., Any]:
    """What a call of the skill calls: the function, or the method `call` of the object or of the class's one instance."""
    if isinstance(target, type):
        if not callable(getattr(target, "call", None)) and not any("__call__" in vars(base) for base in target.__mro__):
            raise NotLoaded(f"{name} is a class without a method `call`; add one that takes the input, or name a function")
        target = instance_of(name, target, init)
    elif init:
        raise NotLoaded(f"{name} is not a class, and adapterConfig.init holds the arguments of one; remove them or name a class")
    method = getattr(target, "call", None)
    function: Callable[..., Any] | None = method if callable(method) else target
    if callable(function):
        return function
    raise NotLoaded(f"{name} is {a_type(target)}, which cannot be called; name a function or a class with a method `call`")


def instance_of(name: str, target: type, init: dict[str, Any]) -> Any:
    """The one instance of a class."""
    try:
        return target(**init)
    except BaseException as error:  # noqa: BLE001 - a constructor may raise anything
        show_traceback(error)
        raise NotLoaded(f"making a {name} failed: {described(error)} (its arguments stand in adapterConfig.init)") from None


def signature_of(function: Callable[..., Any]) -> inspect.Signature | None:
    """Its signature; None where it has none, as some written in C, or where its own code fails: an object's `__eq__` is asked."""
    try:
        return inspect.signature(function)
    except Exception:  # noqa: BLE001 - an object's own code may raise anything
        return None


def refuse_other_than_one_argument(name: str, function: Callable[..., Any]) -> None:
    """Refuse a function that cannot be called with the input alone, as far as its signature shows."""
    if (signature := signature_of(function)) is None:
        return
    try:
        signature.bind(None, **conversation_argument(function, None))
    except TypeError:
        remedy = "set adapterConfig.spread to true if the input's keys are its arguments"
        raise NotLoaded(f"{name}{str(signature)[:200]} cannot be called with one argument, the input; {remedy}") from None


def keywords(value: Any) -> dict[str, Any]:
    """The input as keyword arguments."""
    if not isinstance(value, dict):
        raise TypeError(f"the input is {a_type(value)}; adapterConfig.spread needs an object, whose keys are the arguments")
    return value


CONVERSATION = "conversation"
"""The parameter by which a function is told of the conversation that its input is a turn of."""


def takes_conversation(function: Callable[..., Any]) -> bool:
    """Whether a function has the parameter beside the one for its input: a first one takes the input, whatever its name."""
    return _parameter(function) is not None


def conversation_argument(function: Callable[..., Any], conversation: Any) -> dict[str, Any]:
    """The keyword argument that tells a function of a conversation; outside of one, None where it must be given something."""
    parameter = _parameter(function)
    if parameter is None or (conversation is None and parameter.default is not parameter.empty):
        return {}
    return {CONVERSATION: conversation}


def _parameter(function: Callable[..., Any]) -> inspect.Parameter | None:
    signature = signature_of(function)
    parameters = [] if signature is None else list(signature.parameters.values())
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return next((each for each in parameters[1:] if each.name == CONVERSATION and each.kind in kinds), None)
