"""Any program that prints what it does as JSON lines.

::

    {"type": "message", "role": "assistant", "content": "I look at the file first."}
    {"type": "tool_call", "id": "c1", "name": "read", "arguments": {"path": "a.csv"}}
    {"type": "tool_result", "id": "c1", "result": "x,y", "error": null}
    {"type": "usage", "promptTokens": 900, "completionTokens": 40, "costUsd": 0.001}
    {"type": "skill_loaded", "name": "csv"}
    {"type": "step"}
    {"type": "answer", "content": "12 rows"}

Calls and results in the notations of other APIs are read too, in a message and in lines of their own. Other lines are its log;
one that may tell of a call, and cannot be read, leaves what was called unknown.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from eval_skills.adapters.agent.config import AgentConfig
from eval_skills.adapters.agent.runtimes.base import AgentRun, Command
from eval_skills.adapters.agent.transcript import Figure, Transcript
from eval_skills.adapters.agent.workspace import SKILLS_FOLDER, install_skills
from eval_skills.adapters.answer.calls import read_arguments, tool_call_of
from eval_skills.adapters.answer.envelope import parse_json
from eval_skills.core.messages.blocks import as_dict, blocks_of, is_text, text_in, text_of
from eval_skills.core.messages.roles import role_in, unknown_role
from eval_skills.core.messages.tool_calls import call_in, every_call, raw_calls, tool_call, unnamed_call
from eval_skills.core.messages.tool_results import ToolResult, result_in, results_of
from eval_skills.core.text import excerpt, one_line

PROMPT_FILE = "EVAL_SKILLS_PROMPT_FILE"


class Custom:
    """`adapterConfig.command` gets the prompt on its standard input, and in the file that ``$EVAL_SKILLS_PROMPT_FILE`` names."""

    name = "custom"
    program = ""
    install = ""
    needs: Mapping[str, str] = MappingProxyType({})
    needs_network = False

    def check(self, config: AgentConfig) -> str:
        """It has no usual program."""
        return "" if config.command else "the runtime custom has no program of its own; name one in adapterConfig.command"

    def prepare(self, run: AgentRun) -> Command:
        """The skills are in ``.agents/skills/<name>/`` of the workspace, and the key has the name that it has here."""
        skills = run.workspace / SKILLS_FOLDER
        if run.skills and not os.path.lexists(skills.parent):  # a later turn finds what the agent has made of them
            install_skills(run.skills, skills)
        prompt = run.home / "prompt.txt"
        prompt.write_text(run.prompt, encoding="utf-8")
        key = {run.config.api_key_env: run.api_key} if run.config.api_key_env and run.api_key else {}
        model = {"EVAL_SKILLS_MODEL": run.config.model, "EVAL_SKILLS_BASE_URL": run.config.base_url}
        given = {name: value for name, value in model.items() if value is not None}
        return Command(run.program, {PROMPT_FILE: str(prompt), **given, **key}, stdin=run.prompt)

    def read(self, line: str, transcript: Transcript) -> bool:
        """One of the events above, or a call or result in another notation. Of a field that is not as it should be the event is
        not one; what was called is unknown where that may hide a call."""
        line = line.removeprefix("\ufeff")  # which programs on Windows write before all else
        try:
            event = parse_json(line.encode()) if line.lstrip().startswith(("{", "[")) else None
        except ValueError:
            event = None
        if not isinstance(event, dict):
            _note_unreadable(line, transcript)
            return False
        kind = event.get("type")
        note = _EVENTS.get(kind) if isinstance(kind, str) else None
        if note is None:
            return _foreign(event, transcript)
        try:
            note(event, transcript)
        except (KeyError, TypeError):
            if kind in _OF_CALLS:
                transcript.unknown(f"expected a {kind} that can be read, got {one_line(line, 200)}")
            elif kind == "answer":
                transcript.answer_unread(f"expected an answer with content, got {one_line(line, 200)}")
            return False
        return True

    def version(self, program: tuple[str, ...]) -> tuple[str, ...]:
        """Not known of any program."""
        return ()


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _message(event: dict[str, Any], transcript: Transcript) -> None:
    message = {key: value for key, value in event.items() if key != "type"}
    if _tells_of_tools(message):
        _note_message(message, transcript)
    else:
        transcript.message(_text(event["role"]), _text(_words(event) if blocks_of(event) else event["content"]))


def _tells_of_tools(message: Mapping[str, Any]) -> bool:
    """Whether a message holds calls, or results of tools."""
    return any(True for _ in every_call(message)) or any(True for _ in results_of(message, role_in(message)))


def _note_message(message: Mapping[str, Any], transcript: Transcript) -> None:
    """What was said, the calls, and the results, of a message in any notation. A call that was told, of the same id, tool
    and arguments, is that one."""
    role = role_in(message)
    pieces = message.get("tool_call_chunks")
    if isinstance(pieces, list) and not all(as_dict(piece).get("id") for piece in pieces):
        transcript.unknown(f"expected whole messages, got a piece of a call that goes on: {excerpt(message)}")
    words = "" if role in ("tool", "function") else _text(_words(message))
    if role is None:
        transcript.unknown(unknown_role(message))
    elif words:
        transcript.message(role, words)
    for raw in raw_calls(message):
        if (call := tool_call(raw)) is None:
            transcript.unknown(unnamed_call(raw))
            continue
        arguments = read_arguments(call.arguments)
        if call.id is None or not transcript.has_this_call(call.id, call.name, arguments):
            transcript.tool_call(call.id, call.name, arguments, other=True)
    for result in results_of(message, role):
        _note_result(result.call_id, result, transcript)


def _words(message: Mapping[str, Any]) -> Any:
    """What a message says beside calls and results: text, or blocks of which some are not."""
    rest = [block for block in blocks_of(message) if call_in(block) is None and result_in(block) is None]
    if not rest:
        return text_in(message)
    return text_of(rest) if all(map(is_text, rest)) else rest


def _note_result(id: str | None, result: ToolResult, transcript: Transcript) -> None:  # noqa: A002
    transcript.tool_result(id, result.content, result.error or None, name=result.name)


def _tool_call(event: dict[str, Any], transcript: Transcript) -> None:
    call = tool_call_of(event)
    if not call.name.strip():
        raise TypeError
    its_id = _id(event) or call.id
    other = its_id is None or not transcript.has_this_call(its_id, call.name, call.arguments)
    transcript.tool_call(its_id, call.name, call.arguments, other=other)


def _tool_result(event: dict[str, Any], transcript: Transcript) -> None:
    [result] = results_of({"content": [event]}, "user")
    _note_result(_id(event) or result.call_id, result, transcript)


def _usage(event: dict[str, Any], transcript: Transcript) -> None:
    """The figures under their names in any spelling; one that is not a number, or has nearly such a name, is unknown."""
    given: dict[Figure, float | None] = {}
    for key, value in event.items():
        figure = _figure(key)
        if figure is None or value is None:
            continue
        if _letters(key) in _FIGURES and isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
            given[figure] = float(value) if figure == "cost" else int(value)
        else:
            given[figure] = None
            transcript.unread_figure(figure, f"{key}: {excerpt(value)}")
    transcript.figures(given)
    if None in given.values():
        raise TypeError


def _figure(key: str) -> Figure | None:
    near = get_close_matches(_letters(key), _FIGURES, n=1, cutoff=0.8)
    return _FIGURES[near[0]] if near else None


def _letters(name: str) -> str:
    return re.sub("[^a-z]", "", name.lower())


def _id(event: dict[str, Any]) -> str | None:
    return None if event.get("id") is None else _text(event["id"])


def _answer(event: dict[str, Any], transcript: Transcript) -> None:
    """The answer, and calls that stand beside it, as in an envelope, where they were not told before."""
    content = event.get("content")
    if content is not None:
        transcript.answer(_text(content))
    told = Counter(transcript.called)
    for raw in _beside_the_answer(event):
        call = tool_call(raw)
        if call is None:
            transcript.unknown(unnamed_call(raw))
        elif told[call.name]:
            told[call.name] -= 1
        else:
            transcript.tool_call(call.id, call.name, read_arguments(call.arguments))
    if content is None:
        raise TypeError


def _beside_the_answer(event: Mapping[str, Any]) -> Iterator[Any]:
    yield from raw_calls({**event, "role": "assistant"})
    messages = event.get("messages")
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, dict):
            yield from raw_calls(message)


def _skill_loaded(event: dict[str, Any], transcript: Transcript) -> None:
    if not isinstance(event["name"], str):
        raise TypeError
    transcript.loaded(event["name"])


_EVENTS: dict[str, Callable[[dict[str, Any], Transcript], None]] = {
    "message": _message,
    "tool_call": _tool_call,
    "tool_result": _tool_result,
    "usage": _usage,
    "skill_loaded": _skill_loaded,
    "step": lambda event, transcript: transcript.step(),
    "answer": _answer,
}
_OF_CALLS = frozenset({"tool_call", "tool_result", "skill_loaded"})
_TELLING = _OF_CALLS | {"message", "step"}
"""The events without which it is not known what was called, or how often the model was asked."""

_FIGURES: dict[str, Figure] = {"prompttokens": "prompt", "completiontokens": "completion", "costusd": "cost"}

_LOOKS, _ITEMS = ("tool", "function", "program"), ("function_call", "custom_tool_call", "mcp_call")
_OF_AN_ITEM = frozenset({"call_id", "tool_call_id", "callID"})

_WORDS = ("toolcall", "toolresult", "tooluse", "functioncall", "toolinvocation")
_OBJECT = re.compile(r'\{\s*"')
_TYPE = re.compile(r'"type"\s*:\s*"([^"]*)(?:"|$)')


def _foreign(event: dict[str, Any], transcript: Transcript) -> bool:
    """Note a call or a result in the notation of another API, which is a message or a part of one; False where it is a line of
    the log. What was called is unknown if such a line mentions a call that no event reports."""
    message = next((each for each in (event, {"role": "assistant", "content": [event]}) if _is_of_tools(each)), None)
    if message is not None and not _is_of_a_log(event):
        _note_message(message, transcript)
        return True
    _note_mentions(event, transcript)
    return False


def _note_mentions(event: dict[str, Any], transcript: Transcript) -> None:
    """Note every call that a line of the log mentions, whether or not it was reported as one."""
    spoken_of = [_name_of(raw) for each in _within(event) for raw in (*_calls_of(each), *_requests_of_mcp(each))]
    if _means_a_call(event.get("type")):
        spoken_of.append(tool_call_of(event).name)
    line = excerpt(event) if spoken_of else ""
    for name in spoken_of:
        transcript.mentioned(name, line)


def _is_of_tools(message: Mapping[str, Any]) -> bool:
    return role_in(message) is not None and _tells_of_tools(message)


def _is_of_a_log(event: Mapping[str, Any]) -> bool:
    """Whether only its type makes it look like a call or a result: lines of logs are called so, too (``llm_call``)."""
    kind = event.get("type")
    looks = isinstance(kind, str) and "role" not in event and (kind in _LOOKS or kind.endswith(("_call", "_output")))
    return looks and kind not in _ITEMS and _OF_AN_ITEM.isdisjoint(event) and not event.keys() >= {"id", "status"}


def _within(event: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The object and all that lie in it."""
    rest: list[Any] = [event]
    while rest:
        part = rest.pop()
        if isinstance(part, dict):
            yield part
            rest.extend(part.values())
        elif isinstance(part, list):
            rest.extend(part)


def _calls_of(part: dict[str, Any]) -> Iterator[Any]:
    """The calls of what may be a message, or a part of one; a count under the name of a list of calls is none."""
    lists = {key: value for key, value in part.items() if not isinstance(value, int | float)}
    if not _is_of_a_log(part):
        yield from every_call(lists)
        yield from every_call({"content": [lists]})


def _requests_of_mcp(part: Mapping[str, Any]) -> list[Any]:
    """The call that a request to an MCP server makes, which a log of the protocol has."""
    return [part.get("params")] if part.get("method") == "tools/call" else []


def _name_of(raw: Any) -> str:
    call = tool_call(raw)
    return "" if call is None else call.name


def _means_a_call(kind: Any) -> bool:
    """Whether a type that is not known is nearly that of a call."""
    letters = _letters(kind) if isinstance(kind, str) else ""
    return any(word in letters for word in _WORDS) or bool(get_close_matches(letters, _WORDS, n=1, cutoff=0.8))


def _objects_in(line: str) -> list[dict[str, Any]]:
    """The JSON objects that stand in a text, one after the other; none where one of them is not whole."""
    found, at, decoder = [], 0, json.JSONDecoder()
    try:
        while (start := _OBJECT.search(line, at)) is not None:
            event, at = decoder.raw_decode(line, start.start())
            found.append(event)
    except (ValueError, RecursionError):
        return []
    return found


def _note_unreadable(line: str, transcript: Transcript) -> None:
    """Note that calls, figures or the answer are unknown where a line that is not an object looks like a part of an event; calls,
    too, where it holds one behind something else: a time, colours, ``data:``."""
    kinds = _TYPE.findall(line)
    if not line.lstrip().startswith(("{", "[", '"type"')):
        within = _objects_in(line) if kinds else []
        for event in within:
            _note_mentions(event, transcript)
        if within or not any(kind in _OF_CALLS or _means_a_call(kind) for kind in kinds):
            return
    for figure in _FIGURES.values() if "usage" in kinds else ():
        transcript.unread_figure(figure, one_line(line, 200))
    why = f"expected an event on a line of its own, got {one_line(line, 200)}"
    if _may_tell(line, kinds, *_TELLING) or any(map(_means_a_call, kinds)):
        transcript.unknown(why)
    if line.lstrip().startswith("["):  # a time in brackets, behind which the log may repeat what was told
        return
    if _may_tell(line, kinds, "message"):
        transcript.words_unread(why)
    if _may_tell(line, kinds, "answer"):
        transcript.answer_unread(why)


def _may_tell(line: str, kinds: list[str], *names: str) -> bool:
    """Whether a line that holds these types has an event of one of the names, or one whose name is cut off."""
    cut = kinds and line.rstrip().endswith(kinds[-1])
    return any(kind in names for kind in kinds) or bool(cut and any(name.startswith(kinds[-1]) for name in names))
