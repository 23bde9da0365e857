"""The program that runs one custom scorer: standard library only, one request on stdin, one answer on stdout.

Request: ``{"file", "function", "output", "expected", "task"}``. Answer, on one line: ``{"result": …}`` or
``{"error": "Type: message"}``. What the scorer prints goes to stderr, so that it cannot be taken for the answer.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import runpy
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    """Answer the request and leave."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    request = json.loads(sys.stdin.readline())
    try:
        answer = json.dumps({"result": _result(request)})
    except BaseException as error:  # noqa: BLE001 - whatever the scorer raises, even SystemExit, is its answer
        answer = json.dumps({"error": f"{type(error).__name__}: {error}"[:2000]})
    answers.write(answer + "\n")
    answers.close()


def _result(request: dict[str, Any]) -> Any:
    file = request["file"]
    sys.path.insert(0, str(Path(file).parent))
    function = runpy.run_path(file, run_name=Path(file).stem)[request["function"]]
    result = function(request["output"], request["expected"], request["task"])
    return asyncio.run(_awaited(result)) if inspect.isawaitable(result) else result


async def _awaited(result: Any) -> Any:
    return await result


if __name__ == "__main__":
    main()
