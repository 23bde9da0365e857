"""What a program in the sandbox needs is found wherever it lies, and nothing that is only beside it."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters import check_skill
from eval_skills.adapters.sandbox.installations import installations, interpreter_words
from eval_skills.core.errors import InfraError, InputError, SkillCrashed
from eval_skills.core.models import Skill
from tests.adapters.programs import ONE_SHOT
from tests.adapters.sandboxed import HELD, MakeSkill, ask, needs_sandbox
from tests.adapters.skills import make_skill
from tests.tables import each_row

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
PYTHON = os.path.realpath(sys.executable)
NODE = """#!/usr/bin/env node
const request = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify({jsonrpc: "2.0", id: request.id, result: require("dep")}));
"""

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write an executable file: ``write("bin/tool", "#!/bin/sh")``."""

    def written(name: str, text: str = "") -> Path:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)
        return file

    return written


def found(word: str, tmp_path: Path, *personal: Path) -> set[Path]:
    """What is found below the test's folder for a program of that name, called in ``skill``."""
    every = installations([word], tmp_path / "skill", {"PATH": "/no/such"}, personal)
    return {path for path in every if path.is_relative_to(tmp_path) and path != tmp_path}


def test_every_link_on_the_way_is_followed(tmp_path: Path, write: Write) -> None:
    write("versions/3.11.9/bin/python")
    (tmp_path / "versions" / "3.11").symlink_to("3.11.9")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "python").symlink_to(tmp_path / "versions" / "3.11" / "bin" / "python")
    (tmp_path / "mine").symlink_to("links/python")
    seen = found(str(tmp_path / "mine"), tmp_path)
    assert {tmp_path / "mine", tmp_path / "links" / "python", tmp_path / "versions" / "3.11"} <= seen


def test_a_folder_that_holds_other_things_is_never_shown_whole(tmp_path: Path, write: Write) -> None:
    """As a virtual environment in the folder of the call has it."""
    program = write("bin/python")
    write("lib/python3/module.py")
    write("answers.json")
    assert found(str(program), tmp_path, tmp_path) == {program, tmp_path / "lib"}
    assert found(str(program), tmp_path, tmp_path / "a" / "home") == {program, tmp_path / "lib"}


def test_the_package_of_a_program_comes_with_it(tmp_path: Path, write: Write) -> None:
    write("tools/package.json", "{}")
    program = write("tools/src/run.sh", "#!/bin/sh\n")
    assert found(str(program), tmp_path) == {program, tmp_path / "tools"}
    assert found(str(program), tmp_path, tmp_path / "tools") == {program}


def test_a_link_named_node_modules_leads_to_nothing_else(tmp_path: Path, write: Write) -> None:
    write("private/key")
    (tmp_path / "skill").mkdir()
    (tmp_path / "skill" / "node_modules").symlink_to(tmp_path / "private")
    assert found("no-such", tmp_path) == set()


@each_row(
    ("first", "words"),
    [
        ("#!/usr/bin/env node", ["/usr/bin/env", "node"]),
        ("#!/usr/bin/env -S A=1 node --flag", ["/usr/bin/env", "node"]),
        ("#! /a/venv/bin/python -s", ["/a/venv/bin/python"]),
        ("\x7fELF", []),
    ],
)
def test_the_programs_of_a_first_line(tmp_path: Path, first: str, words: list[str]) -> None:
    (tmp_path / "script").write_text(f"{first}\nrest")
    assert interpreter_words(tmp_path / "script") == words


def skill_in(folder: Path, entrypoint: str, **config: Any) -> Skill:
    folder.mkdir(parents=True, exist_ok=True)
    return make_skill("subprocess", entrypoint, config, folder)


@needs_sandbox
async def test_a_script_finds_the_interpreter_of_its_first_line(tmp_path: Path, write: Write) -> None:
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    (tmp_path / "venv" / "bin" / "python").symlink_to(PYTHON)
    (tmp_path / "venv" / "pyvenv.cfg").write_text(f"home = {Path(PYTHON).parent}\n")
    write("skill/run", f"#!{tmp_path}/venv/bin/python\n{ONE_SHOT}print(reply(sys.prefix))\n")
    assert await ask(skill_in(tmp_path / "skill", "./run")) == str(tmp_path / "venv")


@needs_sandbox
@needs_node
@pytest.mark.parametrize("entrypoint", ["node skill.js", "../node_modules/.bin/tool", "node ../node_modules/.bin/tool"])
async def test_packages_of_node_are_found_above_the_skill(tmp_path: Path, write: Write, entrypoint: str) -> None:
    write("node_modules/dep/index.js", "module.exports = 'found'")
    write("node_modules/tool/cli.js", NODE)
    (tmp_path / "node_modules" / ".bin").mkdir()
    (tmp_path / "node_modules" / ".bin" / "tool").symlink_to("../tool/cli.js")
    write("skill/skill.js", NODE)
    assert await ask(skill_in(tmp_path / "skill", entrypoint)) == "found"


@needs_sandbox
@needs_node
async def test_packages_of_a_workspace_are_found_through_their_links(tmp_path: Path, write: Write) -> None:
    write("packages/dep/package.json", json.dumps({"name": "@own/dep", "main": "main.js"}))
    write("packages/dep/main.js", "module.exports = 'found'")
    (tmp_path / "node_modules" / "@own").mkdir(parents=True)
    (tmp_path / "node_modules" / "@own" / "dep").symlink_to("../../packages/dep")
    write("skill/skill.js", NODE.replace('"dep"', '"@own/dep"'))
    assert await ask(skill_in(tmp_path / "skill", "node skill.js")) == "found"


READ = ONE_SHOT + "print(reply(open(params).read()))"
WRITE = ONE_SHOT + "open(params, 'w').write('written'); print(reply('done'))"


@pytest.mark.slow
@needs_sandbox
async def test_a_skill_declares_what_it_sees_and_what_it_writes(tmp_path: Path, write: Write, program_skill: MakeSkill) -> None:
    data, cache = write("data/table.txt", "content"), tmp_path / "cache"
    cache.mkdir()
    reader = program_skill(READ, sandbox={"show": ["../data"]}).located_in(_moved(tmp_path, "reader"))
    assert await ask(reader, str(data)) == "content"
    writer = program_skill(WRITE, sandbox={"show": [str(data)], "writable": [str(cache)]}).located_in(_moved(tmp_path, "writer"))
    assert await ask(writer, str(cache / "new")) == "done"
    assert (cache / "new").read_text() == "written"
    with pytest.raises(SkillCrashed, match="Read-only file system"):
        await ask(writer, str(data))
    with pytest.raises(SkillCrashed, match="No such file"):
        await ask(reader, str(data), sandbox_paths="none")


def _moved(tmp_path: Path, name: str) -> Path:
    (tmp_path / name).mkdir()
    shutil.copy(tmp_path / "skill.py", tmp_path / name)
    return tmp_path / name


@needs_sandbox
def test_what_is_declared_has_to_exist_and_to_hold_no_answers(tmp_path: Path) -> None:
    from eval_skills.benchmarks.locations import BUILTIN_DIR

    missing = skill_in(tmp_path / "skill", "true", sandbox={"show": ["no-such"]})
    with pytest.raises(InputError, match=r"sandbox\.show\[0\]: .*no-such does not exist; create it"):
        check_skill(missing, confinement=HELD)
    check_skill(missing)
    cheat = skill_in(tmp_path / "skill", "true", sandbox={"writable": [str(BUILTIN_DIR / "coding-easy")]})
    with pytest.raises(InputError, match=r"sandbox\.writable\[0\]: .*the expected answers are there"):
        check_skill(cheat, confinement=HELD)


@needs_sandbox
async def test_a_failure_names_what_the_sandbox_hides(tmp_path: Path, write: Write) -> None:
    hidden = write("elsewhere/skill.py")
    skill = skill_in(tmp_path / "skill", f"{shlex.quote(sys.executable)} {hidden}")
    with pytest.raises(SkillCrashed, match=rf"the sandbox hides {hidden}: .*adapterConfig\.sandbox\.show"):
        await ask(skill)


@needs_sandbox
async def test_a_failure_names_the_interpreter_that_is_missing(tmp_path: Path, write: Write) -> None:
    write("skill/run", "#!/no/such/python\n")
    with pytest.raises(InfraError, match="there is no /no/such/python, which its first line names"):
        await ask(skill_in(tmp_path / "skill", "./run"))
