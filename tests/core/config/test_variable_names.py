"""A name that stands where a secret must not."""

from __future__ import annotations

import pytest

from eval_skills.core.config import LlmSettings
from eval_skills.core.config.values import absence
from eval_skills.core.documents.loading import validate
from eval_skills.core.errors import InputError
from tests.tables import each_row


@each_row("name", ["OPENAI_API_KEY", "token", "X1", "VERY_LONG_NAME_OF_A_KEY_2024", "a_very_long_name_without_one"])
def test_a_name_that_is_not_set_is_said(name: str) -> None:
    assert validate(LlmSettings, {"apiKeyEnv": name}).api_key_env == name
    assert absence(name, {}) == f"the environment variable {name} is not set"
    assert absence(name, {name: " "}) == f"the environment variable {name} is empty"


@pytest.mark.parametrize("pasted", ["sk_live_abcdef0123456789", "AKIA0123456789ABCDEF", "ghp0123456789abcdefgh"])
def test_what_may_be_the_secret_itself_is_not_said(pasted: str) -> None:
    assert pasted not in absence(pasted, {})
    assert absence(pasted, {pasted: ""}) == f"the environment variable {pasted} is empty"


@each_row("pasted", ["sk-live-abcdef", "", "1A", "A B", "A\n", "é"])
def test_what_is_no_name_is_refused_without_it(pasted: str) -> None:
    with pytest.raises(InputError) as caught:
        validate(LlmSettings, {"apiKeyEnv": pasted})
    assert (
        str(caught.value)
        == "apiKeyEnv: this is not the name of a variable (letters, digits and _); did you paste the secret itself?"
    )
