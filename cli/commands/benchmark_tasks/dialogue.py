"""The walk through unreviewed tasks in a terminal: one key and Enter for each decision, saved at once."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from eval_skills.cli.context import current
from eval_skills.cli.output.benchmark_tasks import show_decided, show_task
from eval_skills.cli.running import interrupted
from eval_skills.core.documents.loading import finite_json, refuse_constant
from eval_skills.core.errors import InputError, UsageError, UserError
from eval_skills.core.text import readable_json

if TYPE_CHECKING:
    from eval_skills.benchmarks.reviewing import Review, Task

MENU = "a accept, x expected answer, e editor, s skip, d delete, q quit: "


class _Left(Exception):
    """The review was left."""


def walk_through(review: Review) -> None:
    """Ask about every unreviewed task in turn, until they are through or the person leaves (q, or the end of input).

    Raises:
        KeyboardInterrupt: Ctrl-C; what was decided before is in the file.
    """
    pending = review.pending()
    accepted, dropped, dialogue = list[str](), list[str](), _Dialogue(review)
    with interrupted(lambda: "interrupted; what was decided is saved, and the same call goes on"):
        for number, task_id in enumerate(pending, 1):
            try:
                outcome = dialogue.about(task_id, f"{number} of {len(pending)}")
            except _Left:
                break
            accepted += [task_id] if outcome == "accepted" else []
            dropped += [task_id] if outcome == "dropped" else []
    show_decided(review, accepted=accepted, dropped=dropped)


class _Dialogue:
    """What is asked about one task after the other; `_text` is an edit that could not be used, for another try."""

    def __init__(self, review: Review) -> None:
        self._review, self._text = review, ""

    def about(self, task_id: str, place: str) -> str:
        """``accepted``, ``dropped`` or ``skipped``; asked again until one of them holds."""
        self._text = ""
        show_task(self._review.task(task_id), place)
        while True:
            key = _typed(MENU).lower()
            if key in {"s", "skip"}:
                return "skipped"
            if key in {"q", "quit"}:
                raise _Left
            try:
                if outcome := self._decided(key, task_id):
                    return outcome
            except UserError as error:
                current().remark(f"not saved: {error}")

    def _decided(self, key: str, task_id: str) -> str:
        """The outcome; empty where nothing was decided."""
        if key in {"a", "accept"}:
            self._review.accept(task_id)
            return "accepted"
        if key in {"d", "delete"}:
            self._review.drop(task_id)
            return "dropped"
        if key in {"x", "expected"}:
            return self._expect(task_id)
        if key in {"e", "editor"}:
            return self._edit(task_id)
        current().remark("give one of the letters a x e s d q, and Enter")
        return ""

    def _expect(self, task_id: str) -> str:
        written = _typed("expected answer (JSON, or text; nothing changes nothing): ")
        if not written:
            return ""
        self._review.expect(task_id, _value(written))
        return "accepted"

    def _edit(self, task_id: str) -> str:
        before = self._text or readable_json(self._review.task(task_id))
        after = _edited(before)
        if after == before and not self._text:
            current().remark("nothing was changed")
            return ""
        self._text = after  # kept: a slip in it does not cost the whole edit
        self._review.replace(task_id, _task(after))
        return "accepted"


def _typed(prompt: str) -> str:
    """A line without outer blanks. Raises _Left at the end of input."""
    try:
        return input(prompt).strip()
    except EOFError:
        current().say("")
        raise _Left from None
    except KeyboardInterrupt:
        current().say("")  # what is printed next begins on a line of its own
        raise


def _value(written: str) -> Any:
    """JSON where it is some, else the text as it is; InputError for what begins like JSON, where a slip is likelier."""
    try:
        return finite_json(written)
    except (ValueError, RecursionError) as error:
        if written[0] not in '{["':
            return written
        as_text = json.dumps(written, ensure_ascii=False)
        raise InputError(f"it begins like JSON, and is not valid: {error}; to expect it as text, type {as_text}") from None


def _task(text: str) -> Task:
    try:
        task: Task = json.loads(text, parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not valid JSON: {error}; e opens it again") from None
    return task


def _edited(text: str) -> str:
    """The text after the person's editor has had it.

    Raises:
        UsageError: the program is not found, failed, or left no text.
    """
    command = _editor()
    with TemporaryDirectory() as folder:
        file = Path(folder) / "task.json"
        file.write_text(text, encoding="utf-8")
        try:
            done = subprocess.run([*command, str(file)], check=False)  # noqa: S603 - the person's own editor
        except OSError as error:
            raise UsageError(f"{command[0]} cannot be started ({error.strerror}); set EDITOR") from None
        if done.returncode:
            raise UsageError(f"{command[0]} ended with exit code {done.returncode}")
        try:
            return file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{command[0]} left no file that can be read as UTF-8 ({error})") from None


def _editor() -> list[str]:
    """The command of the person's editor.

    Raises:
        UsageError: its words cannot be told apart.
    """
    name = next((name for name in ("VISUAL", "EDITOR") if os.environ.get(name, "").strip()), None)
    try:
        return shlex.split(os.environ[name]) if name else ["vi"]
    except ValueError as error:
        raise UsageError(f"{name} cannot be read as a command ({error}): {os.environ[name or '']}; correct it") from None
