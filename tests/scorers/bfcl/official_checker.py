"""The official checker of BFCL as a program, for an interpreter that has the package `bfcl-eval`; nothing here is imported.

Without an argument it prints the folder of the data. With ``-`` it reads lines of ``{category, function, ground_truth, answers,
dots}`` and prints for each the verdicts on its answers: ``[valid, error type]``, or null where the checker itself raised.
"""

from __future__ import annotations

import importlib
import json
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any


def official() -> tuple[Any, Any]:
    """The function that judges, and the language to name to it.

    All that it wants to know of a model is whether its functions are named without dots. The module that says so for the models
    of the leaderboard imports the clients of all their vendors: a module with two models stands in its place.
    """
    models = ModuleType("bfcl_eval.constants.model_config")
    known = {"dots": SimpleNamespace(underscore_to_dot=False), "none": SimpleNamespace(underscore_to_dot=True)}
    models.MODEL_CONFIG_MAPPING = known  # type: ignore[attr-defined]
    sys.modules[models.__name__] = models
    checker = importlib.import_module("bfcl_eval.eval_checker.ast_eval.ast_checker")
    return checker.ast_checker, importlib.import_module("bfcl_eval.constants.enums").Language.PYTHON


def verdict(judge: Any, language: Any, case: dict[str, Any], answer: list[dict[str, Any]]) -> list[Any] | None:
    """What the checker says of one answer."""
    model = "dots" if case["dots"] else "none"
    try:
        found = judge(case["function"], answer, case["ground_truth"], language, case["category"], model)
    except Exception:  # noqa: BLE001 - that it raises is what is reported
        return None
    return [found["valid"], None if found["valid"] else found.get("error_type")]


def main() -> None:
    """See the module."""
    if len(sys.argv) < 2:
        spec = find_spec("bfcl_eval")
        assert spec is not None
        assert spec.origin is not None
        print(Path(spec.origin).parent / "data")
        return
    judge, language = official()
    for line in sys.stdin:
        case = json.loads(line)
        print(json.dumps([verdict(judge, language, case, answer) for answer in case["answers"]]))


if __name__ == "__main__":
    main()
