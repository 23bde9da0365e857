from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_skills.adapters.template.request import filled_path, path_marks
from tests.tables import each_row


def test_marks_are_in_the_path_only() -> None:
    assert path_marks("http://{host}/a/{b}/{c-d}.json?q={e}#{f}") == ["b", "c-d"]


@each_row(
    ("text", "path"),
    [
        pytest.param("7", "/p/7/x?q", id="plain"),
        pytest.param("a/b", "/p/a%2Fb/x?q", id="slash"),
        pytest.param("a\\b", "/p/a%5Cb/x?q", id="backslash"),
        pytest.param("../..", "/p/..%2F../x?q", id="climbing"),
        pytest.param("%2e%2e", "/p/%252e%252e/x?q", id="encoded-already"),
        pytest.param("?a=1#f", "/p/%3Fa%3D1%23f/x?q", id="query-and-fragment"),
        pytest.param("\r\nHost: evil", "/p/%0D%0AHost%3A%20evil/x?q", id="line-break"),
        pytest.param("ü\0", "/p/%C3%BC%00/x?q", id="beyond-ascii"),
        pytest.param("{id}", "/p/%7Bid%7D/x?q", id="not-filled-again"),
    ],
)
def test_a_text_never_leaves_its_segment(text: str, path: str) -> None:
    assert filled_path("http://h/p/{id}/x?q", lambda _: text) == f"http://h{path}"


@pytest.mark.parametrize("text", ["", ".", ".."])
def test_a_segment_that_leads_elsewhere_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\{id\} in the path became"):
        filled_path("http://h/p/{id}", lambda _: text)


def test_dots_of_two_marks_are_seen_together() -> None:
    with pytest.raises(ValueError, match="would lead elsewhere"):
        filled_path("http://h/p/{a}{b}/x", lambda _: ".")


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1))
def test_the_number_of_segments_stays(text: str) -> None:
    try:
        url = filled_path("http://h/p/{id}/x", lambda _: text)
    except ValueError:
        assert text in {".", ".."}
        return
    assert url.isascii()
    assert url.count("/") == "http://h/p/1/x".count("/")
    assert "?" not in url
