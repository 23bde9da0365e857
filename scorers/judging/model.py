"""Which model judges: its provider, name, address, key, price and time limit, and the variables that hold keys; and who judges,
for what holds of one judge alone, such as a calibration.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from eval_skills.core.config.values import absence
from eval_skills.core.errors import ConfigError
from eval_skills.scorers.judging.prompt import PROMPT_VERSION
from eval_skills.scorers.judging.provider import Form, ModelReply, has_provider, knows_schemas, list_price

if TYPE_CHECKING:
    from eval_skills.core.config import LlmSettings
    from eval_skills.scorers.judging.panel import Panel

_MILLION = 1_000_000

PROVIDERS: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "azure": ("AZURE_API_KEY", "AZURE_OPENAI_API_KEY", "AZURE_AD_TOKEN"),
    "azure_ai": ("AZURE_AI_API_KEY", "AZURE_API_KEY"),
    "bedrock": ("AWS_SECRET_ACCESS_KEY", "AWS_BEARER_TOKEN_BEDROCK"),
    "cohere": ("COHERE_API_KEY", "CO_API_KEY"),
    "cohere_chat": ("COHERE_API_KEY", "CO_API_KEY"),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "fireworks_ai": ("FIREWORKS_AI_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "groq": ("GROQ_API_KEY",),
    "hosted_vllm": (),
    "huggingface": ("HUGGINGFACE_API_KEY", "HF_TOKEN"),
    "litellm_proxy": ("LITELLM_PROXY_API_KEY",),
    "lm_studio": (),
    "mistral": ("MISTRAL_API_KEY",),
    "ollama": (),
    "ollama_chat": (),
    "openai": ("OPENAI_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY", "OR_API_KEY"),
    "perplexity": ("PERPLEXITYAI_API_KEY", "PERPLEXITY_API_KEY"),
    "together_ai": ("TOGETHERAI_API_KEY", "TOGETHER_AI_API_KEY", "TOGETHER_API_KEY", "TOGETHER_AI_TOKEN"),
    "vertex_ai": (),
    "xai": ("XAI_API_KEY",),
}
"""The providers that need no import of the client library to be known, which takes seconds, and the variables from which it takes
their keys. None are given for a server of one's own, whose key is seldom a secret.
"""

_BARE_NAMES = {"gpt": "openai", "chatgpt": "openai", "o1": "openai", "o3": "openai", "o4": "openai", "claude": "anthropic"}
"""Providers by the first word of models that are named without one."""

_KNOWS_SCHEMAS = ("ollama/", "ollama_chat/", "lm_studio/", "llamafile/")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeModel:
    """A model as litellm names it (``openai/gpt-4o-mini``). Prices are in USD per million tokens; None: the list price.

    `timeout_s` is for one question with all its attempts. A single request may take half of that, so that another one can follow.
    """

    name: str
    api_base: str | None = None
    key: str | None = field(default=None, repr=False)
    temperature: float = 0.0
    timeout_s: float = 120.0
    input_price: float | None = None
    output_price: float | None = None

    @classmethod
    def of(cls, llm: LlmSettings, name: str, environ: Mapping[str, str] | None = None) -> JudgeModel:
        """The model `name` with these settings; `environ` holds the key (default: this process's).

        Raises:
            ConfigError: the variable of the key is not set or empty, or one of the two prices is missing.
        """
        held = os.environ if environ is None else environ
        key = held.get(llm.api_key_env, "").strip() if llm.api_key_env else None
        if key == "":
            raise ConfigError(f"llm.apiKeyEnv: {absence(llm.api_key_env or '', held)}; set it to the judge's key")
        if (llm.input_price is None) != (llm.output_price is None):
            raise ConfigError("llm.inputPrice and llm.outputPrice belong together; give both, or none")
        return cls(
            name=name, api_base=llm.api_base, key=key, temperature=llm.temperature or 0.0, timeout_s=llm.timeout_ms / 1000,
            input_price=llm.input_price, output_price=llm.output_price,
        )  # fmt: skip

    @property
    def names_its_provider(self) -> bool:
        """Whether the name says which provider is asked for which of its models; whether it has that one, only asking shows."""
        provider, slash, name = self.name.partition("/")
        return bool(name.strip()) if slash and provider in PROVIDERS else has_provider(self.name, self.api_base)

    @property
    def service(self) -> str:
        """Who limits how often it is asked: its address, or the provider."""
        return self.api_base or self.name.partition("/")[0]

    @property
    def attempt_s(self) -> float:
        """The time limit of one request."""
        return self.timeout_s / 2

    def price(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """What so many tokens cost, in USD; None: unknown."""
        if self.input_price is not None and self.output_price is not None:
            return (prompt_tokens * self.input_price + completion_tokens * self.output_price) / _MILLION
        per_prompt, per_completion = _prices(self.name)
        if per_prompt is None or per_completion is None:
            return None
        return prompt_tokens * per_prompt + completion_tokens * per_completion

    def priced(self, reply: ModelReply) -> ModelReply:
        """The reply with our own price, where one is set."""
        if self.input_price is None or reply.prompt_tokens is None or reply.completion_tokens is None:
            return reply
        return replace(reply, cost_usd=self.price(reply.prompt_tokens, reply.completion_tokens))

    def first_form(self) -> Form:
        """The form to ask for first: behind an address of one's own, whether it knows schemas is found out by trying."""
        known = self.api_base is not None or self.name.startswith(_KNOWS_SCHEMAS) or knows_schemas(self.name)
        return "schema" if known else "text"


class EmbeddingModel(str):
    """The name of a model that turns texts into vectors, among those that judge: it is asked otherwise. Empty: none is named."""

    __slots__ = ()


@cache
def _prices(name: str) -> tuple[float | None, float | None]:
    """USD per token read and written, at list price."""
    read, written = list_price(name, _MILLION, 0), list_price(name, 0, _MILLION)
    return (None, None) if read is None or written is None else (read / _MILLION, written / _MILLION)


def usual_variables(model: str) -> tuple[str, ...]:
    """The variables from which the key of the provider of `model` is usually taken: ``openai/gpt-4o`` → ``OPENAI_API_KEY``."""
    provider, slash, _ = model.partition("/")
    provider = (provider if slash else _BARE_NAMES.get(word := model.partition("-")[0], word)).lower()
    return PROVIDERS.get(provider) or (f"{provider.removesuffix('_chat').upper()}_API_KEY",)


def judge_secrets(llm: LlmSettings, environ: Mapping[str, str]) -> dict[str, str]:
    """The keys themselves by variable, for redaction: that which `llm` names, and those that might have been used."""
    names = {name for variables in PROVIDERS.values() for name in variables} | {llm.api_key_env or ""}
    return {name: value for name in sorted(names) if (value := environ.get(name, "").strip())}


@dataclass(frozen=True, slots=True, order=True)
class JudgeIdentity:
    """A judge: its model (all of a panel's, how they vote, and a temperature above 0), and the version of its prompts."""

    model: str
    prompt: str

    def __str__(self) -> str:
        return f"{self.model} ({self.prompt})"


def identity_of(evaluator: Any, scorer: str | None, llm: LlmSettings) -> JudgeIdentity | None:
    """The identity of an evaluator that asks models, where `llm` names the run's; None for one that asks none.

    An evaluator may have a `version` (of its prompts) and a `panel`; else its name and its models alone count.
    """
    models: tuple[str | None, ...] = tuple(getattr(evaluator, "models", ()))
    if not models:
        return None
    named = named_judge([model or llm.model or "no model" for model in models], getattr(evaluator, "panel", None), llm)
    return JudgeIdentity(named, prompt_version(str(getattr(evaluator, "version", scorer))))


def named_judge(models: Iterable[str], panel: Panel | None, llm: LlmSettings) -> str:
    """Models that judge together, how they vote, and the run's temperature, if it is not 0 and they have none of their own."""
    names = list(models)
    facts = [] if panel is None or panel.is_single else [panel.described]
    votes_once = panel is None or panel.votes == 1
    if llm.temperature and votes_once and not all(isinstance(name, EmbeddingModel) for name in names):
        facts.append(f"temperature {llm.temperature:g}")
    return f"{' + '.join(names)} ({', '.join(facts)})" if facts else " + ".join(names)


def joint_identity(judges: Iterable[JudgeIdentity | None]) -> JudgeIdentity | None:
    """The identity of several judges that have one verdict together: that of the only one, where there is just one."""
    known = list(dict.fromkeys(judge for judge in judges if judge is not None))
    if len(known) < 2:
        return known[0] if known else None
    models = dict.fromkeys(judge.model for judge in known)
    return JudgeIdentity(" + ".join(models), "; ".join(dict.fromkeys(judge.prompt for judge in known)))


def prompt_version(version: str) -> str:
    """The version of one question's words, with that of the words around all of them."""
    return f"{version}, prompt {PROMPT_VERSION}"
