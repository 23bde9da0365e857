"""How a skill's program is started: its words, its folder, its environment, its limits."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from eval_skills.adapters.process.adapter import SubprocessAdapter
from eval_skills.adapters.registry import warnings_for
from eval_skills.core.errors import InputError, SkillError
from eval_skills.core.models import Skill
from tests.adapters.programs import ECHO, ONE_SHOT, ask, failure
from tests.adapters.skills import make_skill

MakeSkill = Callable[..., Skill]
Running = Callable[[], list[str]]


async def test_p26_quotes_hold_words_together_and_nothing_is_rewritten(program_skill: MakeSkill) -> None:
    source = ONE_SHOT + "print(reply(sys.argv[1:]))"
    response = await ask(program_skill(source, "'two words' a.b/c $HOME '*' pkg.mod"))
    assert response.output == ["two words", "a.b/c", "$HOME", "*", "pkg.mod"]


async def test_p26_a_module_is_run_by_its_name(program_skill: MakeSkill, tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "mod.py").write_text(ECHO)
    assert (await ask(program_skill("", command=f"{shlex.quote(sys.executable)} -S -m pkg.mod"), 5)).output == 5


async def test_p22_command_and_args_override_the_entrypoint(program_skill: MakeSkill, tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text(ONE_SHOT + "print(reply(sys.argv[1:]))")
    skill = program_skill("raise SystemExit(1)", command=f"{shlex.quote(sys.executable)} -S other.py", args=["a b", "c"])
    assert (await ask(skill)).output == ["a b", "c"]


async def test_p27_the_working_directory_is_the_skills_folder(
    program_skill: MakeSkill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    assert (await ask(program_skill(ONE_SHOT + "print(reply(os.getcwd()))"))).output == str(tmp_path.resolve())


async def test_p70_no_shell_sees_a_folders_name(program_skill: MakeSkill, tmp_path: Path) -> None:
    folder = tmp_path / "$(touch owned);`touch owned`"
    folder.mkdir()
    (folder / "skill.py").write_text(ECHO)
    assert (await ask(program_skill(ECHO).located_in(folder), 1)).output == 1
    assert not list(tmp_path.rglob("owned"))


async def test_p70_no_shell_sees_the_entrypoint(program_skill: MakeSkill, tmp_path: Path) -> None:
    response = await ask(program_skill(ONE_SHOT + "print(reply(sys.argv[1:]))", "; touch owned && $(touch owned) | cat > owned"))
    assert response.output == [";", "touch", "owned", "&&", "$(touch", "owned)", "|", "cat", ">", "owned"]
    assert not (tmp_path / "owned").exists()


async def test_p71_the_environment_is_an_allow_list_seen_from_inside(
    program_skill: MakeSkill, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "BASH_ENV", "ENV", "PYTHONPATH", "WANTED", "LC_TIME"):
        monkeypatch.setenv(name, "/set/by/us")
    skill = program_skill(ONE_SHOT + "print(reply(dict(os.environ)))", env={"MODE": "test"}, passEnv=["WANTED", "NOT_SET"])
    seen = set((await ask(skill)).output) - {"LC_CTYPE"}  # Python itself sets this one in a C locale
    assert seen <= {"PATH", "HOME", "LANG", "TZ", "TMPDIR", "MODE", "WANTED"} | {
        name for name in os.environ if name.startswith("LC_")
    }
    assert {"MODE", "WANTED", "LC_TIME", "PATH"} <= seen


def test_an_open_quote_and_a_missing_folder_are_found_before_the_run(program_skill: MakeSkill) -> None:
    with pytest.raises(InputError, match="entrypoint: cannot be split"):
        SubprocessAdapter.check(program_skill("").model_copy(update={"entrypoint": "python 'x"}))
    data = {"id": "a", "name": "A", "version": "1.0.0", "adapterType": "subprocess", "entrypoint": "x"}
    with pytest.raises(InputError, match="this skill has none"):
        SubprocessAdapter.check(Skill.model_validate(data))


@pytest.mark.slow
async def test_p28_a_memory_limit_strikes_and_is_named(program_skill: MakeSkill) -> None:
    source = ONE_SHOT + "held = bytearray(200_000_000); print(reply(len(held)))"
    assert (await ask(program_skill(source))).output == 200_000_000
    error = await failure(program_skill(source, limits={"memoryMb": 64}))
    assert type(error) is SkillError
    assert str(error).startswith("memory limit of 64 MB reached; raise limits.memoryMb and --memory-mb")
    assert "MemoryError" in str(error)


async def test_p28_reserved_address_space_is_free(program_skill: MakeSkill) -> None:
    source = ONE_SHOT + "import mmap; space = mmap.mmap(-1, 1 << 32, flags=mmap.MAP_PRIVATE | 0x20, prot=0); print(reply(1))"
    assert (await ask(program_skill(source, limits={"memoryMb": 128}))).output == 1


@pytest.mark.slow
async def test_a_cpu_limit_strikes_is_named_and_is_final(program_skill: MakeSkill) -> None:
    error = await failure(program_skill("while True: pass", limits={"cpuSeconds": 1}))
    assert (type(error), error.transient) == (SkillError, False)
    assert str(error).startswith("CPU limit of 1 s reached; raise limits.cpuSeconds and --cpu-seconds")


async def test_limits_hold_for_a_process_that_is_inspected_from_inside(program_skill: MakeSkill) -> None:
    source = ONE_SHOT + "import resource; print(reply([resource.getrlimit(resource.RLIMIT_CPU)[0]]))"
    assert (await ask(program_skill(source, limits={"cpuSeconds": 77}))).output == [77]


def test_a_placeholder_that_a_program_would_get_as_it_is_written_is_a_warning(tmp_path: Path) -> None:
    config = {"args": ["--say", "{{ input.q }}", "{{name}}"], "env": {"Q": "{{conversation.id}}", "PLAIN": "{input}"}}
    places = [
        warning.partition(" has a placeholder")[0] for warning in warnings_for(make_skill("subprocess", "cat", config, tmp_path))
    ]
    assert places == ["probe@1.2.3: adapterConfig.args[1]", "probe@1.2.3: adapterConfig.env.Q"]
    commanded = make_skill("subprocess", "cat {{input}}", {"command": "cat"}, tmp_path)
    assert warnings_for(commanded) == []
    assert len(warnings_for(commanded.model_copy(update={"adapter_config": {}}))) == 1
