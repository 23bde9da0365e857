"""Searches a small corpus that lies beside this file; one JSON-RPC 2.0 request per line until the input ends."""

import json
import math
import re
import sys
from collections import Counter
from pathlib import Path

CORPUS = Path(__file__).with_name("corpus.json")
TITLE_WEIGHT = 2
MAX_SNIPPET = 300
STOP_WORDS = frozenset("a an and are at by for from in is it its of on or that the to was what when where which who with".split())


class BadInput(ValueError):
    """The input holds no query, or a limit that is none."""


class Index:
    """Pages ranked by the words they share with a query; a word counts more the fewer pages hold it."""

    def __init__(self, pages):
        self.pages = pages
        self.words = [Counter(words(page["title"]) * TITLE_WEIGHT + words(page["text"])) for page in pages]
        holders = Counter(word for page in self.words for word in page)
        self.rarity = {word: math.log(1 + len(pages) / count) for word, count in holders.items()}

    def search(self, query, limit):
        """At most `limit` pages that share a word with `query`, best first; equals stay in the order of the corpus."""
        scores = [
            sum(self.rarity[word] * min(page[word], TITLE_WEIGHT) for word in set(words(query)) if word in page)
            for page in self.words
        ]
        ranked = sorted(range(len(self.pages)), key=lambda index: -scores[index])
        return [result(self.pages[index]) for index in ranked[:limit] if scores[index] > 0]


def words(text):
    """The telling words of `text` in lower case, without a plural's s."""
    found = (word for word in re.findall(r"[a-z0-9]+", text.lower()) if word not in STOP_WORDS)
    return [word[:-1] if len(word) > 3 and word.endswith("s") else word for word in found]


def result(page):
    return {"title": page["title"], "url": page["url"], "snippet": page["text"][:MAX_SNIPPET]}


def answer(index, params):
    query = params.get("query") if isinstance(params, dict) else None
    if not isinstance(query, str) or not query.strip():
        raise BadInput("the input must hold a query, which is a text")
    limit = params.get("limit", 3)
    if type(limit) is not int or not 1 <= limit <= 10:
        raise BadInput(f"limit must be a whole number from 1 to 10; got {limit!r}")
    return {"results": index.search(query, limit)}


def reply(index, request):
    try:
        return {"jsonrpc": "2.0", "result": answer(index, request.get("params")), "id": request.get("id")}
    except BadInput as error:
        return {"jsonrpc": "2.0", "error": {"code": -32602, "message": str(error)}, "id": request.get("id")}


if __name__ == "__main__":
    corpus = Index(json.loads(CORPUS.read_text(encoding="utf-8")))
    for line in sys.stdin:
        print(json.dumps(reply(corpus, json.loads(line))), flush=True)
