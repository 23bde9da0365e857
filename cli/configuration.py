"""The configuration's model with a group for every command: ``find: {limit: 10}``, ``report: {diff: {failOn: worse}}``."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cache
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

from cyclopts import CycloptsError
from pydantic import AfterValidator, Field, create_model

from eval_skills.cli.configurable import Mark, Option, commands_of, options_of, tokens_of
from eval_skills.core.config import ID_OR_PATH, PATH, Config, WrittenPath
from eval_skills.core.config.keys import is_optional
from eval_skills.core.models import Model
from eval_skills.core.models.base import Text

_ANNOTATED: Any = Annotated
_LIST: Any = list
_PLAIN: dict[Any, Any] = {bool: bool, int: int, float: float, Path: WrittenPath}


@cache
def configuration_model() -> type[Config]:
    """`Config` and the groups of all commands, as their signatures stand."""
    from eval_skills.cli.main import app

    tree: dict[str, Any] = {}
    for command, inner in commands_of(app):
        for option in options_of(command, inner.assemble_argument_collection()):
            level = tree
            for part in option.command:
                level = level.setdefault(part, {})
            level[option.key] = option
    return create_model("Configuration", __base__=Config, **_fields(tree))


def _fields(tree: dict[str, Any]) -> dict[str, Any]:
    return {_field_name(key): _field(key, below) for key, below in tree.items()}


def _field(key: str, below: Option | dict[str, Any]) -> Any:
    if isinstance(below, Option):
        return _type(below), Field(default=None, alias=key, description=below.argument.parameter.help)
    group = create_model(key, __base__=Model, **_fields(below))
    return group, Field(default_factory=group, alias=key)


def _field_name(key: str) -> str:
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key).replace("-", "_")
    return f"{snake}_" if hasattr(Model, snake) else snake


def _type(option: Option) -> Any:
    """The type of the option's key: that of the key at the top level if it is shared, else what the signature says.

    Null says nothing. A value that the command line's own reader would refuse is refused here.
    """
    field = Config.model_fields.get(_field_name(option.key))
    if option.has(Mark.SHARED) and field is not None:
        kind: Any = field.annotation
        if kind is Path or not field.metadata:
            return _PLAIN.get(kind, kind) | None
        return _ANNOTATED[(kind | None, *field.metadata)]
    return _ANNOTATED[_written(_bare(option.argument.hint), option) | None, AfterValidator(_check(option))]


def _bare(hint: Any) -> Any:
    return next(part for part in get_args(hint) if part is not type(None)) if is_optional(hint) else hint


def _written(hint: Any, option: Option) -> Any:
    if get_origin(hint) in (list, tuple):
        return _LIST[_written(get_args(hint)[0], option)]
    if str(get_origin(hint)) == "typing.Literal":
        return hint
    mark = PATH if option.has(Mark.PATH) else ID_OR_PATH if option.has(Mark.ID_OR_PATH) else None
    return _PLAIN.get(hint) or (_ANNOTATED[Text, mark] if mark else Text)


def _check(option: Option) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if value is not None:
            argument = copy(option.argument)
            argument.tokens = tokens_of(value, "")
            try:
                argument.convert_and_validate()
            except CycloptsError as error:
                raise ValueError(error.msg or " ".join(str(error).split())) from None
        return value

    return check
