"""What a name may be, and which id follows from it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_skills.core.errors import UsageError
from eval_skills.scaffolding.names import MAX_NAME, SkillName, skill_name
from tests.tables import each_row


@each_row(
    ("text", "skill_id"),
    [
        pytest.param("my_api_skill", "my_api_skill", id="an-id-stays"),
        pytest.param("Weather Lookup", "weather-lookup", id="words"),
        pytest.param("  Weather -- Lookup!  ", "weather-lookup", id="runs-and-ends"),
        pytest.param("Überfluß", "uberfluss", id="accents"),
        pytest.param("Łódź søk Œuvre", "lodz-sok-oeuvre", id="strokes-and-ligatures"),
        pytest.param("v2.0", "v2-0", id="dot"),
        pytest.param("--force", "force", id="like-an-option"),
        pytest.param('Bob\'s "Tool"', "bob-s-tool", id="quotes"),
        pytest.param("{{ 7*7 }}{% raw %}", "7-7-raw", id="template-syntax"),
        pytest.param("$(reboot)`id`", "reboot-id", id="shell-syntax"),
        pytest.param("日本 x", "x", id="other-alphabet"),
    ],
)
def test_the_id_follows_from_the_name(text: str, skill_id: str) -> None:
    assert skill_name(text) == SkillName(text.strip(), skill_id)


@each_row(
    ("text", "says"),
    [
        pytest.param("", "blank", id="empty"),
        pytest.param("   ", "blank", id="blank"),
        pytest.param("../x", "path", id="parent"),
        pytest.param("/etc/passwd", "path", id="absolute"),
        pytest.param("a\\b", "path", id="backslash"),
        pytest.param("..", "path", id="dots"),
        pytest.param("a\nb", r"'\n'", id="line-break"),
        pytest.param("a\u2028b", r"'\u2028'", id="line-separator"),
        pytest.param("a\x00", r"'\x00'", id="nul"),
        pytest.param("a\x1b[2J", r"'\x1b'", id="escape"),
        pytest.param("a\u202eb", r"'\u202e'", id="direction"),
        pytest.param("a\udc80", r"'\udc80'", id="not-utf-8"),
        pytest.param("日本", "no letter a-z", id="no-ascii"),
        pytest.param("___", "no letter a-z", id="underscores"),
        pytest.param("x" * (MAX_NAME + 1), f"{MAX_NAME + 1} characters; give at most {MAX_NAME}", id="too-long"),
    ],
)
def test_p40_a_name_without_a_safe_id_is_refused(text: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        skill_name(text)
    assert says in str(caught.value)
    assert str(caught.value).startswith("--name ")
    assert str(caught.value).isprintable()


def named_or_refused(text: str) -> SkillName | str:
    try:
        return skill_name(text)
    except UsageError as error:
        return str(error)


@given(st.text(max_size=MAX_NAME + 5))
def test_whatever_the_name_the_id_is_safe_or_there_is_none(text: str) -> None:
    named = named_or_refused(text)
    if isinstance(named, str):
        assert named.startswith("--name ")
        assert named.isprintable()
    else:
        assert re.fullmatch(r"[a-z0-9_][a-z0-9_-]*", named.id)
        assert skill_name(named.id).id == named.id
