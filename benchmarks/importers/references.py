"""Questions with a reference answer or criteria: deepeval, Ragas, LangSmith, OpenAI evals, MT-bench, Inspect."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from eval_skills.benchmarks.importers.accepted import LETTERS, choice_task, one_of, right_choice
from eval_skills.benchmarks.importers.rows import Row, Skip, Task
from eval_skills.benchmarks.importers.source import Source
from eval_skills.core.text import excerpt

SAME = "The answer says the same as the reference answer, and nothing that contradicts it."
_JUDGED = "a model judges whether an answer says the same as the reference (llm_judge); name it with --judge-model"
_NOTES = ("context", "retrieval_context", "additional_metadata", "custom_column_key_values", "comments", "source_file")
_RECORDED = (
    "recorded answers (actual_output, tools_called) are left out: the skill is asked; eval --traces FILE judges recorded runs"
)
_NAMES = "expected tools are compared by name alone, in any order: their arguments and outputs, and a second call, are left out"
_GOOD = (
    "The answer is helpful, relevant, accurate, deep enough and creative where that is asked, and has a fitting level of detail."
)


def judged(asked: Any, reference: Any, source: Source, **more: Any) -> Task:
    """A task whose answer a model compares with the reference."""
    source.say(_JUDGED)
    return {"inputData": asked, "expectedOutput": {"value": reference, "criteria": SAME, "type": "llm_judge"}, **more}


def is_deepeval(source: Source) -> bool:
    """Whether the entries are goldens of deepeval."""
    keys = source.keys
    single = "input" in keys and bool(keys & {"expected_output", "actual_output", "expected_tools", "retrieval_context"})
    talk = {"scenario", "expected_outcome", "user_description", "context", "turns", "name", "comments", "additional_metadata"}
    return single or ("scenario" in keys and (bool(keys & {"expected_outcome", "user_description"}) or keys <= talk))


def deepeval_task(row: Row, source: Source) -> Task:
    """A golden: its expected tools, and its expected output judged by a model; or a conversation with a simulated user."""
    if row.has("scenario") or row.has("turns"):
        return _simulated(row, source)
    more: Task = {"metadata": {name: row.data[name] for name in _NOTES if row.has(name)}}
    if row.has("name"):
        more["description"] = row.text("name")
    if row.data.get("actual_output") or row.data.get("tools_called") not in (None, "", "[]", []):
        source.say(_RECORDED)
    tools = _tools(row, source)
    if tools:
        more["expected"] = {"tools": list(dict.fromkeys(tools))}
    asked = {"input": row.text("input")}
    if row.has("expected_output"):
        return judged(asked, row.text("expected_output"), source, **more)
    if tools:
        return {"inputData": asked, **more}
    raise Skip("it expects neither an output nor tools")


def _simulated(row: Row, source: Source) -> Task:
    """A conversational golden: the scenario is what the user wants, and the expected outcome is what a model judges by."""
    if row.has("turns") and row.data["turns"]:
        raise Skip("its conversation has begun already, and the skill was not there")
    source.say("a model plays the user of each scenario, and judges the outcome (goal_achieved); name it with --judge-model")
    user = {"goal": row.text("scenario")}
    if row.has("user_description"):
        user["persona"] = row.text("user_description")
    more: Task = {"metadata": {name: row.data[name] for name in _NOTES if row.has(name)}}
    if row.has("name"):
        more["description"] = row.text("name")
    if row.has("expected_outcome"):
        outcome = row.text("expected_outcome")
        user["stopWhen"] = f"As soon as this has come about, or clearly cannot come about: {outcome}"
        more["evaluator"] = {"type": "goal_achieved", "goal": outcome}
    return {"user": user, **more}


def _tools(row: Row, source: Source) -> list[str]:
    """The names of the expected tools: a list, or in a cell of text names between semicolons."""
    if not row.has("expected_tools"):
        return []
    cell = row.data["expected_tools"]
    if row.is_text and not cell.lstrip().startswith("["):
        return [name.strip() for name in cell.split(";") if name.strip()]
    given = row.listed("expected_tools")
    names = [_tool_name(row, tool) for tool in given]
    details = any(isinstance(tool, dict) and (tool.get("input_parameters") or tool.get("output")) for tool in given)
    if details or len(set(names)) < len(names):
        source.say(_NAMES)
    return names


def _tool_name(row: Row, tool: Any) -> str:
    name = tool.get("name") if isinstance(tool, dict) else tool
    if not isinstance(name, str) or not name.strip():
        raise row.refusal(f"expected a tool with a name, got {excerpt(tool, 80)}", "expected_tools")
    return name


def is_ragas(source: Source) -> bool:
    """Whether the entries are samples of Ragas, of today's names or those before 0.2."""
    keys = source.keys
    return {"user_input", "reference"} <= keys or ("question" in keys and bool(keys & {"ground_truth", "ground_truths"}))


def ragas_task(row: Row, source: Source) -> Task:
    """A sample whose reference a model compares with the answer; recorded responses and contexts are left out."""
    if isinstance(row.data.get("user_input"), list):
        raise Skip("it is a conversation of several turns, which this import does not read")
    question = row.text("user_input" if "user_input" in row.data else "question")
    if (key := row.first("reference", "ground_truth", "ground_truths")) is None:
        raise Skip("it has no reference answer")
    return judged({"question": question}, "\n".join(row.texts(key)), source)


def is_langsmith(source: Source) -> bool:
    """Whether the entries are examples of a LangSmith dataset."""
    return {"inputs", "outputs"} <= source.keys


def langsmith_task(row: Row, source: Source) -> Task:
    """An example of a dataset: inputs are what is asked, and a model compares the answer with the outputs."""
    if row.is_text and "inputs" not in row.data:
        raise row.refusal(
            "there is no such column; where each input has a column of its own, import a table: "
            "benchmarks import table FILE --map input.NAME=COLUMN expected=COLUMN",
            "inputs",
        )
    asked = row.mapping("inputs")
    outputs = row.mapping("outputs") if row.has("outputs") else {}
    if all(value is None or (isinstance(value, str) and not value.strip()) for value in outputs.values()):
        raise Skip("it has no reference outputs")
    if row.data.get("attachments") not in (None, "", "{}", "[]", {}, []):
        source.say("attachments are left out: the skill is asked the inputs alone")
    reference = next(iter(outputs.values())) if len(outputs) == 1 else outputs
    metadata = row.mapping("metadata") if row.has("metadata") else {}
    split = metadata.get("dataset_split")
    tags = [part for part in (split if isinstance(split, list) else [split]) if isinstance(part, str)]
    return judged(asked, reference, source, metadata=metadata, tags=tags) | ({"id": row.text("id")} if row.has("id") else {})


def is_openai_evals(source: Source) -> bool:
    """Whether the entries are samples of OpenAI's evals."""
    return {"input", "ideal"} <= source.keys


def openai_evals_task(row: Row, source: Source) -> Task:
    """A sample, scored as the evaluation ``Match``: the answer begins with one of the ideal ones, to the letter.

    Source: OpenAI's ``evals/elsuite/basic/match.py``. Its first versions stripped answers; today's strip none.
    """
    source.say("answers are scored as OpenAI's evaluation Match does: they must begin with an ideal answer")
    ideal = row.texts("ideal") if row.has("ideal") else []
    if not any(each.strip() for each in ideal):
        raise Skip("it has no ideal answer")
    starts = "|".join(re.escape(each) for each in ideal if each.strip())
    return {
        "inputData": _asked(row),
        "expectedOutput": {"value": ideal[0]},
        "evaluator": {"type": "regex", "patterns": [rf"\A(?:{starts})"]},
    }


def _asked(row: Row) -> dict[str, Any]:
    """What is asked: a text, or messages of a chat, whose last one also stands alone."""
    given = row.data.get("input")
    if isinstance(given, str):
        return {"input": row.text("input")}
    messages = row.listed("input")
    if not messages or not all(isinstance(each, dict) and isinstance(each.get("content"), str | list) for each in messages):
        raise row.refusal("expected a text, or a list of messages with role and content", "input")
    return {"messages": messages}


def is_inspect(source: Source) -> bool:
    """Whether the entries are samples of an Inspect dataset."""
    return {"input", "target"} <= source.keys


def inspect_task(row: Row, source: Source) -> Task:
    """A sample: the target is the whole answer, or the letter of a choice."""
    if row.has("sandbox") or row.has("setup") or row.has("files"):
        raise Skip("it needs files or a sandbox of its own")
    ids = {"id": row.text("id")} if row.has("id") else {}
    metadata = {"metadata": row.mapping("metadata")} if row.has("metadata") else {}
    if row.has("choices"):
        if isinstance(target := row.data.get("target"), list) and target:
            if len(target) > 1:
                raise Skip("several of its choices are right at once")
            row = replace(row, data={**row.data, "target": target[0]})
        texts = row.texts("choices")
        if len(texts) > len(LETTERS):
            raise row.refusal(f"at most {len(LETTERS)} choices have a letter; there are {len(texts)}", "choices")
        labels = LETTERS[: len(texts)]
        choices = list(zip(labels, texts, strict=True))
        return choice_task(row, row.text("input"), choices, right_choice(row, "target", labels)) | ids | metadata
    if not row.has("target") or not (accepted := row.texts("target")):
        raise Skip("it has no target")
    source.say("targets are compared with whole answers; Inspect's own scorers are not part of its datasets")
    return {"inputData": _asked(row), "expectedOutput": {"value": accepted[0]}, "evaluator": one_of(accepted), **ids, **metadata}


def is_mt_bench(source: Source) -> bool:
    """Whether the entries are questions of MT-bench."""
    return {"question_id", "turns"} <= source.keys


def mt_bench_task(row: Row, source: Source) -> Task:
    """The first turn of a question, graded by a model from 1 to 10."""
    turns = row.texts("turns")
    if not turns:
        raise row.refusal("the list is empty", "turns")
    if len(turns) > 1:
        source.say("only first turns are asked: this import does not read the later ones")
    reference = row.texts("reference") if row.has("reference") else []
    return {
        "id": row.text("question_id"),
        "inputData": {"question": turns[0]},
        "expectedOutput": {"criteria": _GOOD} | ({"value": reference[0]} if reference else {}),
        "evaluator": {"type": "llm_judge", "scale": [1, 10]},
        "tags": [row.text("category")] if row.has("category") else [],
    }
