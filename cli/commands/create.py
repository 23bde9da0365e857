"""``eval-skills create``: a new skill that passes its own tests."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from eval_skills.cli.commands.create_from import create_from_mcp, create_from_openapi
from eval_skills.cli.configuration import Own
from eval_skills.cli.context import current, print_json
from eval_skills.cli.options import whole
from eval_skills.cli.requests import typed
from eval_skills.core.errors import UsageError

if TYPE_CHECKING:
    from eval_skills.scaffolding.draft import Draft
    from eval_skills.scaffolding.names import SkillName
    from eval_skills.scaffolding.openapi.operation import Choice

SKILL, DOCUMENT = Group("The skill", sort_key=1), Group("From an OpenAPI document", sort_key=2)
SERVER = Group("From an MCP server", sort_key=3)
AGENT_SKILL = "agent_skill"
Template = Literal["http_request", "python_script", "mcp_tool", "langchain", "custom", "agent_skill"]


def create_command(
    *,
    name: Annotated[
        str | None,
        Parameter(group=SKILL, help="The skill's name; its id and folder follow from it [required without --from-openapi]"),
    ] = None,
    from_template: Annotated[
        Template | None,
        Parameter(group=SKILL, help="How it will be called; agent_skill is a folder with SKILL.md [default: http_request]"),
    ] = None,
    output_dir: Annotated[
        Path | None,
        Own("where the new folder is made; the top level's is for report files"),
        Parameter(group=SKILL, help="Folder of skills, where it gets its own [default: ./skills]"),
    ] = None,
    description: Annotated[str | None, Parameter(group=SKILL, help="What it does, in a sentence or two")] = None,
    from_openapi: Annotated[
        Path | None,
        Parameter(group=DOCUMENT, help="OpenAPI 3 document (JSON or YAML): a skill for each operation; --name leads their names"),
    ] = None,
    operation: Annotated[
        str | None,
        Parameter(
            group=DOCUMENT, help="With --from-openapi: only this one, by operationId or as 'GET /pets'; --name is its name"
        ),
    ] = None,
    tag: Annotated[
        list[str] | None,
        Parameter(group=DOCUMENT, consume_multiple=1, help="With --from-openapi: only operations with all of these tags"),
    ] = None,
    path: Annotated[
        str | None, Parameter(group=DOCUMENT, help="With --from-openapi: only operations at or below this path, such as /pets")
    ] = None,
    limit: Annotated[
        int | None,
        Own("how many operations of a document become skills; the top level's is for lists"),
        Parameter(group=DOCUMENT, converter=whole, help="With --from-openapi: at most this many, the first ones [default: all]"),
    ] = None,
    base_url: Annotated[
        str | None, Parameter(group=DOCUMENT, help="With --from-openapi: address instead of the document's server")
    ] = None,
    from_mcp: Annotated[
        str | None,
        Parameter(group=SERVER, help="Command or URL of an MCP server: a skill for each of its tools; --name picks one"),
    ] = None,
    pass_env: Annotated[
        list[str] | None,
        Parameter(group=SERVER, consume_multiple=1, help="With --from-mcp: variables that the server's program gets too"),
    ] = None,
    auth_token_env: Annotated[
        str | None, Parameter(group=SERVER, help="With --from-mcp and a URL: the variable that holds its bearer token")
    ] = None,
    force: Annotated[bool, Parameter(group=SKILL, help="Overwrite files that are there already", show_default=False)] = False,
) -> int:
    """Create a skill to start from, with tests of its own that pass.

    The id is the name in lower case, with - for every character that is not a letter, digit or _: "Weather Lookup" becomes
    weather-lookup.

    An agent_skill is a folder that an agent reads, with evals of its own.

    Example: eval-skills create --name Weather --from-template python_script

    Example: eval-skills create --name csv-totals --from-template agent_skill
    """
    if from_mcp is not None and from_openapi is not None:
        raise UsageError("--from-mcp and --from-openapi both say what to create; give one of them")
    template = {"from_template": from_template, "description": description}
    if from_openapi is not None:
        _refuse_typed(template, "--from-template and --description cannot stand beside --from-openapi, whose document says both")
        folder = output_folder(output_dir)
        choice = _choice(operation, tag, path, limit)
        return create_from_openapi(
            from_openapi, folder, name=name, operation=operation, choice=choice, base_url=base_url, force=force
        )
    _refuse_typed(
        {"tag": tag, "path": path, "limit": limit},
        "--tag, --path and --limit are about an OpenAPI document; name it with --from-openapi",
    )
    if operation is not None or base_url is not None:
        raise UsageError("--operation and --base-url are about an OpenAPI document; name it with --from-openapi")
    if from_mcp is not None:
        _refuse_typed(template, "--from-template and --description cannot stand beside --from-mcp, whose server says both")
        folder = output_folder(output_dir)
        return create_from_mcp(from_mcp, folder, name=name, pass_env=pass_env, auth_token_env=auth_token_env, force=force)
    if pass_env is not None or auth_token_env is not None:
        raise UsageError("--pass-env and --auth-token-env are about an MCP server; name it with --from-mcp")
    if name is None:
        raise UsageError("--name is required: name the new skill")
    return _create(name, from_template or "http_request", output_dir, description, force=force)


def _refuse_typed(options: dict[str, Any], why: str) -> None:
    """Refuse options of another kind of call; where one is merely configured, it is for calls of that kind."""
    if any(value is not None for value in typed(options).values()):
        raise UsageError(why)


def _choice(operation: str | None, tag: list[str] | None, path: str | None, limit: int | None) -> Choice:
    from eval_skills.scaffolding.openapi.operation import Choice

    if operation is not None and any(value is not None for value in (tag, path, limit)):
        raise UsageError("--operation names one operation, and --tag, --path and --limit choose several; give one kind")
    if limit is not None and limit < 1:
        raise UsageError(f"--limit is {limit}; give a number of operations from 1")
    return Choice(tuple(tag or ()), path, limit)


def _create(name: str, template: Template, output_dir: Path | None, description: str | None, *, force: bool) -> int:
    from eval_skills.scaffolding.draft import write_drafts
    from eval_skills.scaffolding.names import skill_name

    named = skill_name(name)
    if template == AGENT_SKILL:
        return _create_agent_skill(named, output_folder(output_dir), description, force=force)
    draft = _from_template(named, template, output_folder(output_dir), description)
    write_drafts([draft], force=force)
    _show(named, draft)
    return 0


def _create_agent_skill(named: SkillName, folder: Path, description: str | None, *, force: bool) -> int:
    from eval_skills.agent_skills.evals_file import EVALS_FILE
    from eval_skills.scaffolding.agent_skill import DESCRIPTION, draft_agent_skill
    from eval_skills.scaffolding.draft import write_drafts
    from eval_skills.scaffolding.names import visible_line
    from eval_skills.scaffolding.skill_templates import shown_path

    text = DESCRIPTION if description is None else visible_line("--description", description)
    draft = draft_agent_skill(named, folder, description=text)
    write_drafts([draft], force=force)
    checks = shlex.join(["eval-skills", "benchmarks", "import", "agent-skills", shown_path(draft.folder / EVALS_FILE), "--check"])
    if current().json:
        files = [str(path) for path in draft.paths()]
        print_json({"id": draft.folder.name, "name": named.name, "folder": str(draft.folder), "files": files, "next": checks})
        return 0
    current().say(f"created {draft.folder.name}, an Agent Skill")
    for path in draft.paths():
        current().say(f"  {shown_path(path)}")
    current().say(f"lint it   {shlex.join(['eval-skills', 'lint', shown_path(draft.folder)])}")
    current().say(f"evals     {checks}")
    return 0


def output_folder(output_dir: Path | None) -> Path:
    """The folder of skills: what was given, else the configuration's `skillsDir`.

    Raises:
        UsageError: its path holds a line break or the like, which no command could show.
    """
    from eval_skills.scaffolding.names import visible_line

    folder = Path(current().config({"skills_dir": output_dir}).skills_dir)
    visible_line("--output-dir", str(folder))
    return folder


def _from_template(named: SkillName, template: str, folder: Path, description: str | None) -> Draft:
    from eval_skills.scaffolding.names import visible_line
    from eval_skills.scaffolding.skill_templates import DESCRIPTION, draft_skill

    text = DESCRIPTION if description is None else visible_line("--description", description)
    return draft_skill(named, template, folder, description=text)


def _show(named: SkillName, draft: Draft) -> None:
    from eval_skills.scaffolding.skill_templates import REQUIREMENTS_FILE, own_tests_command, shown_path

    if current().json:
        files = [str(path) for path in draft.paths()]
        print_json({**_identity(named), "folder": str(draft.folder), "files": files, "next": own_tests_command(draft.folder)})
        return
    renamed = f', the id of "{named.name}"' if named.id != named.name else ""
    current().say(f"created {named.id}{renamed}")
    for path in draft.paths():
        current().say(f"  {shown_path(path)}")
    if REQUIREMENTS_FILE in draft.files:
        current().say(f"it needs  {', '.join(draft.files[REQUIREMENTS_FILE].split())}")
    current().say(f"test it   {own_tests_command(draft.folder)}")


def _identity(named: SkillName) -> dict[str, str]:
    return {"id": named.id, "name": named.name}
