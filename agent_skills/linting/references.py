"""Whether what ``SKILL.md`` refers to is there, and near; and whether what is there is referred to."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from eval_skills.agent_skills.linting.finding import Finding
from eval_skills.agent_skills.linting.package import lines_of
from eval_skills.agent_skills.linting.subject import Subject
from eval_skills.agent_skills.skill_text import Place
from eval_skills.core.text import excerpt, nearest

MAX_LINKS = 2_000
"""So many references of one file are looked at, and of all files of a skill `MAX_ALL_LINKS`."""

MAX_ALL_LINKS = 5_000
MAX_GUESSED = 100
"""Of so many files, one is guessed for a path that is not there."""

_LINK = re.compile(r"\]\(\s{0,9}<?([^)\s<>]{1,500})")
_DEFINITION = re.compile(r"^ {0,3}\[[^\]\n]{1,200}\]:[ \t]{0,9}<?([^\s<>]{1,500})")
_MENTION = re.compile(r"(?<![\w./:~$}>)\\-])((?:\./)?(?:scripts|references|assets)/[\w./-]{0,200})([<{*$\[]?)")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]+:|^//")
_DRIVE = re.compile(r"^[A-Za-z]:[\\/]")
_PLACEHOLDER = re.compile(r"[<>{}*$\[\]]|\.\.\.|…")
_CODE_SPAN = re.compile(r"`[^`\n]{1,500}`")
_MARKDOWN = (".md", ".markdown")
_INSTRUCTIONS = "references/"
_WORD_CHARS = 4
_NAME = re.compile(r"[\w.-]+")


@dataclass(frozen=True, slots=True)
class Reference:
    """What a text refers to: `target` as it was written, without fragment; `is_link` where it is a Markdown link."""

    target: str
    place: Place
    is_link: bool


def references_in(text: str, first_line: int = 1) -> list[Reference]:
    """The files that a Markdown text refers to, in order: its links outside of code, and paths below ``scripts/``,
    ``references/`` and ``assets/`` anywhere. Web addresses, anchors and patterns (``references/<name>.md``) are none.
    """
    found: list[Reference] = []
    fence = ""
    for number, line in lines_of(text):
        mark = _FENCE.match(line)
        if mark and (not fence or (mark[1].startswith(fence) and not line.strip(" `~"))):
            fence = "" if fence else mark[1]
            continue
        found += _in_line(line, first_line + number - 1, is_code=bool(fence))
        if len(found) >= MAX_LINKS:
            break
    return found[:MAX_LINKS]


def _in_line(line: str, number: int, *, is_code: bool) -> Iterator[Reference]:
    links = "" if is_code else _CODE_SPAN.sub(lambda span: " " * len(span[0]), line)
    spans = []
    for pattern in (_LINK, _DEFINITION):
        for each in pattern.finditer(links):
            spans.append(each.span(1))
            if target := _local(each[1]):
                yield Reference(target, Place(number, each.start(1) + 1), True)
    for each in _MENTION.finditer(line):
        target = each[1].rstrip(".,")
        if not each[2] and not _PLACEHOLDER.search(target) and not any(start <= each.start() < end for start, end in spans):
            yield Reference(target, Place(number, each.start() + 1), False)


def _local(target: str) -> str:
    """The target of a link as a path; empty for an address, an anchor or a pattern."""
    if not _DRIVE.match(target) and _SCHEME.match(target):
        return ""
    path = unquote(target.partition("#")[0].partition("?")[0])
    return "" if _PLACEHOLDER.search(path) else path


def reference_findings(subject: Subject) -> Iterator[Finding]:
    """Dead, deep, absolute and unmentioned references of ``SKILL.md``, and dead ones of the Markdown files beside it."""
    direct = references_in(subject.text.body, subject.text.body_line)
    for each in direct:
        yield from _about(subject, subject.file, each)
    mentioned = {_within(subject.file, each.target) for each in direct}
    left = MAX_ALL_LINKS
    for path, text in subject.package.texts.items():
        if left and path.endswith(_MARKDOWN) and path != subject.file and not path.startswith("evals/"):
            references = references_in(text)[:left]
            left -= len(references)
            yield from (finding for each in references if each.is_link for finding in _about(subject, path, each))
            if path in mentioned:
                yield from _chained(subject, path, references, mentioned)
    yield from _unmentioned(subject, mentioned)


def _about(subject: Subject, file: str, each: Reference) -> Iterator[Finding]:
    target = each.target
    shown = excerpt(target, 120)
    if _DRIVE.match(target) or target.startswith(("/", "\\")):
        message = f"{shown} is an absolute path, which is elsewhere on another machine"
        yield Finding("reference-absolute", message, "write a path relative to the skill's folder", file, each.place)
    elif target.startswith("~"):
        message = f"{shown} begins at a home folder"
        yield Finding("reference-home", message, "write a path relative to the skill's folder", file, each.place)
    elif (path := _within(file, target)).startswith("../") or path == "..":
        if not _exists(subject, posixpath.normpath(target)):
            message = f"{shown} leaves the skill's folder, so it is not there where the skill is installed"
            yield Finding("reference-outside", message, "put the file into the folder", file, each.place)
    elif not _exists(subject, path) and not (file != subject.file and _exists(subject, posixpath.normpath(target))):
        if subject.package.is_complete and not subject.package.closed:
            message = f"{shown} is not there{_hint(path, subject)}"
            yield Finding("reference-dead", message, "correct the path, or add the file", file, each.place)
    elif path.count("/") > 1 and file == subject.file:
        message = f"{shown} lies deeper than one level"
        yield Finding("reference-deep", message, "move it up, to folder/file", file, each.place)


def _chained(subject: Subject, path: str, references: list[Reference], mentioned: set[str]) -> Iterator[Finding]:
    """Instructions that only other instructions lead to: agents tend to read those in part, or not at all."""
    for each in references:
        target = _within(path, each.target)
        if each.is_link and target not in mentioned and target in subject.package.texts and target.endswith(_MARKDOWN):
            message = f"{excerpt(each.target, 120)} is two steps away: {subject.file} does not mention it"
            yield Finding("reference-deep", message, f"refer to it in {subject.file}", path, each.place)


def _unmentioned(subject: Subject, mentioned: set[str]) -> Iterator[Finding]:
    texts = [text for path, text in subject.package.texts.items() if path.endswith(_MARKDOWN) and path != subject.file]
    words = {word.strip(".-") for text in [subject.text.text, *texts] for word in _NAME.findall(text)}
    for path in subject.package.files:
        if not path.startswith(_INSTRUCTIONS) or path not in subject.package.texts:
            continue
        folders = {path[:end] for end in range(len(path)) if path[end] == "/"}
        if path not in mentioned and not folders & mentioned and not _is_named(words, path.rpartition("/")[2]):
            message = f"nothing mentions {excerpt(path, 120)}, so no agent will read it"
            yield Finding("reference-unmentioned", message, f"say in {subject.file} when to read it, or remove it", path)


def _is_named(words: set[str], name: str) -> bool:
    """Whether these words name a file, with its ending or, if that is a word of its own, without."""
    stem = name.rpartition(".")[0]
    return all(word.strip(".-") in words for word in _NAME.findall(name)) or (len(stem) >= _WORD_CHARS and stem in words)


def _hint(path: str, subject: Subject) -> str:
    """The file that was probably meant; of many files none is guessed."""
    return nearest(path[:200], subject.package.files) if len(subject.package.files) <= MAX_GUESSED else ""


def _within(file: str, target: str) -> str:
    """The path of a target relative to the skill's folder."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(file), target.replace("\\", "/")))


def _exists(subject: Subject, path: str) -> bool:
    package = subject.package
    return path == "." or path in package.files or path in package.folders or path in package.links or path in package.special
