"""``eval-skills init``, a project to start from; and ``eval-skills completion``."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from eval_skills.cli.context import current, print_json
from eval_skills.core.config import load_config
from eval_skills.core.config.layers import HOME_FILE
from eval_skills.core.config.options import option_of

if TYPE_CHECKING:
    from eval_skills.core.config import LayeredConfig
    from eval_skills.scaffolding.project import Part
    from eval_skills.scaffolding.project_files import ProjectFolders


def init_command(
    *,
    folder: Annotated[Path, Parameter(name="--dir", help="Folder of the project; it is made if it is missing")] = Path("."),
    ci: Annotated[Literal["github"] | None, Parameter(help="Write a workflow for this CI system too: github")] = None,
) -> int:
    """Prepare a folder in which eval-skills run works at once.

    Writes eval-skills.config.yaml with every key explained, an example skill, an example benchmark, reports/ and lines for
    .gitignore. What exists is kept, and a second call changes nothing. Folders that a configuration names are used.

    Example: eval-skills init --dir ./my-project --ci github
    """
    from eval_skills.engine.definition.request import check_folder
    from eval_skills.scaffolding.names import visible_line
    from eval_skills.scaffolding.project import plan_project, write_project
    from eval_skills.scaffolding.project_files import ProjectFolders

    visible_line("--dir", str(folder))
    root = Path(os.path.abspath(folder))
    check_folder(root, "--dir", "a project")
    layers = _configuration_in(root)
    places = ProjectFolders.of(root, layers, Path.home())
    parts = plan_project(places, ci=ci)
    for part in parts:
        if part.state != "kept":
            check_folder(part.path.parent, "--dir", "a project")
    write_project(parts)
    kept = parts[0].state == "kept"
    _show(places, parts, _unsaid(places, layers) if kept else {}, _named_config(places) if kept else [])
    return 0


def _configuration_in(root: Path) -> LayeredConfig:
    """The configuration that a `run` in `root` would see; a file that cannot be used is refused before anything is written."""
    given = current().config_path
    path = given.absolute() if given else None
    return load_config(
        {}, config_path=path, environ=os.environ, cwd=root, home=Path.home(), model=current().configuration_model()
    )


def _unsaid(places: ProjectFolders, layers: LayeredConfig) -> dict[str, str]:
    """What `run` has to be told to evaluate this project: neither the configuration that was kept nor a variable says it."""
    from eval_skills.scaffolding.project import own_benchmarks

    own = own_benchmarks(places)
    wanted = {"benchmark": own[0]} if own else {}
    wanted |= {"skillsDir": places.written(places.skills), "benchmarksDir": places.written(places.benchmarks)}
    said = {key: layers.said(("run", key), (key,)) for key in wanted}
    of_the_person = {key for key, found in said.items() if found is not None and found[1].origin == str(Path.home() / HOME_FILE)}
    return {key: value for key, value in wanted.items() if key in of_the_person or (key == "benchmark" and said[key] is None)}


def _named_config(places: ProjectFolders) -> list[str]:
    given = current().config_path
    return [] if given is None or given.absolute() == places.config else ["--config", str(given.absolute())]


def _show(places: ProjectFolders, parts: Sequence[Part], unsaid: Mapping[str, str], named: Sequence[str]) -> None:
    lines = ", ".join(f"{key}: {value}" for key, value in unsaid.items())
    config = named[-1] if named else places.config.name
    remarks = [f"{config} was kept; add {lines} to it, so that eval-skills run needs no option"] if unsaid else []
    then = _next(places.folder, [*named, *(word for key, value in unsaid.items() for word in (option_of(key), value))])
    if current().json:
        files = [{"path": str(part.path), "state": part.state, "reason": part.reason or None} for part in parts]
        print_json({"folder": str(places.folder), "files": files, "remarks": remarks, "next": then})
        return
    for part in parts:
        name = os.path.relpath(part.path, places.folder) + ("/" if part.path.is_dir() else "")
        current().say(f"{part.state:<8}  {name}{f'  ({part.reason})' if part.reason else ''}")
    if all(part.state == "kept" for part in parts):
        current().say("nothing changed: everything is there already")
    for remark in remarks:
        current().remark(remark)
    current().say(f"next      {then}")


def _next(folder: Path, options: Sequence[str]) -> str:
    from eval_skills.scaffolding.skill_templates import shown_path

    where = "" if folder == Path.cwd() else f"cd {shlex.quote(shown_path(folder))} && "
    return where + shlex.join(["eval-skills", "run", *options])


Shell = Literal["bash", "zsh", "fish"]
_OFFERS_FILES = {"bash": (r"^complete -F", "complete -o default -F"), "zsh": (r"(\]:[\w-]+)(['\"] )", r"\1:_files\2")}
"""What the generated script says of a value that it knows nothing of, and what makes the shell offer files; fish does anyway."""


def _with_files(script: str, shell: Shell) -> str:
    """The script, offering files where it has nothing better: `--skills` and `--tasks` take ids and URLs as well as paths."""
    if shell not in _OFFERS_FILES:
        return script
    pattern, instead = _OFFERS_FILES[shell]
    return re.sub(pattern, instead, script, flags=re.MULTILINE)


def completion_command(shell: Annotated[Shell, Parameter(help="The shell to complete in")], /) -> int:
    """Print the script that completes commands and options in a shell.

    Bash reads it from ~/.local/share/bash-completion/completions/eval-skills, for example.

    Example: eval-skills completion bash > eval-skills.bash
    """
    app = current().app
    assert app is not None
    script = _with_files(app.generate_completion(shell=shell), shell)
    if current().json:
        print_json({"shell": shell, "script": script})
    else:
        sys.stdout.write(script)
    return 0
