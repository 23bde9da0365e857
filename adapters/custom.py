"""A skill that is a Python function, a coroutine function, or a class with a method `call`."""

from __future__ import annotations

from typing import Any, ClassVar

from eval_skills.adapters.config import AdapterConfig, CustomConfig
from eval_skills.adapters.envelope import read_answer
from eval_skills.adapters.hosted import HostedAdapter
from eval_skills.core.models import SkillResponse


class CustomAdapter(HostedAdapter[CustomConfig]):
    """Calls a function with the task's input, or with the input's keys as keyword arguments (`spread`).

    A class is instantiated once in each worker, with the arguments in `init`. The answer is a bare value or an envelope;
    models, dataclasses, enums and tuples are written out, and a generator's values are collected into a list.
    """

    config_model: ClassVar[type[AdapterConfig]] = CustomConfig

    def _setup(self) -> dict[str, Any]:
        return {"kind": "custom", "init": self._config.init, "spread": self._config.spread}

    def _read(self, answer: Any) -> SkillResponse:
        return read_answer(answer)
