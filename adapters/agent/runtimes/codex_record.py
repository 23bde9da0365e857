"""Codex's own record of a session: every command that its model asked for.

Its lines leave out quick commands now and then (seen with 0.169.0 on a machine with nothing else to do), while
``~/.codex/sessions/**/rollout-*-<thread id>.jsonl`` has all of them, as they were sent to the model. A command can write to that
file where our sandbox alone confines it, so the record only ever adds to what the lines told.
"""

from __future__ import annotations

import json
import re
import stat
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval_skills.adapters.agent.transcript import Transcript

COMMAND = "command_execution"
"""What the lines call a command."""

MAX_BYTES = 256 * 1024 * 1024
NO_RECORD = "codex left no record of this session: commands that its lines left out, if any, are not known"
TOO_LONG = f"codex's record of this session has more than {MAX_BYTES // 1024**2} MiB: commands after that, if any, are not known"
_TOOLS = frozenset({"exec_command", "shell", "shell_command", "local_shell"})
_ENDED = re.compile(r"^Process exited with code (-?\d+)$", re.MULTILINE)
_OUTPUT = "\nOutput:\n"


@dataclass(slots=True)
class Recorded:
    """A command of the record, and what it led to; None where it had not ended."""

    command: str
    result: str | None = None


def complete(home: Path, transcript: Transcript) -> str:
    """Add the commands that the lines left out, each in its place, and count the turns of the model; a remark where there is no
    record, or not all of it was read, else "". Then what was called is unknown, and not what the lines told."""
    if transcript.session_id is None:
        return ""
    file = _record(home, transcript.session_id)
    remark = NO_RECORD if file is None else TOO_LONG if file.stat().st_size > MAX_BYTES else ""
    if remark:
        transcript.unknown(remark)
    if file is not None:
        _add(file, transcript)
    return remark


def _add(file: Path, transcript: Transcript) -> None:
    commands, turns = _read(file)
    told = [(id_, arguments["command"]) for id_, arguments in transcript.calls_of(COMMAND)]
    for missed, before in _left_out(commands, told):
        transcript.missed_call(COMMAND, {"command": missed.command}, missed.result, before=before)
    transcript.steps = max(transcript.steps, turns)


def _left_out(commands: list[Recorded], told: list[tuple[str, str]]) -> Iterator[tuple[Recorded, str | None]]:
    """The commands that stand more often in the record than among the `told`, each with the id of the told one after it."""
    places: dict[str, deque[int]] = {}
    for place, (_, command) in enumerate(told):
        places.setdefault(command, deque()).append(place)
    following = 0
    for each in commands:
        if same := places.get(each.command):
            following = max(following, same.popleft() + 1)
        else:
            yield each, told[following][0] if following < len(told) else None


def _record(home: Path, session_id: str) -> Path | None:
    if not re.fullmatch(r"[\w-]{8,64}", session_id):
        return None
    found = sorted((home / ".codex" / "sessions").glob(f"*/*/*/rollout-*-{session_id}.jsonl"))
    return next((file for file in reversed(found) if stat.S_ISREG(file.lstat().st_mode)), None)


def _read(file: Path) -> tuple[list[Recorded], int]:
    """The commands in the order in which the model asked for them, and how many turns it had."""
    commands: dict[str, Recorded] = {}
    turns = 0
    for kind, payload in _entries(file):
        turns += kind == "token_usage_record"
        if payload.get("type") == "function_call" and payload.get("name") in _TOOLS:
            if (command := _command(payload.get("arguments"))) is not None:
                commands[str(payload.get("call_id"))] = Recorded(command)
        elif payload.get("type") == "function_call_output" and (asked := commands.get(str(payload.get("call_id")))) is not None:
            asked.result = _result(payload.get("output"))
    return list(commands.values()), turns


def _entries(file: Path) -> Iterator[tuple[Any, dict[str, Any]]]:
    """The entries of a record that can be read, in `MAX_BYTES` of it at most. All that the agent started has ended."""
    with file.open(encoding="utf-8", errors="replace") as lines:
        left = MAX_BYTES
        while left > 0 and (line := lines.readline(left)):
            left -= len(line)
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                continue
            payload = entry.get("payload") if isinstance(entry, dict) else None
            if isinstance(payload, dict):
                yield entry.get("type"), payload


def _command(arguments: Any) -> str | None:
    """The script of a call: ``{"cmd": "ls"}``, or the words of a shell that is given one."""
    try:
        given = json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        return None
    said = (given.get("cmd") or given.get("command")) if isinstance(given, dict) else None
    return str(said[-1]) if isinstance(said, list) and said else said if isinstance(said, str) else None


def _result(output: Any) -> str:
    """What the command printed, and its exit code where that is not 0, as the lines tell it."""
    text = output if isinstance(output, str) else json.dumps(output)
    head, found, printed = text.partition(_OUTPUT)
    if not found:
        return text
    ended = _ENDED.search(head)
    code = ended[1] if ended else "0"
    return printed if code == "0" else f"{printed}\n[exit code {code}]".lstrip("\n")
