"""The rules of the standard for the frontmatter; source: agentskills.io, specification, August 2026."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from eval_skills.agent_skills.folder import SKILL_TEXT
from eval_skills.agent_skills.linting.finding import Finding
from eval_skills.agent_skills.linting.subject import Subject
from eval_skills.agent_skills.skill_text import Field, Fields, Items, Place, Scalar, Value
from eval_skills.core.text import excerpt, first_of, nearest

STANDARD_FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
CLAUDE_CODE_FIELDS = (
    "argument-hint", "disable-model-invocation", "user-invocable", "model", "effort", "context", "agent", "hooks", "when_to_use",
)  # fmt: skip
MAX_NAME, MAX_DESCRIPTION, MAX_COMPATIBILITY = 64, 1024, 500

_A_TO_Z = re.compile(r"^[a-z0-9-]*$")


def standard_findings(subject: Subject) -> Iterator[Finding]:
    """What breaks the standard in the file's name and frontmatter; fields of a file that cannot be read are not missed."""
    yield from _file_name(subject)
    for problem in subject.text.problems:
        yield Finding(problem.code, problem.message, problem.fix, subject.file, problem.place)
    if subject.text.is_readable:
        yield from _name(subject)
        yield from _description(subject)
        yield from _others(subject)
        yield from _unknown_fields(subject)


def _file_name(subject: Subject) -> Iterator[Finding]:
    if subject.file == "skill.md":
        message = "the file is called skill.md, which some clients do not look for"
        yield Finding("skill-file-case", message, f"rename it {SKILL_TEXT}", subject.file)
    elif subject.file != SKILL_TEXT:
        message = f"the file is called {subject.file}, which clients do not look for"
        yield Finding("skill-file-name", message, f"rename it {SKILL_TEXT}", subject.file)


def _name(subject: Subject) -> Iterator[Finding]:
    file, field = subject.file, subject.field("name")
    if field is None or field.text == "":
        where = field.place if field else _fields_begin(subject)
        yield Finding("name-missing", "there is no name", f"add name: {_suggested(_folder_name(subject))}", file, where)
        return
    if not isinstance(field.value, Scalar):
        yield Finding("name-type", f"name is {_kind(field.value)}, not text", "write name: one-word", file, field.place)
        return
    written, place = field.value.text, field.value.place
    name = unicodedata.normalize("NFKC", written.strip())
    if name != written:
        message = f"name {excerpt(written, 80)} is compared as {excerpt(name, 80)}"
        yield Finding("name-not-normal", message, "write it as it is compared", file, place)
    yield from (Finding(code, message, f"write {_suggested(name)}", file, place) for code, message in _about_name(name))
    folder = unicodedata.normalize("NFKC", _folder_name(subject))
    if name != folder:
        message = f"the name is {excerpt(name, 80)} and the folder {excerpt(folder, 80)}"
        yield Finding("name-folder", message, "give both one name", file, place)
    yield from _not_text(subject, field)


def _about_name(name: str) -> Iterator[tuple[str, str]]:
    if not name:
        yield "name-missing", "the name is blank"
        return
    if len(name) > MAX_NAME:
        yield "name-length", f"the name has {len(name)} characters; at most {MAX_NAME} are valid"
    if name != name.lower():
        yield "name-case", f"the name {excerpt(name, 80)} has upper-case letters"
    wrong = sorted({letter for letter in name if not letter.isalnum() and letter != "-"})
    if wrong:
        yield "name-characters", f"the name holds {first_of([repr(each) for each in wrong], 5)}; valid are letters, digits and -"
    if name.startswith("-") or name.endswith("-") or "--" in name:
        what = "holds --" if "--" in name else "begins with -" if name.startswith("-") else "ends with -"
        yield "name-hyphens", f"the name {excerpt(name, 80)} {what}"
    if not wrong and not _A_TO_Z.match(name.lower()):
        other = next(letter for letter in name.lower() if not _A_TO_Z.match(letter))
        yield "name-not-ascii", f"the name holds {other!r}: the standard says a to z, and its validator takes any letter"


def _description(subject: Subject) -> Iterator[Finding]:
    file, field = subject.file, subject.field("description")
    advice = "say what the skill does and when to use it"
    if field is None or (isinstance(field.value, Scalar) and not field.value.text.strip()):
        what = "there is no description" if field is None else "the description is blank"
        yield Finding("description-missing", what, advice, file, field.place if field else _fields_begin(subject))
        return
    if not isinstance(field.value, Scalar):
        message = f"description is {_kind(field.value)}, not text"
        yield Finding("description-type", message, "write it as one text", file, field.place)
        return
    if (length := len(field.value.text)) > MAX_DESCRIPTION:
        message = f"the description has {length:,} characters; at most {MAX_DESCRIPTION:,} are valid"
        yield Finding("description-length", message, "move details into the body", file, field.value.place)
    yield from _not_text(subject, field)


_SHOWN_CHARS = 40
"""How much is shown of a value that is not a text, such as a number of thousands of digits."""


def _others(subject: Subject) -> Iterator[Finding]:
    file = subject.file
    for name in ("license", "compatibility", "allowed-tools"):
        field = subject.field(name)
        if field and not isinstance(field.value, Scalar):
            message = f"{name} is {_kind(field.value)}, not text"
            fix = "write the tools in one line, with blanks between them" if name == "allowed-tools" else "write it as one text"
            yield Finding(f"{name}-type", message, fix, file, field.place)
    if (field := subject.field("compatibility")) and field.text is not None:
        if not 1 <= len(field.text) <= MAX_COMPATIBILITY:
            message = f"compatibility has {len(field.text):,} characters; 1 to {MAX_COMPATIBILITY} are valid"
            yield Finding("compatibility-length", message, "shorten it, or remove the field", file, field.value.place)
        yield from _not_text(subject, field)
    if (field := subject.field("license")) and field.text is not None:
        yield from _not_text(subject, field)
    if (field := subject.field("allowed-tools")) and "," in _outside_parentheses(field.text or ""):
        message = "allowed-tools has commas, which become part of the tools' names"
        yield Finding("allowed-tools-separator", message, "put blanks between the tools", file, field.value.place)
    if field := subject.field("metadata"):
        yield from _metadata(subject, field)


def _metadata(subject: Subject, field: Field) -> Iterator[Finding]:
    if not isinstance(field.value, Fields):
        message = f"metadata is {_kind(field.value)}, not a map"
        yield Finding("metadata-type", message, "write key: value lines below it, indented", subject.file, field.place)
        return
    for each in field.value.fields.values():
        name = excerpt(each.name, 60)
        if not isinstance(each.value, Scalar):
            message = f"{name} in metadata is {_kind(each.value)}, not text"
            yield Finding("metadata-value", message, "write it as one text", subject.file, each.place)
        elif not each.value.is_text:
            message = f"{name} in metadata is not text for ordinary YAML readers: {_shown(each.value.text) or 'nothing'}"
            yield Finding("metadata-not-text", message, _quoted(each.value.text), subject.file, each.value.place)


def _not_text(subject: Subject, field: Field) -> Iterator[Finding]:
    if isinstance(field.value, Scalar) and not field.value.is_text and field.value.text:
        message = f"{field.name} is not text for ordinary YAML readers: {_shown(field.value.text)}"
        yield Finding("value-not-text", message, _quoted(field.value.text), subject.file, field.value.place)


def _quoted(text: str) -> str:
    return f'put it in quotes: "{_shown(text)}"'


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"


def _unknown_fields(subject: Subject) -> Iterator[Finding]:
    """A vendor's field is not a breach where only that vendor was asked about; where the standard was named, it is."""
    for name, field in subject.text.fields.items():
        if name in STANDARD_FIELDS:
            continue
        shown = excerpt(name, 60)
        if name in CLAUDE_CODE_FIELDS and "spec" not in subject.profiles and "claude-code" in subject.profiles:
            message = f"{shown} is not a field of the standard; claude-code reads it"
            yield Finding("vendor-field", message, "other clients ignore it, or refuse the skill", subject.file, field.place)
            continue
        hint = nearest(name, STANDARD_FIELDS) or f"; valid are {', '.join(STANDARD_FIELDS)}"
        fix = "remove it" if name in CLAUDE_CODE_FIELDS else "move it below metadata, or remove it"
        yield Finding("unknown-field", f"{shown} is not a field of the standard{hint}", fix, subject.file, field.place)


def _folder_name(subject: Subject) -> str:
    return Path(subject.folder.absolute()).resolve().name if subject.folder.name in {"", "..", "."} else subject.folder.name


def _fields_begin(subject: Subject) -> Place:
    return next((field.place for field in subject.text.fields.values()), Place(1))


def _suggested(name: str) -> str:
    """A valid name that is like this one."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", plain[: 4 * MAX_NAME]).strip("-")
    return words[:MAX_NAME].strip("-") or "a-name"


def _kind(value: Value) -> str:
    return "a list" if isinstance(value, Items) else "a map" if isinstance(value, Fields) else "text"


def _outside_parentheses(text: str) -> str:
    """The text without what stands in parentheses: ``Bash(a, b) Read`` is two tools."""
    return re.sub(r"\([^()]*\)", "", text)
