"""A skill that is an agent: every item has a workspace of its own, and what differs in it afterwards is part of the answer."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from eval_skills.adapters.agent.config import AgentConfig, agent_skills_of, fixtures_of
from eval_skills.adapters.agent.limits import Enough
from eval_skills.adapters.agent.program import Program, launch_of_agent, program_of, version_of
from eval_skills.adapters.agent.runtimes.base import AgentRun
from eval_skills.adapters.agent.runtimes.registry import runtime, runtime_names
from eval_skills.adapters.agent.transcript import Transcript
from eval_skills.adapters.agent.workspace import Workspace, copy_fixtures, read_task
from eval_skills.adapters.call import Call, shield_cleanup
from eval_skills.adapters.config import AdapterConfig, read_config, source_of
from eval_skills.adapters.conversation import Conversation
from eval_skills.adapters.probing import ProbeResult
from eval_skills.adapters.process.lifecycle import ProcessAdapter
from eval_skills.adapters.process.worker import closed_during_the_call
from eval_skills.core.errors import InfraError, InputError
from eval_skills.core.models import Skill, SkillResponse
from eval_skills.core.text import nearest

Done = TypeVar("Done")


@dataclass(slots=True)
class Session:
    """What one item, or all turns of one conversation, have to themselves."""

    workspace: Workspace
    prepared: bool = False
    messages: list[dict[str, Any]] = field(default_factory=list)


class AgentAdapter(ProcessAdapter):
    """Each call starts the agent anew, in a fresh workspace and home, with the files of the task and the Agent Skills installed.

    It is ended, with everything that it started, at the time limit and at its own limits. Preparing the workspace and comparing
    it afterwards take nothing from the item's time. The turns of a conversation share a workspace; an agent that is a program is
    told what was said before.
    """

    config_model: ClassVar[type[AdapterConfig]] = AgentConfig

    def __init__(self, skill: Skill) -> None:
        super().__init__(skill)
        self._config = config = read_config(AgentConfig, skill)
        self.limits = config.limits
        if skill.entrypoint not in runtime_names():
            known = ", ".join(runtime_names())
            message = (
                f"{skill.entrypoint!r} is not a runtime of agents{nearest(skill.entrypoint, runtime_names())}; known are {known}"
            )
            raise InputError(message, source=source_of(skill), path="entrypoint")
        self._runtime = runtime(skill.entrypoint)
        self._skills, self._fixtures = agent_skills_of(skill, config), fixtures_of(skill, config)
        if problem := self._runtime.check(config) or _sandbox_problem(config, needs_network=self._runtime.needs_network):
            raise InputError(problem, source=source_of(skill), path="adapterConfig")
        self._key = _key_of(skill, config)
        self._jobs: set[asyncio.Task[Any]] = set()
        self._closed = False
        self._version: str | None = None

    @classmethod
    def check(cls, skill: Skill) -> None:
        """The configuration, the key, the Agent Skills and the folder of fixtures."""
        cls(skill)

    @classmethod
    def warnings(cls, skill: Skill) -> list[str]:
        """That the agent's program is missing, and how to get it."""
        try:
            program_of(runtime(skill.entrypoint), skill, read_config(AgentConfig, skill))
        except InfraError as error:
            return [f"{skill.key}: {error}"]
        return []

    async def _open(self) -> None:
        program = program_of(self._runtime, self.skill, self._config)
        self._version = await version_of(self._runtime, program)

    async def _close(self) -> None:
        self._closed = True
        for job in self._jobs:
            job.cancel()
        if self._jobs:
            await asyncio.wait(self._jobs)

    async def _probe(self, call: Call) -> ProbeResult:
        """The program is there, and says its version; nothing is asked of it."""
        said = f", version {self._version}" if self._version else ""
        return ProbeResult(f"the agent {self.skill.entrypoint} is there{said}")

    async def _invoke(self, input_data: Any, call: Call) -> SkillResponse:
        call.suspend()
        job = asyncio.ensure_future(self._answer(input_data, call))
        self._jobs.add(job)
        try:
            await asyncio.wait([job])
        except asyncio.CancelledError:
            job.cancel()
            await shield_cleanup(_ended(job))
            raise
        finally:
            self._jobs.discard(job)
        if job.cancelled():
            raise closed_during_the_call()
        return job.result()

    async def _answer(self, input_data: Any, call: Call) -> SkillResponse:
        if self._closed:
            raise closed_during_the_call()
        prompt, files = read_task(input_data)
        async with self._session(call) as session:
            workspace = session.workspace
            transcript = Transcript((skill.name for skill in self._skills), str(workspace.folder))
            transcript.metadata["agent"] = {"runtime": self._runtime.name, "version": self._version}
            run = AgentRun(
                prompt=_with_history(prompt, call),
                workspace=workspace.folder,
                home=workspace.home,
                skills=self._skills,
                config=self._config,
                api_key=self._key,
                program=program_of(self._runtime, self.skill, self._config),
            )

            def prepare() -> Any:
                copy_fixtures(files, self._fixtures, workspace.folder)
                command = self._runtime.prepare(run)
                if not session.prepared:
                    workspace.remember()
                    session.prepared = True
                return launch_of_agent(command, workspace, self.skill, self._config)

            launch = await in_thread(prepare)
            program = Program(self._runtime, launch, transcript, Enough(self._config))
            call.start()
            call.sends()
            call.progress.follow(transcript.response)
            try:
                await program.run()
            finally:
                call.stop()
                call.logs = program.logs()
                await shield_cleanup(self._note_difference(workspace, transcript, call))
            return transcript.response()

    async def _note_difference(self, workspace: Workspace, transcript: Transcript, call: Call) -> None:
        transcript.files, why_unknown = await asyncio.to_thread(workspace.difference)
        if why_unknown:
            call.logs = "\n".join(filter(None, (call.logs, why_unknown)))

    @asynccontextmanager
    async def _session(self, call: Call) -> AsyncIterator[Session]:
        """The session of an item, removed after it; that of a conversation stays until that is over."""
        if call.conversation is not None:
            if call.conversation.state is None:
                call.conversation.state = Session(Workspace.make())
            yield call.conversation.state
            return
        session = Session(Workspace.make())
        try:
            yield session
        finally:
            await shield_cleanup(asyncio.to_thread(session.workspace.remove))

    @asynccontextmanager
    async def _joined(self, conversation: Conversation) -> AsyncIterator[None]:
        try:
            yield
        finally:
            if conversation.state is not None:
                await shield_cleanup(asyncio.to_thread(conversation.state.workspace.remove))


async def in_thread(work: Callable[[], Done]) -> Done:
    """Do `work` in a thread, to its end also where this is cancelled meanwhile: what it writes must not outlive its folder."""
    doing = asyncio.ensure_future(asyncio.to_thread(work))
    await shield_cleanup(_ended(doing))
    return doing.result()


async def _ended(task: asyncio.Future[Any]) -> None:
    await asyncio.wait([task])


def _sandbox_problem(config: AgentConfig, *, needs_network: bool) -> str:
    if config.sandbox.type == "none":
        return ""
    from eval_skills.adapters.sandbox.bubblewrap import why_no_sandbox

    if problem := why_no_sandbox():
        return problem
    if needs_network and not config.network:
        message = "in a sandbox without the network the agent cannot reach its model"
        return f"{message}; allow it with network: true or --sandbox-network all"
    return ""


def _key_of(skill: Skill, config: AgentConfig) -> str | None:
    if config.api_key_env is None:
        return None
    if not (key := os.environ.get(config.api_key_env, "").strip()):
        message = f"the environment variable {config.api_key_env} is not set; set it to the key of the agent's model"
        raise InputError(message, source=source_of(skill), path="adapterConfig.apiKeyEnv")
    return key


def _with_history(prompt: str, call: Call) -> str:
    """The prompt of a turn, after what was said before it."""
    told = call.told
    if not told or not told["history"]:
        return prompt
    said = "\n\n".join(f"User: {read_task(turn['input'])[0]}\n\nYou: {turn['output']}" for turn in told["history"])
    return f"This is what was said so far, and done in this folder:\n\n{said}\n\nUser: {prompt}"
