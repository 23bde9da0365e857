"""The YAML of a frontmatter, read within bounds, with the place of every value; one that cannot be read is a problem."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from eval_skills.agent_skills.skill_text import TEXT, Field, Fields, Items, Place, Problem, Scalar, Value

if TYPE_CHECKING:
    import yaml

FENCE = "---"
MAX_FRONTMATTER_CHARS = 65_536
MAX_DEPTH = 16
"""Lists and maps within one another; the standard needs two levels."""

MAX_VALUES = 5_000

_KEY_AND_VALUE = re.compile(r"^([A-Za-z_][\w.-]*):[ \t]+(?![\"'|>\[{&*!%@`#?-])(.*\S)[ \t]*$")
_COLON_INSIDE = re.compile(r":(\s|$)")
_TAG = "tag:yaml.org,2002:"
_KNOWN_TAGS = frozenset(
    {
        "!",
        *(_TAG + name for name in ("bool", "int", "float", "null", "timestamp", "binary", "map", "seq", "set", "omap", "pairs")),
    }
    | {_TAG + TEXT}
)
"""Tags that ordinary readers of YAML know."""

_WITH_TAB = re.compile(r"^ *\t")


def read_fields(text: str, lines_before: int) -> tuple[Mapping[str, Field] | None, list[Problem]]:
    """The fields of a frontmatter, None where they cannot be read, and what is wrong with it.

    `lines_before` are the lines of the file before `text`: places are those in the file.
    """
    if len(text) > MAX_FRONTMATTER_CHARS:
        message = f"the frontmatter has {len(text):,} characters; at most {MAX_FRONTMATTER_CHARS:,} are read"
        return None, [Problem("frontmatter-too-large", message, "move what it says into the body", Place(lines_before + 1))]
    reader = _Reader(text, lines_before)
    try:
        return reader.read(), [*reader.problems, *_cut_by_others(text, lines_before)]
    except _Refused as refused:
        repaired, colons = _with_quotes(text, lines_before)
        if not colons:
            return None, [refused.problem]
    again = _Reader(repaired, lines_before)
    try:
        return again.read(), [*colons, *again.problems]
    except _Refused as refused:
        return None, [*colons, refused.problem]


def _cut_by_others(text: str, lines_before: int) -> list[Problem]:
    """Where a reader that splits the file at the first ``---``, wherever it stands, would end the frontmatter."""
    place = text.find(FENCE)
    if place < 0:
        return []
    before = text[:place]
    where = Place(lines_before + before.count("\n") + 1, place - (before.rfind("\n") + 1) + 1)
    message = "--- inside the frontmatter: readers that split the file at the first --- cut it here"
    return [Problem("frontmatter-dashes", message, "write — or another sign instead", where)]


def _with_quotes(text: str, lines_before: int) -> tuple[str, list[Problem]]:
    """The YAML with quotes around values that hold a colon and have none; the other lines of such a value become blank."""
    lines, problems = text.split("\n"), []
    for number, line in enumerate(lines):
        found = _KEY_AND_VALUE.match(line)
        if not found or not _COLON_INSIDE.search(found[2]):
            continue
        end = number + 1
        while end < len(lines) and lines[end].startswith((" ", "\t")) and lines[end].strip():
            end += 1
        value = " ".join([found[2], *(part.strip() for part in lines[number + 1 : end])])
        lines[number] = f"{line[: found.start(2)]}{json.dumps(value, ensure_ascii=False)}"
        lines[number + 1 : end] = [""] * (end - number - 1)
        colon = Place(lines_before + number + 1, found.start(2) + (_COLON_INSIDE.search(found[2]) or found).start() + 1)
        message = f"the value of {found[1]} holds a colon and has no quotes, which is not valid YAML"
        problems.append(Problem("frontmatter-unquoted-colon", message, f"put the value of {found[1]} in quotes", colon))
    return "\n".join(lines), problems


class _Refused(Exception):
    """The YAML cannot be read; why, as a problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class _Reader:
    """Makes values of YAML's events, within bounds; no value is ever constructed as an object."""

    def __init__(self, text: str, lines_before: int) -> None:
        import yaml

        self._text, self._lines_before = text, lines_before
        self._resolver = yaml.resolver.Resolver()
        self._starts = list(accumulate((len(line) + 1 for line in text.split("\n")), initial=0))
        self._anchors: dict[str, Value] = {}
        self._values = 0
        self.problems: list[Problem] = []

    def read(self) -> Mapping[str, Field]:
        """The fields of the document, empty where it is.

        Raises:
            _Refused: it is not valid YAML, not a map, or beyond the bounds.
        """
        import yaml

        if refused := yaml.reader.Reader.NON_PRINTABLE.search(self._text):
            message = f"the frontmatter holds a character that YAML refuses: U+{ord(refused[0]):04X}"
            raise _Refused(Problem("frontmatter-yaml", message, "remove the character", self._at(refused.start())))
        try:
            # libyaml takes a tab for a blank where YAML's other readers, those of both validators among them, refuse it.
            fast = yaml.SafeLoader if "\t" in self._text else getattr(yaml, "CSafeLoader", yaml.SafeLoader)
            return self._document(yaml.parse(self._text, fast))
        except yaml.MarkedYAMLError as error:
            raise _Refused(self._invalid(error)) from None
        except (yaml.YAMLError, ValueError) as error:
            message = f"the frontmatter is not valid YAML: {' '.join(str(error).split())[:200]}"
            raise _Refused(Problem("frontmatter-yaml", message, "write key: value, one a line", self._at(0))) from None

    def _document(self, events: Iterator[yaml.Event]) -> Mapping[str, Field]:
        import yaml

        root: Value | None = None
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent) and root is not None:
                message = "the frontmatter holds a second YAML document"
                raise _Refused(Problem("frontmatter-yaml", message, "keep one", self._place(event)))
            if isinstance(event, yaml.NodeEvent):
                root = self._value(event, events, 0)
        if root is None or (isinstance(root, Scalar) and not root.text):
            return {}
        if not isinstance(root, Fields):
            what = "a list" if isinstance(root, Items) else "text"
            message = f"the frontmatter is {what}, not keys with values"
            raise _Refused(Problem("frontmatter-not-a-map", message, "write name: … and description: …", root.place))
        return root.fields

    def _value(self, event: yaml.NodeEvent, events: Iterator[yaml.Event], depth: int) -> Value:
        import yaml

        place = self._place(event)
        self._values += 1
        if depth > MAX_DEPTH or self._values > MAX_VALUES:
            bound = f"{MAX_DEPTH} levels" if depth > MAX_DEPTH else f"{MAX_VALUES:,} values"
            message = f"the frontmatter has more than {bound}"
            raise _Refused(Problem("frontmatter-too-large", message, "move what it says into the body", place))
        self._note_unusual(event, place)
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event, place)
        value: Value
        if isinstance(event, yaml.ScalarEvent):
            is_quoted = (event.style is not None and event.style != "") or event.tag in {"!", _TAG + TEXT}
            value = Scalar(event.value, place, is_quoted, self._type_of(event))
        elif isinstance(event, yaml.SequenceStartEvent):
            value = Items(tuple(self._value(each, events, depth + 1) for each in _until(yaml.SequenceEndEvent, events)), place)
        else:
            value = self._fields(events, place, depth)
        if event.anchor:
            self._anchors[event.anchor] = value
        return value

    def _type_of(self, event: yaml.ScalarEvent) -> str:
        import yaml

        tag = event.tag if event.tag in _KNOWN_TAGS else None
        if tag is None or tag == "!":
            is_plain = event.implicit if event.tag is None else (False, True)
            tag = self._resolver.resolve(yaml.ScalarNode, event.value, is_plain)  # type: ignore[no-untyped-call]
        return str(tag).removeprefix(_TAG)

    def _fields(self, events: Iterator[yaml.Event], place: Place, depth: int) -> Fields:
        import yaml

        fields: dict[str, Field] = {}
        for event in _until(yaml.MappingEndEvent, events):
            key = self._value(event, events, depth + 1)
            value = self._value(next(events), events, depth + 1)  # type: ignore[arg-type]
            if not isinstance(key, Scalar):
                message = "a key of the frontmatter is a list or a map"
                raise _Refused(Problem("frontmatter-yaml", message, "make the key a word", key.place))
            if (
                depth == 0
                and key.text == "description"
                and key.text not in fields
                and isinstance(value, Scalar)
                and not value.is_quoted
            ):
                self._note_comment(value)
            if key.text in fields:
                first = fields[key.text].place.line
                message = f"key {key.text[:60]!r} is given twice; line {first} gives it first"
                self.problems.append(Problem("frontmatter-duplicate-key", message, "keep one of the two lines", key.place))
            else:
                fields[key.text] = Field(key.text, value, key.place)
        return Fields(fields, place)

    def _note_comment(self, value: Scalar) -> None:
        """A description that ends at a sign for comments, which its author may not have meant as one."""
        lines = self._text.split("\n")
        last = next((line for line in lines[value.place.line - self._lines_before - 1 :] if "#" in line), "")
        end = value.text.rsplit("\n", 1)[-1].split(" ")[-1]
        if end and re.search(rf"{re.escape(end)}[ \t]+#", last):
            message = "the description ends where ' #' begins a comment"
            fix = "put the description in quotes, or move the comment to a line of its own"
            self.problems.append(Problem("frontmatter-comment", message, fix, value.place))

    def _alias(self, event: yaml.AliasEvent, place: Place) -> Value:
        found = self._anchors.get(event.anchor or "")
        if not isinstance(found, Scalar):
            message = f"*{event.anchor} stands for {'a list or a map' if found else 'nothing'}, which is not read here"
            self.problems.append(Problem("frontmatter-alias", message, "write the value out", place))
            return Items((), place)
        return replace(found, place=place)

    def _note_unusual(self, event: yaml.NodeEvent, place: Place) -> None:
        """YAML that strict readers of frontmatter refuse."""
        what, tag = "", getattr(event, "tag", None)
        if tag and tag not in _KNOWN_TAGS:
            message = f"ordinary YAML readers refuse the tag {tag[:60]!r}; it was not obeyed"
            fix = "remove the tag, or put the value in quotes if it begins with !"
            self.problems.append(Problem("frontmatter-yaml", message, fix, place))
            return
        if event.anchor:
            what = "an anchor or alias (& and *)"
        elif tag:
            what = "a tag (!)"
        elif getattr(event, "flow_style", False):
            what = "a list or map in brackets"
        if what and all(problem.code != "frontmatter-not-portable" for problem in self.problems):
            message = f"{what} is YAML that strict readers of frontmatter refuse, the reference validator among them"
            fix = "write the value out, lists and maps one entry a line"
            self.problems.append(Problem("frontmatter-not-portable", message, fix, place))

    def _invalid(self, error: yaml.MarkedYAMLError) -> Problem:
        mark = error.problem_mark or error.context_mark
        place = self._at(min(getattr(mark, "index", 0), len(self._text.rstrip("\n"))))
        line = self._text.split("\n")[min(place.line - self._lines_before, len(self._starts) - 1) - 1]
        message = f"the frontmatter is not valid YAML: {error.problem or error.context}"
        fix = "indent with blanks, not with tabs" if _WITH_TAB.match(line) else "put the value in quotes, or correct the line"
        return Problem("frontmatter-yaml", message, fix, place)

    def _place(self, event: yaml.Event) -> Place:
        return self._at(getattr(event.start_mark, "index", 0))

    def _at(self, index: int) -> Place:
        row = min(bisect_right(self._starts, index), len(self._starts) - 1)
        return Place(self._lines_before + row, index - self._starts[row - 1] + 1)


def _until(end: type[Any], events: Iterator[yaml.Event]) -> Iterator[Any]:
    """The events before the one of this type, which closes what is being read."""
    for event in events:
        if isinstance(event, end):
            return
        yield event
