"""How a SKILL.md is read: what it says, where, and what is wrong with it."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eval_skills.agent_skills.frontmatter import parse_skill_text
from eval_skills.agent_skills.skill_text import Fields, Items, Place, Scalar, SkillText
from tests.tables import each_row

GOOD = "---\nname: pdf\ndescription: Reads PDF files. Use when a PDF is given.\n---\n# PDF\n"


def read(text: str) -> SkillText:
    return parse_skill_text(text.encode("utf-8", "surrogatepass"))


def codes(text: SkillText) -> list[tuple[str, int, int]]:
    return [(problem.code, problem.place.line, problem.place.column) for problem in text.problems]


def test_fields_body_and_places() -> None:
    found = read(GOOD)
    assert {name: field.text for name, field in found.fields.items()} == {
        "name": "pdf",
        "description": "Reads PDF files. Use when a PDF is given.",
    }
    assert (found.body, found.body_line, found.problems, found.is_readable) == ("# PDF\n", 5, (), True)
    assert found.fields["description"].place == Place(3, 1)
    assert found.fields["description"].value.place == Place(3, 14)


@each_row(
    ("yaml", "text", "is_text"),
    [
        pytest.param("v: 1.0", "1.0", False, id="number"),
        pytest.param("v: '1.0'", "1.0", True, id="quoted-number"),
        pytest.param("v: 0123", "0123", False, id="leading-zero"),
        pytest.param("v: 2026-01-02", "2026-01-02", False, id="date"),
        pytest.param("v: null", "null", False, id="null"),
        pytest.param("v:", "", False, id="nothing"),
        pytest.param("v: no", "no", False, id="norway"),
        pytest.param("v: 12:30:45", "12:30:45", False, id="time-is-a-number"),
        pytest.param("v: 0b11", "0b11", False, id="binary"),
        pytest.param("v: 2026-01-02 03:04:05", "2026-01-02 03:04:05", False, id="date-and-time"),
        pytest.param("v: 10:99", "10:99", True, id="no-time"),
        pytest.param("v: !!int '3'", "3", False, id="tagged-number"),
        pytest.param("v: 1.2.3", "1.2.3", True, id="version"),
        pytest.param("v: >\n  a\n  b\n", "a b\n", True, id="folded"),
        pytest.param("v: |\n  a\n  b", "a\nb\n", True, id="block"),
        pytest.param("v: a\n  b", "a b", True, id="continued"),
        pytest.param("v: !!python/object:os.system ls", "ls", True, id="tag-is-not-obeyed"),
        pytest.param("w: &a x\nv: *a", "x", True, id="alias-of-text"),
    ],
)
def test_a_value_keeps_its_text(yaml: str, text: str, is_text: bool) -> None:
    value = read(f"---\n{yaml}\n---\n").fields["v"].value
    assert isinstance(value, Scalar)
    assert (value.text, value.is_text) == (text, is_text)


def test_lists_and_maps() -> None:
    fields = read("---\ntools:\n- Read\n- Bash\nmetadata:\n  author: me\n  version: 1.0\n---\n").fields
    tools, metadata = fields["tools"].value, fields["metadata"].value
    assert isinstance(tools, Items)
    assert [each.text for each in tools.values if isinstance(each, Scalar)] == ["Read", "Bash"]
    assert isinstance(metadata, Fields)
    assert {name: field.text for name, field in metadata.fields.items()} == {"author": "me", "version": "1.0"}
    assert metadata.fields["version"].place == Place(7, 3)


@each_row(
    ("text", "expected", "description"),
    [
        pytest.param("---\ndescription: a --- b\n---\n", [("frontmatter-dashes", 2, 16)], "a --- b", id="dashes-inside"),
        pytest.param("---\ndescription: a\n--- \t\nbody", [], "a", id="blanks-after-the-last-fence"),
        pytest.param("---  \ndescription: a\n---\n", [("frontmatter-not-portable", 1, 4)], "a", id="blanks-after-the-first"),
        pytest.param("\n--- \t\ndescription: a\n---\n", [("blank-first-line", 1, 1), ("frontmatter-yaml", 2, 4)], "a", id="tab"),
        pytest.param("---\r\ndescription: a\r\n---\r\nbody\r\n", [], "a", id="crlf"),
        pytest.param("---\rdescription: a\r---\rbody\r", [], "a", id="cr"),
        pytest.param("\ufeff---\ndescription: a\n---\n", [("byte-order-mark", 1, 1)], "a", id="byte-order-mark"),
        pytest.param("\n\n---\ndescription: a\n---\n", [("blank-first-line", 1, 1)], "a", id="blank-lines-first"),
        pytest.param("---\ndescription: a\n", [("frontmatter-unclosed", 1, 1)], None, id="unclosed"),
        pytest.param("---\ndescription: a\n----\nb", [("frontmatter-unclosed", 3, 1)], None, id="four-dashes"),
        pytest.param("---\ndescription: a\n ---\nb", [("frontmatter-unclosed", 3, 1)], None, id="indented-fence"),
        pytest.param("----\ndescription: a\n---\n", [("frontmatter-missing", 1, 1)], None, id="opens-with-four"),
        pytest.param("# Hello\n", [("frontmatter-missing", 1, 1)], None, id="no-frontmatter"),
        pytest.param("", [("frontmatter-missing", 1, 1)], None, id="empty-file"),
        pytest.param("---\n---\n", [], None, id="empty-frontmatter"),
        pytest.param("---\n# only a comment\n---\n", [], None, id="comment-only"),
        pytest.param("---\n- a\n---\n", [("frontmatter-not-a-map", 2, 1)], None, id="list"),
        pytest.param("---\nhello\n---\n", [("frontmatter-not-a-map", 2, 1)], None, id="text"),
        pytest.param("---\ndescription: Use when: x\n---\n", [("frontmatter-unquoted-colon", 2, 22)], "Use when: x", id="colon"),
        pytest.param(
            "---\ndescription: Use when: x\n  and: y\nname: a\n---\n",
            [("frontmatter-unquoted-colon", 2, 22)],
            "Use when: x and: y",
            id="colon-and-more-lines",
        ),
        pytest.param('---\ndescription: "a" b: c\n---\n', [("frontmatter-yaml", 2, 18)], None, id="quotes-end-early"),
        pytest.param("---\ndescription: a\n\tname: b\n---\n", [("frontmatter-yaml", 3, 1)], None, id="tab"),
        pytest.param("---\ndescription: [a\n---\n", [("frontmatter-yaml", 2, 16)], None, id="open-bracket"),
        pytest.param("---\ndescription: a\x00b\n---\n", [("frontmatter-yaml", 2, 15)], None, id="null-character"),
        pytest.param("---\ndescription: a\n...\n--- b\n---\n", [("frontmatter-yaml", 4, 1)], None, id="second-document"),
        pytest.param("---\n? [a]\n: b\ndescription: c\n---\n", [("frontmatter-yaml", 2, 3)], None, id="list-as-key"),
        pytest.param(
            "---\ndescription: a\nname: x\ndescription: b\n---\n",
            [("frontmatter-duplicate-key", 4, 1)],
            "a",
            id="duplicate-key",
        ),
        pytest.param(
            "---\nmetadata:\n  a: 1\n  a: 2\ndescription: d\n---\n",
            [("frontmatter-duplicate-key", 4, 3)],
            "d",
            id="duplicate-key-below",
        ),
        pytest.param("---\nmetadata: {a: b}\ndescription: d\n---\n", [("frontmatter-not-portable", 2, 11)], "d", id="flow-style"),
        pytest.param(
            "---\na: &x [b]\nc: *x\ndescription: d\n---\n",
            [("frontmatter-not-portable", 2, 4), ("frontmatter-alias", 3, 4)],
            "d",
            id="alias-of-a-list",
        ),
        pytest.param(
            "---\nc: *x\n---\n", [("frontmatter-not-portable", 2, 4), ("frontmatter-alias", 2, 4)], None, id="no-anchor"
        ),
    ],
)
def test_what_is_wrong_and_where(text: str, expected: list[tuple[str, int, int]], description: str | None) -> None:
    found = read(text)
    field = found.fields.get("description")
    assert codes(found) == expected
    assert (field.text if field else None) == description


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param("---\ndescription: é\n---\n".encode("latin-1"), ("not-utf8", 2, 14), id="latin-1"),
        pytest.param("---\ndescription: a\n---\n".encode("utf-16"), ("not-utf8", 1, 1), id="utf-16"),
        pytest.param("---\ndescription: a\n---\n".encode("utf-32"), ("not-utf8", 1, 1), id="utf-32"),
    ],
)
def test_another_encoding_is_named_and_read_on(data: bytes, expected: tuple[str, int, int]) -> None:
    found = parse_skill_text(data)
    assert codes(found) == [expected]
    assert "description" in found.fields


@each_row(
    "yaml",
    [
        pytest.param("a: " + "[" * 30_000, id="deep-lists"),
        pytest.param("a: " + "{a: " * 10_000, id="deep-maps"),
        pytest.param("? " * 20_000, id="deep-keys"),
        pytest.param("- " * 20_000, id="deep-items"),
        pytest.param("a: &a [x]\n" + "".join(f"b{n}: &b{n} [*a, *a, *a]\n" for n in range(2_000)), id="many-anchors"),
        pytest.param("a: &a [*a]", id="endless"),
        pytest.param("a: " + "x" * 900_000, id="long"),
        pytest.param("\n".join(f"k{n}: v" for n in range(9_000)), id="many-keys"),
        pytest.param("a: b: c\n" * 7_000, id="many-colons"),
    ],
)
def test_a_bomb_is_refused_at_once(yaml: str) -> None:
    start = time.process_time()
    found = read(f"---\n{yaml}\n---\nbody")
    assert found.problems
    assert time.process_time() - start < 2


def test_doubling_aliases_stay_small() -> None:
    levels = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 30))
    found = read(f"---\na0: &a0 [x]\n{levels}---\n")
    assert {code for code, _, _ in codes(found)} == {"frontmatter-not-portable", "frontmatter-alias"}


@given(st.text(max_size=300))
@example("---\n\u2028name: é: x\n---\n")
@example("---\n\ud800: x\n---\n")
def test_any_text_is_read(text: str) -> None:
    for each in (text, f"---\n{text}\n---\n"):
        found = read(each)
        lines = found.text.split("\n")
        for problem in found.problems:
            assert 1 <= problem.place.line <= len(lines) + 1
            assert problem.place.column >= 1


@pytest.mark.slow
@given(st.dictionaries(st.from_regex(r"[a-z][a-z-]{0,10}", fullmatch=True), st.text(min_size=1, max_size=40), max_size=6))
def test_what_was_written_is_read(fields: dict[str, str]) -> None:
    import yaml

    written = yaml.safe_dump(fields, allow_unicode=True, default_style='"', sort_keys=False, width=10_000)
    found = read(f"---\n{written}---\nbody")
    assert {name: field.text for name, field in found.fields.items()} == fields
    assert found.body == "body"
