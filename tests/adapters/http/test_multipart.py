"""A form with files: its parts as they are sent, files from the skill's folder or from the input, and what cannot be sent."""

from __future__ import annotations

from base64 import b64encode
from email import message_from_bytes, policy
from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters import check_skill
from eval_skills.adapters.http.multipart import MAX_FILE_BYTES, multipart_body
from eval_skills.adapters.template.request import RequestTemplate
from eval_skills.core.errors import InputError
from tests.adapters.wire import Wire, failure, response, skill
from tests.tables import each_row

PNG = b"\x89PNG\r\n\x1a\n\x00"
Sent = list[tuple[str | None, str | None, str | None, bytes]]


def parts_of(body: bytes, content_type: str) -> Sent:
    """Name, file name, content type (None: not given) and content of each part, by Python's own parser of MIME."""
    message = message_from_bytes(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + body, policy=policy.HTTP)
    assert message.is_multipart()
    found: Sent = []
    for part in message.iter_parts():
        content = part.get_payload(decode=True)
        assert isinstance(content, bytes)
        named = part["content-disposition"].params
        kind = part.get_content_type() if part["content-type"] else None
        found.append((named["name"], named.get("filename"), kind, content))
    return found


def sent(template: Any, input_data: Any, folder: Path | None = None) -> Sent:
    multipart = RequestTemplate(multipart=template).multipart
    assert multipart is not None
    made = multipart_body(multipart, input_data, folder)
    return [] if made is None else parts_of(*made)


def test_texts_numbers_lists_and_objects() -> None:
    template = {"title": "A {{input.t}}", "n": "{{input.n}}", "tags": "{{input.tags}}", "no": "{{input.no}}", "on": True}
    given = {"t": "cät", "n": 5, "tags": ["x", None, "y"], "meta": {"a": [1]}}
    assert sent({**template, "meta": "{{input.meta}}"}, given) == [
        ("title", None, None, "A cät".encode()),
        ("n", None, None, b"5"),
        ("tags", None, None, b"x"),
        ("tags", None, None, b"y"),
        ("on", None, None, b"true"),
        ("meta", None, "application/json", b'{"a": [1]}'),
    ]
    assert sent("{{input}}", given) == [
        ("t", None, None, "cät".encode()),
        ("n", None, None, b"5"),
        ("tags", None, None, b"x"),
        ("tags", None, None, b"y"),
        ("meta", None, "application/json", b'{"a": [1]}'),
    ]
    assert sent({"v": {"value": "{{input.n}}", "contentType": "text/x"}}, given) == [("v", None, "text/x", b"5")]


@pytest.mark.parametrize(
    ("given", "filename", "kind"),
    [
        pytest.param({"path": "pictures/cat.png"}, "cat.png", "image/png", id="path"),
        pytest.param({"base64": b64encode(PNG).decode()}, "photo", "application/octet-stream", id="base64"),
        pytest.param({"base64": b64encode(PNG).decode(), "filename": "a.gif"}, "a.gif", "image/gif", id="named"),
        pytest.param({"path": "pictures/cat.png", "contentType": "image/x"}, "cat.png", "image/x", id="typed"),
    ],
)
def test_a_file(tmp_path: Path, given: dict[str, str], filename: str, kind: str) -> None:
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "cat.png").write_bytes(PNG)
    assert sent({"photo": {"file": "{{input.p}}"}}, {"p": given}, tmp_path) == [("photo", filename, kind, PNG)]
    two = sent({"photo": {"file": "{{input.p}}"}}, {"p": [given, given]}, tmp_path)
    assert two == [("photo", filename, kind, PNG)] * 2


def test_a_text_is_the_content_of_a_file_and_the_template_says_what_it_is() -> None:
    template = {"csv": {"file": "{{input.rows}}", "filename": "rows.csv", "contentType": "text/csv"}}
    assert sent(template, {"rows": "a,b\n1,ü\n"}) == [("csv", "rows.csv", "text/csv", "a,b\n1,ü\n".encode())]
    assert sent(template, {"rows": {"text": "a", "filename": "b.csv"}}) == [("csv", "b.csv", "text/csv", b"a")]
    assert sent(template, {}) == []


def test_no_name_writes_another_header() -> None:
    made = multipart_body("{{input}}", {'a"\r\nX: 1': "v"}, None)
    assert made is not None
    body, kind = made
    assert b'name="a%22%0D%0AX: 1"\r\n\r\nv' in body
    assert kind.startswith("multipart/form-data; boundary=")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        pytest.param({"path": "no.png"}, "there is no file 'no.png'", id="missing"),
        pytest.param({"path": "."}, "there is no file '.'", id="folder"),
        pytest.param({"path": "../secret"}, "leads out of the skill's folder", id="out"),
        pytest.param({"path": "/etc/passwd"}, "leads out of the skill's folder", id="absolute"),
        pytest.param({"path": "link"}, "leads out of the skill's folder", id="link"),
        pytest.param({"path": "huge"}, f"at most {MAX_FILE_BYTES:,} are sent", id="huge"),
        pytest.param({"base64": "a?"}, "not valid base64", id="base64"),
        pytest.param({"path": "a", "base64": ""}, "one of path, base64 and text", id="two"),
        pytest.param({"file": "a"}, "one of path, base64 and text", id="unknown"),
        pytest.param({"text": 5}, "one of path, base64 and text", id="number"),
        pytest.param({"text": "a", "contentType": "a\r\nb"}, "contentType holds characters", id="line-break"),
        pytest.param(5, "one of path, base64 and text", id="no-object"),
    ],
)
def test_what_is_not_a_file_is_named(tmp_path: Path, given: Any, said: str) -> None:
    folder = tmp_path / "skill"
    folder.mkdir()
    (tmp_path / "secret").write_text("x")
    (folder / "link").symlink_to(tmp_path / "secret")
    with (folder / "huge").open("wb") as huge:
        huge.truncate(MAX_FILE_BYTES + 1)
    with pytest.raises(ValueError, match="the part 'photo' of the form: ") as caught:
        sent({"photo": {"file": "{{input.p}}"}}, {"p": given}, folder)
    assert said in str(caught.value)


def test_a_skill_without_a_folder_has_no_files() -> None:
    with pytest.raises(ValueError, match="this skill has none; give base64"):
        sent({"photo": {"file": "{{input.p}}"}}, {"p": {"path": "a"}})


async def test_it_arrives_with_its_own_content_type(wire: Wire) -> None:
    template = {"headers": {"Content-Type": "multipart/form-data"}, "multipart": {"f": {"file": "{{input.f}}"}, "x": "1"}}
    asked = skill(wire.url, method="PUT", requestTemplate=template, headers={"content-type": "text/plain"})
    await response(asked, {"f": {"text": "hi"}})
    assert parts_of(wire.body(), wire.headers()["content-type"]) == [
        ("f", "f", "application/octet-stream", b"hi"),
        ("x", None, None, b"1"),
    ]
    error = await failure(asked, {"f": {"path": "a"}})
    assert (error.kind, str(error)[:50]) == ("infra", "the input cannot be sent: the part 'f' of the form")


@each_row(
    ("template", "said"),
    [
        pytest.param({"multipart": {"a": {"fle": 1}}}, "unknown key 'fle'", id="unknown-key"),
        pytest.param({"multipart": {"a": {"file": "x", "value": "x"}}}, "give value or file, one of them", id="both"),
        pytest.param({"multipart": {"a": {"value": "x", "filename": "x"}}}, "filename is for a file", id="filename"),
        pytest.param({"multipart": {"a": {"file": "{{inpt.x}}"}}}, "is not a placeholder", id="placeholder"),
        pytest.param({"multipart": {}, "form": {}}, "form and multipart are two bodies; give one", id="two-bodies"),
    ],
)
def test_a_template_that_cannot_be_meant_is_refused(template: Any, said: str) -> None:
    with pytest.raises(InputError) as caught:
        check_skill(skill("http://127.0.0.1:1/x", requestTemplate=template))
    assert said in str(caught.value)
    assert "adapterConfig.requestTemplate" in str(caught.value)
