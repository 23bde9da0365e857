"""The formats that can be imported, by name; and which one a file's content shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from eval_skills.benchmarks.importers.agent_skills.evals import agent_skills_entries, agent_skills_task, is_agent_skills
from eval_skills.benchmarks.importers.agent_skills.queries import is_queries, queries_entries, queries_task
from eval_skills.benchmarks.importers.agent_skills.workspace import is_graded_workspace, workspace_entries, workspace_task
from eval_skills.benchmarks.importers.bfcl import bfcl_entries, bfcl_task, is_bfcl
from eval_skills.benchmarks.importers.code import humaneval_task, is_humaneval, is_mbpp, mbpp_task
from eval_skills.benchmarks.importers.inspect_log import is_log, log_entries, log_task
from eval_skills.benchmarks.importers.promptfoo.config import is_promptfoo, promptfoo_entries, promptfoo_task
from eval_skills.benchmarks.importers.questions import (
    choice_entries,
    gaia_task,
    is_gaia,
    is_multiple_choice,
    is_squad,
    multiple_choice_task,
    squad_entries,
    squad_task,
)
from eval_skills.benchmarks.importers.references import (
    deepeval_task,
    inspect_task,
    is_deepeval,
    is_inspect,
    is_langsmith,
    is_mt_bench,
    is_openai_evals,
    is_ragas,
    langsmith_task,
    mt_bench_task,
    openai_evals_task,
    ragas_task,
)
from eval_skills.benchmarks.importers.rows import Row, Task
from eval_skills.benchmarks.importers.source import Source
from eval_skills.benchmarks.importers.table import is_ours, table_task
from eval_skills.benchmarks.importers.tau_bench import is_tau_bench, tau_bench_task
from eval_skills.benchmarks.importers.toolbench import (
    is_mcp_bench,
    is_toolbench,
    mcp_bench_entries,
    mcp_bench_task,
    toolbench_task,
)
from eval_skills.core.errors import UsageError
from eval_skills.core.text import nearest


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A format.

    `title` is what a benchmark names as its source, `about` what its files look like. `detects` says whether a source that names
    no kind is of this one; `entries` are what it holds, and `task` makes a task of one, or raises `Skip`.
    """

    name: str
    title: str
    about: str
    task: Callable[[Row, Source], Task]
    detects: Callable[[Source], bool]
    entries: Callable[[Source], Iterable[Row]] = Source.entries


KINDS: tuple[Kind, ...] = (
    Kind(
        name="promptfoo",
        title="promptfoo",
        about="``promptfooconfig.yaml`` (or .json), or a table of tests with ``__expected`` columns",
        task=promptfoo_task,
        detects=is_promptfoo,
        entries=promptfoo_entries,
    ),
    Kind(
        name="agent-skills",
        title="Agent Skills",
        about="the ``evals.json`` of an Agent Skill",
        task=agent_skills_task,
        detects=is_agent_skills,
        entries=agent_skills_entries,
    ),
    Kind(
        name="agent-skills-queries",
        title="Agent Skills",
        about="the ``eval_queries.json`` of an Agent Skill",
        task=queries_task,
        detects=is_queries,
        entries=queries_entries,
    ),
    Kind(
        name="agent-skills-workspace",
        title="Agent Skills",
        about="a workspace of skill-creator, or an iteration of one: tasks, and recorded runs with their gradings",
        task=workspace_task,
        detects=is_graded_workspace,
        entries=workspace_entries,
    ),
    Kind(
        name="gaia",
        title="GAIA",
        about="``metadata.jsonl`` or ``metadata.parquet`` of GAIA, with the attachments beside it",
        task=gaia_task,
        detects=is_gaia,
    ),
    Kind(
        name="bfcl",
        title="Berkeley Function-Calling Leaderboard",
        about="a data file of BFCL, or its folder, with ``possible_answer/`` beside the data",
        task=bfcl_task,
        detects=is_bfcl,
        entries=bfcl_entries,
    ),
    Kind(
        name="humaneval",
        title="HumanEval",
        about="JSON Lines or Parquet with prompt, test and entry_point",
        task=humaneval_task,
        detects=is_humaneval,
    ),
    Kind(
        name="mbpp",
        title="MBPP",
        about="JSON Lines or Parquet with text (or prompt) and test_list",
        task=mbpp_task,
        detects=is_mbpp,
    ),
    Kind(
        name="toolbench",
        title="ToolBench",
        about="queries of ToolBench or StableToolBench with their api_list, such as ``G1_instruction.json``",
        task=toolbench_task,
        detects=is_toolbench,
    ),
    Kind(
        name="mcp-bench",
        title="MCP-Bench",
        about="tasks of MCP-Bench, listed under ``server_tasks``",
        task=mcp_bench_task,
        detects=is_mcp_bench,
        entries=mcp_bench_entries,
    ),
    Kind(
        name="tau-bench",
        title="tau-bench",
        about="``tasks_test.py`` of tau-bench, or ``tasks.json`` of tau2-bench",
        task=tau_bench_task,
        detects=is_tau_bench,
    ),
    Kind(
        name="squad",
        title="SQuAD",
        about="SQuAD's JSON, of version 1 or 2, or a table of question, context and answers",
        task=squad_task,
        detects=is_squad,
        entries=squad_entries,
    ),
    Kind(
        name="multiple-choice",
        title="multiple choice",
        about="MMLU, MMLU-Pro, ARC, HellaSwag and the like: a question, choices, and the right one",
        task=multiple_choice_task,
        detects=is_multiple_choice,
        entries=choice_entries,
    ),
    Kind(
        name="mt-bench",
        title="MT-bench",
        about="JSON Lines with question_id, category and turns",
        task=mt_bench_task,
        detects=is_mt_bench,
    ),
    Kind(
        name="openai-evals",
        title="OpenAI evals",
        about="JSON Lines with input and ideal",
        task=openai_evals_task,
        detects=is_openai_evals,
    ),
    Kind(
        name="deepeval",
        title="deepeval",
        about="goldens as JSON or CSV: input, expected_output, expected_tools",
        task=deepeval_task,
        detects=is_deepeval,
    ),
    Kind(
        name="ragas",
        title="Ragas",
        about="samples with user_input and reference, or question and ground_truth",
        task=ragas_task,
        detects=is_ragas,
    ),
    Kind(
        name="langsmith",
        title="LangSmith",
        about="examples of a dataset with inputs and outputs, as JSON, JSON Lines or CSV",
        task=langsmith_task,
        detects=is_langsmith,
    ),
    Kind(
        name="inspect",
        title="Inspect",
        about="samples of a dataset with input and target, and choices where there are any",
        task=inspect_task,
        detects=is_inspect,
    ),
    Kind(
        name="inspect-log",
        title="Inspect",
        about="a log of Inspect, ``.eval`` or ``.json``: tasks, and recorded runs with its verdicts",
        task=log_task,
        detects=is_log,
        entries=log_entries,
    ),
    Kind(
        name="table",
        title="a table",
        about="CSV, TSV, JSON Lines, a JSON list, Parquet or Arrow whose columns are our keys, or are named with --map",
        task=table_task,
        detects=lambda source: is_ours(source.keys),
    ),
)
"""In the order in which they are tried; the first that fits counts."""


def kind_of(source: Source) -> Kind | None:
    """The format that the content shows; None where it shows none."""
    return next((kind for kind in KINDS if kind.detects(source)), None)


def find_kind(name: str) -> Kind:
    """The format of that name.

    Raises:
        UsageError: there is none.
    """
    names = [kind.name for kind in KINDS]
    if name not in names:
        raise UsageError(f"unknown kind {name!r}{nearest(name, names)}; known are auto, {', '.join(sorted(names))}")
    return KINDS[names.index(name)]
