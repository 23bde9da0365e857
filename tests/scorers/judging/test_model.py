"""What is known of a judging model without asking it: its provider, and the variables that hold keys."""

from __future__ import annotations

from eval_skills.core.config import LlmSettings
from eval_skills.core.llm import load
from eval_skills.scorers.judging.model import PROVIDERS, judge_secrets, usual_variables
from tests.tables import each_row


@each_row(
    ("model", "variables"),
    [
        ("openai/gpt-4o-mini", ("OPENAI_API_KEY",)),
        ("gpt-4o", ("OPENAI_API_KEY",)),
        ("o3-mini", ("OPENAI_API_KEY",)),
        ("claude-sonnet-4", ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")),
        ("azure/gpt-4o", ("AZURE_API_KEY", "AZURE_OPENAI_API_KEY", "AZURE_AD_TOKEN")),
        ("ollama/llama3", ("OLLAMA_API_KEY",)),
        ("ollama_chat/llama3", ("OLLAMA_API_KEY",)),
        ("cohere/command-r", ("COHERE_API_KEY", "CO_API_KEY")),
        ("cohere_chat/command-r", ("COHERE_API_KEY", "CO_API_KEY")),
        ("huggingface/org/model", ("HUGGINGFACE_API_KEY", "HF_TOKEN")),
        ("mistral/mistral-large", ("MISTRAL_API_KEY",)),
        ("gemini/gemini-2.0-flash", ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
        ("openrouter/openai/gpt-4o", ("OPENROUTER_API_KEY", "OR_API_KEY")),
        ("bedrock/anthropic.claude", ("AWS_SECRET_ACCESS_KEY", "AWS_BEARER_TOKEN_BEDROCK")),
    ],
)
def test_the_usual_variables_of_providers(model: str, variables: tuple[str, ...]) -> None:
    assert usual_variables(model) == variables


def test_the_client_library_knows_every_provider_of_the_table() -> None:
    assert {getattr(each, "value", each) for each in load().provider_list} >= set(PROVIDERS)


def test_every_key_that_might_be_used_is_a_secret() -> None:
    environ = {"OR_API_KEY": " key ", "HF_TOKEN": "token", "OWN": "own", "OLLAMA_API_KEY": "ollama", "OPENAI_API_KEY": ""}
    assert judge_secrets(LlmSettings(api_key_env="OWN"), environ) == {"OR_API_KEY": "key", "HF_TOKEN": "token", "OWN": "own"}
