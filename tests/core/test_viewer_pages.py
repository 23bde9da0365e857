"""Links to the viewer's pages from elsewhere."""

from __future__ import annotations

import pytest

from eval_skills.core.errors import UsageError
from eval_skills.core.viewer_pages import BASE_URL, checked_base_url, link_to, run_page

RUN = "20261121T233824Z-3f9a"


@pytest.mark.parametrize(
    ("given", "link"),
    [
        pytest.param("https://evals.example.com", f"https://evals.example.com/run-{RUN}.html", id="host"),
        pytest.param("http://10.0.0.5:8090/evals/", f"http://10.0.0.5:8090/evals/run-{RUN}.html", id="port-and-path"),
        pytest.param("http://[::1]:8090", f"http://[::1]:8090/run-{RUN}.html", id="ipv6"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_a_page_is_below_the_address(monkeypatch: pytest.MonkeyPatch, given: str, link: str | None) -> None:
    monkeypatch.setenv(BASE_URL, given)
    assert link_to(run_page(RUN)) == link


@pytest.mark.parametrize(
    "given",
    [
        "evals.example.com", "ftp://evals.example.com", "javascript:alert(1)", "http://", "http://host:port", "http://host:99999",
        "http://user:word@host", "http://host/?a=b", "http://host/#x", "http://host/a b", "http://host/)[x](http://evil", "http://[::1",
        "https://host\n",
    ],
)  # fmt: skip
def test_what_is_no_address_of_a_viewer_is_refused(given: str) -> None:
    with pytest.raises(UsageError, match="is not the address of a viewer; give one such as https://"):
        checked_base_url(given)
