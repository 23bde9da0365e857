"""What an answer may mean as a program."""

from __future__ import annotations

from typing import Any

from eval_skills.scorers.code.programs import programs_of
from tests.tables import each_row

PROMPT = "import math\n\ndef add(a, b):\n"
HELPERS = PROMPT + "\n    pass\n"
WHOLE = "def add(a, b):\n    return a + b\n"


def fenced(code: str, language: str = "") -> str:
    return f"```{language}\n{code}```\n"


@each_row(
    ("answer", "codes"),
    [
        ("a = 1", ["a = 1"]),
        ("", [""]),
        (None, [""]),
        ({"answer": "a = 1"}, ["a = 1"]),
        ({"code": "a = 1", "explanation": "one"}, ["a = 1"]),
        ({"result": {"solution": "a = 1"}}, ["a = 1"]),
        ("~~~python title=x\na = 1\n~~~", ["a = 1\n"]),
        ("````\na = '```'\n````", ["a = '```'\n"]),
    ],
)
def test_the_code_of_an_answer(answer: Any, codes: list[str]) -> None:
    assert [code for _, code in programs_of(answer)] == codes


def test_of_several_blocks_those_of_python_count_together_and_then_alone() -> None:
    answer = fenced("pip install x\n", "bash") + fenced("a = 1\n", "py") + fenced("b = 22\n", "python") + fenced("1 it is\n")
    assert [code for _, code in programs_of(answer)] == ["a = 1\n\nb = 22\n", "b = 22\n", "a = 1\n"]
    assert [code for _, code in programs_of(fenced("a = 1\n") + fenced("{}\n", "json"))] == ["a = 1\n"]


def test_a_whole_function_has_the_prompt_before_it_and_a_body_below_it() -> None:
    assert programs_of(WHOLE, PROMPT, "add") == [(HELPERS, WHOLE)]
    assert programs_of(WHOLE, PROMPT, "add", "x = 1") == [(f"x = 1\n{HELPERS}", WHOLE)]
    assert programs_of("    return 1", PROMPT, "add", "x = 1")[0] == ("x = 1", f"{PROMPT}    return 1")
    assert programs_of("return 1", PROMPT.rstrip(), "add")[0] == ("", f"{PROMPT}    return 1")


def test_of_several_blocks_the_one_with_the_function_is_among_them() -> None:
    found = programs_of(fenced(WHOLE) + fenced("add(1, 2)\n>>> 3\n"), PROMPT, "add")
    assert [code for _, code in found] == [f"{WHOLE}\nadd(1, 2)\n>>> 3\n", WHOLE]
