"""What a comparison of answers is asked to do: typed and JSON-able."""

from __future__ import annotations

from pydantic import Field

from eval_skills.core.config.judging import JudgeOptions
from eval_skills.core.config.options import WorkOptions
from eval_skills.core.config.values import PathText
from eval_skills.core.models.base import Text


class CompareRequest(JudgeOptions, WorkOptions):
    """Let a model say, task by task, which of two stored runs answered better."""

    run_a: Text = Field(description="A run id or its beginning, or latest")
    run_b: Text = Field(description="Another run id or its beginning, or latest; the same run for two skills of it")
    skill_a: Text | None = Field(default=None, description="The skill of the first run, as id or id@version")
    skill_b: Text | None = Field(default=None, description="The skill of the second run")
    criteria: Text | None = Field(default=None, description="What makes an answer better [default: what the task asks]")
    panel: list[Text] = Field(default_factory=list, description="The models that judge each pair, in place of llm.model")
    votes: int = Field(default=1, description="How often each model is asked about a pair, in both orders")
    benchmark: Text | None = Field(default=None, description="A built-in id, or the path of a benchmark [default: the run's own]")
    benchmarks_dir: PathText | None = Field(
        default=None, description="A folder of benchmarks, searched before the built-in ones [default: the run's own]"
    )
    tasks: Text | None = Field(default=None, description="A JSON or YAML file with tasks or a benchmark; replaces the benchmark")
