"""The loop: ask the model, do what it asks for, until it answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from html import escape
from typing import Any

from eval_skills.adapters.agent.builtin.model import AskedCall, Reply, Turn, ask
from eval_skills.adapters.agent.builtin.tools import Tools, read_arguments
from eval_skills.adapters.agent.limits import Enough, too_many_steps
from eval_skills.adapters.agent.runtimes.base import AgentRun
from eval_skills.adapters.agent.transcript import Transcript
from eval_skills.adapters.agent.workspace import SKILLS_FOLDER
from eval_skills.agent_skills.folder import AgentSkill
from eval_skills.core.errors import ContractError, SkillUnavailable

TRIES = 3
"""How often a turn is asked for that another attempt may get, once the agent has done something: else its work would be lost."""

FIRST_WAIT_S, MAX_WAIT_S = 1.0, 30.0

INSTRUCTIONS = """\
You are an agent that does a task in a folder, the workspace: {folder}
Paths start there. Use the tools to look, to write and to run commands; nobody can be asked, and nothing has to be approved. \
When the task is done, answer with the result, without calling a tool.
"""

SKILLS = """
You have skills: instructions for certain tasks. Before you do a task that a skill describes, load it with the tool `skill`.

<available_skills>
{skills}
</available_skills>
"""


class Loop:
    """One item of our own agent. `messages` are those of a conversation so far, and get the new ones."""

    def __init__(
        self, run: AgentRun, tools: Tools, transcript: Transcript, enough: Enough, messages: list[dict[str, Any]]
    ) -> None:
        self._run, self._tools, self._transcript, self._enough = run, tools, transcript, enough
        self._messages = messages
        if not messages:
            messages.append({"role": "system", "content": instructions(run)})
        messages.append({"role": "user", "content": run.prompt})

    async def run(self) -> None:
        """Turn by turn to the answer, or to what is enough.

        Raises:
            ItemError: the model gave no reply, said nothing, or a limit is reached.
        """
        self._transcript.observed()
        self._transcript.message("user", self._run.prompt)
        while True:
            if self._transcript.steps >= self._run.config.max_steps:
                raise too_many_steps(self._run.config)
            reply = await self._reply()
            self._note(reply)
            if self._is_enough():
                return
            if not reply.calls:
                self._answer(reply)
                return
            for call in reply.calls:
                await self._do(call)
                if self._is_enough():
                    return

    def logs(self) -> str:
        """Nothing is printed."""
        return ""

    async def _reply(self) -> Reply:
        config = self._run.config
        turn = Turn(
            model=config.model or "",
            base_url=config.base_url,
            key=self._run.api_key,
            messages=self._messages,
            tools=self._tools.described,
        )
        tries = TRIES if self._transcript.steps else 1
        for number in range(tries - 1):
            try:
                return await ask(turn)
            except SkillUnavailable as error:
                wait_s = error.retry_after_s if error.retry_after_s is not None else FIRST_WAIT_S * 2**number
                if wait_s > MAX_WAIT_S:
                    raise
                await asyncio.sleep(wait_s)
        return await ask(turn)

    def _note(self, reply: Reply) -> None:
        transcript = self._transcript
        transcript.step()
        transcript.usage(reply.prompt_tokens, reply.completion_tokens)
        transcript.cost(reply.cost_usd)
        transcript.finish_reason = reply.finish
        self._messages.append(reply.message)
        if reply.text is not None:
            transcript.message("assistant", reply.text)
        elif reply.calls:
            transcript.message("assistant", "")

    def _answer(self, reply: Reply) -> None:
        if reply.text is None:
            reason = f" ({reply.finish})" if reply.finish else ""
            raise ContractError(f"{self._run.config.model} ended without an answer{reason}")
        self._transcript.answer(reply.text)

    async def _do(self, call: AskedCall) -> None:
        arguments = read_arguments(call.arguments)
        noted = self._transcript.tool_call(call.id, call.name, arguments)
        if call.name == "bash" and self._enough.check(self._transcript):  # it may take long; the other tools may refuse a load
            return
        result, error = await self._tools.run(call.name, arguments)
        self._transcript.tool_result(noted, result, error)
        self._messages.append({"role": "tool", "tool_call_id": call.id, "content": result})

    def _is_enough(self) -> bool:
        reached = self._enough.check(self._transcript)
        if self._enough.problem is not None:
            raise self._enough.problem
        return reached


def instructions(run: AgentRun) -> str:
    """What the model is told before the task: where it works, and the names and descriptions of its skills."""
    said = INSTRUCTIONS.format(folder=run.workspace)
    return said + (SKILLS.format(skills="\n".join(map(_listed, run.skills))) if run.skills else "")


def _listed(skill: AgentSkill) -> str:
    place = f"{SKILLS_FOLDER}/{skill.name}/{skill.file.name}"
    parts: Sequence[tuple[str, str]] = (("name", skill.name), ("description", skill.description), ("location", place))
    return "<skill>\n" + "\n".join(f"<{name}>{escape(text, quote=False)}</{name}>" for name, text in parts) + "\n</skill>"
