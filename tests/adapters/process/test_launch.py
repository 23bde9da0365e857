"""How a skill's program is started."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters import open_adapter
from eval_skills.adapters.config import ProcessConfig
from eval_skills.adapters.process.launch import PYTHON_MARK, launch_of
from eval_skills.core.errors import InputError
from eval_skills.core.models import Skill

PROGRAM = """
import json, sys
request = json.loads(sys.stdin.readline())
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": [sys.prefix, sys.argv[1:]]}))
"""


def test_a_skill_without_a_folder_is_refused() -> None:
    data = {"id": "s", "name": "S", "version": "1.0.0", "adapterType": "subprocess", "entrypoint": "x"}
    with pytest.raises(InputError, match=r"s@1\.0\.0: a program runs in its skill's folder"):
        launch_of(Skill.model_validate(data), ("x",), ProcessConfig())


async def test_the_python_mark_is_our_interpreter_where_it_is_a_whole_word(
    program_skill: Callable[..., Skill], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    skill = program_skill(PROGRAM).model_copy(update={"entrypoint": f"{PYTHON_MARK} skill.py x{PYTHON_MARK} {{port}}"})
    async with open_adapter(skill.located_in(tmp_path)) as adapter:
        answer: Any = (await adapter.call({}, 60.0)).output
    assert answer == [sys.prefix, [f"x{PYTHON_MARK}", "{port}"]]
