"""An agent that is any program: what it is given, what is read of it, and how its run ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters import check_skill, open_adapter, secrets_of, warnings_for
from eval_skills.core.errors import ContractError, InfraError, InputError, ItemError, SkillCrashed, SkillError, SkillTimeout
from eval_skills.core.models import WorkspaceFile
from tests.adapters.agent.agents import agent_skill, answered, failed, program_agent
from tests.adapters.skills import make_skill

LOOKS_AROUND = """
files = sorted(os.path.relpath(os.path.join(place, name)) for place, _, names in os.walk(".") for name in names)
say("answer", content=json.dumps({
    "prompt": prompt, "file": open(os.environ["EVAL_SKILLS_PROMPT_FILE"]).read(), "files": files, "env": sorted(os.environ),
    "home": os.listdir(os.environ["HOME"]), "mode": oct(os.stat("..").st_mode & 0o777), "tmp": os.environ["TMPDIR"],
}))
"""


async def test_it_gets_the_prompt_the_files_and_the_skills_and_no_expectations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODEL_KEY", "sk-this-one")
    monkeypatch.setenv("OTHER_KEY", "sk-another")
    agent_skill(tmp_path / "skills")
    (tmp_path / "evals" / "files").mkdir(parents=True)
    (tmp_path / "evals" / "files" / "a.csv").write_text("x,y\n")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "b.csv").write_text("1\n")
    skill = program_agent(
        tmp_path, LOOKS_AROUND, skills=["skills/csv"], apiKeyEnv="MODEL_KEY", model="m", baseUrl="http://127.0.0.1:9"
    )
    response = await answered(skill, {"prompt": "Count.", "files": ["evals/files/a.csv", "data/b.csv"]})
    seen = json.loads(response.output)
    assert (seen["prompt"], seen["file"]) == ("Count.", "Count.")
    assert seen["files"] == [".agents/skills/csv/SKILL.md", ".agents/skills/csv/scripts/count.sh", "a.csv", "data/b.csv"]
    ours = {"EVAL_SKILLS_PROMPT_FILE", "EVAL_SKILLS_MODEL", "EVAL_SKILLS_BASE_URL", "MODEL_KEY", "PATH", "HOME", "LANG", "TMPDIR"}
    of_the_shell = {"PWD", "OLDPWD", "SHLVL", "_", "LC_CTYPE"}
    assert set(seen["env"]) - of_the_shell == ours
    assert (seen["home"], seen["mode"]) == (["prompt.txt"], "0o700")
    assert response.files == []
    assert not Path(seen["tmp"]).exists()  # nothing is left behind


@pytest.mark.parametrize(
    ("asked", "prompt"),
    [
        pytest.param("Count.", "Count.", id="text"),
        pytest.param({"prompt": "Count."}, "Count.", id="prompt"),
        pytest.param({"rows": [1]}, '{"rows": [1]}', id="any-json"),
        pytest.param({"prompt": "Count.", "by": "row"}, '{"prompt": "Count.", "by": "row"}', id="more-than-a-prompt"),
    ],
)
async def test_what_the_task_asks_is_the_prompt(tmp_path: Path, asked: Any, prompt: str) -> None:
    skill = program_agent(tmp_path, 'say("answer", content=prompt)')
    assert (await answered(skill, asked)).output == prompt


@pytest.mark.parametrize(
    ("files", "message"),
    [
        pytest.param(["../secret"], "is not below", id="above"),
        pytest.param(["/etc/passwd"], "is not below", id="absolute"),
        pytest.param(["x/../../secret"], "is not below", id="above-in-the-middle"),
        pytest.param(["link"], "is not below", id="a-link-out"),
        pytest.param(["none"], "there is no 'none'", id="missing"),
        pytest.param("a.csv", "is not a list of names", id="no-list"),
    ],
)
async def test_fixtures_stay_in_their_folder(tmp_path: Path, files: Any, message: str) -> None:
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "fixtures" / "link").symlink_to("/etc/passwd")
    (tmp_path / "secret").write_text("42")
    skill = program_agent(tmp_path, 'say("answer", content="?")', fixtures="fixtures")
    error, known = await failed(skill, {"prompt": "Count.", "files": files})
    assert isinstance(error, InfraError)
    assert message in str(error)
    assert known.tool_calls == []


@pytest.mark.slow
async def test_what_it_reports_is_the_response(tmp_path: Path) -> None:
    agent_skill(tmp_path / "skills")
    source = """
    print("starting")
    say("step")
    say("message", role="assistant", content="I look first.")
    say("tool_call", id="c1", name="bash", arguments={"command": "cat .agents/skills/csv/SKILL.md"})
    say("tool_result", id="c1", result="Count the rows.")
    say("tool_call", id="c2", name="pay", arguments={"chf": 5})
    say("tool_result", id="c2", error="refused")
    say("usage", promptTokens=900, completionTokens=40, costUsd=0.001)
    say("usage", promptTokens=100, completionTokens=2, costUsd=0.002)
    say("skill_loaded", name="unknown")
    print('{"type": "message"}')
    say("step")
    open("out.txt", "w").write("12")
    say("answer", content="12 rows")
    """
    response = await answered(program_agent(tmp_path, source, skills=["skills/csv"]))
    assert response.output == "12 rows"
    assert [(call.name, call.result, call.error) for call in response.tool_calls or []] == [
        ("bash", "Count the rows.", None),
        ("pay", None, "refused"),
    ]
    assert response.messages is not None
    assert [message["role"] for message in response.messages] == ["assistant", "tool", "tool"]
    assert response.usage is not None
    assert (response.usage.prompt_tokens, response.usage.completion_tokens, response.cost_usd) == (1000, 42, 0.003)
    assert (response.steps, response.skills_loaded) == (2, ["csv"])
    assert [(file.path, file.change, file.content) for file in response.files or []] == [("out.txt", "added", "12")]
    assert "starting" in response.logs
    assert '{"type": "message"}' in response.logs


async def test_an_agent_that_reports_nothing_leaves_open_what_it_did(tmp_path: Path) -> None:
    response = await answered(program_agent(tmp_path, 'say("answer", content="done")'))
    assert (response.tool_calls, response.skills_loaded, response.steps) == (None, None, None)


BEFORE_ITS_END = """
open("half.txt", "w").write("half")
say("tool_call", id="c1", name="pay", arguments={"chf": 5})
say("usage", promptTokens=7, costUsd=0.5)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("end", "config", "kind", "message"),
    [
        pytest.param("sys.exit(3)", {}, SkillCrashed, "ended without an answer (exit code 3)", id="exit-code"),
        pytest.param("sys.exit(127)", {}, SkillCrashed, "ended without an answer (exit code 127)", id="127"),
        pytest.param("os.kill(os.getpid(), 9)", {}, SkillCrashed, "SIGKILL", id="killed"),
        pytest.param("", {}, ContractError, "ended without an answer (exit code 0)", id="no-answer"),
        pytest.param("time.sleep(600)", {}, SkillTimeout, "no answer within", id="timeout"),
        pytest.param("while True: say('step')", {"maxSteps": 3}, SkillError, "within 3 turns of its model", id="steps"),
        pytest.param("time.sleep(600)", {"maxCostUsd": 0.4}, SkillError, "has cost $0.5, more than", id="cost"),
        pytest.param(
            "while True: say('message', role='assistant', content='x' * 999)", {"maxOutputBytes": 5000}, ContractError,
            "what the agent reported has more than 5,000 bytes", id="flood-of-events",
        ),
    ],
)  # fmt: skip
async def test_what_it_did_before_its_end_is_known(
    tmp_path: Path, end: str, config: dict[str, Any], kind: type[ItemError], message: str
) -> None:
    skill = program_agent(tmp_path, f"{BEFORE_ITS_END}{end}", **config)
    error, known = await failed(skill, timeout_s=2.0 if kind is SkillTimeout else 60.0)
    assert type(error) is kind
    assert message in str(error)
    assert [call.name for call in known.tool_calls or []] == ["pay"]
    assert known.usage is not None
    assert (known.usage.prompt_tokens, known.cost_usd) == (7, 0.5)
    assert [(file.path, file.content) for file in known.files or []] == [("half.txt", "half")]


async def test_it_is_ended_once_a_skill_is_loaded(tmp_path: Path) -> None:
    agent_skill(tmp_path / "skills")
    source = """
    say("tool_call", id="c1", name="skill", arguments={"name": "csv"})
    time.sleep(600)
    """
    response = await answered(program_agent(tmp_path, source, skills=["skills/csv"], stopWhenSkillLoaded=True))
    assert (response.skills_loaded, response.finish_reason, response.output) == (["csv"], "skill_loaded", None)


@pytest.mark.slow
async def test_the_turns_of_a_conversation_share_a_workspace(tmp_path: Path) -> None:
    source = """
    open("notes.txt", "a").write("x")
    say("answer", content=f"{open('notes.txt').read()} {prompt.count('User:')}")
    """
    async with open_adapter(program_agent(tmp_path, source)) as adapter:
        async with adapter.conversation() as talk:
            first = await talk.call("One.", 60.0)
            second = await talk.call("Two.", 60.0)
        alone = await adapter.call("Three.", 60.0)
    assert [each.output for each in (first, second, alone)] == ["x 0", "xx 2", "x 0"]
    assert [file.content for file in second.files or []] == ["xx"]


@pytest.mark.slow
async def test_in_a_later_turn_nothing_is_written_through_a_link_of_the_agent(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("whole")
    (tmp_path / "a.csv").write_text("x")
    agent_skill(tmp_path / "skills")
    source = f"""
    import shutil
    for place in (os.environ["EVAL_SKILLS_PROMPT_FILE"], "a.csv"):
        if os.path.lexists(place):
            os.remove(place)
        os.symlink({str(tmp_path / "victim")!r}, place)
    if not os.path.islink(".agents"):
        shutil.rmtree(".agents")
        os.symlink({str(tmp_path)!r}, ".agents")
    say("answer", content="done")
    """
    async with open_adapter(program_agent(tmp_path, source, skills=["skills/csv"])) as adapter, adapter.conversation() as talk:
        await talk.call({"prompt": "One.", "files": ["a.csv"]}, 60.0)
        await talk.call("Two.", 60.0)
        with pytest.raises(InfraError, match="the agent has put a link in its place"):
            await talk.call({"prompt": "Three.", "files": ["a.csv"]}, 60.0)
    assert (tmp_path / "victim").read_text() == "whole"
    assert sorted(path.name for path in (tmp_path / "skills").iterdir()) == ["csv"]


@pytest.mark.parametrize(
    ("entrypoint", "config", "message"),
    [
        pytest.param(
            "costum", {}, "'costum' is not a runtime of agents (did you mean 'custom'?); known are builtin, ", id="runtime"
        ),
        pytest.param("custom", {}, "has no program of its own; name one in adapterConfig.command", id="no-command"),
        pytest.param("custom", {"command": "x", "skills": ["none"]}, "adapterConfig.skills[0]", id="no-skill"),
        pytest.param(
            "custom", {"command": "x", "skills": ["csv", "./csv"]}, "has the name 'csv', and so has csv", id="two-of-a-name"
        ),
        pytest.param("custom", {"command": "x", "fixtures": "none"}, "there is no folder", id="no-fixtures"),
        pytest.param("custom", {"command": "x", "apiKeyEnv": "NOT_SET_HERE"}, "NOT_SET_HERE is not set", id="no-key"),
        pytest.param("custom", {"command": "x", "maxStep": 3}, "did you mean 'maxSteps'?", id="misspelt"),
        pytest.param("builtin", {}, "needs a model; name it as PROVIDER/MODEL", id="no-model"),
    ],
)
def test_bad_configurations_are_named_before_the_first_call(
    tmp_path: Path, entrypoint: str, config: dict[str, Any], message: str
) -> None:
    agent_skill(tmp_path)
    with pytest.raises(InputError) as caught:
        check_skill(make_skill("agent", entrypoint, config, tmp_path))
    assert message in str(caught.value)


async def test_a_missing_program_is_a_warning_and_every_item_says_so(tmp_path: Path) -> None:
    skill = make_skill("agent", "custom", {"command": "no-such-agent --now"}, tmp_path)
    check_skill(skill)
    assert warnings_for(skill) == ["probe@1.2.3: there is no program 'no-such-agent'; adapterConfig.command names it"]
    error, known = await failed(skill)
    assert isinstance(error, InfraError)
    assert known.tool_calls == []


def test_the_address_of_a_model_is_the_same_for_every_item(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="baseUrl has a placeholder"):
        check_skill(make_skill("agent", "custom", {"command": "cat", "baseUrl": "http://h/{{input.q}}"}, tmp_path))


def test_what_can_change_unseen_is_a_warning(tmp_path: Path) -> None:
    agent_skill(tmp_path / "shared")
    (tmp_path / "own").mkdir()
    warned = warnings_for(program_agent(tmp_path / "own", "", skills=["../shared/csv"]))
    assert [text.split(",")[0] for text in warned] == ["probe@1.2.3: ../shared/csv lies outside of its folder"]
    agent_skill(tmp_path / "own")
    assert warnings_for(program_agent(tmp_path / "own", "", skills=["csv"])) == []


def test_the_key_is_a_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_KEY", "sk-this-one")
    assert secrets_of(program_agent(tmp_path, "", apiKeyEnv="MODEL_KEY")) == {"MODEL_KEY": "sk-this-one"}


def test_the_usual_key_of_a_model_is_one_where_none_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-usual")
    assert secrets_of(make_skill("agent", "builtin", {"model": "openai/gpt-4o-mini"}, tmp_path)) == {"OPENAI_API_KEY": "sk-usual"}


def test_content_of_a_file_is_there_as_bytes() -> None:
    assert WorkspaceFile(path="a", change="added", content="/wA=", encoding="base64").data == b"\xff\x00"
    assert WorkspaceFile(path="a", change="added", content="é").data == "é".encode()
    assert WorkspaceFile(path="a", change="deleted").data is None
