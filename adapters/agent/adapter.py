"""A skill that is an agent: every item has a workspace of its own, and what differs in it afterwards is part of the answer."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import Any, ClassVar, TypeVar
from weakref import WeakKeyDictionary

from eval_skills.adapters.agent.builtin.files import WorkspaceFiles
from eval_skills.adapters.agent.builtin.loop import Loop
from eval_skills.adapters.agent.builtin.shell import Shell
from eval_skills.adapters.agent.builtin.tools import Tools
from eval_skills.adapters.agent.config import AgentConfig, agent_skills_of, fixtures_of, outside
from eval_skills.adapters.agent.disk import held_to, unwatched
from eval_skills.adapters.agent.limits import Enough
from eval_skills.adapters.agent.program import Program, hidden_from, launch_of_agent, missing_for, program_of, version_of
from eval_skills.adapters.agent.runtimes.base import AgentRun, AgentRuntime
from eval_skills.adapters.agent.runtimes.registry import BUILTIN, runtime, runtime_names
from eval_skills.adapters.agent.transcript import Transcript
from eval_skills.adapters.agent.workspace import SKILLS_FOLDER, Workspace, copy_fixtures, install_skills, read_task
from eval_skills.adapters.call import Call, shield_cleanup
from eval_skills.adapters.config import read_config, source_of
from eval_skills.adapters.conversation import Conversation
from eval_skills.adapters.probing import ProbeResult
from eval_skills.adapters.process.adapter import ProcessAdapter
from eval_skills.adapters.process.launch import refuse_paths
from eval_skills.adapters.process.worker import closed_during_the_call
from eval_skills.adapters.sandbox.bubblewrap import why_no_sandbox
from eval_skills.core.errors import InfraError, InputError
from eval_skills.core.llm import close_clients, load_with_openai
from eval_skills.core.models import Skill, SkillResponse
from eval_skills.core.temporary import sweep
from eval_skills.core.text import nearest

Done = TypeVar("Done")


@dataclass(slots=True)
class Session:
    """What one item, or all turns of one conversation, have to themselves."""

    workspace: Workspace
    remembered: bool = False
    messages: list[dict[str, Any]] = field(default_factory=list)

    def remember(self) -> None:
        """What is in the workspace when the first turn begins is not part of the difference."""
        if not self.remembered:
            self.workspace.remember()
            self.remembered = True


class AgentAdapter(ProcessAdapter):
    """Each call starts the agent anew, in a fresh workspace and home, with the files of the task and the Agent Skills installed.

    It is ended, with everything that it started, at the time limit and at its own limits. Preparing the workspace and comparing
    it afterwards take nothing from the item's time. The turns of a conversation share a workspace; an agent that is a program is
    told what was said before.
    """

    config_model = AgentConfig
    asks_services: ClassVar[bool] = False

    def __init__(self, skill: Skill) -> None:
        super().__init__(skill)
        self._config = config = read_config(AgentConfig, skill)
        self.limits = config.limits
        try:
            refuse_unusable(skill.entrypoint, config)
        except InputError as error:
            raise InputError(error.message, source=source_of(skill), path=error.path) from None
        self._runtime = None if skill.entrypoint == BUILTIN else runtime(skill.entrypoint)
        self._skills, self._fixtures = agent_skills_of(skill, config), fixtures_of(skill, config)
        refuse_paths(skill, config)
        self._key = _key_of(config)
        self._jobs: set[asyncio.Task[Any]] = set()
        self._closed = False
        self._version: str | None = None
        self._counted = False

    @classmethod
    def check(cls, skill: Skill) -> None:
        """The configuration, the key, the Agent Skills and the folder of fixtures."""
        cls(skill)

    @classmethod
    def warnings(cls, skill: Skill) -> list[str]:
        """That the agent's program, or one that it or we need, is missing, with what to do; and what of it can change unseen."""
        config = read_config(AgentConfig, skill)
        return super().warnings(skill) + [
            f"{skill.key}: {said}" for said in (*outside(skill, config), *_missing(skill, config), *unwatched())
        ]

    async def _open(self) -> None:
        await asyncio.to_thread(sweep)
        if self._runtime is None:
            await asyncio.to_thread(load_with_openai)
            _open_here[asyncio.get_running_loop()] = _open_here.get(asyncio.get_running_loop(), 0) + 1
            self._counted, self._version = True, version("eval-skills")
        else:
            self._version = await version_of(self._runtime, program_of(self._runtime, self.skill, self._config))

    async def _close(self) -> None:
        self._closed = True
        for job in self._jobs:
            job.cancel()
        if self._jobs:
            await asyncio.wait(self._jobs)
        if self._counted:
            self._counted = False
            await _close_clients_of_the_last()

    async def _probe(self, call: Call) -> ProbeResult:
        """The program is there, and said its version when the adapter was opened; nothing is asked of it."""
        said = f" ({self._version})" if self._version else ""
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
            _ = job.cancelled() or job.exception()  # what it raised while it was ended tells nothing more
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
            transcript = Transcript(
                (skill.name for skill in self._skills), str(session.workspace.folder), watched=self._config.watched_skills
            )
            transcript.metadata["agent"] = {"runtime": self.skill.entrypoint, "version": self._version}
            work = await in_thread(lambda: self._work_of(prompt, files, session, transcript, call))
            call.start()
            call.sends()
            call.progress.follow(transcript.response)
            try:
                await held_to(self._config.limits, session.workspace.whole, work.run(), call.stop)
            finally:
                call.stop()
                call.logs = work.logs()
                await shield_cleanup(self._note_difference(session.workspace, transcript, call))
            return transcript.response()

    def _work_of(self, prompt: str, files: Sequence[str], session: Session, transcript: Transcript, call: Call) -> Program | Loop:
        """The work of one call, with everything in place that it needs."""
        workspace, config, agent = session.workspace, self._config, self._runtime
        if session.remembered and agent is not None:  # settings are written there
            workspace.renew_home()
        copy_fixtures(files, self._fixtures, workspace.folder)
        run = AgentRun(
            prompt=prompt,
            workspace=workspace.folder,
            home=workspace.home,
            skills=self._skills,
            config=config,
            api_key=self._key,
        )
        if agent is None:
            return self._loop(run, session, transcript)
        prompted = replace(run, prompt=_with_history(prompt, call), program=program_of(agent, self.skill, config))
        command = agent.prepare(prompted)
        session.remember()
        launch = launch_of_agent(command, prompted.program, workspace, self.skill, config)
        return Program(agent, launch, workspace.home, transcript, Enough(config))

    def _loop(self, run: AgentRun, session: Session, transcript: Transcript) -> Loop:
        workspace, config = session.workspace, self._config
        if self._skills and not session.remembered:
            install_skills(self._skills, workspace.folder / SKILLS_FOLDER)
        session.remember()
        shell = Shell(workspace, config, hidden_from(self.skill, config), sandbox=not why_no_sandbox())
        tools = Tools(WorkspaceFiles(workspace.fd, workspace.folder), shell, self._skills)
        return Loop(run, tools, transcript, Enough(config), session.messages)

    async def _note_difference(self, workspace: Workspace, transcript: Transcript, call: Call) -> None:
        transcript.files, why_unknown = await asyncio.to_thread(workspace.difference)
        _remark(call, why_unknown)

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
            await shield_cleanup(_removed(session.workspace, call))

    @asynccontextmanager
    async def _joined(self, conversation: Conversation) -> AsyncIterator[None]:
        try:
            yield
        finally:
            if conversation.state is not None:
                await shield_cleanup(_removed(conversation.state.workspace))


async def _removed(workspace: Workspace, call: Call | None = None) -> None:
    left = await asyncio.to_thread(workspace.remove)
    if call is not None:
        _remark(call, left)


def _remark(call: Call, said: str) -> None:
    """Add a line to the log of the item; "" is none."""
    call.logs = "\n".join(filter(None, (call.logs, said)))


async def in_thread(work: Callable[[], Done]) -> Done:
    """Do `work` in a thread, to its end also where this is cancelled meanwhile: what it writes must not outlive its folder."""
    doing = asyncio.ensure_future(asyncio.to_thread(work))
    await shield_cleanup(_ended(doing))
    return doing.result()


async def _ended(task: asyncio.Future[Any]) -> None:
    await asyncio.wait([task])


_open_here: WeakKeyDictionary[asyncio.AbstractEventLoop, int] = WeakKeyDictionary()
"""How many adapters of our own agent are open in each event loop: they share the connections to their models."""


async def _close_clients_of_the_last() -> None:
    loop = asyncio.get_running_loop()
    _open_here[loop] -= 1
    if not _open_here[loop]:
        await close_clients()


def _missing(skill: Skill, config: AgentConfig) -> list[str]:
    if skill.entrypoint == BUILTIN:
        return []
    agent = runtime(skill.entrypoint)
    try:
        program_of(agent, skill, config)
    except InfraError as error:
        return [str(error)]
    return missing_for(agent) if config.skills else []


def refuse_unusable(entrypoint: str, config: AgentConfig) -> None:
    """Refuse an agent that cannot work here with its configuration; whether its program is there is another question.

    Raises:
        InputError: with the key that is wrong as its path, and no source.
    """
    if entrypoint not in runtime_names():
        known = ", ".join(runtime_names())
        message = f"{entrypoint!r} is not a runtime of agents{nearest(entrypoint, runtime_names())}; known are {known}"
        raise InputError(message, path="entrypoint")
    if problem := _problem(None if entrypoint == BUILTIN else runtime(entrypoint), config):
        raise InputError(problem, path="adapterConfig")
    _key_of(config)


def _problem(chosen: AgentRuntime | None, config: AgentConfig) -> str:
    """What keeps the agent from working here, as a phrase; "" if nothing does."""
    no_sandbox = why_no_sandbox() if chosen is None or config.sandbox.type != "none" else ""
    if chosen is None:
        if config.model is None:
            return (
                "the runtime builtin needs a model; name it as PROVIDER/MODEL, such as openai/gpt-4o-mini, in adapterConfig.model"
            )
        if no_sandbox and not (config.allow_unsandboxed and config.sandbox.type == "none"):
            return f"the agent's commands run in a sandbox: {no_sandbox} (adapterConfig.allowUnsandboxed: true)"
        return ""
    if problem := chosen.check(config) or no_sandbox:
        return problem
    if config.sandbox.type != "none" and chosen.needs_network and not config.network:
        message = "in a sandbox without the network the agent cannot reach its model"
        return f"{message}; allow it with adapterConfig.network: true or --sandbox-network all"
    return ""


def _key_of(config: AgentConfig) -> str | None:
    if config.api_key_env is None:
        return None
    if not (key := os.environ.get(config.api_key_env, "").strip()):
        message = f"the environment variable {config.api_key_env} is not set; set it to the key of the agent's model"
        raise InputError(message, path="adapterConfig.apiKeyEnv")
    return key


def _with_history(prompt: str, call: Call) -> str:
    """The prompt of a turn, after what was said before it."""
    conversation = call.conversation_data
    if not conversation or not conversation["history"]:
        return prompt
    said = "\n\n".join(f"User: {read_task(turn['input'])[0]}\n\nYou: {turn['output']}" for turn in conversation["history"])
    return f"This is what was said so far, and done in this folder:\n\n{said}\n\nUser: {prompt}"
