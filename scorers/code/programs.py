"""The Python in an answer: between other text, in fenced blocks, as a whole function or as the body that continues a prompt."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import Any

from eval_skills.scorers.answer import text_of, unwrapped

CODE_KEYS = ("code", "completion", "solution")
"""Where an object holds its program, beside an explanation; the first that is text counts."""

Program = tuple[str, str]
"""What is executed first, such as the imports of a prompt, and the code of the answer, in the same namespace."""

_FENCE = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|~{3,})[ \t]*(?P<language>[\w+#.-]*)[^\n`]*\n(?P<code>.*?)(?:^[ \t]*(?P=fence)[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
_PYTHON = frozenset({"python", "py", "python3"})
_INDENT = "    "


def programs_of(output: Any, prompt: str = "", entry_point: str = "", setup: str = "") -> list[Program]:
    """What the answer may mean, best guess first: the first that is Python counts.

    Fenced blocks are taken together, those of Python where any says so, else those of no language; then each alone, the longest
    first. Code that does not define `entry_point` is the body that continues the `prompt`, whatever its indentation has lost.
    """
    codes = _codes(_text(output))
    if not prompt:
        return [(setup, code) for code in codes]
    defines = re.compile(rf"^(?:(?:async\s+)?def\s+{re.escape(entry_point)}\b|{re.escape(entry_point)}\s*(?::[^=\n]*)?=)", re.M)
    helpers = f"{setup}\n{stub(prompt)}" if setup else stub(prompt)
    whole: list[Program] = [(helpers, code) for code in codes if defines.search(code)]
    return whole or [(setup, program) for code in codes for program in _continued(prompt, code)]


def stub(prompt: str) -> str:
    """A prompt as code that stands alone: what it imports and defines before its function can be used."""
    return f"{prompt}\n{_INDENT}pass\n"


def _text(output: Any) -> str:
    answer = unwrapped(output)
    found = [answer[key] for key in CODE_KEYS if isinstance(answer.get(key), str)] if isinstance(answer, dict) else []
    return re.sub(r"\r\n?", "\n", found[0] if found else text_of(answer))


def _codes(text: str) -> list[str]:
    found = [(match["language"].lower(), match["code"]) for match in _FENCE.finditer(text)]
    if not found:
        return [text]
    blocks = [(language, textwrap.dedent(code)) for language, code in found]
    if len(found) == 1:
        return list(dict.fromkeys([found[0][1], blocks[0][1]]))  # a body keeps its indentation
    labelled = [code for language, code in blocks if language in _PYTHON]
    unlabelled = [code for language, code in blocks if not language]
    chosen = labelled or unlabelled or [code for _, code in blocks]
    return list(dict.fromkeys(["\n".join(chosen), *sorted(chosen, key=len, reverse=True)]))


def _continued(prompt: str, body: str) -> Iterator[str]:
    start = prompt if prompt.endswith("\n") else f"{prompt}\n"
    if body[:1].isspace():
        yield start + body
    yield start + textwrap.indent(textwrap.dedent(body), _INDENT)
    yield f"{start}{_INDENT}{body.lstrip()}"  # only the first line has lost its indentation
