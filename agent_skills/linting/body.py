"""How much the skill asks an agent to read, and whether its description says when."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import ceil

from eval_skills.agent_skills.linting.finding import Finding
from eval_skills.agent_skills.linting.subject import Subject
from eval_skills.agent_skills.skill_text import Place

MAX_LINES, MAX_TOKENS, MAX_LISTING_TOKENS = 500, 5_000, 100

_WHEN = re.compile(
    r"\b(when|whenever|while|before|after|if|unless|use (it|this|for|to|in|with|on|as)|used (for|to|in|by)|useful|triggers?"
    r"|for (tasks|requests|questions|work|any|all|every|users?)|asks?|mentions?|requests?|needs?|wants?|invoke|activate)\b",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[^\W\d_]")


def estimated_tokens(text: str) -> int:
    """About how many tokens a model reads: one for four ASCII characters, and one for each other character.

    Tokenizers differ by some 20 %; the text of a skill is not sent to any of them.
    """
    ascii_chars = len(text.encode("ascii", "ignore"))
    return ceil(ascii_chars / 4) + len(text) - ascii_chars


def body_findings(subject: Subject) -> Iterator[Finding]:
    """What the body and the description cost, and whether the description says when to use the skill."""
    if not subject.text.is_readable:
        return
    body, first = subject.text.body, Place(subject.text.body_line)
    lines, tokens = len(body.rstrip().split("\n")) if body.strip() else 0, estimated_tokens(body)
    advice = "move details into files below references/, and say when to read each"
    if not lines:
        message = "there is nothing after the frontmatter"
        yield Finding("body-empty", message, "write the instructions that the agent is to follow", subject.file, first)
    if lines > MAX_LINES:
        message = f"the body has {lines:,} lines; at most {MAX_LINES} are advised"
        yield Finding("body-lines", message, advice, subject.file, first)
    if tokens > MAX_TOKENS:
        message = f"the body has about {tokens:,} tokens (estimated); at most {MAX_TOKENS:,} are advised"
        yield Finding("body-tokens", message, advice, subject.file, first)
    yield from _listing(subject)


def _listing(subject: Subject) -> Iterator[Finding]:
    field = subject.field("description")
    if field is None or not subject.description.strip():
        return
    name = subject.field("name")
    tokens = estimated_tokens(f"{(name.text or '') if name else ''} {subject.description}")
    if tokens > MAX_LISTING_TOKENS:
        message = (
            f"name and description have about {tokens:,} tokens (estimated), which every session reads; 50 to 100 are advised"
        )
        yield Finding("listing-tokens", message, "move details into the body", subject.file, field.value.place)
    if _is_english(subject.description) and not _WHEN.search(subject.description):
        message = "the description does not say when to use the skill"
        yield Finding("description-no-when", message, 'add a sentence "Use when …"', subject.file, field.value.place)


def _is_english(text: str) -> bool:
    """Whether it may be: what is written in other letters is not judged by English words."""
    letters = _LETTER.findall(text)
    return bool(letters) and sum(letter.isascii() for letter in letters) > 0.95 * len(letters)
