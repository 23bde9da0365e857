"""What the host needs, and what it shows the skill of itself."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.adapters.hosted import Hosted


def test_it_needs_the_standard_library_alone(hosted: Callable[..., Hosted]) -> None:
    bare = hosted("import sys\ndef run(_): return sorted({name.partition('.')[0] for name in sys.modules})", "-S")
    bare.load("skill:run")
    loaded = set(bare.ask(None)["result"])
    assert loaded - set(sys.stdlib_module_names) - {"__main__", "__mp_main__", "skill"} <= {"eval_skills"}
    assert loaded >= {"asyncio", "skill"}


def test_its_neighbours_are_not_mistaken_for_the_standard_library(hosted: Callable[..., Hosted]) -> None:
    looking = hosted("import http, subprocess\ndef run(_): return [http.__file__, subprocess.__file__]")
    looking.load("skill:run")
    assert not any("adapters" in file for file in looking.ask(None)["result"])


@pytest.mark.slow
def test_the_code_may_import_the_real_package(hosted: Callable[..., Hosted]) -> None:
    importing = hosted("from eval_skills.adapters import Adapter\ndef run(_): return Adapter.__module__")
    assert importing.load("skill:run") == {"result": {"channels": []}}
    assert importing.ask(None) == {"result": "eval_skills.adapters.base"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("queue", id="that-the-host-imported"),
        pytest.param("colorsys", id="that-nobody-imported"),
    ],
)
def test_a_module_of_the_skill_goes_before_one_of_the_same_name(hosted: Callable[..., Hosted], tmp_path: Path, name: str) -> None:
    (tmp_path / f"{name}.py").write_text("def mine(_): return 'mine'")
    own = hosted("")
    own.load(f"{name}:mine")
    assert own.ask(None) == {"result": "mine"}
