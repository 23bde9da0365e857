"""The interpreter of a Python skill, and the environment that it sees."""

from __future__ import annotations

import sys
import venv
from pathlib import Path

import pytest

from eval_skills.core.errors import InfraError
from tests.adapters.python_calls import MakeSkill, failure, output


@pytest.mark.slow
async def test_p59_the_interpreter_may_be_another_one_that_knows_nothing_of_us(python_skill: MakeSkill, tmp_path: Path) -> None:
    venv.create(tmp_path / ".venv", symlinks=True)
    source = """
        import importlib.util, sys
        def run(value):
            ours = [name for name in dir(sys.modules["eval_skills"]) if not name.startswith("__")]
            return [sys.prefix, ours, importlib.util.find_spec("eval_skills").origin, "pydantic" in sys.modules]
    """
    answer = await output(python_skill(source, python=".venv/bin/python"))
    assert answer == [str((tmp_path / ".venv").resolve()), ["record_tool_call"], None, False], "nothing but the recorder"
    assert await output(python_skill("import sys\ndef run(value): return sys.prefix")) == sys.prefix


async def test_p25_a_missing_interpreter_is_an_infra_error_that_names_it(python_skill: MakeSkill) -> None:
    error = await failure(python_skill("", python=".venv/bin/python3"))
    assert type(error) is InfraError
    assert "cannot start '.venv/bin/python3'" in str(error)


async def test_p71_the_environment_is_an_allow_list_seen_from_inside(
    python_skill: MakeSkill, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "PYTHONPATH", "WANTED"):
        monkeypatch.setenv(name, "/set/by/us")
    source = "import os, sys\ndef run(value): return [sorted(os.environ), sys.path]"
    names, path = await output(python_skill(source, passEnv=["WANTED"], env={"MODE": "test"}))
    assert {"WANTED", "MODE", "PATH"} <= set(names)
    assert not {"OPENAI_API_KEY", "PYTHONPATH"} & set(names)
    assert "/set/by/us" not in path
