from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eval_skills.core.errors import RunError
from eval_skills.core.models import ItemResult, Reason, ToolCall
from eval_skills.core.redaction import Redaction
from eval_skills.core.store import latest, read_journal
from eval_skills.core.store.journal import key_of, line_of, result_of

MakeResult = Callable[..., ItemResult]
HERE = Path("journal.jsonl")


def nested(levels: int) -> Any:
    value: Any = "leaf"
    for _ in range(levels):
        value = [value]
    return value


def round_trip(result: ItemResult, secrets: dict[str, str] | None = None) -> ItemResult:
    line = line_of(result, Redaction(secrets))
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    return result_of(line, source=HERE, number=1)


def test_a_line_of_an_older_version_has_no_remarks(make_result: MakeResult) -> None:
    result = make_result(reasons=[Reason(code="X", message="remark: seen", where="output")])
    fields = json.loads(line_of(result, Redaction()))
    del fields["reasons"][0]["informational"], fields["crc32"]
    assert result_of(json.dumps(fields).encode(), source=HERE, number=1) == result


def test_a_line_is_its_result(make_result: MakeResult) -> None:
    result = make_result(output={"text": "two\nlines", "n": 10**40}, tool_calls=[ToolCall(name="f", arguments={"a": [1]})])
    assert round_trip(result) == result
    assert key_of(line_of(result, Redaction()), source=HERE, number=1) == result.key


@pytest.mark.parametrize(
    ("output", "kept"),
    [
        pytest.param("a\ud800b", "a�b", id="lone-surrogate"),
        pytest.param({"\udc00": "\ud83d\ude00"}, {"�": "😀"}, id="surrogate-pair-in-two-halves"),
        pytest.param([math.nan, math.inf], [None, None], id="not-finite"),
        pytest.param(["\ud800", math.nan], ["�", None], id="surrogate-and-nan"),
        pytest.param(nested(150), nested(150), id="deep-and-readable"),
        pytest.param(10**5000, "[integer of more than 4000 digits]", id="endless-integer"),
        pytest.param({"o": {1}}, {"o": [1]}, id="set"),
        pytest.param(b"\xff", "b'\\xff'", id="bytes"),
    ],
)
def test_an_answer_that_json_cannot_carry_is_kept_as_far_as_it_can_be(make_result: MakeResult, output: Any, kept: Any) -> None:
    assert round_trip(make_result(output=output)).output == kept


@pytest.mark.parametrize("levels", [199, 260, 900, 20_000])
def test_levels_beyond_the_limit_become_a_note(make_result: MakeResult, levels: int) -> None:
    result = round_trip(make_result(output=nested(levels), tool_calls=[ToolCall(name="f", arguments=nested(levels))]))
    text = json.dumps(result.output)
    assert "[nested deeper than 100 levels]" in text
    assert 95 <= text.count("[") - 1 <= 105
    assert result.key == make_result().key


def test_a_lone_surrogate_anywhere_does_not_lose_the_item(make_result: MakeResult) -> None:
    result = make_result(error_message="\ud800", reasons=[Reason(code="X", message="\ud800")], messages=[{"content": "\ud800"}])
    back = round_trip(result)
    assert (back.error_message, back.reasons[0].message, back.messages) == ("�", "�", [{"content": "�"}])


SECRETS = {
    "TOKEN": "hunter2-secret",
    "QUOTED": 'pa"ss\\é\nx',
    "SHORT": "abc",
    "PIN": "12345678",
    "WORD": "pass",
    "LONGER": "hunter2-secret-2",
}
QUOTED = {"k": SECRETS["QUOTED"]}
QUOTED_MARK = '{"k": "[redacted:QUOTED]"}'


@pytest.mark.parametrize(
    ("output", "kept"),
    [
        pytest.param("key=hunter2-secret!", "key=[redacted:TOKEN]!", id="raw"),
        pytest.param(SECRETS["QUOTED"], "[redacted:QUOTED]", id="raw-with-escapes"),
        pytest.param(json.dumps(QUOTED), QUOTED_MARK, id="json-in-text"),
        pytest.param(json.dumps(QUOTED, ensure_ascii=False), QUOTED_MARK, id="json-in-text-utf8"),
        pytest.param({"hunter2-secret": 1}, {"[redacted:TOKEN]": 1}, id="key"),
        pytest.param(["x", {"y": "hunter2-secret"}], ["x", {"y": "[redacted:TOKEN]"}], id="nested"),
        pytest.param("abc", "abc", id="too-short"),
        pytest.param([12345678, 123456789], ["[redacted:PIN]", 123456789], id="number"),
        pytest.param("hunter2-secret-2", "[redacted:LONGER]", id="longest-wins"),
        pytest.param("compass", "com[redacted:WORD]", id="inside-a-word"),
    ],
)
def test_secrets_are_redacted_in_the_answer(make_result: MakeResult, output: Any, kept: Any) -> None:
    back = round_trip(make_result(output=output), SECRETS)
    assert back.output == kept
    assert back.status == "pass"


def test_secrets_are_redacted_wherever_outside_text_stands(make_result: MakeResult) -> None:
    secret = SECRETS["TOKEN"]
    result = make_result(
        error_message=f"401 for {secret}",
        reasons=[Reason(code="ERROR", message=secret, where=secret)],
        messages=[{"role": "tool", "content": secret}],
        tool_calls=[ToolCall(name="f", arguments={"auth": secret}, result=f"<{secret}>", error=secret)],
    )
    line = line_of(result, Redaction(SECRETS)).decode()
    assert secret not in line
    assert line.count("[redacted:TOKEN]") == 7


@pytest.mark.parametrize("value", ["true", "null", '","x', '":{"', "status", "run_id", "20261121T233824Z", "1.0.0"])
def test_a_secret_that_looks_like_json_or_an_identity_breaks_nothing(make_result: MakeResult, value: str) -> None:
    result = make_result(output={"echo": value})
    back = round_trip(result, {"S": value})
    assert back == result.model_copy(update={"output": {"echo": "[redacted:S]"}})


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    secret=st.text(st.characters(exclude_categories=["Cs"]), min_size=4, max_size=8),
    around=st.text(st.sampled_from('"\\ax\n'), max_size=4),
)
def test_no_secret_is_left_in_any_form(make_result: MakeResult, secret: str, around: str) -> None:
    nested_json = json.dumps({"k": secret})
    back = round_trip(make_result(output=[around + secret + around, nested_json]), {"S": secret})
    assert "[redacted:S]" in back.output[0]
    assert not [part for part in back.output[0].split("[redacted:S]") if secret in part]
    assert "[redacted:S]" in back.output[1]


def test_a_torn_last_line_is_left_out(tmp_path: Path, make_result: MakeResult) -> None:
    journal = tmp_path / "journal.jsonl"
    whole, torn = line_of(make_result("a"), Redaction()), line_of(make_result("b"), Redaction())
    for cut in (1, len(torn) // 2, len(torn) - 1):
        journal.write_bytes(whole + torn[:cut])
        assert [result.task_id for result in read_journal(journal)] == ["a"]


@pytest.mark.parametrize(
    "bad", [b"not json\n", b"{}\n", b"\n", b"\0\0\0\n", b'{"run_id": "x"\n'], ids=["text", "empty-object", "blank", "nul", "cut"]
)
def test_a_corrupt_line_is_named(tmp_path: Path, make_result: MakeResult, bad: bytes) -> None:
    journal = tmp_path / "journal.jsonl"
    line = line_of(make_result(), Redaction())
    journal.write_bytes(line + bad + line)
    with pytest.raises(RunError, match=r"journal\.jsonl: line 2 is corrupt"):
        list(read_journal(journal))


def test_a_missing_journal_has_no_lines(tmp_path: Path) -> None:
    assert list(read_journal(tmp_path / "journal.jsonl")) == []


def test_the_latest_result_of_an_item_counts(make_result: MakeResult) -> None:
    first, other = make_result("a", status="error", passed=False), make_result("b")
    second = make_result("a")
    assert latest([first, other, second]) == [second, other]


def test_p32_two_versions_of_a_skill_are_two_items(make_result: MakeResult) -> None:
    both = [make_result("a"), make_result("a", skill_version="1.1.0")]
    assert latest(both) == both
