"""What a skill in the sandbox does not see: folders, answers, and what only root may read."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from pathlib import Path

import pytest

import eval_skills
from eval_skills.adapters.sandbox.bubblewrap import _hidden_folders
from tests.adapters.programs import ONE_SHOT
from tests.adapters.sandboxed import TRY, MakeSkill, ask, needs_sandbox
from tests.tables import each_row


@pytest.mark.parametrize(
    ("cwd", "home", "hidden"),
    [
        pytest.param("project", "home/u", {"project", "home/u"}, id="both"),
        pytest.param("home/u/project", "home/u", {"home/u"}, id="one-inside-the-other"),
        pytest.param("missing", "home/u", {"home/u"}, id="missing"),
    ],
)
def test_what_is_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cwd: str, home: str, hidden: set[str]) -> None:
    from eval_skills.adapters.sandbox import bubblewrap as sandbox

    monkeypatch.setattr(sandbox, "_HIDDEN", ())
    for folder in ("project", "home/u/project"):
        (tmp_path / folder).mkdir(parents=True)
    assert set(_hidden_folders(tmp_path / cwd, tmp_path / home)) == {tmp_path / name for name in hidden}


@each_row("folder", ["/", "/usr", "/usr/lib", "/etc"])
def test_what_the_system_lives_in_is_never_hidden(folder: str) -> None:
    assert Path(folder) not in _hidden_folders(Path(folder), Path("/"))


LOOK = (
    ONE_SHOT
    + TRY
    + """
def cheat():
    import glob
    found = {}
    for root in params:
        for file in sorted(glob.glob(root + "/**/*.json", recursive=True)):
            try:
                found[file] = open(file).read()
            except OSError:
                pass
    return found
"""
)


@pytest.fixture
def all_in_sight(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing is hidden for where it lies: the folders of temporary files are not, and nobody calls from a checkout."""
    from eval_skills.adapters.sandbox import bubblewrap as sandbox

    monkeypatch.setattr(sandbox, "_HIDDEN", ())
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")


@needs_sandbox
async def test_the_built_in_answers_cannot_be_looked_up(all_in_sight: None, program_skill: MakeSkill) -> None:
    from eval_skills.benchmarks.locations import BUILTIN_DIR

    checkout = Path(eval_skills.__file__).parent  # where the rooms are links, the folder has another name, too
    roots = [
        str(BUILTIN_DIR),
        str(BUILTIN_DIR.resolve()),
        str(checkout / "benchmarks"),
        f"{sys.prefix}/lib/python3*/site-packages/eval_skills/benchmarks",
    ]
    assert list(BUILTIN_DIR.glob("*/*.json")), "there would be something to find"
    assert await ask(program_skill(LOOK + "print(reply(cheat()))"), roots) == {}


@needs_sandbox
async def test_what_a_run_hides_is_hidden_and_a_skill_below_it_works(
    all_in_sight: None, tmp_path: Path, program_skill: MakeSkill
) -> None:
    folder = tmp_path / "bench" / "skill"
    (folder / "tests").mkdir(parents=True)
    program = program_skill(LOOK + "print(reply([cheat(), tried(lambda: open('../written', 'w').close())]))")
    shutil.copy(program.folder / "skill.py", folder)  # type: ignore[operator]
    for name in ("bench/answers.json", "bench/skill/own.json", "bench/skill/tests/own.json", "bench/skill/answers.json"):
        (tmp_path / name).write_text("secret")
    hidden = (str(tmp_path / "bench"), str(folder / "tests"), str(folder / "answers.json"))
    seen, _ = await ask(program.located_in(folder), [str(tmp_path / "bench")], hidden=hidden)
    assert list(seen) == [str(folder / "own.json")]
    assert not (tmp_path / "bench" / "written").exists()


@needs_sandbox
@pytest.mark.parametrize("home", ["/tmp/nobody/made/this", "/no/such/home", "/", "/usr/share"])
async def test_the_home_folder_is_there_and_empty_and_ones_own(
    home: str, program_skill: MakeSkill, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", home)
    source = """
        import os
        home = os.path.expanduser("~")
        before = os.listdir(home)
        open(home + "/written", "w").close()
        print(reply([before, os.listdir(home)]))
    """
    before, after = await ask(program_skill(ONE_SHOT + textwrap.dedent(source)))
    assert "written" not in before
    assert "written" in after
    assert not Path(home, "written").exists()


@needs_sandbox
@pytest.mark.skipif(os.geteuid() != 0, reason="the system keeps it from us anyway")
async def test_what_only_root_may_read_is_out_of_sight_for_root_too(program_skill: MakeSkill) -> None:
    source = LOOK + "print(reply([tried(lambda path=path: bool(open(path).read())) for path in params]))"
    paths = [path for path in ("/etc/shadow", "/etc/shadow-", "/etc/gshadow") if Path(path).exists()]
    assert paths
    assert [found[0] for found in await ask(program_skill(source), paths)] == ["failed"] * len(paths)
