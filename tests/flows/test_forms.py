"""The forms of the flows in Prefect's UI, by the schema that Prefect derives from a flow's parameters."""

from __future__ import annotations

import re
from typing import Any

import pytest
from prefect.utilities.callables import parameter_schema

from eval_skills import flows

FIRST = {
    "evaluate": ["skills", "benchmark", "runs", "concurrency"],
    "pipeline": ["skillsDir", "benchmark", "runs", "concurrency"],
    "nightly": ["suites", "baseline"],
    "backfill": ["mode", "since", "until", "every", "skillsRepo", "skillsPath", "force", "benchmark", "runs", "concurrency"],
    "monitor": ["log", "rate"],
}


def form_of(flow: str) -> dict[str, dict[str, Any]]:
    """The fields of the flow's request by their keys, in the order in which the UI shows them."""
    schema = parameter_schema(getattr(flows, flow).fn)
    (request,) = schema.properties.values()
    fields = schema.definitions[request["$ref"].rpartition("/")[2]]["properties"]
    return dict(sorted(fields.items(), key=lambda field: field[1]["position"]))


@pytest.mark.parametrize("flow", FIRST)
def test_the_fields_that_matter_most_come_first(flow: str) -> None:
    assert list(form_of(flow))[: len(FIRST[flow])] == FIRST[flow]


@pytest.mark.parametrize("flow", FIRST)
def test_titles_are_words_that_differ_and_help_texts_name_no_option_of_the_command_line(flow: str) -> None:
    fields = form_of(flow)
    titles = [field["title"] for field in fields.values()]
    assert len(set(titles)) == len(titles)
    assert [title for title in titles if re.search(r"_|[a-z]{2}[A-Z]|^[a-z]", title)] == []
    assert [key for key, field in fields.items() if not field["description"] or "--" in field["description"]] == []
    assert sorted(field["position"] for field in fields.values()) == list(range(len(fields)))


def test_a_help_text_names_another_field_by_its_title() -> None:
    assert form_of("evaluate")["traceSkill"]["title"] == "Skill of recorded runs"
    assert form_of("evaluate")["map"]["description"].startswith('With "File of tasks": which column')
    assert form_of("evaluate")["itemsPerTask"]["title"] == "Items per task run"
