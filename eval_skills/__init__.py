"""Unit-test, compare and watch AI-agent skills.

``import eval_skills as es`` gives the Python API, each name loaded on first use: `evaluate` and `aevaluate` let skills answer
tasks, `compare` compares two evaluations, `skill_effect` an agent with an Agent Skill and without, `score` judges one answer;
`load_skill`, `load_benchmark` and `Store` read what lies on disk. `record_tool_call` is for the code of skills.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eval_skills.adapters.python.host.recorder import record_tool_call
    from eval_skills.api.comparison import Comparison, compare
    from eval_skills.api.evaluate import aevaluate, evaluate
    from eval_skills.api.result import EvaluatedItem, EvaluationResult
    from eval_skills.api.score import score
    from eval_skills.api.skill_effect import EffectResult, skill_effect
    from eval_skills.benchmarks import load_benchmark
    from eval_skills.core.skills import load_skill
    from eval_skills.core.store import Store

    __version__: str

__all__ = [
    "Comparison",
    "EffectResult",
    "EvaluatedItem",
    "EvaluationResult",
    "Store",
    "__version__",
    "aevaluate",
    "compare",
    "evaluate",
    "load_benchmark",
    "load_skill",
    "record_tool_call",
    "score",
    "skill_effect",
]

_HOMES = {
    "Comparison": "api.comparison",
    "EffectResult": "api.skill_effect",
    "EvaluatedItem": "api.result",
    "EvaluationResult": "api.result",
    "Store": "core.store",
    "aevaluate": "api.evaluate",
    "compare": "api.comparison",
    "evaluate": "api.evaluate",
    "load_benchmark": "benchmarks",
    "load_skill": "core.skills",
    "record_tool_call": "adapters.python.host.recorder",
    "score": "api.score",
    "skill_effect": "api.skill_effect",
}


if not TYPE_CHECKING:  # a type checker must not take every name for one of ours

    def __getattr__(name: str) -> Any:
        if name == "__version__":
            from importlib.metadata import version

            found = version("eval-skills")
        elif name in _HOMES:
            if sys.platform == "win32":
                from eval_skills.core.errors import UNSUPPORTED

                raise ImportError(f"eval-skills {UNSUPPORTED}")
            found = getattr(import_module(f"eval_skills.{_HOMES[name]}"), name)
        else:
            raise AttributeError(f"module 'eval_skills' has no attribute {name!r}")
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
