"""Which tool's arguments are compared how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from inspect import iscoroutinefunction
from typing import Any, cast, get_args

from eval_skills.core.errors import InputError
from eval_skills.core.text import nearest
from eval_skills.scorers.trajectory.arguments import (
    ArgumentsMatcher,
    ArgumentsMode,
    ArgumentsRule,
    ByFunction,
    ByKeyPaths,
    ByMode,
    KeyPath,
)
from eval_skills.scorers.trajectory.calls import Call, Spelling

ARGUMENTS_MODES: tuple[str, ...] = get_args(ArgumentsMode)
Override = ArgumentsMode | list[str] | ArgumentsMatcher
Overrides = Mapping[str, Override]


@dataclass(frozen=True, slots=True)
class ArgumentsRules:
    """The rule of every tool, and the rule of single ones by their names."""

    default: ArgumentsRule
    of_tools: Mapping[str, ArgumentsRule] = field(default_factory=dict)

    def of(self, tool: str) -> ArgumentsRule:
        """The rule of a tool, by the name that is compared."""
        return self.of_tools.get(tool, self.default)

    def holds(self, output: Call, reference: Call) -> bool:
        """Whether two calls of one tool match. Malformed arguments match only where arguments are ignored."""
        rule = self.of_tools.get(output.name, self.default)
        if output.arguments is None or reference.arguments is None:
            return rule == _IGNORE
        return rule.holds(output.arguments, reference.arguments)


def rules_of(mode: Any, overrides: Any = None, *, deep: bool = False, spelling: Spelling | None = None) -> ArgumentsRules:
    """The rules that a caller or a benchmark has written.

    An override is a mode, a list of key paths (an empty one compares nothing) or a function of (output's arguments,
    reference's arguments); it beats the mode for its tool. None is no overrides. `deep` is that of `ByMode`.

    Raises:
        InputError: a mode or an override is none of these; `path` names the tool.
    """
    default = _by_mode(mode, deep, "the arguments mode")
    if overrides is not None and not isinstance(overrides, Mapping):
        raise InputError(f"expected an object of tools' names, got {overrides!r}", path="overrides")
    named: dict[str, ArgumentsRule] = {}
    for tool, override in (overrides or {}).items():
        try:
            named[spelling(str(tool)) if spelling else str(tool)] = _rule_of(str(tool), override, deep)
        except InputError as error:
            raise InputError(error.message, path=f"overrides.{tool}") from error
    return ArgumentsRules(default, named)


_IGNORE = ByMode("ignore")


def _rule_of(tool: str, override: Any, deep: bool) -> ArgumentsRule:
    if isinstance(override, str):
        return _by_mode(override, deep, "the override")
    if isinstance(override, list | tuple):
        return ByKeyPaths(tuple(map(KeyPath.of, override))) if override else _IGNORE
    if callable(override) and not iscoroutinefunction(override):
        return ByFunction(tool, override)
    valid = f"give a mode ({', '.join(ARGUMENTS_MODES)}), a list of key paths or a plain function"
    raise InputError(f"the override is {override!r}; {valid}")


def _by_mode(mode: Any, deep: bool, what: str) -> ByMode:
    if mode == "ignore":
        return _IGNORE
    if not isinstance(mode, str) or mode not in ARGUMENTS_MODES:
        hint = nearest(mode, ARGUMENTS_MODES) if isinstance(mode, str) else ""
        raise InputError(f"{what} is {mode!r}{hint}; valid are {', '.join(ARGUMENTS_MODES)}")
    return ByMode(cast("ArgumentsMode", mode), deep)
