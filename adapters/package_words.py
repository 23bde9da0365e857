"""What a skill says about itself: its metadata and its description."""

from __future__ import annotations

import re

from eval_skills.adapters.finding import Finding
from eval_skills.core.models import Skill

MIN_WORDS = 5
"""A description of fewer words says too little to choose a skill by."""

_PLACEHOLDER = re.compile(
    r"^\W*(todo|tbd|fixme|xxx)\b|\b(todo|fixme|tbd):|\blorem ipsum\b|\bplaceholder\b|\bchange ?me\b|\bdoes something\b"
    r"|\b(your|a|my|the) description( goes)? here\b|<(your|insert|short|one|description)[^<>]*>",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
_LICENSE = re.compile(r"^[\w.+-]+( (WITH|AND|OR) [\w.+-]+)*$")


def metadata_findings(skill: Skill) -> list[Finding]:
    """Author, licence, homepage, a released version and tags."""
    return [
        Finding("has-author", bool(_text(skill, "author")), "metadata.author is absent or blank; name a person or a team"),
        Finding("has-license", bool(_LICENSE.match(_text(skill, "license"))), "metadata.license is no identifier such as MIT"),
        Finding("has-homepage", _is_url(_text(skill, "homepage")), "metadata.homepage is no http:// or https:// URL"),
        Finding("has-version", skill.version != "0.0.0", "version is 0.0.0; give the release a number"),
        Finding("has-tags", any(tag.strip() for tag in skill.tags), "tags are empty; people search by them"),
    ]


def description_findings(skill: Skill) -> list[Finding]:
    """Whether the description is there, is long enough, is no placeholder, and says more than the name does."""
    description = skill.description.strip()
    words = _words(description)
    fresh = words - _words(skill.name) - _words(skill.id)
    count = len(_WORD.findall(description))
    honest = bool(description) and not _PLACEHOLDER.search(description)
    return [
        Finding("has-description", bool(description), "description is absent or blank"),
        Finding("long-enough", count >= MIN_WORDS, f"description has {count} words; give at least {MIN_WORDS}"),
        Finding("no-placeholder", honest, "description holds placeholder text, or nothing"),
        Finding("more-than-name", len(fresh) >= 3, "description repeats the name; say what goes in and what comes out"),
    ]


def _text(skill: Skill, key: str) -> str:
    value = skill.metadata.get(key)
    return value.strip() if isinstance(value, str) else ""


def _is_url(text: str) -> bool:
    return re.match(r"^https?://[^\s/]+\S*$", text) is not None


def _words(text: str) -> set[str]:
    return {word for part in _WORD.findall(text.casefold()) for word in part.split("_") if word}
