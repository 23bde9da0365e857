"""Every kind of skill works in the sandbox, whatever interpreter or program it starts."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from eval_skills.core.errors import InfraError, ItemError, SkillError
from tests.adapters.greedy import KINDS, asked_for, greedy_skill
from tests.adapters.programs import ONE_SHOT
from tests.adapters.sandboxed import MakeSkill, ask, needs_sandbox


@needs_sandbox
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[pytest.mark.slow] if kind in {"mcp", "langchain"} else [])
        for kind in KINDS
        if kind != "forked"  # its items would share one sandbox, which is refused
    ],
)
async def test_every_kind_of_skill_works_in_it(kind: str, tmp_path: Path) -> None:
    skill = greedy_skill(kind, tmp_path / "a skill's $(folder)", **({"network": True} if kind == "http" else {}))
    assert await ask(skill, asked_for(kind, "little")) == "modest"


@needs_sandbox
@pytest.mark.slow
async def test_limits_hold_in_it(tmp_path: Path) -> None:
    with pytest.raises(SkillError, match="CPU limit of 1 s reached"):
        await ask(greedy_skill("fresh", tmp_path / "skill"), "cpu", cpu_seconds=1)
    with pytest.raises(SkillError, match="limit of 64 open files reached"):
        await ask(greedy_skill("custom", tmp_path / "skill"), "files", open_files=64)


@needs_sandbox
async def test_a_program_that_is_missing_is_named(program_skill: MakeSkill) -> None:
    skill = program_skill("").model_copy(update={"entrypoint": "no-such-program"})
    with pytest.raises(InfraError, match=r"could not be started.*no-such-program") as caught:
        await ask(skill)
    assert not caught.value.transient


@needs_sandbox
async def test_an_interpreter_of_ones_own_is_visible(tmp_path: Path, program_skill: MakeSkill) -> None:
    """As a virtual environment has it: a folder with ``bin``, and in it a link to an interpreter elsewhere."""
    home = tmp_path / "venv"
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "python").symlink_to(os.path.realpath(sys.executable))
    (home / "pyvenv.cfg").write_text(f"home = {Path(os.path.realpath(sys.executable)).parent}\n")
    folder = tmp_path / "skill"
    folder.mkdir()
    shutil.copy(program_skill(ONE_SHOT + "print(reply(sys.prefix))").folder / "skill.py", folder)  # type: ignore[operator]
    entrypoint = f"{shlex.quote(str(home / 'bin' / 'python'))} skill.py"
    skill = program_skill("").model_copy(update={"entrypoint": entrypoint}).located_in(folder)
    assert await ask(skill) == str(home)


@needs_sandbox
async def test_a_failure_to_load_is_told_as_ever(tmp_path: Path, python_skill: MakeSkill) -> None:
    with pytest.raises(ItemError, match="there is no module 'missing'"):
        await ask(python_skill("", "missing:run"))


@needs_sandbox
async def test_a_shim_finds_the_program_that_it_stands_for(
    tmp_path: Path, program_skill: MakeSkill, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As managers of versions have it: a script on PATH that starts the one that was chosen."""
    manager = tmp_path / "manager"
    for name, text in {
        "shims/tool": '#!/bin/sh\nexec "${0%/*}/../libexec/tool" "$@"\n',
        "libexec/tool": "#!/bin/sh\nread line\n",
    }.items():
        (manager / name).parent.mkdir(parents=True)
        (manager / name).write_text(text + """printf '{"jsonrpc": "2.0", "id": 1, "result": "found"}\\n'\n""")
        (manager / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{manager / 'shims'}:{os.environ['PATH']}")
    folder = tmp_path / "skill"
    folder.mkdir()
    skill = program_skill("").model_copy(update={"entrypoint": "tool"}).located_in(folder)
    assert await ask(skill) == "found"
