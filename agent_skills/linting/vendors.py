"""What two products demand beside the standard; every finding says whose rule it is."""

from __future__ import annotations

import re
from collections.abc import Iterator

from eval_skills.agent_skills.linting.finding import Finding
from eval_skills.agent_skills.linting.subject import Subject
from eval_skills.agent_skills.skill_text import Scalar
from eval_skills.core.text import excerpt

RESERVED = ("anthropic", "claude")
MAX_ENTRY = 1_536
"""Characters of a description with `when_to_use` that claude-code lists."""

_NAME = re.compile(r"^[a-z0-9-]+$")
_TAG = re.compile(r"</?[A-Za-z!][^<>\n]{0,200}>")
_SWITCHES = ("disable-model-invocation", "user-invocable")


def upload_findings(subject: Subject) -> Iterator[Finding]:
    """The rules for skills that are uploaded to Anthropic's API or apps."""
    name, description = subject.field("name"), subject.field("description")
    for field in filter(None, (name, description, subject.field("compatibility"))):
        if isinstance(field.value, Scalar) and field.value.reads_as != "str":
            message = f"{field.name} is not text but {field.value.reads_as} for the vendor's YAML reader"
            yield Finding("field-not-text", message, "put the value in quotes", subject.file, field.value.place)
    if name and (written := (name.text or "").strip()):
        if word := next((each for each in RESERVED if each in written.lower()), None):
            message = f"the name {excerpt(written, 80)} holds the reserved word {word}"
            yield Finding("reserved-word", message, "choose another name", subject.file, name.value.place)
        if not _NAME.match(written):
            message = f"the name {excerpt(written, 80)} holds something else than a to z, digits and -"
            yield Finding("name-not-a-to-z", message, "write it with these", subject.file, name.value.place)
    if description and (text := subject.description):
        if tag := _TAG.search(text):
            message = f"the description holds the XML tag {excerpt(tag[0], 60)}"
            yield Finding("description-xml", message, "write it without tags", subject.file, description.value.place)
        elif "<" in text or ">" in text:
            message = "the description holds < or >, which the vendor's own checker refuses"
            yield Finding("description-angle", message, "write it in words", subject.file, description.value.place)


def claude_code_findings(subject: Subject) -> Iterator[Finding]:
    """The rules for the fields that Claude Code adds, and for what it lists."""
    if (context := subject.field("context")) and context.text != "fork":
        message = f"context is {excerpt(context.text, 40)}; only fork is valid"
        yield Finding("context-value", message, "write context: fork, or remove it", subject.file, context.value.place)
    for name in _SWITCHES:
        field = subject.field(name)
        if field and (field.text or "").lower() not in {"true", "false"}:
            message = f"{name} is {excerpt(field.text, 40)}; valid are true and false"
            yield Finding("switch-value", message, "write true or false", subject.file, field.value.place)
    off = subject.field("disable-model-invocation")
    if off and (off.text or "").lower() == "true":
        message = "the agent does not see this skill: only a user can call it, and its trigger cannot be tested"
        yield Finding("not-listed", message, "remove the field, if the agent is to find the skill", subject.file, off.place)
    description = subject.field("description")
    if description and (length := listed_chars(subject)) > MAX_ENTRY:
        message = f"description and when_to_use have {length:,} characters; at most {MAX_ENTRY:,} are listed"
        yield Finding("listing-entry", message, "shorten them: what is beyond is cut", subject.file, description.value.place)


def listed_chars(subject: Subject) -> int:
    """Characters of the description and `when_to_use`: what an agent's listing spends on the skill."""
    more = subject.field("when_to_use")
    off = subject.field("disable-model-invocation")
    if off and (off.text or "").lower() == "true":
        return 0
    return len(subject.description) + len((more.text or "") if more else "")
