"""Inputs at the edges of a JSON schema: boundaries, choices, parts left out, strange texts, and values that it forbids.

Each is made by changing one place of a valid input; which side of the edge it lies on, the schema itself then says. Why not a
library: hypothesis-jsonschema (0.23.1, of February 2024) is not maintained and draws at random, which meets few boundaries;
polyfactory makes values of Python types, not of schemas; jsf draws at random, and knows no invalid values.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from eval_skills.core.documents.json_schema import BoundedSchema
from eval_skills.core.errors import InputError
from eval_skills.engine.task_linting.similarity import same
from eval_skills.scaffolding.openapi.document import Document, mapping, sequence
from eval_skills.scaffolding.openapi.example import another, sample

SCHEMA = "inputSchema"
MAX_DEPTH = 3
"""Objects that lie deeper are filled in, and not varied."""

LONG_CHARS, MAX_ITEMS = 5_000, 100
_CHECK_S = 2.0

MAX_CHOICES = 200
"""Of a longer enum so many choices, evenly spread, are inputs."""

MAX_CHANGES, _SPENT_CHARS = 5_000, 2_000_000
"""So many changes of the fullest input are tried, and so many characters of inputs are made for it, but at least `_MIN_CHANGES`:
which ones of more, the seed decides. A schema of thousands of properties would else take minutes."""

_MIN_CHANGES = 200

INVALID_SHARE = 1 / 3
"""At most so many of the inputs are ones that the schema forbids."""

_TEXTS = (
    ("empty", ""),
    ("empty", "   "),
    ("unicode", "Zażółć gęślą jaźń – 日本語 – שלום – 🙂"),
    ("unicode", "e\u0301 is not é, and \u200b is not seen"),
    ("unicode", "\"quoted\", 'quoted', \\back\\slashed,\na second line\tand a tab"),
    ("long", ("long " * LONG_CHARS)[:LONG_CHARS]),
)
_NUMBERS = (0, 1, -1, 2**53 + 1, 0.5)
_OF_ANOTHER_TYPE: tuple[Any, ...] = ("text", 7, True, None, [], {})


@dataclass(frozen=True, slots=True)
class Variant:
    """An input: its sort (``boundary``, ``choice``, ``optional`` …), what is special about it, and what the schema objects to;
    None where it is valid."""

    sort: str
    what: str
    value: Any
    objection: str | None = None

    @property
    def is_valid(self) -> bool:
        """Whether the schema allows it."""
        return self.objection is None


class InputSchema:
    """The schema of a skill's input, with a valid input in its smallest and its fullest form.

    Raises:
        InputError: it is not a valid schema, or no valid input can be made from it; the message says what would help.
    """

    def __init__(self, schema: dict[str, Any], source: Path) -> None:
        self.schema, self.source = schema, source
        self._document = Document(source, {**schema, "openapi": "3.1.0"})
        try:
            self._checked = BoundedSchema(schema)
        except InputError as error:
            raise InputError(error.message, source=source, path=SCHEMA) from None
        self.smallest = sample(self._document, schema, SCHEMA).value
        if (objection := self.objection(self.smallest)) is not None:
            message = f"no valid input can be made from it ({objection}); give it examples, or a default"
            raise InputError(message, source=source, path=SCHEMA)
        self.fullest = self._filled(self.smallest)

    def objection(self, value: Any) -> str | None:
        """Why the value is not valid; None where it is."""
        try:
            reason = self._checked.reason(value, _CHECK_S)
        except TimeoutError:
            return "it takes too long to check"
        return None if reason is None else reason.message

    def node(self, schema: Any) -> dict[str, Any]:
        """The schema behind a reference; empty for ``true`` and ``false``."""
        return self._document.object_at(schema, SCHEMA) if isinstance(schema, dict) else {}

    def sample(self, schema: Any) -> Any:
        """A value for a part of the schema."""
        return sample(self._document, schema, SCHEMA).value if isinstance(schema, dict) else "text"

    def _filled(self, smallest: Any) -> Any:
        """The smallest input with every optional property that can be added to it."""
        full = deepcopy(smallest)
        if not isinstance(full, dict):
            return full
        known = mapping(self.node(self.schema).get("properties"))
        every = full | {name: self.sample(part) for name, part in known.items() if name not in full}
        if self.objection(every) is None:
            return every
        for name, value in islice(every.items(), _MIN_CHANGES):
            more = full | {name: value}
            full = more if self.objection(more) is None else full
        return full


def inputs_of(schema: InputSchema, count: int, seed: int) -> list[Variant]:
    """At most `count` different inputs, the same for the same seed: first the smallest and the fullest one, then of every sort in
    turn. At most a third are invalid. Where the edges are used up, they are combined at random.
    """
    draw = random.Random(seed)  # noqa: S311 - of examples, not of secrets
    edges = list(_distinct(schema, _edges(schema, draw)))
    plain = [each for each in edges if each.sort == "plain"]
    others = [each for each in edges if each.sort != "plain"]
    draw.shuffle(others)
    invalid = _in_turn([each for each in others if not each.is_valid])[: int(count * INVALID_SHARE)]
    valid = [*plain, *_in_turn([each for each in others if each.is_valid])][: count - len(invalid)]
    missing = count - len(valid) - len(invalid)
    return [*valid, *_combined(schema, [each for each in edges if each.is_valid], missing, draw), *invalid]


def _distinct(schema: InputSchema, variants: Iterator[Variant]) -> Iterator[Variant]:
    """Each input once, with what the schema says of it."""
    seen: set[str] = set()
    for each in variants:
        if (key := same(each.value)) not in seen:
            seen.add(key)
            objection = schema.objection(each.value)
            sort = each.sort if objection is None else "invalid"
            yield Variant(sort, each.what, each.value, objection)


def _in_turn(variants: Sequence[Variant]) -> list[Variant]:
    """The variants of every sort (of the invalid ones: of every what) in turn."""
    by_sort: dict[str, list[Variant]] = defaultdict(list)
    for each in variants:
        by_sort[each.sort if each.is_valid else each.what.partition(" ")[0]].append(each)
    rounds = max(map(len, by_sort.values()), default=0)
    return [group[turn] for turn in range(rounds) for _, group in sorted(by_sort.items()) if turn < len(group)]


def _edges(schema: InputSchema, draw: random.Random) -> Iterator[Variant]:
    yield Variant("plain", "only what is required", schema.smallest)
    yield Variant("plain", "everything that is known", schema.fullest)
    changes = list(_changes(schema, schema.schema, schema.fullest, (), 0))
    chars = len(json.dumps(schema.fullest, default=str))
    most = min(MAX_CHANGES, max(_MIN_CHANGES, _SPENT_CHARS // chars))
    if len(changes) > most:
        changes = [changes[at] for at in sorted(draw.sample(range(len(changes)), most))]
    for sort, what, path, value in changes:
        yield Variant(sort, what, _with(schema.fullest, path, value))


_ABSENT = object()
Path_ = tuple[str | int, ...]


def _changes(schema: InputSchema, part: Any, value: Any, path: Path_, depth: int) -> Iterator[tuple[str, str, Path_, Any]]:
    """Other values at `path` and below, where `value` stands now and `part` is the schema: the sort, the words for it, where it
    is, and the value; `_ABSENT` for none."""
    node, where = schema.node(part), _named(path)
    for sort, what, other in _values(schema, node):
        yield sort, f"{where} {what}", path, other
    if not isinstance(value, dict) or depth >= MAX_DEPTH:
        return
    for name in value:
        if name != "unknownKey":
            yield "optional", f"{_named((*path, name))} left out", (*path, name), _ABSENT
    yield "unknown", f"{where} with an unknown key", (*path, "unknownKey"), "text"
    for name, inner in mapping(node.get("properties")).items():
        if name in value:
            yield from _changes(schema, inner, value[name], (*path, name), depth + 1)


def _named(path: Path_) -> str:
    return ".".join(map(str, path)) or "the input"


def _with(whole: Any, path: Path_, value: Any) -> Any:
    """A copy of `whole` with `value` at `path`; without what is there for `_ABSENT`."""
    if not path:
        return value
    copy: Any = deepcopy(whole)
    at = copy
    for step in path[:-1]:
        at = at[step]
    if value is _ABSENT:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return copy


def _values(schema: InputSchema, node: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Values for one place, on both sides of what its schema allows: the sort, the words for it, the value."""
    for choice in _spread(sequence(node.get("enum")), MAX_CHOICES):
        yield "choice", f"is {choice!r}", choice
    for key in ("oneOf", "anyOf"):
        for number, branch in enumerate(sequence(node.get(key)), 1):
            yield "choice", f"in form {number}", schema.sample(branch)
    kinds = node["type"] if isinstance(node.get("type"), list) else [node.get("type")]
    if "string" in kinds and "enum" not in node:
        yield from _texts(node)
    if {"integer", "number"} & {kind for kind in kinds if isinstance(kind, str)}:
        yield from _numbers(node)
    if "boolean" in kinds:
        yield from (("choice", f"is {str(truth).lower()}", truth) for truth in (True, False))
    if "array" in kinds:
        yield from _arrays(schema, node)
    for other in _OF_ANOTHER_TYPE:
        yield "type", f"is {_kind(other)}", other


def _spread(values: Sequence[Any], most: int) -> Sequence[Any]:
    """At most so many of them, evenly spread, with the first and the last one."""
    if len(values) <= most:
        return values
    return [values[at * (len(values) - 1) // (most - 1)] for at in range(most)]


def _kind(value: Any) -> str:
    names = {str: "a text", int: "a number", bool: "true", list: "an empty list", dict: "an empty object"}
    return names.get(type(value), "null")


def _texts(node: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    for sort, text in _TEXTS:
        words = {"empty": "is blank", "unicode": "with unusual characters", "long": f"of {LONG_CHARS:,} characters"}[sort]
        yield sort, words, text
    for key, off in (("minLength", -1), ("minLength", 0), ("maxLength", 0), ("maxLength", 1)):
        limit = node.get(key)
        if isinstance(limit, int) and 0 <= limit + off <= 20 * LONG_CHARS:
            yield "boundary", f"of {limit + off:,} characters", "x" * (limit + off)


def _numbers(node: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    limits = [node[key] for key in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum") if _is_number(node.get(key))]
    for limit in limits:
        for off in (0, -1, 1):
            yield "boundary", f"is {limit + off}", limit + off
    step: Any = node.get("multipleOf")
    if _is_number(step):
        yield "boundary", f"is {step * 3}", step * 3
    for number in _NUMBERS:
        yield "boundary", f"is {number}", number


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _arrays(schema: InputSchema, node: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    items = node.get("items", {"type": "string"})
    item = schema.sample(items)
    sizes = {0, 1, 2}
    for key, off in (("minItems", -1), ("minItems", 0), ("minItems", 1), ("maxItems", 0), ("maxItems", 1)):
        limit = node.get(key)
        if isinstance(limit, int) and 0 <= limit + off <= MAX_ITEMS:
            sizes.add(limit + off)
    for size in sorted(sizes):
        yield "empty" if size == 0 else "boundary", f"with {size} items", _of_size(node, items, item, size)


def _of_size(node: dict[str, Any], items: Any, item: Any, size: int) -> list[Any]:
    if node.get("uniqueItems") is True and isinstance(items, dict):
        return [another(items, item, number) for number in range(size)]
    return [deepcopy(item) for _ in range(size)]


def _combined(schema: InputSchema, edges: Sequence[Variant], count: int, draw: random.Random) -> list[Variant]:
    """Valid inputs with several properties of other valid inputs; fewer than `count` where no more are found."""
    objects = [each.value for each in edges if isinstance(each.value, dict) and each.value]
    seen, found = {same(each.value) for each in edges}, list[Variant]()
    for _ in range(50 * count if len(objects) > 1 else 0):
        one, other = draw.sample(objects, 2)
        names = [name for name in other if draw.random() < 0.5]
        value = {**deepcopy(one), **{name: deepcopy(other[name]) for name in names}}
        if (key := same(value)) not in seen and schema.objection(value) is None:
            seen.add(key)
            found.append(Variant("combined", "several at once", value))
        if len(found) == count:
            break
    return found
