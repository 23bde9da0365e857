"""The client's side of a session: it answers what the server asks of it as scripted, and keeps what was asked."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import mcp_types
from pydantic import BaseModel

from eval_skills.adapters.answer.envelope import write_json
from eval_skills.adapters.mcp.client import ClientConfig, first_that_fits
from eval_skills.adapters.mcp.results import fingerprint
from eval_skills.core.text import one_line

if TYPE_CHECKING:
    from mcp.client.context import ClientRequestContext

SAMPLING, ELICITATION, ROOTS = "sampling/createMessage", "elicitation/create", "roots/list"
KEYS = {SAMPLING: "sampling", ELICITATION: "elicitation", ROOTS: "roots"}
"""By the method of a request: the part of `adapterConfig.client` that answers it."""

M = TypeVar("M", bound=BaseModel)


class Asked(list[dict[str, Any]]):
    """What a server asked during one call: a block of content for each request, as long as they have at most `max_bytes` as JSON
    together. A last block says how many there were beyond, as `leftOut`: a server may ask without end.
    """

    def __init__(self, max_bytes: int) -> None:
        super().__init__()
        self._left_bytes = max_bytes

    def keep(self, block: dict[str, Any]) -> None:
        """Add the block of a request, or count it."""
        self._left_bytes -= len(write_json(block)) if self._left_bytes >= 0 else 0
        if self._left_bytes >= 0:
            self.append(block)
        elif self and (last := self[-1]).get("leftOut"):
            last["leftOut"] += 1
        else:
            self.append({"type": "asked", "leftOut": 1})


_OF_THE_CALL: ContextVar[Asked | None] = ContextVar("what was asked during the call", default=None)


class ScriptedClient:
    """Gives the SDK's client the callbacks that `config` has answers for: these capabilities it declares, and no others.

    Each request is kept, with its answer, for the call that it belongs to. Protocols of before 2026 do not say which one that is:
    where several calls are under way it is kept for each of them, with their number as `calls`. What is kept of one call has at
    most `max_bytes`.
    """

    def __init__(self, config: ClientConfig, folder: Path | None, max_bytes: int = sys.maxsize) -> None:
        self._config, self._folder, self._max_bytes = config, folder, max_bytes
        self._under_way: list[Asked] = []

    @property
    def callbacks(self) -> dict[str, Any]:
        """Arguments of the SDK's client."""
        offered = {
            "sampling_callback": self._config.sampling and self._sample,
            "elicitation_callback": self._config.elicitation and self._elicit,
            "list_roots_callback": None if self._config.roots is None else self._list_roots,
        }
        return {name: callback for name, callback in offered.items() if callback}

    @property
    def methods(self) -> frozenset[str]:
        """The requests that have scripted answers."""
        return frozenset(method for method, key in KEYS.items() if getattr(self._config, key) is not None)

    @contextmanager
    def asked(self) -> Iterator[Asked]:
        """What is asked while the block runs: one block of content for each request."""
        blocks = Asked(self._max_bytes)
        self._under_way.append(blocks)
        token = _OF_THE_CALL.set(blocks)
        try:
            yield blocks
        finally:
            _OF_THE_CALL.reset(token)
            self._under_way = [each for each in self._under_way if each is not blocks]

    async def _sample(
        self, context: ClientRequestContext, params: mcp_types.CreateMessageRequestParams
    ) -> mcp_types.CreateMessageResult | mcp_types.ErrorData:
        texts = [part.text for message in params.messages for part in message.content_as_list if part.type == "text"]
        asked = "\n".join([params.system_prompt or "", *texts])
        answer = first_that_fits(self._config.sampling or (), asked)
        if answer is None:
            return self._kept(SAMPLING, params, _no_answer(SAMPLING, asked))
        content = mcp_types.TextContent(type="text", text=answer.text)
        result = mcp_types.CreateMessageResult(
            role="assistant", content=content, model=answer.model, stop_reason=answer.stop_reason
        )
        return self._kept(SAMPLING, params, result)

    async def _elicit(
        self, context: ClientRequestContext, params: mcp_types.ElicitRequestParams
    ) -> mcp_types.ElicitResult | mcp_types.ErrorData:
        answer = first_that_fits(self._config.elicitation or (), params.message)
        if answer is None:
            return self._kept(ELICITATION, params, _no_answer(ELICITATION, params.message))
        is_form = answer.action == "accept" and params.mode == "form"
        content = {**(answer.content or {})} if is_form else None
        return self._kept(ELICITATION, params, mcp_types.ElicitResult(action=answer.action, content=content))

    async def _list_roots(self, context: ClientRequestContext) -> mcp_types.ListRootsResult:
        roots = [{"uri": root.uri(self._folder), "name": root.name} for root in self._config.roots or ()]
        return self._kept(ROOTS, None, mcp_types.ListRootsResult.model_validate({"roots": roots}))

    def _kept(self, method: str, params: BaseModel | None, answer: M) -> M:
        block = {"type": "asked", "method": method, "params": _written(params), "answer": _written(answer)}
        if (blocks := _OF_THE_CALL.get()) is not None:
            blocks.keep(block)
            return answer
        number = {"calls": len(self._under_way)} if len(self._under_way) > 1 else {}
        for blocks in self._under_way:
            blocks.keep({**block, **number})
        return answer


def _no_answer(method: str, asked: str) -> mcp_types.ErrorData:
    message = f"no answer in adapterConfig.client.{KEYS[method]} fits; it was asked: {one_line(asked)}"
    return mcp_types.ErrorData(code=mcp_types.INVALID_REQUEST, message=message)


def _written(part: BaseModel | None) -> Any:
    return None if part is None else _without_bytes(part.model_dump(mode="json", by_alias=True, exclude_none=True))


def _without_bytes(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_bytes(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {key: _without_bytes(each) for key, each in value.items() if not (key == "data" and "mimeType" in value)}
    return kept if len(kept) == len(value) else {**kept, **fingerprint(str(value["data"]))}
