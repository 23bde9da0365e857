"""``eval_queries.json`` of an Agent Skill: what people might ask, and whether the skill should be loaded then."""

from __future__ import annotations

from pathlib import Path

from eval_skills.agent_skills.documents import Document, an_object
from eval_skills.core.documents.loading import read_document, validate
from eval_skills.core.errors import InputError
from eval_skills.core.models.base import Text

QUERIES_FILE = "evals/eval_queries.json"
"""Where it lies in the folder of the skill."""


class Query(Document):
    """One query. The same text may be asked twice: queries are told apart by their place."""

    query: Text
    should_trigger: bool


def read_queries_file(path: Path) -> list[Query]:
    """The queries of a file, in order.

    Raises:
        InputError: it cannot be read, is not a list of queries, or holds none; the message has the file and the place.
    """
    listed = read_document(path)
    if not isinstance(listed, list):
        raise InputError("expected a list of objects with query and should_trigger", source=path)
    if not listed:
        raise InputError("the list is empty; give queries that should load the skill, and some that should not", source=path)
    return [
        validate(Query, an_object(each, f"{path}: [{index}]"), source=f"{path}: [{index}]") for index, each in enumerate(listed)
    ]
