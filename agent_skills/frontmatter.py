"""Reading a ``SKILL.md``: its frontmatter, its body, and what is wrong with both.

The rules are those of the specification on agentskills.io. Everything is read as text: ``version: 1.0`` stays ``1.0``, and
nothing that YAML could make of a value (a date, a number, an object) is ever made.
"""

from __future__ import annotations

import re

from eval_skills.agent_skills.frontmatter_yaml import FENCE, read_fields
from eval_skills.agent_skills.skill_text import Place, Problem, SkillText

_MARKS = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
_LINE_END = re.compile(r"\r\n|\r")
_LIKE_A_FENCE = re.compile(r"^\s*(-{2,}|\.\.\.|[—–]+)\s*$")


def parse_skill_text(data: bytes) -> SkillText:
    """The content of a ``SKILL.md``; it never raises: what is wrong is among the problems, and the rest is read all the same.

    The frontmatter ends at the first line that is exactly ``---`` (blanks may follow); the same signs elsewhere do not end it.
    A byte order mark and blank lines before the first fence are problems, and are passed over. Where the YAML is invalid only
    because of a colon in a value without quotes, the value is read as if it had them.
    """
    text, problems = _decoded(data)
    lines = text.split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), len(lines))
    if first == len(lines) or lines[first].rstrip(" \t") != FENCE:
        problems.append(_missing(lines, first))
        return SkillText(text=text, body=text, problems=tuple(problems), is_readable=False)
    if first:
        message = f"{first} blank line{'s' * (first > 1)} before the frontmatter; its fence has to be the first line"
        problems.append(Problem("blank-first-line", message, "remove what stands before ---"))
    close = next((number for number in range(first + 1, len(lines)) if lines[number].rstrip(" \t") == FENCE), None)
    if close is None:
        problems.append(_unclosed(lines, first))
        return SkillText(text=text, body_line=len(lines), problems=tuple(problems), is_readable=False)
    problems += _after_fence(lines[first], first + 1)
    # Each line keeps its end: that of a last value in a block (| and >) is part of the value.
    fields, found = read_fields("".join(f"{line}\n" for line in lines[first + 1 : close]), first + 1)
    return SkillText(
        text=text,
        fields=fields or {},
        body="\n".join(lines[close + 1 :]),
        body_line=close + 2,
        problems=(*problems, *found),
        is_readable=fields is not None,
    )


def _decoded(data: bytes) -> tuple[str, list[Problem]]:
    for mark, name in _MARKS.items():
        if data.startswith(mark):
            text = data.decode(name, "replace").removeprefix("\ufeff")
            return _LINE_END.sub("\n", text), [Problem("not-utf8", f"the file is {name}", "save it as UTF-8")]
    problems = []
    if data.startswith(b"\xef\xbb\xbf"):
        message = "the file begins with a byte order mark, so its first three characters are not ---"
        problems.append(Problem("byte-order-mark", message, "save it as UTF-8 without a byte order mark"))
        data = data[3:]
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        before = _LINE_END.sub("\n", data[: error.start].decode())
        place = Place(before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)
        message = f"byte {error.start:,} (0x{data[error.start]:02x}) is not UTF-8"
        problems.append(Problem("not-utf8", message, "save the file as UTF-8", place))
        text = data.decode(errors="replace")
    return _LINE_END.sub("\n", text), problems


def _after_fence(line: str, number: int) -> list[Problem]:
    """What stands after the opening fence: YAML refuses a tab there, and some readers want the three signs alone."""
    if line == FENCE:
        return []
    place, fix = Place(number, len(FENCE) + 1), "make that line exactly ---"
    if "\t" in line:
        return [Problem("frontmatter-yaml", "a tab follows the opening ---, which is not valid YAML", fix, place)]
    message = "blanks follow the opening ---, which strict readers of frontmatter refuse"
    return [Problem("frontmatter-not-portable", message, fix, place)]


def _missing(lines: list[str], first: int) -> Problem:
    if first == len(lines):
        return Problem("frontmatter-missing", "the file is empty", "begin it with ---, name: and description:, and ---")
    fix = "begin the file with a line ---, then name: and description:, then a line ---"
    message = "there is no frontmatter: the first line is not ---"
    if lines[first].strip().startswith(FENCE) or _LIKE_A_FENCE.match(lines[first]):
        message = f"there is no frontmatter: line {first + 1} has more than --- in it, or other signs"
        fix = "make that line exactly ---"
    return Problem("frontmatter-missing", message, fix, Place(first + 1))


def _unclosed(lines: list[str], first: int) -> Problem:
    like = next((number for number in range(first + 1, len(lines)) if _LIKE_A_FENCE.match(lines[number])), None)
    hint = f"; line {like + 1} is {lines[like][:20]!r}" if like is not None else ""
    message = f"the frontmatter is not closed: no line after line {first + 1} is exactly ---{hint}"
    fix = f"make line {like + 1} exactly ---" if like is not None else "put a line --- after the last field"
    return Problem("frontmatter-unclosed", message, fix, Place(first + 1 if like is None else like + 1))
