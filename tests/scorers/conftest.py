"""What the tests of scorers share; among it a judging model: a real OpenAI-compatible HTTP server on loopback that answers as the
test wrote down.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.llm import close_clients
from eval_skills.scorers import ScoringSettings, registry
from tests.scripted_model import ScriptedModel

MODEL = "openai/scripted"


@pytest.fixture(scope="session")
def one_server() -> Iterator[ScriptedModel]:
    with ScriptedModel() as server:
        yield server


@pytest.fixture
async def model(one_server: ScriptedModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[ScriptedModel]:
    """The server with an empty script; verdicts are cached in the test's own folder, and no key is set."""
    for name in ("OPENAI_API_KEY", "OPENAI_API_BASE", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    one_server.forget()
    yield one_server
    await close_clients()


@pytest.fixture
def settings(model: ScriptedModel) -> Callable[..., ScoringSettings]:
    """Settings that judge with the scripted model; `llm` adds to them, the other options are those of `JudgeOptions`."""

    def of(llm: dict[str, Any] | None = None, **options: Any) -> ScoringSettings:
        return ScoringSettings.of({"llm": {"model": MODEL, "api_base": model.url, **(llm or {})}, **options})

    return of


@pytest.fixture
def own_scorers() -> Iterator[None]:
    """Scorers that the test registers are forgotten afterwards."""
    before = dict(registry._entries)
    yield
    registry._entries.clear()
    registry._entries.update(before)
