"""Programming problems whose tests are code: HumanEval and MBPP."""

from __future__ import annotations

from eval_skills.benchmarks.importers.rows import Row, Task
from eval_skills.benchmarks.importers.source import Source

CODE_TESTS = "code_tests"
"""The scorer that runs the tests, in a sandbox only."""


def is_humaneval(source: Source) -> bool:
    """Whether the entries are HumanEval's."""
    return {"task_id", "prompt", "entry_point", "test"} <= source.keys


def humaneval_task(row: Row, _: Source) -> Task:
    """A function to complete, and the code that checks it; the canonical solution is left out."""
    options = {"entryPoint": row.text("entry_point"), "test": row.text("test"), "prompt": row.text("prompt")}
    return {
        "id": row.text("task_id"),
        "description": f"complete {row.text('entry_point')}",
        "inputData": {"prompt": row.text("prompt")},
        "evaluator": {"type": CODE_TESTS, **options},
    }


def is_mbpp(source: Source) -> bool:
    """Whether the entries are MBPP's, or those of its sanitized part."""
    return {"task_id", "test_list"} <= source.keys and bool(source.keys & {"text", "prompt"})


def mbpp_task(row: Row, _: Source) -> Task:
    """A function to write, and assertions on it; the code of the solution is left out, one assertion is shown, as is usual."""
    tests = row.texts("test_list")
    if not tests:
        raise row.refusal("the list is empty", "test_list")
    setup = row.texts("test_imports") if row.has("test_imports") else [row.text_or("test_setup_code")]
    prompt = row.text("text" if row.has("text") else "prompt")
    return {
        "id": row.text("task_id"),
        "inputData": {"prompt": prompt, "exampleTest": tests[0]},
        "evaluator": {"type": CODE_TESTS, "setup": "\n".join(filter(None, setup)), "test": "\n".join(tests)},
    }
