"""How answers are scored: the model that judges, how much of it, and the scorers' settings."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from eval_skills.core.config.values import VariableName, WrittenPath
from eval_skills.core.models.base import Text
from eval_skills.core.models.form import Form
from eval_skills.core.models.limits import Weights


class LlmSettings(Form, defer_build=True):
    """The model that judges. `api_key_env` names the variable that holds its key; None: the provider's usual one."""

    model: Text | None = Field(default=None, description="The model that judges", examples=["gpt-4o"])
    api_base: Text | None = Field(
        title="Address of the API",
        default=None,
        description="Address of the model's API, if it is not the provider's own",
        examples=["http://127.0.0.1:8000/v1"],
    )
    api_key_env: VariableName | None = Field(
        title="Variable with the key",
        default=None,
        description="Name of the environment variable that holds the key, never the key; else the provider's usual one",
        examples=["OPENAI_API_KEY"],
    )
    embedding_model: Text | None = Field(
        default=None,
        description="The model that turns texts into vectors for the scorer similarity; address and key are those above",
        examples=["openai/text-embedding-3-small"],
    )
    temperature: float | None = Field(
        default=None, ge=0, le=2, description="How freely the model words its answer; 0 unless set", examples=[0.0]
    )
    timeout_ms: int = Field(
        title="Time limit of one verdict, ms",
        default=120_000,
        gt=0,
        le=86_400_000,
        description="Time limit of one verdict in ms, further attempts included",
    )
    input_price: float | None = Field(
        title="Price of input, USD",
        default=None,
        ge=0,
        le=1e6,
        description="USD for a million tokens that the model reads, where its price is not known or not right",
        examples=[0.15],
    )
    output_price: float | None = Field(
        title="Price of output, USD",
        default=None,
        ge=0,
        le=1e6,
        description="USD for a million tokens that the model writes",
        examples=[0.6],
    )
    embedding_price: float | None = Field(
        title="Price of embeddings, USD",
        default=None,
        ge=0,
        le=1e6,
        description="USD for a million tokens that the embedding model reads, where its price is not known or not right",
        examples=[0.02],
    )
    cache_dir: WrittenPath | None = Field(
        title="Folder of verdicts",
        default=None,
        description="Folder where verdicts are kept, so that the same question is asked once",
        examples=["./judge-cache"],
    )

    def with_said(self, other: LlmSettings | None) -> LlmSettings:
        """These settings, with what `other` says instead; what is at its default there says nothing."""
        said = {} if other is None else other.model_dump(exclude_defaults=True)
        return self.model_copy(update=said)

    @property
    def deciding(self) -> dict[str, Any]:
        """What of these settings a verdict depends on, as JSON data."""
        embedding = (
            {"embedding_model"} if self.embedding_model else set()
        )  # without one, a run is what it was before there were any
        return self.model_dump(mode="json", by_alias=True, include={"model", "api_base", "temperature"} | embedding)


class JudgeOptions(Form, defer_build=True):
    """The model that judges, and how much of it. The limits hold for one run in one process."""

    llm: LlmSettings = Field(
        title="Judging model", default_factory=LlmSettings, description="The model that judges, where a task asks for one"
    )
    judge_concurrency: int = Field(
        title="Questions to judges at a time", default=4, ge=1, le=1024, description="Questions to judging models at a time"
    )
    max_judge_cost: float | None = Field(
        title="Limit of judging, USD",
        default=None,
        ge=0,
        le=1e9,
        description="USD that judging may cost in a run; the remaining items are then not judged",
        examples=[5.0],
    )
    no_judge_cache: bool = Field(
        title="Ask judges again",
        default=False,
        description="Ask judging models again, even what they have answered before, and keep nothing",
    )
    no_judge_check: bool = Field(
        title="Do not test judges first",
        default=False,
        description="Do not test judging models with one token before a run begins",
    )

    def judge_options(self) -> dict[str, object]:
        """These options alone, by field name."""
        return {name: getattr(self, name) for name in JudgeOptions.model_fields}


class ScoringOptions(JudgeOptions):
    """How answers are scored, no matter where they come from; shared by every request that scores."""

    evaluator: Text = Field(title="Scorer", default="exact", description="Scorer of tasks that name none")
    allow_custom_code: bool = Field(
        title="Run the benchmark's own code", default=False, description="Let a benchmark run its own scorer code"
    )
    weights: Weights = Field(
        title="Weights of dimensions",
        default_factory=Weights,
        description="Weights of the dimensions of agent runs; one that is left out keeps its default",
    )
    tool_categories: dict[str, list[Text]] = Field(
        default_factory=dict,
        description="Categories of tools beside the built-in ones: a name, and the tools that satisfy it",
        examples=[{"payment": ["pay", "refund"]}],
    )
    tool_names: Literal["exact", "normalised"] = Field(
        default="exact", description="How names of tools are compared; normalised ignores case, -, _, dots and spaces"
    )
