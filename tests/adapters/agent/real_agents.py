"""Real agents against a scripted model: where their programs are, and the same items for each of them."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil
import pytest

from eval_skills.adapters.base import Adapter
from eval_skills.adapters.registry import open_adapter
from eval_skills.core.errors import ItemError
from eval_skills.core.models import Skill, SkillResponse, Usage
from tests.adapters.agent.model_server import AgentModel, Asked, Turn, uses
from tests.adapters.skills import make_skill

KEY, MARKER = "k-1234567890", "marker-of-the-caller"
BODY = "Say Good day and the NAME."
SKILL = f"---\nname: greeter\ndescription: Greets people politely. Use when somebody wants a greeting.\n---\n{BODY}\n"
TOO_LONG_S = 240.0
"""Only ends a hang."""


@dataclass(frozen=True, kw_only=True)
class RealAgent:
    """One agent: the variable that may name its program, how it is installed, and how its model calls its tools."""

    runtime: str
    program: str
    package: str
    shell: Callable[[str], Turn]
    load: Turn
    root_address: bool = False
    settings: dict[str, Any] = field(default_factory=dict)

    def command(self) -> str:
        """The program that the variable names, else that of PATH; skips where there is none."""
        variable = f"TEST_{self.runtime.upper()}"
        found = os.environ.get(variable) or shutil.which(self.program)
        if not found:
            pytest.skip(f"set {variable} to the program, or put {self.program} on PATH (npm install -g {self.package})")
        return found

    def skill(self, model: AgentModel, folder: Path, *skills: str, **config: Any) -> Skill:
        """An agent with these Agent Skills, whose model and whose way to anywhere else is `model`."""
        proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), model.root)
        settings = {
            "model": "m",
            "apiKeyEnv": "KEY_OF_THE_TEST",
            "baseUrl": model.root if self.root_address else model.url,
            "skills": list(skills),
            "env": {**proxies, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"},
            "command": self.command(),
        }
        return make_skill("agent", self.runtime, settings | config, folder)


OPENCODE = RealAgent(
    runtime="opencode",
    program="opencode",
    package="opencode-ai",
    shell=lambda command: uses("bash", command=command, description="runs a command"),
    load=uses("skill", name="greeter"),
)
CODEX = RealAgent(
    runtime="codex",
    program="codex",
    package="@openai/codex",
    shell=lambda command: uses("exec_command", cmd=command),
    load=uses("exec_command", cmd="cat ~/.codex/skills/greeter/SKILL.md"),
)
GEMINI = RealAgent(
    runtime="gemini",
    program="gemini",
    package="@google/gemini-cli",
    shell=lambda command: uses("run_shell_command", command=command, description="runs a command"),
    load=uses("activate_skill", name="greeter"),
    root_address=True,
)


@dataclass
class Played:
    """What came of the items, by their prompts."""

    model: AgentModel
    answers: dict[str, SkillResponse | ItemError]

    def response(self, prompt: str) -> SkillResponse:
        answer = self.answers[prompt]
        assert isinstance(answer, SkillResponse), answer
        return answer

    def error(self, prompt: str) -> ItemError:
        answer = self.answers[prompt]
        assert isinstance(answer, ItemError), answer
        return answer

    def asked(self, prompt: str) -> list[Asked]:
        return self.model.asked(prompt)


@contextmanager
def callers_environment() -> Iterator[None]:
    """What no agent may see, and the key that it may."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SECRET_OF_THE_CALLER", MARKER)
        patch.setenv("KEY_OF_THE_TEST", KEY)
        yield


def greeter(folder: Path) -> None:
    """An Agent Skill in `folder`, and a file of tasks."""
    (folder / "greeter" / "evals").mkdir(parents=True)
    (folder / "greeter" / "SKILL.md").write_text(SKILL)
    (folder / "greeter" / "evals" / "evals.json").write_text('{"expected": "what-is-expected"}')
    (folder / "names.csv").write_text("name\nAda\n")


async def play(agent: RealAgent, folder: Path, scripts: dict[str, tuple[Turn, ...]]) -> Played:
    """Run an item for each prompt at the same time, that of ``TASK-WITHOUT`` without the Agent Skill, and one to give up."""
    greeter(folder)
    with callers_environment(), AgentModel() as model:
        for prompt, turns in scripts.items():
            model.script(prompt, *turns)
        skilled, bare = agent.skill(model, folder, "greeter"), agent.skill(model, folder)
        async with open_adapter(skilled) as having, open_adapter(bare) as lacking:

            async def one(prompt: str) -> SkillResponse | ItemError:
                try:
                    adapter = lacking if prompt == "TASK-WITHOUT" else having
                    return await adapter.call({"prompt": prompt, "files": ["names.csv"]}, TOO_LONG_S)
                except ItemError as error:
                    return error

            doing = [one(prompt) for prompt in scripts]
            found, _ = await asyncio.gather(asyncio.gather(*doing), gives_up(agent, having, model))
        return Played(model, dict(zip(scripts, found, strict=True)))


def working(agent: RealAgent) -> tuple[Turn, ...]:
    """It loads the skill, looks around and writes a file, and answers."""
    look = agent.shell("env; ls; find . ~ -name evals.json; cat names.csv; echo hello > new.txt; cat missing.txt")
    return (agent.load, look, Turn("Good day, Ada."))


def has_worked(agent: RealAgent, played: Played, prompt: str) -> None:
    """All that an item of `working` has to show for it."""
    response, requests = played.response(prompt), played.asked(prompt)
    assert response.output == "Good day, Ada."
    assert response.skills_loaded == ["greeter"]
    assert response.steps == 3
    assert response.usage == Usage(prompt_tokens=300, completion_tokens=60)
    assert response.cost_usd is None  # the price of a scripted model is unknown
    assert [(file.path, file.change, file.content) for file in response.files or ()] == [("new.txt", "added", "hello\n")]
    loading, looking = list(response.tool_calls or ())
    assert loading.error is looking.error is None
    assert looking.arguments["command"].startswith("env; ls;")
    assert "Ada" in looking.result
    assert "No such file" in looking.result
    assert [message["role"] for message in response.messages or ()] == ["assistant", "tool", "assistant", "tool", "assistant"]
    listed, loaded = requests[0].text, requests[1].text
    assert "Greets people politely" in listed
    assert BODY not in listed
    assert BODY in loaded
    sees_nothing_else(played, looking.result)
    key = {name: value for name, value in requests[0].headers.items() if KEY in value}
    assert list(key) in (["authorization"], ["x-goog-api-key"])


def sees_nothing_else(played: Played, environment: str) -> None:
    """Nothing of the caller's environment or of what is expected, and nobody but the model was asked for anything."""
    assert "PATH=" in environment
    assert "HOME=" in environment
    assert "evals.json" not in environment.replace("-name evals.json", "")
    everything = json.dumps([asked.body for asked in played.model.turns])
    assert MARKER not in everything
    assert "what-is-expected" not in everything
    elsewhere = [f"{asked.path} {asked.text[:200]}" for asked in played.model.strays]
    assert not elsewhere, elsewhere


def sleeping(agent: RealAgent) -> tuple[Turn, str]:
    """A turn that leaves programs behind which sleep, and the word by which they are found."""
    word = f"99{uuid4().int % 10**9}"
    return agent.shell(f"(setsid sleep {word} &) ; nohup sleep {word} & sleep {word}"), word


def asleep(word: str) -> list[psutil.Process]:
    """The programs of `sleeping` that run."""
    return [process for process in psutil.process_iter(["cmdline"]) if process.info["cmdline"] == ["sleep", word]]


async def until(condition: Callable[[], object]) -> None:
    """Return as soon as the condition holds."""
    end = time.monotonic() + TOO_LONG_S
    while not condition():
        assert time.monotonic() < end
        await asyncio.sleep(0.05)


async def gives_up(agent: RealAgent, adapter: Adapter, model: AgentModel) -> None:
    """An item whose agent has left programs asleep is given up: none of them outlives it."""
    turn, word = sleeping(agent)
    model.script("TASK-GIVE-UP", turn)
    call = asyncio.ensure_future(adapter.call("TASK-GIVE-UP", TOO_LONG_S))
    await until(lambda: len(asleep(word)) == 3 or call.done())
    assert not call.done(), call.result()
    call.cancel()
    await asyncio.wait([call])
    assert asleep(word) == []
