"""What an agent did in one item, as its runtime tells it while it works."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from eval_skills.adapters.agent.loads import Loads, loads_in
from eval_skills.core.messages.roles import UNREAD
from eval_skills.core.models import SkillResponse, ToolCall, Usage, WorkspaceFile
from eval_skills.core.models.response import MAX_COST_USD, MAX_TOKENS
from eval_skills.core.text import one_line

MAX_TEXT_CHARS = 100_000
"""How much of one text (a message, an argument, the result of a tool) is kept."""

SKILL_LOADED = "skill_loaded"
"""The `finish_reason` of an agent that was ended because it had loaded a skill."""


Figure = Literal["prompt", "completion", "cost"]
"""What is added up over the turns: tokens of the prompts, tokens of the replies, USD."""

_MOST: dict[Figure, Any] = {"prompt": MAX_TOKENS, "completion": MAX_TOKENS, "cost": MAX_COST_USD}


@dataclass(slots=True)
class _Call:
    id: str
    name: str
    arguments: Any
    result: Any = None
    error: str | None = None
    ended: bool = False
    loads: Loads = field(default_factory=Loads)


class Transcript:
    """Messages, tool calls, tokens and loads, in the order in which they came; `response` is all of them as an answer.

    `installed` are the names of the Agent Skills that the agent has, and `workspace` is the folder in which relative paths start.
    `watched` are further names, of which a load counts that did not fail: the agent found them elsewhere. What was loaded is
    unknown where a call that did not fail may have loaded more.
    Until something other than the answer and its tokens is noted, what was called and loaded is unknown: an agent may tell
    nothing. `observed` says that everything will be told, and so that nothing was called yet. `session_id` is the agent's own
    name for the session, by which a record is found that it keeps itself. `lacks` is what has still to come before an agent that
    ends by itself has told everything; "" for nothing. Texts over `MAX_TEXT_CHARS` are cut, but for the answer, which is judged
    whole. `size` is about how many characters are kept beside it.
    """

    def __init__(self, installed: Iterable[str] = (), workspace: str = "", *, watched: Iterable[str] = ()) -> None:
        self.watched = frozenset(watched)
        self.installed, self.workspace = frozenset(installed), posixpath.normpath(workspace) if workspace else ""
        self.steps, self.size = 0, 0
        self.error, self.transient = "", False
        self.files: list[WorkspaceFile] | None = None
        self.finish_reason: str | None = None
        self.session_id: str | None = None
        self.metadata: dict[str, Any] = {}
        self._messages: list[dict[str, Any]] = []
        self._calls: list[_Call] = []
        self._by_id: dict[str, _Call] = {}
        self._loaded: dict[str, None] = {}
        self._told_loaded: set[str] = set()
        self._entered: set[str] = set()
        self._answer: str | None = None
        self._words = ""
        self._unread_answer = self._unread_words = ""
        self._figures: dict[Figure, Any] = {}
        self._unknown_figures: set[Figure] = set()
        self._reported: set[frozenset[Figure]] = set()
        self.unread_cost = ""
        self.lacks = ""
        self._observed = self._counts_steps = False
        self._unknown = ""
        self._mentioned: dict[str, str] = {}
        self._turn_began = 0

    def observed(self) -> None:
        """From here on everything is told that the agent does."""
        self._observed = True

    def unknown(self, why: str) -> None:
        """Calls may be missing among those that were told: what was called and how often the model was asked is unknown, and so
        is what was loaded, unless all that is installed was. The calls that were told stay in the messages. The first reason is
        kept."""
        self._unknown = self._unknown or why

    def mentioned(self, name: str, line: str) -> None:
        """A line of the log speaks of a call of this tool ("" for one that it does not name): what was called is `unknown`,
        unless such a call is told as well, before or after."""
        self._mentioned.setdefault(name, f"expected an event that tells of a call, got {line}")

    def message(self, role: str, text: str, *, more: bool = False) -> None:
        """Something that was said; the last of the ``assistant`` is the answer, where no other is given. With `more` it goes on
        with the last message, where that has the same role."""
        self.observed()
        last = self._messages[-1] if self._messages else None
        if last is None or last["role"] != role or not more:
            last = {"role": role, "content": ""}
            self._messages.append(last)
        said = last["content"] or ""
        if role == "assistant" and text:
            self._unread_words = self._unread_words if said else ""
            self._words = (self._words if said else "") + _plain(text)
        last["content"] = said + self._kept(text) if len(said) <= MAX_TEXT_CHARS else said

    def tool_call(self, id: str | None, name: str, arguments: Any, *, other: bool = False) -> str:  # noqa: A002 - every protocol's word
        """A call of a tool; the `id` of one of the same tool that has no result yet completes its arguments, unless it is known
        to be an `other` one. Returns the id.

        Ids need not be unique: there are models that begin to count anew in every turn.
        """
        self.observed()
        known = None if id is None or other else self._by_id.get(id)
        if id is not None and known is not None and not known.ended and known.name == name:
            if not known.arguments:
                known.arguments = self._kept(arguments)
                self._note_loads(known)
            return id
        call = _Call(id or f"call-{len(self._calls) + 1}", name, self._kept(arguments))
        self._note_loads(call)
        self._calls.append(call)
        self._by_id[call.id] = call
        self._message_of_calls().append(call)
        return call.id

    def tool_result(self, id: str | None, result: Any, error: str | None = None, *, name: str | None = None) -> None:  # noqa: A002
        """What a call led to; without an `id`, the last one. A result proves a call also where that was not noted: of the tool
        that it names, else of one that is `unknown`."""
        self.observed()
        call = self._open_call(id) if id is not None else next(reversed(self._calls), None)
        if call is None and name is not None:
            call = self._by_id[self.tool_call(id, name, None)]
        if call is None:
            self.unknown(f"a tool's result came without its call{f' (id {one_line(id, 80)})' if id is not None else ''}")
            return
        call.ended = True
        call.result, call.error = self._kept(result), None if error is None else str(self._kept(error))
        self._settle_loads(call)
        said = call.error if call.error is not None else call.result
        content = said if isinstance(said, str) else json.dumps(said)
        self._messages.append({"role": "tool", "tool_call_id": call.id, "content": content})

    def _open_call(self, id: str) -> _Call | None:  # noqa: A002
        """The first call with this id that has no result yet, else the last one with it."""
        last = self._by_id.get(id)
        if last is None or all(call.ended for call in self._calls if call.id == id):
            return last
        return next(call for call in self._calls if call.id == id and not call.ended)

    def missed_call(self, name: str, arguments: Any, result: Any, *, before: str | None) -> None:
        """A call that was not told when it was made, and what it led to: before the call with the id `before`; None: after all
        others."""
        call = _Call(f"missed-{len(self._calls) + 1}", name, self._kept(arguments), self._kept(result), ended=True)
        self._settle_loads(call)
        following = None if before is None else self._by_id[before]
        place = len(self._calls) if following is None else next(at for at, each in enumerate(self._calls) if each is following)
        self._calls.insert(place, call)
        self._by_id[call.id] = call
        said = call.result if isinstance(call.result, str) else json.dumps(call.result)
        asked = {"role": "assistant", "content": None, "tool_calls": [call]}
        at = self._place_before(following)
        self._messages[at:at] = [asked, {"role": "tool", "tool_call_id": call.id, "content": said}]

    def _place_before(self, call: _Call | None) -> int:
        """The message that holds a call; for None the answer, where that came last, or the end."""
        if call is not None:
            return next(
                at for at, message in enumerate(self._messages) if any(each is call for each in message.get("tool_calls", ()))
            )
        last = self._messages[-1] if self._messages else {}
        is_answer = last.get("role") == "assistant" and "tool_calls" not in last
        return len(self._messages) - is_answer

    def calls_of(self, name: str) -> list[tuple[str, Any]]:
        """The id and the arguments of every call of a tool, in order."""
        return [(call.id, call.arguments) for call in self._calls if call.name == name]

    def usage(self, prompt: int | None, completion: int | None) -> None:
        """Tokens of a turn, to add; of one that is None the sum is unknown. They say nothing of what was called."""
        self._add({"prompt": prompt, "completion": completion})

    def cost(self, usd: float | None) -> None:
        """USD of a turn, to add; None is unknown, and then so is the sum."""
        self._add({"cost": usd})

    def figures(self, given: Mapping[Figure, float | None]) -> None:
        """Those of the figures that one report has, to add; None is one that cannot be read. Reports may have different ones; but
        where a report has one beside another, and a second report has the other alone, the first is known in part, so its sum
        is unknown."""
        self._add(given)
        self._reported.add(frozenset(given))

    def unread_figure(self, figure: Figure, given: str) -> None:
        """A report has this figure, and it cannot be read, so the sum is unknown; `given` is what stands there."""
        self._add({figure: None})
        if figure == "cost":
            self.unread_cost = self.unread_cost or given

    def _add(self, given: Mapping[Figure, float | None]) -> None:
        """Add what can be right. A sum is unknown with a figure below zero, and where it is more than one answer may have: the
        whole answer would be refused for it. Limits go by what is known, which is at most that."""
        for figure, value in given.items():
            if value is None or not value >= 0:
                self._unknown_figures.add(figure)
                continue
            total = self._figures.get(figure, 0) + value
            if total > _MOST[figure]:
                self._unknown_figures.add(figure)
            self._figures[figure] = min(total, _MOST[figure])

    def _sum(self, figure: Figure) -> Any:
        """All of a figure; None where any of it is unknown."""
        beside = {each for report in self._reported if figure in report for each in report}
        in_part = any(figure not in report and report & beside for report in self._reported)
        return None if in_part or figure in self._unknown_figures else self._figures.get(figure)

    def step(self) -> None:
        """A turn of the agent's model."""
        self.observed()
        self._counts_steps = True
        self._turn_began = len(self._messages)
        self.steps += 1

    def turn(self) -> None:
        """The model is about to say or call something: a step, unless it has spoken since the start or the last result of a tool.
        For streams that do not tell where a turn begins; calls that are made one after the other are a turn each."""
        if not self._messages or self._messages[-1]["role"] != "assistant":
            self.step()

    @property
    def called(self) -> list[str]:
        """The names of the tools that were called so far, in order."""
        return [call.name for call in self._calls]

    def has_call(self, id: str) -> bool:  # noqa: A002
        """Whether a call with this id was noted."""
        return id in self._by_id

    def has_this_call(self, id: str, name: str, arguments: Any) -> bool:  # noqa: A002
        """Whether a call with this id was noted that may be this one: of the same tool, and with the same arguments where both
        have some."""
        if id not in self._by_id:
            return False
        before = self.size
        kept, self.size = self._kept(arguments), before
        known = (call for call in self._calls if call.id == id and call.name == name)
        return any(not kept or not call.arguments or call.arguments == kept for call in known)

    def answer(self, text: str) -> None:
        """The final answer; the last one counts."""
        self._answer, self._unread_answer = _plain(text), ""

    def answer_unread(self, why: str) -> None:
        """An answer came that cannot be read: until the next one, what was said before it is not taken for it."""
        self._unread_answer = why

    def words_unread(self, why: str) -> None:
        """Something came that cannot be read, perhaps the last message of the assistant, which is the answer where no other is
        given."""
        self._unread_words = why

    @property
    def unread(self) -> str:
        """Why the answer so far may not be what the agent answered; "" where it is."""
        return self._unread_answer or ("" if self._answer is not None else self._unread_words)

    def loaded(self, skill_name: str) -> None:
        """An Agent Skill was loaded; a name that is neither installed nor watched is left out."""
        self.observed()
        if skill_name in self.installed | self.watched:
            self._loaded.setdefault(skill_name)
            self._told_loaded.add(skill_name)

    def failed(self, text: str, *, transient: bool = False) -> None:
        """The agent said that it failed; the first time counts. `transient`: another attempt may succeed."""
        if not self.error:
            self.error, self.transient = text or "the agent failed without a word", transient

    @property
    def cost_usd(self) -> float | None:
        """What is known to have been spent so far; None where nothing is."""
        cost: float | None = self._figures.get("cost")
        return cost

    @property
    def skills_loaded(self) -> list[str]:
        """The Agent Skills that were loaded so far."""
        return list(self._loaded)

    @property
    def output(self) -> str | None:
        """The answer so far, whole: the last words of the assistant where no other was given; None where there is none."""
        return self._words or None if self._answer is None else self._answer

    def response(self) -> SkillResponse:
        """All of it, also before the end."""
        calls = [ToolCall(name=c.name, arguments=c.arguments, id=c.id, result=c.result, error=c.error) for c in self._calls]
        unknown = self._why_unknown()
        known = self._observed and not unknown
        messages = [_written(message) for message in self._messages]
        if unknown:  # among messages that could all be read the calls would count as all that there were
            messages.append({"role": UNREAD, "content": unknown})
        return SkillResponse(
            output=self.output,
            messages=messages or None,
            tool_calls=calls if known else None,
            usage=Usage(prompt_tokens=self._sum("prompt"), completion_tokens=self._sum("completion")),
            cost_usd=self._sum("cost"),
            skills_loaded=self.skills_loaded if self._loads_are_known(known) else None,
            steps=self.steps if self._counts_steps and not unknown else None,
            files=self.files,
            finish_reason=self.finish_reason,
            metadata=dict(self.metadata),
        )

    def _why_unknown(self) -> str:
        """Why calls may be missing among those that were told; "" where none are."""
        called = {call.name for call in self._calls}
        return self._unknown or next((said for name, said in self._mentioned.items() if name not in called), "")

    def _loads_are_known(self, calls_are: bool) -> bool:
        """Whether no more can have been loaded than was seen: in no call, or because all that is installed was."""
        possible = {name for call in self._calls if call.error is None for name in call.loads.possible}
        if not calls_are:
            possible |= self.installed
        return self._observed and possible <= self._loaded.keys()

    def _note_loads(self, call: _Call) -> None:
        """A load counts when the agent asks for it, until it is refused; of a watched name, which may be nowhere, once the call
        has ended."""
        call.loads = self._loads_of(call)
        for skill in call.loads.names:
            if skill in self.installed:
                self._loaded.setdefault(skill)

    def _settle_loads(self, call: _Call) -> None:
        """What a call has loaded that has ended, and where the next one may begin."""
        if call.error is None:
            call.loads = self._loads_of(call)
            self._loaded.update(dict.fromkeys(name for name in call.loads.names if name not in self._loaded))
            self._entered |= call.loads.folders
        elif call.loads.by_tool:
            self._take_back(call)

    def _take_back(self, call: _Call) -> None:
        """What the tool that loads skills refused no longer counts, unless another call loads it or the agent said so."""
        refused, call.loads = call.loads.names, Loads()
        kept = {name for each in self._calls for name in each.loads.names} | self._told_loaded
        for name in set(refused) - kept:
            self._loaded.pop(name, None)

    def _loads_of(self, call: _Call) -> Loads:
        return loads_in(
            call.name,
            call.arguments,
            self.installed,
            self.workspace,
            elsewhere=self.watched,
            entered=self._entered,
            result=call.result,
        )

    def _message_of_calls(self) -> list[_Call]:
        """The calls of the assistant's message that they belong to, with its text: the last message or, where turns are told, the
        last of the turn, though results of its first calls came meanwhile."""
        last = self._messages[-1] if self._messages else None
        if last is None or last["role"] != "assistant":
            own = self._messages[self._turn_began :] if self._counts_steps else []
            last = next((message for message in reversed(own) if message["role"] == "assistant"), None)
        if last is None:
            last = {"role": "assistant", "content": None}
            self._messages.append(last)
        calls: list[_Call] = last.setdefault("tool_calls", [])
        return calls

    def _kept(self, value: Any) -> Any:
        if isinstance(value, str):
            left_out = len(value) - MAX_TEXT_CHARS
            kept = value if left_out <= 0 else f"{value[:MAX_TEXT_CHARS]}… [{left_out:,} more characters left out]"
            self.size += len(kept)
            return _plain(kept)
        if isinstance(value, dict):
            return {str(self._kept(str(key))): self._kept(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [self._kept(each) for each in value]
        self.size += 8
        return value


def _plain(text: str) -> str:
    """The text without halves of surrogate pairs, which no file can hold."""
    return text.encode("utf-8", "replace").decode()


def _written(message: dict[str, Any]) -> dict[str, Any]:
    if "tool_calls" not in message:
        return message
    return message | {"tool_calls": [_written_call(call) for call in message["tool_calls"]]}


def _written_call(call: _Call) -> dict[str, Any]:
    arguments = (
        call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments if call.arguments is not None else {})
    )
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}
