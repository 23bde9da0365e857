"""What the host makes of the values that a skill answers."""

from __future__ import annotations

import enum
import json
from collections import OrderedDict, namedtuple
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import BaseModel

from eval_skills.adapters.python.host.answer import plain
from eval_skills.adapters.python.host.errors import NotJson
from tests.tables import each_row


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Point(BaseModel):
    x: float
    when: date = date(2020, 1, 2)


@dataclass
class Pair:
    left: Any
    right: list[Any] = field(default_factory=list)


Named = namedtuple("Named", "a b")


@each_row(
    ("value", "written"),
    [
        pytest.param({"a": [1, 2.5, None, True, "x"]}, {"a": [1, 2.5, None, True, "x"]}, id="json"),
        pytest.param((1, (2,)), [1, [2]], id="tuples"),
        pytest.param(Named(1, 2), [1, 2], id="named-tuple"),
        pytest.param(OrderedDict(a=1), {"a": 1}, id="mapping"),
        pytest.param({1: "one"}, {"1": "one"}, id="whole-numbers-as-keys"),
        pytest.param([Colour.RED, Level.LOW], ["red", 1], id="enums"),
        pytest.param(
            Pair(Point(x=1), [Pair(2)]),
            {"left": {"x": 1.0, "when": "2020-01-02"}, "right": [{"left": 2, "right": []}]},
            id="models",
        ),
        pytest.param(10**3999, 10**3999, id="a-large-number"),
    ],
)
def test_values_are_written_out(value: Any, written: Any) -> None:
    assert json.loads(json.dumps(plain(value), allow_nan=False)) == written


def circle() -> list[Any]:
    found: list[Any] = []
    found.append(found)
    return found


@each_row(
    ("value", "message"),
    [
        pytest.param(
            {"a": [0, {1, 2}]},
            r"the answer.a\[1\] is a set, which cannot be written as JSON; a set has no order: .*list",
            id="set",
        ),
        pytest.param(np.int64(3), r"is a numpy.int64, .*; return its tolist\(\)$", id="numpy"),
        pytest.param(pd.DataFrame(), r"is a pandas.*DataFrame, .*; return its to_dict\(\)$", id="table"),
        pytest.param({"a": b"x"}, r"the answer.a is a bytes, .*decode it, or return base64 text", id="bytes"),
        pytest.param([float("nan")], r"the answer\[0\] is nan, which is not a JSON value", id="nan"),
        pytest.param(float("-inf"), r"the answer is -inf", id="infinity"),
        pytest.param(Point(x=float("inf")), r"the answer.x is inf", id="infinity-in-a-model"),
        pytest.param(
            Pair(date(2020, 1, 1)),
            r"the answer.left is a datetime.date, which cannot be written as JSON; return its isoformat",
            id="date",
        ),
        pytest.param({(1, 2): 3}, r"the answer has the key \(1, 2\), which is a tuple", id="key"),
        pytest.param({None: 3}, r"has the key None, which is a NoneType", id="null-key"),
        pytest.param({1: "a", "1": "b"}, r"the answer has two keys that are both written '1'", id="two-keys-alike"),
        pytest.param([10**5000], r"the answer\[0\] is a number of more than 4,000 digits", id="a-huge-number"),
        pytest.param(object(), r"the answer is an object, which cannot be written as JSON", id="object"),
        pytest.param(Pair, r"the answer is a type", id="class"),
        pytest.param(map(str, [1]), r"the answer is a map", id="iterator"),
        pytest.param(circle(), r"the answer contains itself, or is nested too deeply", id="circle"),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(value: Any, message: str) -> None:
    with pytest.raises(NotJson, match=message):
        plain(value)
