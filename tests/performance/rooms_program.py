"""Run one call of the command line and write down which of our functions it entered: by file, what is only imported left out."""

from __future__ import annotations

import json
import sys
import threading
from collections import defaultdict
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import FrameType
from typing import Any

import eval_skills

PACKAGE = str(Path(eval_skills.__file__).parent)
_entered: dict[str, set[str]] = defaultdict(set)


def _note(frame: FrameType, event: str, _: Any) -> None:
    code = frame.f_code
    if event != "call" or not code.co_filename.startswith(PACKAGE) or not code.co_flags & CO_OPTIMIZED:  # a class's body is none
        return
    if code.co_qualname not in _entered[code.co_filename] and not _is_import(frame):
        _entered[code.co_filename].add(code.co_qualname)


def _is_import(frame: FrameType | None) -> bool:
    """Whether the function runs because a module is imported: a decorator, a table that is built once."""
    while frame is not None and not (frame.f_code.co_name == "<module>" and frame.f_code.co_filename != __file__):
        frame = frame.f_back
    return frame is not None


def main(answer: Path, *arguments: str) -> int:
    """The exit code of the call; `answer` gets its files with the names of their functions."""
    sys.setprofile(_note)
    threading.setprofile(_note)
    from eval_skills.cli.main import call

    code = call(arguments)
    sys.setprofile(None)
    entered = {str(Path(file).relative_to(PACKAGE)): sorted(names) for file, names in _entered.items() if names}
    answer.write_text(json.dumps(entered, indent=1), encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
