"""Programming problems whose tests are code: HumanEval and MBPP."""

from __future__ import annotations

import ast
import builtins
import warnings
from typing import NamedTuple

from eval_skills.benchmarks.importers.rows import Row, Skip, Task
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
    setup = row.texts("test_imports") if row.has("test_imports") else [row.text_or_empty("test_setup_code")]
    prompt = row.text("text" if row.has("text") else "prompt")
    options = {"setup": "\n".join(filter(None, setup)), "test": "\n".join(tests)}
    called, reference = _called(f"{options['setup']}\n{options['test']}"), _defined(row.text_or_empty("code"))
    if called & reference.classes:
        raise Skip("its tests make objects of a class of the solution, which runs in a process of its own")
    own = sorted(called & reference.functions & _BUILTIN)  # such as MBPP's own `sum`
    return {
        "id": row.text("task_id"),
        "inputData": {"prompt": prompt, "exampleTest": tests[0]},
        "evaluator": {"type": CODE_TESTS, **options, **({"entryPoint": own[0]} if len(own) == 1 else {})},
    }


_BUILTIN = frozenset(dir(builtins))


class _Defined(NamedTuple):
    functions: set[str]
    classes: set[str]


def _defined(code: str) -> _Defined:
    body = _parsed(code).body
    functions = {node.name for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    return _Defined(functions, {node.name for node in body if isinstance(node, ast.ClassDef)})


def _called(code: str) -> set[str]:
    calls = (node.func for node in ast.walk(_parsed(code)) if isinstance(node, ast.Call))
    return {called.id for called in calls if isinstance(called, ast.Name)}


def _parsed(code: str) -> ast.Module:
    """The code, read and not executed; empty where it is not Python, which the scorer says of tests."""
    try:
        with warnings.catch_warnings(action="ignore"):  # such as of "\\d", which is a matter of its author
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module(body=[], type_ignores=[])
