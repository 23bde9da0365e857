"""Lint the Agent Skills at some paths: find them, read them, hold each rule against them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from eval_skills.agent_skills.folder import MAX_SKILL_BYTES, SKILL_TEXT, skill_file_in, skill_files
from eval_skills.agent_skills.frontmatter import parse_skill_text
from eval_skills.agent_skills.linting.body import body_findings
from eval_skills.agent_skills.linting.content import content_findings
from eval_skills.agent_skills.linting.files import file_findings
from eval_skills.agent_skills.linting.finding import Finding, Lint, SkillLint, counted, listed_findings
from eval_skills.agent_skills.linting.package import Allowance, list_package
from eval_skills.agent_skills.linting.references import reference_findings
from eval_skills.agent_skills.linting.rules import PROFILES, RULES
from eval_skills.agent_skills.linting.several import LISTING_BUDGET, findings_together
from eval_skills.agent_skills.linting.standard import standard_findings
from eval_skills.agent_skills.linting.subject import Subject
from eval_skills.agent_skills.linting.vendors import claude_code_findings, listed_chars, upload_findings
from eval_skills.agent_skills.reading import Unreadable, read_inside
from eval_skills.agent_skills.skill_text import SkillText
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.text import nearest

MAX_SEARCHED = 50_000
"""So many folders below a path are searched: more than a client would, so that a large repository is checked as a whole."""


def lint(
    paths: Iterable[Path | str],
    *,
    profiles: Sequence[str] = ("spec",),
    budget: int = LISTING_BUDGET,
    ignored: Iterable[str] = (),
) -> Lint:
    """The findings about the Agent Skills at these paths: each a ``SKILL.md``, a skill's folder, or a folder that is searched as
    by `find_agent_skills`, but in up to `MAX_SEARCHED` folders; each skill once. Nothing in them is executed, no link out of them
    is followed.

    The standard's rules always hold. A `profile` of a vendor adds that vendor's; its fields are errors of the standard only where
    ``spec`` is named, too. Findings of the rules `ignored` are left out, and do not count.

    Raises:
        InputError: at a path there is nothing, or no ``SKILL.md``.
        UsageError: a profile or rule is unknown, or the budget is less than 1.
    """
    checked = check_profiles(profiles)
    left_out = frozenset(_known_rules(ignored))
    if budget < 1:
        raise UsageError(f"the listing budget is {budget}; give a number of characters from 1")
    remarks: list[str] = []
    allowance = Allowance()
    files = {os.path.realpath(file): file for path in paths for file in _files_at(Path(path), remarks)}
    skills = [_lint_file(file, checked, left_out, allowance) for file in files.values()]
    together = findings_together(skills, budget, checked) if skills else []
    return Lint(
        profiles=tuple(name for name in PROFILES if name in checked),
        skills=skills,
        together=[finding for finding in together if finding.code not in left_out],
        budget=budget,
        remarks=list(dict.fromkeys(remarks)),
    )


def lint_skill(folder: Path | str, profiles: Sequence[str] = ("spec",)) -> SkillLint:
    """The findings about the Agent Skill in a folder.

    Raises:
        InputError: the folder holds no ``SKILL.md``.
        UsageError: a profile is unknown.
    """
    file = skill_file_in(Path(folder))
    if file is None:
        raise InputError(f"no Agent Skill here: the folder has no {SKILL_TEXT}", source=folder)
    return _lint_file(file, check_profiles(profiles), frozenset(), Allowance())


def check_profiles(profiles: Iterable[str]) -> frozenset[str]:
    """The profiles, if all of them are known; none means the standard.

    Raises:
        UsageError: one is not; the message names those that are.
    """
    for name in profiles:
        if name not in PROFILES:
            raise UsageError(f"profile {name!r} is unknown{nearest(name, PROFILES)}; valid are {', '.join(PROFILES)}")
    return frozenset(profiles) or frozenset({"spec"})


def _known_rules(codes: Iterable[str]) -> Iterator[str]:
    for code in codes:
        if code not in RULES:
            raise UsageError(f"rule {code!r} is unknown{nearest(code, RULES) or '; the how-to page on linting lists them'}")
        yield code


def _files_at(path: Path, remarks: list[str]) -> list[Path]:
    """The files that are linted for a path that was named."""
    if not os.path.isdir(path):
        _refuse_absent(path)
        if path.name.lower() != SKILL_TEXT.lower():
            raise InputError(f"this is not a {SKILL_TEXT}; name it, or a folder", source=path)
        return [path]
    said: list[str] = []
    files = list(skill_files(path, said, MAX_SEARCHED))
    if not files:
        more = "".join(f"; {remark}" for remark in said)
        raise InputError(f"there is no {SKILL_TEXT} in this folder or below it{more}", source=path)
    remarks += said
    return files


def _refuse_absent(path: Path) -> None:
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        raise InputError("no such file or folder", source=path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", source=path) from None


def _lint_file(file: Path, profiles: frozenset[str], ignored: frozenset[str], allowance: Allowance) -> SkillLint:
    folder = file.parent
    package = list_package(folder)
    found: list[Finding] = []
    try:
        data = read_inside(file, folder, MAX_SKILL_BYTES)
        text = parse_skill_text(data)
    except Unreadable as error:
        data, text = b"", SkillText(text="", is_readable=False)
        fix = "put the file itself there, of at most 1 MB"
        found.append(Finding("skill-file-unreadable", f"{file.name} {error}", fix, file.name))
    package.read_texts(allowance)
    package.texts.pop(file.name, None)
    subject = Subject(folder, file.name, text, package, profiles)
    found += _findings(subject)
    listed, more = listed_findings((each for each in found if each.code not in ignored), file.name)
    name = subject.field("name")
    return SkillLint(
        folder=folder,
        file=file,
        name=((name.text or "").strip() if name else "") or Path(os.path.abspath(folder)).name,
        description=subject.description,
        listed=listed_chars(subject),
        checks=counted(profiles),
        findings=listed,
        more=more,
        digest=hashlib.sha256(data).hexdigest(),
    )


def _findings(subject: Subject) -> Iterator[Finding]:
    yield from standard_findings(subject)
    yield from body_findings(subject)
    yield from reference_findings(subject)
    yield from content_findings(subject)
    yield from file_findings(subject)
    if "anthropic-upload" in subject.profiles:
        yield from upload_findings(subject)
    if "claude-code" in subject.profiles:
        yield from claude_code_findings(subject)
