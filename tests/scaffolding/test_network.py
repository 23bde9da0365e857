"""Which addresses lead out of this machine and its network."""

from __future__ import annotations

from typing import Any

from eval_skills.scaffolding.network import is_outside, outside_addresses
from tests.tables import each_row


@each_row(
    ("address", "outside"),
    [
        ("https://example.com/", True),
        ("HTTPS://EXAMPLE.COM.:443/x", True),
        ("http://8.8.8.8/", True),
        ("http://[2001:4860:4860::8888]/", True),
        ("http://localhost:8080/", False),
        ("http://127.0.0.1:1/", False),
        ("http://[::1]/", False),
        ("http://10.0.0.7/", False),
        ("http://api:8080/", False),
        ("http://a.test/", False),
        ("http://printer.local/", False),
        ("http://[broken/", False),
        ("file:///etc/passwd", False),
    ],
)
def test_an_address(address: str, outside: bool) -> None:
    assert is_outside(address) is outside


@each_row(
    ("value", "found"),
    [
        ({"a": ["x", {"url": "https://example.com/a"}], "n": 5}, ["https://example.com/a"]),
        ("see https://example.com", []),
        ({"url": "http://127.0.0.1/"}, []),
        (None, []),
    ],
)
def test_the_addresses_in_a_value(value: Any, found: list[str]) -> None:
    assert outside_addresses(value) == found
