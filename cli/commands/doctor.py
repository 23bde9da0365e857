"""``eval-skills doctor``: whether a run would work, before it costs anything."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from eval_skills.cli.configuration import Mark, Own
from eval_skills.cli.context import current, print_json, printable
from eval_skills.cli.options import EVALUATED, HOW, RESULTS, ProcessOptions, Results, option
from eval_skills.cli.requests import flags_of
from eval_skills.core.config import Config
from eval_skills.core.config.options import option_of
from eval_skills.core.config.values import ProcessLimits
from eval_skills.core.documents.loading import validate
from eval_skills.core.errors import ConfigError, InputError, UsageError

if TYPE_CHECKING:
    from eval_skills.core.environment import Check

UNHEALTHY = 1
_AREAS = ("environment", "configuration", "prefect", "places", "agents", "skills", "benchmarks", "judge", "suites")
_MARKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "failed": ("✗", "red")}


def doctor_command(
    *,
    skills: Annotated[
        list[str] | None,
        Mark.PATH,
        Parameter(group=EVALUATED, consume_multiple=1, help="skill.json files, skill folders or folders of skills to try"),
    ] = None,
    skills_dir: Annotated[
        Path | None,
        Own("without it, the folder of skillsDir is searched, if it is there"),
        Parameter(group=EVALUATED, help="Folder to search for skills to try [default: that of the configuration, else ./skills]"),
    ] = None,
    timeout: Annotated[
        int | None, option("timeout_ms", HOW, help="How long a skill may take to start, and to answer, in ms")
    ] = None,
    output_dir: Annotated[Path | None, option("output_dir", RESULTS)] = None,
    store: Results = None,
    held: ProcessOptions = ProcessOptions(),
) -> int:
    """Check that a run would work, before it costs anything.

    Looks at Python and what is installed, the configuration, the Prefect server, the folders that a run writes to, the agents
    on PATH and their versions, and the benchmarks, the judge and the nightly suites that the configuration names. Each skill
    of the project, or that is named, is started and asked once, with an empty request (an MCP server: for its tools; a Python
    object: to load; an HTTP service: to be ready and answer a GET). Nothing is scored or written. Exit code 1: a check
    failed.

    Example: eval-skills doctor

    Example: eval-skills doctor --skills-dir ./examples/skills
    """
    from eval_skills.cli.prefect_server.checks import prefect_checks
    from eval_skills.engine.definition.request import confinement_asked
    from eval_skills.engine.doctor import HealthCheckRequest, health_checks
    from eval_skills.engine.project_health import project_checks

    flags = flags_of(held, output_dir=output_dir, store=store, timeout=timeout)
    config, about = _configuration(flags)
    options = {name: getattr(config, name) for name in ProcessLimits.model_fields}
    if not skills and skills_dir is None:
        skills_dir, more = _skills_of_project(config)
        about += more
    request = HealthCheckRequest(config, skills or [], skills_dir, confinement_asked(ProcessLimits(**options)))
    found = (*about, *prefect_checks(), *health_checks(request), *project_checks(config, _suites()))
    checks = [_placed(check) for check in found]
    _show(checks, asked=bool(skills or skills_dir))
    return UNHEALTHY if any(check.status == "failed" for check in checks) else 0


def _skills_of_project(config: Config) -> tuple[Path | None, list[Check]]:
    """The configured folder of skills, where it holds any; a failed check where another than the default one does not."""
    from eval_skills.core.environment import Check
    from eval_skills.core.skills import SKILL_FILE

    folder = Path(config.skills_dir)
    if folder.is_dir() and next(folder.rglob(SKILL_FILE), None):
        return folder, []
    if folder.absolute() == Path.cwd() / Config().skills_dir:
        return None, []
    missing = f"{folder} holds no {SKILL_FILE}" if folder.is_dir() else f"{folder} is not a folder"
    return None, [Check("skills", "skillsDir", "failed", missing, "name the folder of your skills")]


def _suites() -> Path | None:
    """The file of suites that the configuration names for nights; None without one, or where it cannot be read."""
    session = current()
    try:
        config = replace(session, command=None).layers({}).config
    except ConfigError:
        return None  # which is a failed check of its own
    return getattr(getattr(config, "nightly", None), "suites", None)


def _placed(check: Check) -> Check:
    """The check with the place in the configuration for options that were not typed."""
    return replace(check, found=current().placed(check.found), remedy=current().placed(check.remedy))


def _configuration(flags: dict[str, Any]) -> tuple[Config, list[Check]]:
    """The configuration in force, and what there is to say of it; where it cannot be read, that of the flags alone."""
    from eval_skills.core.environment import Check

    try:
        alone = validate(Config, flags)
    except InputError as error:
        raise UsageError(f"{option_of(error.path)}: {error.message}") from None
    try:
        layers = current().layers(flags)
    except ConfigError as error:
        remedy = "fix it: until then every other command fails with this message"
        return alone, [Check("configuration", "files", "failed", str(error), remedy)]
    places = dict.fromkeys(setting.origin for layer in layers.layers for setting in layer.values())
    said = ", ".join(place for place in places if place not in {"default", "flag"})
    return layers.config, [Check("configuration", "files", "ok", said or "none; every key has its default")]


def _show(checks: list[Check], *, asked: bool) -> None:
    from eval_skills.core.environment import counted, document

    if current().json:
        print_json(document(checks))
        return
    current().out().print(_table(checks))
    counts = counted(checks)
    said = ", ".join(f"{number} {status}" for status, number in counts.items() if number)
    worst = "failed" if counts["failed"] else "warning" if counts["warning"] else "ok"
    current().say(f"{len(checks)} checks: {said}", style=_MARKS[worst][1])
    if not asked:
        current().say("no skill was tried; name some with --skills or --skills-dir")


def _table(checks: list[Check]) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=False)
    for ratio in (False, False, True):
        table.add_column(overflow="fold", no_wrap=not ratio)
    area = ""
    for check in sorted(checks, key=lambda check: _AREAS.index(check.area)):
        if check.area != area:
            table.add_row("", Text(check.area, style="bold"), "")
            area = check.area
        mark, style = _MARKS[check.status]
        table.add_row(Text(mark, style=style), Text(printable(check.name)), Text(printable(check.found)))
        if check.remedy:
            table.add_row("", "", Text(f"→ {printable(check.remedy)}", style=style))
    return table
