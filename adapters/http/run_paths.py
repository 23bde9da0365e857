"""What an answer in a shape of its own says was called and said, where `toolCallsPath` and `messagesPath` point to."""

from __future__ import annotations

from typing import Any

from eval_skills.adapters.answer.calls import tool_call_of
from eval_skills.adapters.answer.envelope import parse_json
from eval_skills.adapters.call import Progress
from eval_skills.adapters.http.config import HttpConfig, found_at


class RunPaths:
    """Adds what stands at the paths to the `progress` of a call: so it is known however the call ends.

    An event of a stream brings a list, one of its parts, or the whole list so far. Null at `toolCallsPath`, a key that is missing
    in an object that is there, and a stream that ends without any, say that nothing was called; where not even the object is
    there, what was called is unknown, and `problems` says so.
    """

    def __init__(self, config: HttpConfig, progress: Progress) -> None:
        paths = {"toolCalls": config.tool_calls_path, "messages": config.messages_path}
        self._paths = {key: path for key, path in paths.items() if path is not None}
        self._progress = progress
        self._listed: dict[str, list[Any]] = {}
        self._is_whole = False
        self.problems: list[str] = []

    def read_whole(self, body: Any) -> None:
        """Take an answer that came whole."""
        self._is_whole = True
        self.read_body(body)
        path = self._paths.get("toolCalls")
        if path is None or "toolCalls" in self._listed:
            return
        if path and isinstance(found_at(path.rpartition("/")[0], body), dict):
            self._progress.add({"toolCalls": []})
        else:
            self.problems.append(f"which tools were called is unknown: there is nothing at toolCallsPath {path!r}")

    def read_error(self, body: bytes) -> None:
        """Take the body of an error, which need not be JSON."""
        try:
            self.read_body(parse_json(body))
        except ValueError:
            return

    def read_body(self, body: Any) -> None:
        """Take a body, or one event of a stream."""
        for key, path in self._paths.items():
            if (found := found_at(path, body)) is not None:
                self._add(key, found if isinstance(found, list) else [found])

    def end(self) -> None:
        """The answer has come to its end."""
        if not self._is_whole and "toolCalls" in self._paths and "toolCalls" not in self._listed:
            self._progress.add({"toolCalls": []})

    def _add(self, key: str, listed: list[Any]) -> None:
        before = self._listed.get(key, [])
        new = listed[len(before) :] if before and listed[: len(before)] == before else listed
        self._listed[key] = listed
        self._progress.add({key: [tool_call_of(each).model_dump() for each in new] if key == "toolCalls" else new})
