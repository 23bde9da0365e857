"""Tables in narrow terminals: ids and numbers stay whole, texts end in an ellipsis, and what is left out is named."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from eval_skills.cli.output.tables import Column, fitted, print_table

RUN = "20261121T233824Z-3f9a"
COLUMNS = (Column("run"), Column("skills", least=8), Column("items", right=True), Column("changed", drop=1))
ROWS = [(RUN, "calculator@1.0.0, calculator_buggy@1.0.0", "1,200/1,200", "skill, commit"), (RUN, "a@1.0.0", "3/3", "nothing")]

LEFT_OUT = "left out for lack of room: changed; in a wider terminal and with --json they are shown"


def shown(width: int) -> list[str]:
    out = StringIO()
    print_table(COLUMNS, ROWS, out=Console(file=out, width=width, color_system=None))
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_where_there_is_room_everything_is_whole() -> None:
    assert shown(200)[1] == f"{RUN}  calculator@1.0.0, calculator_buggy@1.0.0  1,200/1,200  skill, commit"


@pytest.mark.parametrize(
    ("width", "row", "below"),
    [
        pytest.param(80, f"{RUN}  calculator@1.0.0, calculator…  1,200/1,200  skill, commit", [], id="a-text-is-cut"),
        pytest.param(
            50, f"{RUN}  calculator@1.…  1,200/1,200",
            [LEFT_OUT], id="a-column-goes",
        ),
        pytest.param(
            20, f"{RUN}  calcula…  1,200/1,200",
            [LEFT_OUT], id="ids-and-numbers-stay-whole",
        ),
    ],
)  # fmt: skip
def test_what_gives_way(width: int, row: str, below: list[str]) -> None:
    lines = shown(width)
    assert (lines[1], lines[3:]) == (row, below)


def test_letters_that_take_two_cells_are_cut_between_them() -> None:
    found = fitted([Column("name", least=4), Column("n", right=True)], [("計算機計算機", "1")], 9)
    assert [line.plain for line in found.lines] == ["name    n", "計算…   1"]
