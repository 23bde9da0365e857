"""A model that streams its calls: what is known of them when the stream breaks off, or never ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult

from eval_skills.adapters.call import Progress
from eval_skills.adapters.python.host.recorder import callback_handler
from eval_skills.adapters.python.langchain import reported_by_callbacks
from eval_skills.core.models import SkillResponse

pytestmark = pytest.mark.filterwarnings("ignore")


class Streams(BaseChatModel):
    """Streams a call of `pay` in two pieces; the connection `breaks` behind them, or not."""

    breaks: bool

    @property
    def _llm_type(self) -> str:
        return "streams"

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        raise NotImplementedError

    def _stream(self, *_: Any, **__: Any) -> Iterator[ChatGenerationChunk]:
        for name, text, its_id in (("pay", "", "c1"), (None, '{"sum": 1}', None)):
            piece: Any = {"name": name, "args": text, "id": its_id, "index": 0}
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[piece]))
        if self.breaks:
            raise ConnectionError("cut")


def known_of(model: BaseChatModel, pieces: int, *, of_graph: bool) -> SkillResponse:
    """What is known when so many pieces of the stream were read, or its end."""
    progress = Progress()
    if of_graph:
        progress.add({"toolCalls": []})
    stream = model.stream("go", {"callbacks": [callback_handler([], progress.add)]})
    try:
        for _ in zip(range(pieces), stream, strict=False):
            pass
    except ConnectionError:
        pass
    known = reported_by_callbacks(progress.known, of_graph=of_graph)
    assert known is not None
    return known


@pytest.mark.parametrize("of_graph", [True, False], ids=["graph", "chain"])
@pytest.mark.parametrize(
    ("breaks", "pieces", "arguments"),
    [
        pytest.param(False, 9, {"sum": 1}, id="ends"),
        pytest.param(True, 9, {"sum": 1}, id="breaks-off"),
        pytest.param(True, 1, None, id="is-not-read-on"),
    ],
)
def test_a_call_is_known_once_as_soon_as_its_name_was_streamed(of_graph: bool, breaks: bool, pieces: int, arguments: Any) -> None:
    model = Streams(breaks=breaks)
    known = known_of(model, pieces, of_graph=of_graph)
    assert [(call.name, call.arguments) for call in known.tool_calls or []] == [("pay", arguments)]
    assert (known.messages is None) is (arguments is None or not of_graph)
