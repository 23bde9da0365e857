"""Questions with known answers: multiple choice (MMLU, ARC, HellaSwag …), SQuAD and GAIA."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from eval_skills.benchmarks.importers.accepted import LETTERS, choice_task, one_of, right_choice
from eval_skills.benchmarks.importers.rows import Row, Skip, Task
from eval_skills.benchmarks.importers.source import Source
from eval_skills.benchmarks.importers.tables import TEXT_SUFFIXES
from eval_skills.core.text import excerpt

_LETTERED = ("A", "B", "C", "D")
_LEVELS = {"1": "simple", "2": "medium", "3": "complex"}
_GROUPS = ("subject", "category", "topic")
_NOT_OFFICIAL = (
    "answers are compared whole with the accepted ones: not the official figures of SQuAD, which are exact match and F1"
)


def is_multiple_choice(source: Source) -> bool:
    """Whether the entries offer choices and name one."""
    keys = source.keys
    offered = bool(keys & {"choices", "options", "endings"}) or set(_LETTERED) <= keys
    return bool(offered and keys & {"question", "ctx"} and keys & {"answer", "answerKey", "answer_index", "label", "target"})


def choice_entries(source: Source) -> list[Row]:
    """The questions; a CSV file without a header is MMLU's own: question, A, B, C, D, answer."""
    file = source.files[0]
    if file.suffix.lower() in TEXT_SUFFIXES:
        cells = source.cells()
        if all(len(row) == 6 and row[5].strip() in _LETTERED for _, row in cells):
            names = ("question", *_LETTERED, "answer")
            return [Row(f"{file}:{line}", dict(zip(names, row, strict=True)), is_text=True) for line, row in cells]
    return source.entries()


def multiple_choice_task(row: Row, _: Source) -> Task:
    """A question with choices."""
    choices = _choices(row)
    key = row.first("answerKey", "answer", "answer_index", "label", "target") or "answer"
    right = right_choice(row, key, [label for label, _ in choices])
    question = row.text("ctx") if row.has("ctx") and not row.has("question") else row.text("question")
    task = choice_task(row, question, choices, right)
    if name := row.first("id", "question_id"):
        task["id"] = row.text(name)
    return task | {"tags": [row.text(group) for group in _GROUPS if row.has(group)]}


def _choices(row: Row) -> list[tuple[str, str]]:
    if (key := row.first("choices", "options", "endings")) is None:
        return [(letter, row.text(letter)) for letter in LETTERS if row.has(letter)]
    given = row.data[key]
    if isinstance(given, dict):  # ARC: {"text": [...], "label": [...]}
        inside = Row(f"{row.place}: {key}", given)
        labels, texts = inside.texts("label"), inside.texts("text")
        if len(labels) != len(texts):
            raise row.refusal(f"{len(labels)} labels for {len(texts)} choices", key)
        return list(zip(labels, texts, strict=True))
    texts = row.texts(key)
    if len(texts) > len(LETTERS):
        raise row.refusal(f"at most {len(LETTERS)} choices have a letter; there are {len(texts)}", key)
    return list(zip(LETTERS, texts, strict=False))


def is_squad(source: Source) -> bool:
    """Whether it is SQuAD's own file, or a table of it."""
    document = source.document
    if isinstance(document, dict):
        data = document.get("data")
        return isinstance(data, list) and bool(data) and isinstance(data[0], dict) and "paragraphs" in data[0]
    return {"question", "context", "answers"} <= source.keys


def squad_entries(source: Source) -> Iterator[Row]:
    """The questions, of SQuAD's own file with the context and title of each."""
    if source.rows:
        yield from source.rows
        return
    for article in source.listed("data"):
        for number, each in enumerate(article.listed("paragraphs")):
            paragraph = _inside(article, f"paragraphs[{number}]", each)
            for place, asked in enumerate(paragraph.listed("qas")):
                row = _inside(paragraph, f"qas[{place}]", asked)
                yield Row(row.place, {"title": article.data.get("title"), "context": paragraph.text("context"), **row.data})


def _inside(row: Row, place: str, value: Any) -> Row:
    if not isinstance(value, dict):
        raise row.refusal(f"expected an object, got {excerpt(value, 80)}", place)
    return Row(f"{row.place}.{place}", value)


def squad_task(row: Row, source: Source) -> Task:
    """A question about a text; a question without an answer in the text expects an empty one."""
    answers = row.mapping("answers") if row.is_text else row.data.get("answers")
    if isinstance(answers, dict):  # a table: {"text": [...], "answer_start": [...]}
        texts = Row(f"{row.place}: answers", answers).texts("text")
    else:
        found = [_inside(row, f"answers[{number}]", each) for number, each in enumerate(row.listed("answers"))]
        texts = [each.text("text") for each in found]
    source.say(_NOT_OFFICIAL)
    nothing = {"type": "regex", "patterns": [r"\A\s*\Z"]}
    task: Task = {
        "description": row.text("question").strip()[:80],
        "inputData": {"question": row.text("question"), "context": row.text("context")},
        "expectedOutput": {"value": texts[0] if texts else ""},
        "evaluator": one_of(texts) if texts else nothing,
        "tags": ["answerable" if texts else "unanswerable"],
        "metadata": {"acceptedAnswers": list(dict.fromkeys(texts)), "title": row.data.get("title")},
    }
    return task | ({"id": row.text("id")} if row.has("id") else {})


def is_gaia(source: Source) -> bool:
    """Whether the entries are GAIA's."""
    return {"task_id", "Question", "Level"} <= source.keys


def gaia_task(row: Row, source: Source) -> Task:
    """A question of GAIA, scored by its published rule. The annotators' notes hold the answer and are left out."""
    answer = row.text_or_empty("Final answer")
    if answer.strip() in ("", "?"):
        raise Skip("the answer is withheld (empty or ?), as in GAIA's test split")
    level = row.text("Level")
    if level not in _LEVELS:
        raise row.refusal(f"expected 1, 2 or 3; got {excerpt(level, 80)}", "Level")
    if answer.strip().lower().lstrip("+-") in ("inf", "infinity", "nan"):
        source.say(f"{row.place}: the answer {answer!r} is one for which GAIA's rule passes, or fails, nearly everything")
    asked = {"question": row.text("Question")}
    if row.has("file_name"):
        try:
            asked["file"] = source.attach(row.text("file_name"))
        except ValueError as error:
            raise row.refusal(f"task {row.text('task_id')!r}: {error}", "file_name") from None
    return {
        "id": row.text("task_id"),
        "inputData": asked,
        "expectedOutput": {"value": answer},
        "evaluator": {"type": "gaia"},
        "tags": [f"level-{level}"],
        "complexity": _LEVELS[level],
    }
