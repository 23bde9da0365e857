"""The model that judges in the pages' examples: a server on this machine that answers by a rule, so that outputs can be checked.

Of two answers the longer one is better; the model ``hasty`` takes the first one. A single answer is right where it holds a
word of courtesy, and wrong otherwise. A text's vector counts its words. An answer claims its sentences; a context supports those
that stand in it, and is of use where it has a long word of the reference answer. As a user it answers "when?" with "on
Friday", and a goal is reached where the agent has "booked".
"""

from __future__ import annotations

import json
import re
from binascii import crc32
from collections.abc import Iterator
from contextlib import contextmanager

from tests.scripted_model import Asked, Says, ScriptedModel, embedding, verdict

COURTESY = re.compile(r"\b(please|thank|glad|sorry|welcome)", re.IGNORECASE)
SHOWN = re.compile(r"<<<([a-z]+(?: answer| \d+)?) [0-9a-f]+>>>\n(.*?)\n<<<end", re.DOTALL)


@contextmanager
def scripted_judge() -> Iterator[str]:
    """The server's address, as `llm.apiBase` has it."""
    with ScriptedModel() as model:
        model.otherwise = _reply
        yield model.url


def _about_claims(asked: Asked, materials: dict[str, str]) -> Says | None:
    form = asked.body.get("response_format", {}).get("json_schema", {}).get("schema", {}).get("properties", {})
    contexts = [text for name, text in materials.items() if name.startswith("context ")]
    if "claims" in form:
        said = re.findall(r"[^.]+", materials["answer"])
        listed = [{"claim": each.strip(), "importance": "major"} for each in said if each.strip()]
        return Says({"reasoning": "its sentences", "claims": listed})
    if "lookups" in form:
        found = [(each["number"], each["claim"]) for each in json.loads(materials["claims"])]
        held = {number: claim for number, claim in found if any(claim in text for text in contexts)}
        verdicts = [(number, "supported" if number in held else "not_found") for number, _ in found]
        return Says({"lookups": [{"number": at, "evidence": held.get(at, ""), "verdict": said} for at, said in verdicts]})
    if "verdicts" in form:
        words = re.findall(r"\w{6,}", materials["reference answer"])
        use = [[word for word in words if word in text] for text in contexts]
        judged = [{"number": at, "reasoning": f"has {had or 'none'}", "holds": bool(had)} for at, had in enumerate(use, 1)]
        return Says({"verdicts": judged})
    return None


def _about_a_conversation(asked: Asked, turns: list[dict[str, str]]) -> Says:
    if "play a user" not in asked.prompt:
        booked = "booked" in turns[-1]["agent"]
        return Says(
            {"reasoning": "the agent says so" if booked else "nothing is booked", "choice": "reached" if booked else "missed"}
        )
    if not turns:
        return Says({"reason": "to begin", "done": False, "message": "I want to go to Bern"})
    asks = "when?" in turns[-1]["agent"]
    return Says({"reason": "it asks" if asks else "the trip is booked", "done": not asks, "message": "on Friday" if asks else ""})


def _vector(text: str) -> list[float]:
    counts = [0.0] * 64
    for word in re.findall(r"\w+", text.lower()):
        counts[crc32(word.encode()) % len(counts)] += 1
    return counts


def _reply(asked: Asked) -> Says:
    if asked.path.endswith("/embeddings"):
        return embedding(*_vector(asked.prompt))
    materials = dict(SHOWN.findall(asked.prompt))
    if "conversation" in materials or "play a user" in asked.prompt:
        return _about_a_conversation(asked, json.loads(materials.get("conversation", "[]")))
    if (about := _about_claims(asked, materials)) is not None:
        return about
    if "first answer" in materials and asked.body["model"] == "hasty":
        return Says({"reasoning": "it stands first", "better": "first"})
    if "first answer" in materials:
        better = "first" if len(materials["first answer"]) > len(materials["second answer"]) else "second"
        return Says({"reasoning": "it says more", "better": better})
    polite = COURTESY.search(materials.get("answer", ""))
    return verdict(1.0, f"it says {polite[0]!r}") if polite else verdict(0.0, "no word of courtesy")
