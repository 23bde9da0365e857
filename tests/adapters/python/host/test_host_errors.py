"""Whatever the skill's code raises, or cannot be loaded for, is said, and the next request is answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from eval_skills.adapters.python.host import main as host
from tests.adapters.hosted import Hosted
from tests.tables import each_row


def test_an_exception_is_an_error_reply_and_its_traceback_begins_in_the_skill(hosted: Callable[..., Hosted]) -> None:
    failing = hosted("""
        class Refused(Exception): pass
        def run(value):
            raise Refused("not " + value)
        async def later(value):
            run(value)
    """)
    failing.load("skill:later")
    assert failing.ask("today") == {"error": {"code": host.RAISED, "message": "skill.Refused: not today"}}
    _, err = failing.end()
    frames = [line.strip() for line in err.splitlines() if line.strip().startswith("File ")]
    assert len(frames) == 2
    assert all("skill.py" in frame for frame in frames)


@pytest.mark.parametrize(
    ("raising", "message"),
    [
        pytest.param("sys.exit(3)", "SystemExit: 3", id="exit"),
        pytest.param("sys.exit()", "SystemExit", id="exit-without-a-word"),
        pytest.param("raise KeyboardInterrupt", "KeyboardInterrupt", id="interrupt"),
        pytest.param("raise BaseException('x')", "BaseException: x", id="base"),
        pytest.param("raise OSError('\\udcff')", "OSError: \\udcff", id="surrogate"),
        pytest.param("value + 1", 'TypeError: can only concatenate str (not "int") to str', id="type"),
        pytest.param(
            "raise ExceptionGroup('g', [OSError('a'), OSError('b')])",
            "ExceptionGroup: g (2 sub-exceptions): OSError: a; OSError: b",
            id="group",
        ),
        pytest.param("raise Mute", "skill.Mute: <exception str() failed>", id="cannot-be-shown"),
        pytest.param("run(value)", "RecursionError: maximum recursion depth exceeded", id="recursion"),
    ],
)
@pytest.mark.parametrize("keyword", ["def", "async def"])
def test_whatever_is_raised_the_next_request_is_answered(
    hosted: Callable[..., Hosted], raising: str, message: str, keyword: str
) -> None:
    if keyword == "async def":
        raising = raising.replace("run(value)", "await run(value)")
    failing = hosted(f"""
        import sys
        class Mute(Exception):
            def __str__(self): raise ValueError
        {keyword} run(value):
            if value == "fine": return value
            {raising}
    """)
    failing.load("skill:run")
    reply = failing.ask("x")["error"]
    assert reply["code"] == host.RAISED
    assert reply["message"].startswith(message)
    assert failing.ask("fine") == {"result": "fine"}


LOADABLE = """
import functools
class Plain: pass
class Needy:
    def __init__(self, size): self.size = size
    def call(self, value): return self.size
class Broken:
    def __init__(self): raise OSError("no device")
    def call(self, value): pass
def two(a, b): return a
def none(): return 0
run = lambda value: value
number = 5
"""


@pytest.fixture(scope="module")
def loader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosted]:
    """A host that may be asked to load as long as nothing could be loaded."""
    folder = tmp_path_factory.mktemp("loadable")
    sources = {
        "skill": LOADABLE,
        "broken": "1 / 0",
        "unparsable": "def run(:",
        "leaving": "raise SystemExit(4)",
        "needing": "import no_such_lib",
    }
    for name, source in sources.items():
        (folder / f"{name}.py").write_text(source)
    loader = Hosted(folder)
    yield loader
    loader.end()


@pytest.mark.slow
@each_row(
    ("entrypoint", "setup", "message"),
    [
        pytest.param("skil:run", {}, r"no module 'skil' in .*, nor one installed for .*\(did you mean 'skill'\?\)", id="module"),
        pytest.param("skill.deep:run", {}, r"there is no module 'skill.deep' in", id="no-package"),
        pytest.param("gone/skill.py:run", {}, r"importing gone/skill.py failed: FileNotFoundError", id="file"),
        pytest.param("skill:rum", {}, r"skill has no attribute 'rum' \(did you mean 'run'\?\)", id="attribute"),
        pytest.param("skill:qqq", {}, r"skill has no attribute 'qqq'; it has Broken, Needy, Plain", id="attribute-unlike-any"),
        pytest.param("skill:Needy.size", {}, r"skill has no attribute 'Needy.size'; it has call", id="nested-attribute"),
        pytest.param("skill:number", {}, r"skill:number is an int, which cannot be called; name a function or", id="value"),
        pytest.param("skill:Plain", {}, r"skill:Plain is a class without a method `call`", id="class-without-call"),
        pytest.param("skill:Needy", {}, r"making a skill:Needy failed: TypeError.*adapterConfig.init", id="no-init"),
        pytest.param("skill:Needy", {"init": {"sise": 1}}, r"unexpected keyword argument 'sise'", id="wrong-init"),
        pytest.param("skill:Broken", {}, r"making a skill:Broken failed: OSError: no device", id="broken-constructor"),
        pytest.param(
            "skill:run", {"init": {"a": 1}}, r"skill:run is not a class, and adapterConfig.init holds", id="init-of-none"
        ),
        pytest.param("skill:two", {}, r"skill:two\(a, b\) cannot be called with one argument, .*spread", id="two-arguments"),
        pytest.param("skill:none", {}, r"skill:none\(\) cannot be called with one argument", id="no-argument"),
        pytest.param("broken:run", {}, r"importing broken failed: ZeroDivisionError", id="broken-module"),
        pytest.param("unparsable:run", {}, r"(?s)importing unparsable failed: .*SyntaxError", id="syntax"),
        pytest.param("leaving:run", {}, r"importing leaving failed: SystemExit: 4", id="exit-at-import"),
        pytest.param("needing:run", {}, r"No module named 'no_such_lib'; install it for .* adapterConfig.python", id="library"),
        pytest.param(
            "skill:run", {"kind": "langchain", "call": None}, r"without ainvoke or invoke; name a Runnable", id="no-runnable"
        ),
    ],
)
def test_what_cannot_be_loaded_is_said_with_what_would_be_valid(
    loader: Hosted, entrypoint: str, setup: dict[str, Any], message: str
) -> None:
    reply = loader.load(entrypoint, **setup)
    assert reply["error"]["code"] == host.NOT_LOADED
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(reply["error"]["message"])
