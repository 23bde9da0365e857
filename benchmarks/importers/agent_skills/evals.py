"""``evals.json`` of an Agent Skill: each assertion is checked by a program where it can be, else judged by a model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from eval_skills.agent_skills.evals_file import EVALS_FILE, Assertion, Eval
from eval_skills.benchmarks.importers.agent_skills.sentences import check_of
from eval_skills.benchmarks.importers.references import SAME
from eval_skills.benchmarks.importers.rows import Row, Skip, Task
from eval_skills.benchmarks.importers.source import Source
from eval_skills.core.documents.loading import validate
from eval_skills.core.text import plural

PART = "assertion-"
"""What the name of an evaluator begins with that stands for an assertion; its number follows, from 1."""

HOLDS = {"holds": 1, "does not hold": 0}
"""What a model may say of an assertion, and the score of each."""


def is_agent_skills(source: Source) -> bool:
    """Whether it is the ``evals.json`` of an Agent Skill."""
    evals = source.document.get("evals") if isinstance(source.document, dict) else None
    return isinstance(evals, list) and bool(evals) and isinstance(evals[0], dict) and "prompt" in evals[0]


def agent_skills_entries(source: Source) -> list[Row]:
    """The evals; the benchmark is called as the skill is. The remarks count who judges the assertions."""
    name = source.document.get("skill_name") if isinstance(source.document, dict) else None
    if isinstance(name, str) and name.strip():
        source.name = name
    elif source.folder.name == EVALS_FILE.partition("/")[0]:
        source.name = source.folder.resolve().parent.name
    rows = source.listed("evals")
    _say_who_judges(source, [validate(Eval, dict(row.data), source=row.place) for row in rows])
    return rows


def _say_who_judges(source: Source, evals: Iterable[Eval]) -> None:
    checks = judged = references = 0
    for each in evals:
        checked = sum(checked_by(assertion) is not None for assertion in each.assertions)
        checks, judged = checks + checked, judged + len(each.assertions) - checked
        references += not each.assertions and bool(each.expected_output)
    if checks:
        source.say(f"{plural(checks, 'assertion')} checked by a program; the evaluators of a task say how")
    if judged:
        source.say(f"{plural(judged, 'assertion')} judged by a model, one question each (llm_judge); name it with --judge-model")
    if references:
        source.say(f"{plural(references, 'eval')} without assertions: a model compares with the expected output (llm_judge)")


def agent_skills_task(row: Row, source: Source) -> Task:
    """An eval whose assertions are evaluators, ``assertion-1`` and so on: all must hold, and the score is the share that does.

    Where there are none, a model compares the answer with the expected output.

    Raises:
        Skip: it has neither.
        InputError: it is malformed, or names a file that is not there.
    """
    found = validate(Eval, dict(row.data), source=row.place)
    if not found.assertions and not (found.expected_output or "").strip():
        raise Skip("it has neither assertions nor an expected output")
    files = []
    for name in found.files:
        try:
            files.append(source.attach(name, above="evals"))
        except ValueError as error:
            raise row.refusal(str(error), "files") from None
    task: Task = {"inputData": {"prompt": found.prompt, **({"files": files} if files else {})}, **_judged(found)}
    return task | ({"id": f"eval-{found.id}"} if found.id else {})


def _judged(found: Eval) -> Task:
    expected = found.expected_output if (found.expected_output or "").strip() else None
    if not found.assertions:
        return {"expectedOutput": {"value": expected, "criteria": [SAME], "type": "llm_judge"}}
    judged: Task = {
        "evaluators": evaluators_of(found.assertions),
        "costOrder": "as-written",
        "metadata": {"assertions": [each.text for each in found.assertions]},
    }
    return judged | ({"expectedOutput": {"value": expected}} if expected else {})


def evaluators_of(assertions: Iterable[Assertion]) -> list[dict[str, Any]]:
    """An evaluator for each assertion, named by its number; `costOrder` ``as-written`` has all of them asked."""
    entries = ((f"{PART}{number}", each) for number, each in enumerate(assertions, 1))
    return [{**(checked_by(each) or _question(each)), "name": name} for name, each in entries]


def checked_by(assertion: Assertion) -> dict[str, Any] | None:
    """The evaluator that checks it without a model: what it names itself, or what its words clearly say; None where none does."""
    return dict(assertion.check) if assertion.check is not None else check_of(assertion.text)


def _question(assertion: Assertion) -> dict[str, Any]:
    return {"type": "llm_judge", "criteria": assertion.text, "choices": HOLDS}
