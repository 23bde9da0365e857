from __future__ import annotations

import pytest

from eval_skills.core.documents.patterns import compiled_pattern
from eval_skills.core.errors import InputError


def test_a_pattern_is_compiled_without_remarks_on_its_notation() -> None:
    assert compiled_pattern(r"[a||b]\p{L}", "patterns[0]").search("|ü") is not None


def test_what_is_no_pattern_is_refused_with_its_place() -> None:
    with pytest.raises(InputError, match=r'"\(" is not a valid regular expression: .*; fix or escape it') as caught:
        compiled_pattern("(", "patterns[3]")
    assert caught.value.path == "patterns[3]"
