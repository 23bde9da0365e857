from __future__ import annotations

import subprocess
import sys
import warnings
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from eval_skills.core.llm import load, retry_after_s, said_by
from tests.scripted_model import ScriptedModel
from tests.tables import each_row

FIRST_REQUEST = """
import asyncio, sys
from eval_skills.core.llm import load_with_openai
litellm, before = load_with_openai(), {*sys.modules}
asked = [{"role": "user", "content": "x"}]
asyncio.run(litellm.acompletion(model="openai/scripted", messages=asked, api_base=sys.argv[1], api_key="none"))
print(len({*sys.modules} - before))
"""


class Answered(Exception):
    """An error as the client library raises it, with the headers of the answer."""

    def __init__(self, said: str, **headers: str) -> None:
        super().__init__(said)
        self.litellm_response_headers = headers


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        pytest.param("litellm.RateLimitError: RateLimitError: slow down", "slow down", id="names-of-classes-go"),
        pytest.param("two\nlines", "two lines", id="one-line"),
        pytest.param("", "Answered", id="nothing-said"),
    ],
)
def test_what_an_error_says(said: str, shown: str) -> None:
    assert said_by(Answered(said)) == shown


@pytest.mark.parametrize("zone", ["+0000", "-0000", "GMT"])
def test_a_date_to_retry_after_is_in_utc_whether_it_says_so_or_not(zone: str) -> None:
    """``-0000`` says that the zone is not known, and is read without one."""
    moment = format_datetime(datetime.now(UTC) + timedelta(seconds=60)).replace("+0000", zone)
    found = retry_after_s(Answered("", **{"retry-after": moment}))
    assert found == pytest.approx(60, abs=5)


@each_row(("header", "seconds"), [("7", 7.0), ("1.5", 1.5), ("soon", None), ("", None)])
def test_seconds_to_retry_after(header: str, seconds: float | None) -> None:
    assert retry_after_s(Answered("", **{"Retry-After": header})) == seconds


@pytest.mark.slow
@pytest.mark.parametrize(
    ("coroutine", "seen"),
    [
        ("OpenAIChatCompletion.acompletion", 0),
        ("OpenAIChatCompletion.aembedding", 0),
        ("BaseLLMHTTPHandler.async_completion", 0),
        ("async_completion", 0),
        ("Ours.judge", 1),
    ],
)
def test_of_requests_that_were_interrupted_before_they_began_python_says_nothing(coroutine: str, seen: int) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        load.__wrapped__()
        caught.clear()
        warnings.warn(f"coroutine '{coroutine}' was never awaited", RuntimeWarning, stacklevel=1)
    assert len(caught) == seen


@pytest.mark.slow
def test_the_first_request_imports_next_to_nothing() -> None:
    with ScriptedModel() as model:
        said = subprocess.check_output([sys.executable, "-c", FIRST_REQUEST, model.url], text=True)
        assert len(model.asked) == 1
    assert int(said) < 20, "it would count in the time of an agent's first item, half a second in which nothing else goes on"
