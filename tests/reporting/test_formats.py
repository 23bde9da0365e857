"""The registry of formats."""

from __future__ import annotations

import subprocess
import sys

import pytest

from eval_skills.core.errors import UsageError
from eval_skills.reporting import ReportContext, formats, render


def test_the_formats() -> None:
    assert formats() == (
        "json", "markdown", "html", "csv", "junit", "parquet",
        "gaia", "promptfoo", "inspect", "langsmith", "openai-evals", "evalview",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        pytest.param("markdwon", " (did you mean 'markdown'?); valid are ", id="near"),
        pytest.param("pdf", "; valid are ", id="far"),
        pytest.param("JSON", "; valid are ", id="case-counts"),
    ],
)
def test_p65_an_unknown_format_is_refused_with_the_valid_ones(context: ReportContext, name: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        render(name, [], context)
    assert str(caught.value) == f"unknown report format {name!r}{hint}{', '.join(formats())}"


@pytest.mark.slow
def test_what_only_prints_imports_nothing_heavy() -> None:
    heavy = ("pandas", "pyarrow", "prefect", "litellm", "jinja2")
    code = f"import sys, eval_skills.reporting\nprint([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.strip() == "[]"
