"""The answer of a service with a shape of its own."""

from __future__ import annotations

from typing import Any

from eval_skills.adapters.json_pointer import value_at
from eval_skills.adapters.json_text import parse_json


def own_answer(body: bytes, content_type: str, output_path: str | None) -> Any:
    """The output in a successful response: its JSON, or what stands at `output_path` there.

    An empty body is null (a DELETE has nothing to say); a body of the type ``text/plain`` is a text.

    Raises:
        ValueError: it is not readable, or nothing stands at `output_path`.
    """
    if content_type.partition(";")[0].strip().lower() == "text/plain":
        answer: Any = body.decode("utf-8-sig")
    else:
        answer = parse_json(body) if body.strip() else None
    try:
        return value_at(output_path or "", answer)
    except LookupError as error:
        raise ValueError(f"outputPath {output_path!r} leads to nothing: there is no {error.args[0]!r}") from None
