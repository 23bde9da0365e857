"""What is wrong with skills only together: one name for two, descriptions that compete, a listing that is too small for all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from eval_skills.agent_skills.linting.finding import MAX_NAMED, Finding, SkillLint
from eval_skills.core.text import encodable, first_of, plural

LISTING_BUDGET = 8_000
"""Characters; what Claude Code falls back to where it does not know the context's size. Published numbers: 8,000 to 16,000."""

ALMOST_THE_SAME = 85.0
"""Two descriptions of this likeness (0 to 100) compete: rapidfuzz's token sort ratio, the share of characters that the sorted
words of both have in common, in order."""

MAX_COMPARED = 1_000
MAX_PAIRS = 50
"""So many pairs of skills are listed; the last of them says that there may be more."""

MAX_DESCRIPTION = 1_024
MAX_UPLOADED = 20
_NAMED = 3
_SHORT = 40


def findings_together(skills: Sequence[SkillLint], budget: int, profiles: frozenset[str]) -> list[Finding]:
    """The findings about all of them; none says anything about a single skill."""
    found = [*_collisions(skills), *_overlaps(skills)]
    if (listed := sum(skill.listed for skill in skills)) > budget:
        largest = sorted(skills, key=lambda skill: -skill.listed)[:_NAMED]
        most = ", ".join(f"{encodable(skill.name[:60])} ({skill.listed:,})" for skill in largest)
        message = (
            f"the descriptions have {listed:,} characters together, and the listing has room for {budget:,}; most has {most}"
        )
        found.append(
            _about(largest, "listing-budget", message, "shorten descriptions, or install fewer skills: what is beyond is dropped")
        )
    if "anthropic-upload" in profiles and len(skills) > MAX_UPLOADED:
        message = f"there are {len(skills):,} skills, and one session takes {MAX_UPLOADED}"
        found.append(_about(skills, "many-skills", message, "choose those that a session needs"))
    return found


def _about(skills: Sequence[SkillLint], code: str, message: str, fix: str) -> Finding:
    return Finding(code, message, fix, skill_files=tuple(skill.file for skill in skills[:MAX_NAMED]))


def _collisions(skills: Sequence[SkillLint]) -> Iterator[Finding]:
    named: dict[str, list[SkillLint]] = {}
    for skill in skills:
        named.setdefault(encodable(skill.name), []).append(skill)
    for name, same in named.items():
        if len(same) < 2:
            continue
        places = first_of([encodable(str(skill.folder)) for skill in same], _NAMED)
        if len({skill.digest for skill in same}) == 1:
            message = f"{plural(len(same), 'folder')} hold the same {name[:80]}: {places}"
            yield _about(same, "copied-skill", message, "keep one, and links or an installer for the others")
        else:
            message = f"{len(same)} different skills have the name {name[:80]}: {places}"
            yield _about(same, "name-collision", message, "rename one: an agent loads one of them, and says nothing of the other")


def _overlaps(skills: Sequence[SkillLint]) -> Iterator[Finding]:
    unlike = list({(skill.name, skill.digest): skill for skill in skills if len(skill.description) >= _SHORT}.values())[
        :MAX_COMPARED
    ]
    pairs = (pair for pair in _near(unlike) if pair[0].name != pair[1].name)
    for number, (one, other, likeness) in enumerate(islice(pairs, MAX_PAIRS), 1):
        names = f"{encodable(one.name[:80])} and {encodable(other.name[:80])}"
        places = f"{_shown(one.file)} and {_shown(other.file)}"
        message = f"the descriptions of {names} are {likeness:.0f} % alike, so an agent can take one for the other: {places}"
        message += "; further pairs are not listed" if number == MAX_PAIRS else ""
        yield _about((one, other), "description-overlap", message, "say in each what only that skill does")


def _near(skills: Sequence[SkillLint]) -> Iterator[tuple[SkillLint, SkillLint, float]]:
    from rapidfuzz import fuzz, process, utils

    texts = [utils.default_process(skill.description[:MAX_DESCRIPTION]) for skill in skills]
    for place, text in enumerate(texts[:-1]):
        close = process.extract(text, texts[place + 1 :], scorer=fuzz.token_sort_ratio, score_cutoff=ALMOST_THE_SAME, limit=None)
        for _, likeness, further in sorted(close, key=lambda each: each[2]):
            yield skills[place], skills[place + 1 + further], likeness


def _shown(file: Path) -> str:
    return encodable(file.as_posix())
