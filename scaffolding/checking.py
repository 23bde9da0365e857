"""Whether what is about to be written can be read back."""

from __future__ import annotations

import json

from eval_skills.core.loading import validate
from eval_skills.core.models import Benchmark, Skill
from eval_skills.core.skills import SKILL_FILE
from eval_skills.scaffolding.draft import Draft

_TESTS = ("tests/", ".eval.json")


def checked_skill(draft: Draft) -> Draft:
    """The draft, once its ``skill.json`` has been read as a skill, and each of its ``tests/*.eval.json`` as a benchmark.

    Raises:
        InputError: one of them is malformed; the message names the file and the place in it.
        ValueError: one of them is no JSON.
    """
    validate(Skill, json.loads(draft.files[SKILL_FILE]), source=draft.folder / SKILL_FILE)
    for name, text in draft.files.items():
        if name.startswith(_TESTS[0]) and name.endswith(_TESTS[1]):
            validate(Benchmark, json.loads(text), source=draft.folder / name)
    return draft
