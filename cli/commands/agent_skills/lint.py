"""``eval-skills lint``: what is wrong with Agent Skills."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from eval_skills.cli.configuration import Mark, Own
from eval_skills.cli.context import current
from eval_skills.cli.options import RESULTS, whole
from eval_skills.core.errors import UsageError
from eval_skills.core.text import nearest

FORMATS = ("text", "json", "sarif", "github")
FOUND_ERRORS = 1
RULES_HELD = Group("Which rules hold", sort_key=1)


def lint_command(
    paths: Annotated[
        list[Path] | None,
        Mark.PATH,
        Parameter(help="Skill folders, SKILL.md files, or folders of skills [default: the current folder]"),
    ] = None,
    /,
    *,
    profile: Annotated[
        list[str] | None,
        Parameter(
            group=RULES_HELD, consume_multiple=1, help="spec, anthropic-upload, claude-code, or several of them [default: spec]"
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None, Parameter(group=RULES_HELD, consume_multiple=1, help="Codes of rules that do not hold here")
    ] = None,
    listing_budget: Annotated[
        int | None,
        Parameter(group=RULES_HELD, converter=whole, help="Characters that an agent lists of all descriptions [default: 8000]"),
    ] = None,
    strict: Annotated[
        bool | None, Parameter(group=RESULTS, help="Exit with code 1 on warnings, too", show_default=False, n_tokens=0)
    ] = None,
    format: Annotated[  # noqa: A002 - the option's name
        str | None,
        Own("reports of evaluations have other formats"),
        Parameter(group=RESULTS, help="text, json, sarif or github (workflow commands) [default: text]"),
    ] = None,
) -> int:
    """Check Agent Skills, folders with a SKILL.md, against the standard and good practice.

    The standard's rules always hold; a profile adds a vendor's, which are shown beside them. Fields that only claude-code knows
    are errors unless --profile names claude-code without spec. Nothing in the folders is executed, no link out of them is
    followed. Exit code 1 on errors, 2 where there is no SKILL.md.

    Example: eval-skills lint ./skills

    Example: eval-skills lint ./skills/pdf --profile spec claude-code --format sarif
    """
    from eval_skills.agent_skills.linting.linting import lint
    from eval_skills.agent_skills.linting.several import LISTING_BUDGET
    from eval_skills.cli.output.skill_linting import show_skill_lint

    form = _form(format)
    if swallowed := next((name for name in [*(profile or []), *(ignore or [])] if "/" in name or Path(name).exists()), None):
        raise UsageError(f"{swallowed!r} is a path among the values of an option; name the paths first")
    if listing_budget is not None and listing_budget < 1:
        raise UsageError(f"--listing-budget is {listing_budget}; give a number of characters from 1")
    budget = listing_budget or LISTING_BUDGET
    found = lint(paths or [Path()], profiles=profile or ("spec",), budget=budget, ignored=ignore or ())
    show_skill_lint(found, form)
    return FOUND_ERRORS if found.count("error") or (strict and found.count("warning")) else 0


def _form(asked: str | None) -> str:
    if asked is not None and asked not in FORMATS:
        raise UsageError(f"--format {asked!r} is unknown{nearest(asked, FORMATS)}; valid are {', '.join(FORMATS)}")
    if current().json and asked in {"text", "github"}:
        raise UsageError(f"--json and --format {asked} say different things; give one of them")
    return asked or ("json" if current().json else "text")
