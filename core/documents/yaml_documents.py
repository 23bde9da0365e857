"""YAML as version 1.2 reads it: ``no``, ``on`` and ``12:30`` are text, and a value is one of JSON's types.

Source: the core schema, https://yaml.org/spec/1.2.2/#103-core-schema. PyYAML knows version 1.1 alone, in which the first two are
truth values and the last is 750.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from eval_skills.core.documents.aliases import refuse_growth

if TYPE_CHECKING:
    import yaml

TRUTH_WORDS: Final[Mapping[str, bool]] = {"yes": True, "on": True, "no": False, "off": False}
"""What version 1.1 takes for a truth value, in small letters: accepted still where one is asked for."""

_TAG = "tag:yaml.org,2002:"
_SCHEMA: tuple[tuple[str, str, str], ...] = (
    ("null", r"(?:null|Null|NULL|~|)\Z", "~nN"),
    ("bool", r"(?:true|True|TRUE|false|False|FALSE)\Z", "tTfF"),
    ("int", r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)\Z", "-+0123456789"),
    (
        "float",
        r"(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z",
        "-+.0123456789",
    ),
    ("merge", r"<<\Z", "<"),
)
"""A type, which plain scalars are of it, and what these begin with. ``<<`` is not of the schema: many files share parts by it."""


def parse_yaml(text: str) -> Any:
    """The document in a text of YAML.

    Raises:
        ValueError: it is not valid, gives a key twice, holds a number that JSON does not have, or anchors that make too much of
            it.
        RecursionError: it is nested too deeply.
    """
    import yaml

    try:
        document = yaml.load(text, _loader())  # noqa: S506 - a subclass of SafeLoader
        if "&" in text and "*" in text:
            refuse_growth(document)
        return document
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise ValueError(f"not valid YAML{where}: {error.problem}") from None
    except yaml.YAMLError as error:
        raise ValueError(f"not valid YAML: {error}") from None


def yaml_of(value: Any, *, flow: bool | None = None, width: int) -> str:
    """The value as YAML that readers of either version take for it: ``'yes'`` and ``'1e3'`` are in quotes.

    `flow` True: all in one line; False: one value a line; None: in one line what holds no list or object.
    """
    import yaml

    text: str = yaml.dump(value, Dumper=_dumper(), allow_unicode=True, default_flow_style=flow, width=width, sort_keys=False)
    return text


@cache
def _dumper() -> type[yaml.SafeDumper]:
    import yaml

    class Dumper(yaml.SafeDumper):
        """PyYAML's, which knows of the types of version 1.1, with those of 1.2."""

    for name, pattern, first in _SCHEMA:
        Dumper.add_implicit_resolver(_TAG + name, re.compile(pattern), [*first])
    return Dumper


@cache
def _loader() -> type[yaml.SafeLoader]:
    """The reader; made once, and when it is needed: importing PyYAML takes time that most commands save."""
    import yaml

    class Loader(yaml.SafeLoader):
        """The types of JSON only, and no key twice."""

        yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - as in the base class; filled below

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
            seen: set[Hashable] = set()
            for key_node, _ in node.value:
                if key_node.tag == f"{_TAG}merge":  # ``<<``: what it merges gives way to the keys beside it
                    continue
                key = self.construct_object(key_node, deep=True)
                if not isinstance(key, Hashable):
                    raise ValueError(f"a key must be text (line {key_node.start_mark.line + 1})")
                if key in seen:
                    raise ValueError(f"key {key!r} is given twice (line {key_node.start_mark.line + 1})")
                seen.add(key)
            return super().construct_mapping(node, deep=deep)

        def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
            digits = self.construct_scalar(node)
            base = {"0o": 8, "0x": 16}.get(digits[:2], 10)  # leading zeros alone do not make a number octal
            return int(digits[2:] if base != 10 else digits, base)

        def construct_yaml_float(self, node: yaml.ScalarNode) -> float:
            value = super().construct_yaml_float(node)
            if not isfinite(value):
                raise ValueError(f"{node.value} (line {node.start_mark.line + 1}) is not JSON; give a finite number or null")
            return value

    for name, pattern, first in _SCHEMA:
        Loader.add_implicit_resolver(_TAG + name, re.compile(pattern), [*first, *([""] if name == "null" else [])])
    Loader.add_constructor(f"{_TAG}int", Loader.construct_yaml_int)
    Loader.add_constructor(f"{_TAG}float", Loader.construct_yaml_float)
    return Loader
