"""What a hostile skill can do inside the sandbox: nothing that lasts, and little that it can see."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from eval_skills.adapters import Adapter, Confinement, check_skill, open_adapter
from eval_skills.adapters.sandbox import _hidden_folders, why_no_sandbox
from eval_skills.core.errors import InfraError, InputError, ItemError, SkillError, SkillTimeout, UsageError
from eval_skills.core.models import Skill
from tests.adapters.greedy import KINDS, asked_for, greedy_skill
from tests.adapters.programs import ONE_SHOT, PATIENCE_S, in_time

MakeSkill = Callable[..., Skill]

needs_sandbox = pytest.mark.skipif(bool(why_no_sandbox()), reason=f"no sandbox here: {why_no_sandbox()}")
HELD = Confinement(sandbox="bwrap")

TRY = """
def tried(attempt):
    try:
        return ["did", attempt()]
    except OSError as error:
        return ["failed", error.errno]
"""

FAMILY = """
import subprocess
def leave(mark):
    daemon = "import os, subprocess, sys; os.setsid(); subprocess.Popen(['sleep', sys.argv[1]])"
    subprocess.run([sys.executable, "-S", "-c", daemon, mark])
    subprocess.Popen(["sleep", mark], start_new_session=True)
    return "left"
"""


def sandboxed(skill: Skill, **more: Any) -> Adapter:
    return open_adapter(skill, confinement=Confinement(**{"sandbox": "bwrap", **more}))


async def ask(skill: Skill, params: Any = None, timeout_s: float = PATIENCE_S, **more: Any) -> Any:
    async with sandboxed(skill, **more) as adapter:
        return (await adapter.call(params, timeout_s)).output


def sleeping(mark: str) -> list[str]:
    """The processes that still sleep for `mark` seconds; waits for a moment for none."""
    end = time.monotonic() + 30
    while (found := _sleeping(mark)) and time.monotonic() < end:
        time.sleep(0.01)
    return found


def _sleeping(mark: str) -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[:2] == [b"sleep", mark.encode()]:
            found.append(process.name)
    return found


@pytest.fixture
def mark() -> str:
    """A time to sleep that nobody else sleeps for."""
    return f"600.{time.time_ns()}"


@needs_sandbox
async def test_p73_a_hostile_skill_sees_and_changes_nothing(program_skill: MakeSkill, tmp_path_factory: Any) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "secret").write_text("of the user")
    private = Path(f"/tmp/written-{time.time_ns()}")
    source = f"""
        places = ["~", "/run", {str(elsewhere)!r}, {str(Path.cwd())!r}]
        seen = {{
            "files": [tried(lambda: sorted(os.listdir(os.path.expanduser(place)))) for place in places],
            "secret": tried(lambda: open({str(elsewhere / "secret")!r}).read()),
            "root": tried(lambda: open("/written-by-a-skill", "w").close()),
            "system": tried(lambda: open("/usr/written-by-a-skill", "w").close()),
            "beside": tried(lambda: open("written", "w").close()),
            "own": sorted(os.listdir(".")),
            "tmp": tried(lambda: open({str(private)!r}, "w").close()),
            "processes": [int(name) for name in os.listdir("/proc") if name.isdigit()],
        }}
        print(reply(seen))
    """
    seen = await ask(program_skill(ONE_SHOT + TRY + textwrap.dedent(source)))
    for found in seen["files"]:
        assert "secret" not in found[1] if found[0] == "did" else True
        assert not {"README.md", "pyproject.toml", "tests", "benchmarks", "eval-store"} & set(
            found[1] if found[0] == "did" else ()
        )
    assert seen["secret"][0] == seen["root"][0] == seen["system"][0] == seen["beside"][0] == "failed"
    assert seen["own"] == ["skill.py"]
    assert seen["tmp"][0] == "did"
    assert not private.exists()
    assert len(seen["processes"]) <= 3


@needs_sandbox
@pytest.mark.parametrize(
    ("declared", "allowed", "reached"),
    [
        pytest.param(False, "declared", False, id="by-default"),
        pytest.param(True, "declared", True, id="declared-by-the-skill"),
        pytest.param(True, "none", False, id="declared-and-refused"),
        pytest.param(False, "all", True, id="allowed-to-all"),
    ],
)
async def test_p73_the_network_is_there_for_whom_it_is_allowed(
    program_skill: MakeSkill, server: Any, declared: bool, allowed: str, reached: bool
) -> None:
    source = (
        ONE_SHOT + TRY + "import socket\nprint(reply(tried(lambda: bool(socket.create_connection(('127.0.0.1', params), 10)))))"
    )
    skill = program_skill(source, **({"network": True} if declared else {}))
    seen = await ask(skill, urlsplit(server.url).port, sandbox_network=allowed)
    assert seen[0] == ("did" if reached else "failed")


@needs_sandbox
async def test_nothing_outlives_the_answer_not_even_a_daemon(program_skill: MakeSkill, mark: str) -> None:
    assert await ask(program_skill(ONE_SHOT + FAMILY + "print(reply(leave(params)))"), mark) == "left"
    assert sleeping(mark) == []


@needs_sandbox
async def test_a_timeout_ends_the_whole_tree(program_skill: MakeSkill, mark: str, tmp_path: Path) -> None:
    skill = program_skill(
        ONE_SHOT + FAMILY + "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\nleave(params)\ntime.sleep(600)"
    )

    async def timed_out(limit_s: float) -> bool:
        async with sandboxed(skill) as adapter:
            call = adapter.call(mark, limit_s)
            with pytest.raises(SkillTimeout):
                await call
        return True

    assert await in_time(timed_out, bool)
    assert sleeping(mark) == []


@needs_sandbox
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.slow] if kind in {"mcp", "langchain"} else []) for kind in KINDS]
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
async def test_a_skill_may_ask_for_it_itself_and_no_caller_takes_it_away(program_skill: MakeSkill) -> None:
    skill = program_skill(ONE_SHOT + TRY + "print(reply(tried(lambda: open('written', 'w').close())))", sandbox="bwrap")
    async with open_adapter(skill, confinement=Confinement(sandbox="none")) as adapter:
        assert (await adapter.call(None, PATIENCE_S)).output[0] == "failed"


@needs_sandbox
async def test_a_program_that_is_missing_is_named(program_skill: MakeSkill) -> None:
    skill = program_skill("").model_copy(update={"entrypoint": "no-such-program"})
    with pytest.raises(InfraError, match=r"could not be started.*no-such-program") as caught:
        await ask(skill)
    assert not caught.value.transient


@needs_sandbox
def test_a_service_that_could_not_be_reached_is_refused_before_it_starts(tmp_path: Path) -> None:
    skill = greedy_skill("http", tmp_path / "skill")
    with pytest.raises(
        InputError, match=r"adapterConfig.serve: .*cannot be reached; .*adapterConfig.network: true or --sandbox-network"
    ):
        check_skill(skill, confinement=HELD)
    check_skill(skill, confinement=Confinement(sandbox="bwrap", sandbox_network="all"))


@needs_sandbox
def test_p73_a_plug_in_that_no_sandbox_could_hold_is_refused(monkeypatch: pytest.MonkeyPatch, program_skill: MakeSkill) -> None:
    from eval_skills.adapters import register_adapter, registry
    from tests.adapters.test_registry import Constant

    monkeypatch.setattr(registry, "_ADAPTERS", dict(registry._ADAPTERS))
    register_adapter("inside", Constant)
    skill = program_skill("").model_copy(update={"adapter_type": "inside"})
    check_skill(skill)
    with pytest.raises(InputError, match="'inside' is a plug-in that runs inside eval-skills"):
        check_skill(skill, confinement=HELD)


def test_without_bubblewrap_it_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program_skill: MakeSkill) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match=r"^--sandbox bwrap: there is no bwrap on PATH; install bubblewrap"):
        HELD.check()
    with pytest.raises(InputError, match=r"adapterConfig.sandbox: there is no bwrap on PATH"):
        check_skill(program_skill("", sandbox="bwrap"))


def test_where_it_does_not_work_the_reason_is_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(
        UsageError, match=r"does not work here \(bwrap: No permissions to create new namespace\); user namespaces"
    ):
        HELD.check()


@pytest.mark.parametrize(
    ("cwd", "home", "hidden"),
    [
        pytest.param("project", "home/u", {"project", "home/u"}, id="both"),
        pytest.param("home/u/project", "home/u", {"home/u"}, id="one-inside-the-other"),
        pytest.param("missing", "home/u", {"home/u"}, id="missing"),
    ],
)
def test_what_is_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cwd: str, home: str, hidden: set[str]) -> None:
    from eval_skills.adapters import sandbox

    monkeypatch.setattr(sandbox, "_HIDDEN", ())
    for folder in ("project", "home/u/project"):
        (tmp_path / folder).mkdir(parents=True)
    assert set(_hidden_folders(tmp_path / cwd, tmp_path / home)) == {tmp_path / name for name in hidden}


@pytest.mark.parametrize("folder", ["/", "/usr", "/usr/lib", "/etc"])
def test_what_the_system_lives_in_is_never_hidden(folder: str) -> None:
    assert Path(folder) not in _hidden_folders(Path(folder), Path("/"))


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
    from eval_skills.adapters import sandbox

    monkeypatch.setattr(sandbox, "_HIDDEN", ())
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")


@needs_sandbox
async def test_the_built_in_answers_cannot_be_looked_up(all_in_sight: None, program_skill: MakeSkill) -> None:
    from eval_skills.benchmarks.locations import BUILTIN_DIR

    roots = [str(BUILTIN_DIR), f"{sys.prefix}/lib/python3*/site-packages/eval_skills/benchmarks"]
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
