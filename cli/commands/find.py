"""``eval-skills find``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from eval_skills.cli.configuration import Own
from eval_skills.cli.context import current, print_json, printable
from eval_skills.cli.options import FOUND, RESULTS, PastResults, decimal, option
from eval_skills.cli.requests import typed
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.models import ADAPTER_TYPES
from eval_skills.core.text import exact, nearest

if TYPE_CHECKING:
    from datetime import datetime

    from eval_skills.core.models import Skill
    from eval_skills.core.skills import InvalidSkill

LastRuns = dict[str, tuple[float | None, "datetime"]]


def find_command(
    *,
    query: Annotated[
        str | None, Parameter(group=FOUND, name=["-q", "--query"], help="Text in name (+3), description (+2) or a tag (+1)")
    ] = None,
    tag: Annotated[
        list[str] | None, Parameter(group=FOUND, name=["-t", "--tag"], consume_multiple=1, help="Skills with all of these tags")
    ] = None,
    adapter: Annotated[
        str | None, Parameter(group=FOUND, name=["-a", "--adapter"], help="http, subprocess, mcp, langchain, custom or agent")
    ] = None,
    min_completion: Annotated[
        float | None,
        Own("without it, skills that were never evaluated are found, too"),
        Parameter(group=FOUND, converter=decimal, help="Lowest last completion rate, from the store's history"),
    ] = None,
    skills_dir: Annotated[Path | None, option("skills_dir", FOUND)] = None,
    mcp: Annotated[
        str | None, Parameter(group=FOUND, help="Command or URL of an MCP server: its tools, instead of a folder's skills")
    ] = None,
    pass_env: Annotated[
        list[str] | None,
        Parameter(group=FOUND, consume_multiple=1, help="With --mcp: variables that the server's program gets too"),
    ] = None,
    auth_token_env: Annotated[
        str | None, Parameter(group=FOUND, help="With --mcp and a URL: the variable that holds its bearer token")
    ] = None,
    limit: Annotated[int | None, option("limit", RESULTS)] = None,
    store: PastResults = None,
) -> int:
    """Find skills, best match first.

    Without a query they are ordered by their last completion rate. Malformed skills are listed with their reason. Agent Skills,
    folders with a SKILL.md, are found, too: they need no skill.json to be linted.

    Example: eval-skills find --query calc --tag math --skills-dir ./examples/skills
    """
    from eval_skills.agent_skills.as_skill import add_agent_skills
    from eval_skills.core.search import search
    from eval_skills.core.skills import Discovery, discover_skills, refuse_duplicates, why_none
    from eval_skills.core.store import Store

    config = current().config({"skills_dir": skills_dir, "limit": limit, "store": store})
    check_adapter(adapter)
    _check_rate(min_completion)
    texts: dict[str, str] = {}
    if mcp is not None or pass_env is not None or auth_token_env is not None:
        discovery = Discovery(_offered(mcp, pass_env, auth_token_env, typed({"skills_dir": skills_dir}).get("skills_dir")))
        refuse_duplicates(discovery.skills)
    else:
        discovery = discover_skills(config.skills_dir)
        refuse_duplicates(discovery.skills)
        texts = {} if adapter is not None else add_agent_skills(discovery, config.skills_dir)
    if not discovery.skills and not discovery.invalid:
        raise InputError(why_none(discovery), source=config.skills_dir)
    results = Store(config.store)
    results.tables.tell = current().remark
    rates = results.history()
    found = search(
        discovery.skills, query=query, tags=tag, adapter=adapter, min_completion=min_completion, limit=config.limit, history=rates
    )
    last = {key: (rate, results.last_evaluated()[key]) for key, rate in rates.items()} if found and rates else {}
    if min_completion is not None and not rates:
        current().remark(f"the store {config.store} holds no results yet, so no skill is known to reach {exact(min_completion)}")
    _show(found, discovery.invalid, last, texts)
    for remark in discovery.remarks:
        current().remark(printable(remark))
    return 0


def _offered(mcp: str | None, pass_env: list[str] | None, auth_token_env: str | None, skills_dir: Path | None) -> list[Skill]:
    from eval_skills.cli.commands.create_from import offered_skills

    if mcp is None:
        raise UsageError("--pass-env and --auth-token-env are about an MCP server; name it with --mcp")
    if skills_dir is not None:
        raise UsageError("--mcp and --skills-dir both say where to look; give one of them")
    return offered_skills("--mcp", mcp, pass_env, auth_token_env)


def check_adapter(adapter: str | None) -> None:
    """Refuse an adapter type that does not exist."""
    if adapter is not None and adapter not in ADAPTER_TYPES:
        raise UsageError(
            f"--adapter {adapter!r} is unknown{nearest(adapter, ADAPTER_TYPES)}; valid are {', '.join(ADAPTER_TYPES)}"
        )


def _check_rate(min_completion: float | None) -> None:
    if min_completion is not None and not 0 <= min_completion <= 1:
        raise UsageError(f"--min-completion is {min_completion}; give a rate from 0 to 1")


def _show(skills: list[Skill], invalid: list[InvalidSkill], last: LastRuns, texts: dict[str, str]) -> None:
    """`texts`: the SKILL.md of each skill that has one, by its folder."""
    from eval_skills.cli.output.tables import left_out_note

    if current().json:
        entries = [_entry(skill, last, texts.get(str(skill.folder))) for skill in skills]
        print_json({"skills": entries, "invalid": [_broken(bad) for bad in invalid]})
        return
    if skills:
        table, left_out = _table(skills, last, texts)
        current().out().print(table)
        if left_out:
            current().out().print(left_out_note(left_out, "with --json"), soft_wrap=True)
    else:
        current().say("no skill matches")
    for bad in invalid:
        current().say(f"invalid  {bad.reason}", style="yellow")


def _entry(skill: Skill, last: LastRuns, text: str | None) -> dict[str, Any]:
    from eval_skills.agent_skills.as_skill import is_agent_skill

    rate, when = last.get(skill.key, (None, None))
    return {
        "kind": "agent-skill" if is_agent_skill(skill) else "skill",
        "id": skill.id,
        "version": skill.version,
        "name": skill.name,
        "description": skill.description,
        "tags": skill.tags,
        "adapterType": None if is_agent_skill(skill) else skill.adapter_type,
        "path": str(skill.folder) if skill.folder is not None else None,
        "skillText": text,
        "lastCompletion": rate,
        "lastEvaluated": when.isoformat() if when else None,
    }


def _broken(bad: InvalidSkill) -> dict[str, str]:
    return {"path": str(bad.path), "reason": bad.reason}


DESCRIPTION_SHOWN = 160
"""Characters of a description in the table; --json has all of it."""

LEAST_WIDTHS = {"skill": 20, "adapter": 0, "passed": 0, "last run": 0, "tags": 10, "description": 10}
"""How narrow a column may be folded; 0: never folded. ``id@version`` is folded only where the description would have less."""

LEFT_OUT_FIRST = ("tags", "last run", "adapter", "passed")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= DESCRIPTION_SHOWN else f"{line[:DESCRIPTION_SHOWN].rstrip()}…"


def _table(skills: list[Skill], last: LastRuns, texts: dict[str, str]) -> tuple[Any, list[str]]:
    """The table, and the names of the columns for which there was no room."""
    from rich.text import Text

    from eval_skills.cli.output.tables import bare_table

    rows = [_cells(skill, last, texts) for skill in skills]
    widest = {name: max(Text(row[name]).cell_len for row in rows) for name in LEAST_WIDTHS}
    left_out, whole = _fitting(widest, current().out().width)
    table = bare_table()
    kept = [name for name in LEAST_WIDTHS if name not in left_out]
    for name in kept:
        table.add_column(name, overflow="fold", no_wrap=name in whole)
    for row in rows:
        table.add_row(*(Text(row[name]) for name in kept))
    return table, left_out


def _cells(skill: Skill, last: LastRuns, texts: dict[str, str]) -> dict[str, str]:
    from eval_skills.agent_skills.as_skill import is_agent_skill
    from eval_skills.agent_skills.folder import SKILL_TEXT
    from eval_skills.reporting import numbers

    rate, when = last.get(skill.key, (None, None))
    also = f", {SKILL_TEXT}" if texts.get(str(skill.folder)) else ""
    cells = {
        "skill": skill.key,
        "adapter": SKILL_TEXT if is_agent_skill(skill) else f"{skill.adapter_type}{also}",
        "passed": numbers.rate(rate),
        "last run": when.date().isoformat() if when else "",
        "tags": ", ".join(skill.tags),
        "description": _short(skill.description),
    }
    return {name: printable(cell) for name, cell in cells.items()}


def _fitting(widest: dict[str, int], width: int) -> tuple[list[str], set[str]]:
    """Which columns are left out, and which are not folded; a name is folded where it would not fit even alone."""
    from eval_skills.cli.output.tables import GAP

    unfolded = {name for name, least in LEAST_WIDTHS.items() if not least}
    for whole in (unfolded | {"skill"}, unfolded):
        for gone in range(len(LEFT_OUT_FIRST) + 1):
            left_out = list(LEFT_OUT_FIRST[:gone])
            kept = [name for name in LEAST_WIDTHS if name not in left_out]
            least = (max(len(name), widest[name] if name in whole else LEAST_WIDTHS[name]) for name in kept)
            if sum(least) + GAP * (len(kept) - 1) <= width:
                return left_out, whole
    return list(LEFT_OUT_FIRST), unfolded
