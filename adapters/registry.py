"""Which adapter calls a skill."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from eval_skills.adapters.base import Adapter
from eval_skills.adapters.config import ProcessConfig, source_of
from eval_skills.adapters.sandbox.limits import Confinement
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.models import Skill
from eval_skills.core.models.task import Subject

UNCONFINED = Confinement()
"""Held to nothing but what a skill says of itself."""

GROUP = "eval_skills.adapters"
"""The entry-point group of adapters that other distributions bring."""

_FOLDER_READERS: dict[Subject, str] = {
    "package": "eval_skills.adapters.package.adapter:PackageAdapter",
    "agent-skill": "eval_skills.adapters.package.agent_skill:AgentSkillAdapter",
}

# Named, not imported: an adapter's libraries are loaded when a skill needs them.
_ADAPTERS: dict[str, str | type[Adapter]] = {
    "agent": "eval_skills.adapters.agent.adapter:AgentAdapter",
    "custom": "eval_skills.adapters.python.adapter:CustomAdapter",
    "http": "eval_skills.adapters.http.adapter:HttpAdapter",
    "mcp": "eval_skills.adapters.mcp.adapter:McpAdapter",
    "function": "eval_skills.adapters.python.in_process:FunctionAdapter",
    "runnable": "eval_skills.adapters.python.in_process:RunnableAdapter",
    "langchain": "eval_skills.adapters.python.langchain:LangchainAdapter",
    "subprocess": "eval_skills.adapters.process.adapter:SubprocessAdapter",
}


def register_adapter(adapter_type: str, adapter: type[Adapter]) -> None:
    """Make `adapter` the one that calls skills of `adapter_type`, in this process.

    Raises:
        UsageError: the type has an adapter already.
    """
    if adapter_type in _ADAPTERS:
        raise UsageError(f"adapter type {adapter_type!r} is registered already, by {_name(_ADAPTERS[adapter_type])}")
    _ADAPTERS[adapter_type] = adapter


def adapter_types() -> tuple[str, ...]:
    """The types that can be called here, plug-ins included, sorted."""
    return tuple(sorted({*_ADAPTERS, *_plugins()}))


def open_adapter(skill: Skill, subject: Subject = "call", confinement: Confinement = UNCONFINED) -> Adapter:
    """The adapter of `skill`, to be entered with ``async with``; for the other subjects the one that reads its folder.
    What it starts is held to `confinement`.

    Raises:
        UsageError: no adapter of the skill's type is available.
        InputError: the skill's `adapterConfig` or entrypoint is wrong.
    """
    return _adapter_class(skill, subject)(_confined(skill, subject, confinement))


def check_skill(skill: Skill, subject: Subject = "call", confinement: Confinement = UNCONFINED) -> None:
    """Find out before a run what would make every call of `skill` fail: its adapter, configuration, folder and secret.

    Raises:
        UsageError: no adapter of the skill's type is available; the message names those that are.
        InputError: something in the skill, its folder or the environment has to be fixed.
    """
    _adapter_class(skill, subject).check(_confined(skill, subject, confinement))


def _confined(skill: Skill, subject: Subject, confinement: Confinement) -> Skill:
    if subject in _FOLDER_READERS:  # its files are read, and nothing is started
        return skill
    if confinement.sandbox != "none" and not issubclass(_adapter_class(skill, subject).config_model, ProcessConfig):
        message = f"adapter type {skill.adapter_type!r} runs inside this process, where no sandbox holds it"
        raise InputError(message, source=source_of(skill), path="adapterType")
    return confinement.of(skill)


def asks_services(skill: Skill, subject: Subject = "call") -> bool:
    """Whether calls of `skill` may go to a service that can ask for fewer of them."""
    return _adapter_class(skill, subject).asks_services


def warnings_for(skill: Skill, subject: Subject = "call") -> list[str]:
    """What a person should know of a skill that `check_skill` let through, before it is called; each as one line."""
    return _adapter_class(skill, subject).warnings(skill)


def _adapter_class(skill: Skill, subject: Subject) -> type[Adapter]:
    reader = _FOLDER_READERS.get(subject)
    adapter = reader or _ADAPTERS.get(skill.adapter_type) or _plugins().get(skill.adapter_type)
    if adapter is None:
        known = ", ".join(adapter_types())
        raise UsageError(f"{source_of(skill)}: adapter type {skill.adapter_type!r} is not available; available are {known}")
    if isinstance(adapter, EntryPoint):
        return _load_plugin(adapter)
    return _import(adapter) if isinstance(adapter, str) else adapter


def _import(address: str) -> type[Adapter]:
    module, _, name = address.partition(":")
    adapter: type[Adapter] = getattr(import_module(module), name)
    return adapter


@cache
def _plugins() -> dict[str, EntryPoint]:
    found: dict[str, EntryPoint] = {}
    for point in entry_points(group=GROUP):
        if point.name in _ADAPTERS or (point.name in found and found[point.name].value != point.value):
            other = _ADAPTERS.get(point.name) or found[point.name].value
            raise UsageError(f"adapter type {point.name!r} is brought by {point.value} and by {_name(other)}; uninstall one")
        found[point.name] = point
    return found


def _load_plugin(point: EntryPoint) -> type[Adapter]:
    plugin = f"adapter plug-in {point.name} = {point.value}"
    try:
        adapter = point.load()
    except Exception as error:  # a plug-in may break in any way; the skill's owner needs its name
        raise InputError(f"{plugin} does not load: {type(error).__name__}: {error}") from error
    if not (isinstance(adapter, type) and issubclass(adapter, Adapter)):
        raise InputError(f"{plugin} is not a subclass of {Adapter.__module__}.{Adapter.__qualname__}")
    return adapter


def _name(adapter: str | type[Adapter]) -> str:
    return adapter if isinstance(adapter, str) else f"{adapter.__module__}:{adapter.__qualname__}"
