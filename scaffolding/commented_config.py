"""A configuration file that explains every key there is, from the model that reads it: it cannot be out of date."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from eval_skills.core.config import Config
from eval_skills.core.config.keys import is_mapping, is_model
from eval_skills.core.documents.yaml_documents import yaml_of
from eval_skills.core.models.base import fields_by_key

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo


WIDTH = 115
HEAD = """\
# What `eval-skills` does in this folder. Options and EVAL_SKILLS_* variables override this file, which overrides
# ~/.eval-skills/config.yaml. Paths are relative to this file. `eval-skills config list --show-origin` shows the result.
"""
REST = "# Everything else, with its default: remove the # before a key to change it.\n"
TAIL = """\
# Settings of one command go in a group of its name; their keys are the options' names in camelCase.
#run:
  #tag: [text]
"""
_LIMITS = {"ge": "from", "gt": "above", "le": "to"}


def commented_config(own: Mapping[str, Any]) -> str:
    """YAML that sets the keys of `own` (by their camelCase names) and shows every other key, commented out, with its default.

    A key without a default shows an example. A group of keys is open, with its keys commented out: it says nothing so far.
    """
    fields, defaults = fields_by_key(Config), Config().to_json()
    set_here = [_entry(name, fields[name], own[name]) for name in own]
    rest = [_entry(name, field, defaults[name], off="#") for name, field in fields.items() if name not in own]
    return "\n".join([HEAD, *set_here, REST, *rest, TAIL])


def _entry(name: str, field: FieldInfo, value: Any, *, off: str = "") -> str:
    if is_model(field.annotation):
        inside = [_entry(key, below, value[key], off="#") for key, below in fields_by_key(field.annotation).items()]
        return _comment(field, "") + f"{name}:\n" + textwrap.indent("".join(inside), "  ")
    is_shown = value not in (None, [], {})
    shown = value if is_shown else (field.examples or [value])[0]
    comment = _comment(field, "" if is_shown else " Not set; for example:")
    if is_mapping(field.annotation) and off:
        return comment + f"{name}:\n" + textwrap.indent(_yaml(shown), "  #")
    return comment + textwrap.indent(_yaml({name: shown}), off)


def _comment(field: FieldInfo, more: str) -> str:
    rules = ", ".join(_rules(field))
    text = f"{field.description or ''}{f' ({rules})' if rules else ''}.{more}"
    return "".join(f"# {line}\n" for line in textwrap.wrap(text, WIDTH))


def _rules(field: FieldInfo) -> Iterator[str]:
    limits = {name: getattr(rule, name) for rule in field.metadata for name in _LIMITS if hasattr(rule, name)}
    if limits:
        yield " ".join(f"{word} {limits[name]:,}" for name, word in _LIMITS.items() if name in limits)
    if get_origin(field.annotation) is Literal:
        yield " or ".join(map(str, get_args(field.annotation)))


def _yaml(value: Mapping[str, Any]) -> str:
    text = yaml_of(dict(value), width=10_000)
    # PyYAML writes a mapping without nested values in one line, in braces.
    return text if not text.startswith("{") else yaml_of(dict(value), flow=False, width=10_000)
