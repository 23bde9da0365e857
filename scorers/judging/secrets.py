"""Where keys of judging models are held."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eval_skills.core.config import LlmSettings

USUAL_VARIABLES = (
    "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "MISTRAL_API_KEY", "GROQ_API_KEY",
    "COHERE_API_KEY", "DEEPSEEK_API_KEY", "OPENROUTER_API_KEY", "TOGETHERAI_API_KEY", "XAI_API_KEY", "AZURE_API_KEY",
    "FIREWORKS_AI_API_KEY", "PERPLEXITYAI_API_KEY", "LITELLM_PROXY_API_KEY", "AWS_SECRET_ACCESS_KEY",
)  # fmt: skip
"""The variables that the client library reads by itself where no other one is named."""


def key_variables(llm: LlmSettings) -> tuple[str, ...]:
    """The variables that may hold the judge's key: the named one; else, at the providers' own addresses, the usual ones."""
    if llm.api_key_env is not None:
        return (llm.api_key_env,)
    return () if llm.api_base is not None else USUAL_VARIABLES


def judge_secrets(llm: LlmSettings, environ: Mapping[str, str]) -> dict[str, str]:
    """The keys themselves by variable, for redaction: those that may be used, and those that might have been."""
    names = {*key_variables(llm), *USUAL_VARIABLES}
    return {name: value for name in sorted(names) if (value := environ.get(name, "").strip())}
