"""Every folder of the corpus gets its findings, and no other."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from eval_skills.agent_skills.linting.linting import lint_skill
from eval_skills.agent_skills.linting.rules import RULES
from tests.agent_skills.linting.corpus import CORPUS, Case

ELSEWHERE = {
    "special-file", "link-outside", "many-files", "not-read",
    *(code for code, rule in RULES.items() if rule.of_many),
}  # fmt: skip
"""Rules whose breach is no matter of text; their tests are in test_linting.py and test_hostile.py."""


@pytest.mark.parametrize("case", CORPUS, ids=[case.id for case in CORPUS])
def test_findings(case: Case, tmp_path: Path) -> None:
    found = lint_skill(case.write(tmp_path), case.profiles)
    assert sorted(finding.code for finding in found.findings) == sorted(case.codes)
    for finding in found.findings:
        assert finding.message
        assert finding.fix
        assert os.path.lexists(found.folder / finding.file)
        if finding.place and (found.folder / finding.file).stat().st_size:
            lines = (found.folder / finding.file).read_bytes().decode("utf-8", "replace").count("\n") + 1
            assert 1 <= finding.place.line <= lines


def test_every_rule_has_a_case() -> None:
    assert {code for case in CORPUS for code in case.codes} == set(RULES) - ELSEWHERE


def test_ids_are_unique() -> None:
    assert len({case.id for case in CORPUS}) == len(CORPUS) >= 60
