"""Tables in the width there is: ids and numbers are whole or not there, texts are cut, and what is left out is named."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table
from rich.text import Text

from eval_skills.cli.context import current

GAP = 2


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table that is made to fit.

    `least` is how narrow a text may be cut, an ``…`` at its end; 0: an id or a number, which is never cut. `drop` says which
    columns go first where even that is too wide: the highest; 0: never. `name` is its heading, and `called` what it is named when
    it is left out.
    """

    name: str
    least: int = 0
    drop: int = 0
    right: bool = False
    called: str = ""


@dataclass(frozen=True, slots=True)
class Fitted:
    """The lines of a table that is as wide as there is room, and the names of the columns for which there was none."""

    lines: list[Text]
    left_out: list[str]


def fitted(columns: Sequence[Column], rows: Iterable[Sequence[str | Text]], width: int) -> Fitted:
    """The table of these rows, at most `width` wide where that is possible without cutting an id or a number.

    First columns that may go go, those with the highest `drop` first; then texts are cut, the longest first, to no less than
    their `least`. The heading of a column is never cut.
    """
    every = [[cell if isinstance(cell, Text) else Text(cell) for cell in row] for row in rows]
    wanted = [max([cell_len(column.name), *(cell.cell_len for cell in cells)]) for column, cells in _columns(columns, every)]
    least = [_least(column, wide) for column, wide in zip(columns, wanted, strict=True)]
    kept = list(range(len(columns)))
    while _total(least[place] for place in kept) > width:
        droppable = [place for place in kept if columns[place].drop]
        if not droppable:
            break
        kept.remove(max(droppable, key=lambda place: columns[place].drop))
    widths = _shared({place: wanted[place] for place in kept}, least, width)
    shown = [columns[place] for place in kept]
    lines = [
        _line(shown, [_cut(row[place], widths[place]) for place in kept], [widths[place] for place in kept]) for row in every
    ]
    if any(column.name for column in columns):
        head = _line(shown, [Text(column.name, style="bold") for column in shown], [widths[place] for place in kept])
        lines.insert(0, head)
    gone = [place for place in range(len(columns)) if place not in kept]
    return Fitted(lines, [columns[place].called or columns[place].name for place in gone])


def print_table(columns: Sequence[Column], rows: Iterable[Sequence[str | Text]], *, out: Console | None = None) -> None:
    """Print the table in the width of `out`, and below it one line that names what is left out.

    By default it is stdout, where a pipe has room for everything.
    """
    console = out or current().out(pipe_width=NO_LIMIT)
    found = fitted(columns, rows, console.width)
    for line in found.lines:
        console.print(line, soft_wrap=True)  # what cannot be narrower is wider than the terminal
    if found.left_out:
        console.print(left_out_note(found.left_out, "with --json"), soft_wrap=True)


def bare_table(*, head: bool = True) -> Table:
    """A table of rich's without lines, whose columns are `GAP` apart, with or without a head: where it is wider than there is
    room, its texts are folded."""
    return Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), show_header=head)


def left_out_note(names: Iterable[str], where: str) -> Text:
    """The line below a table that had no room for these columns; `where` else than in a wider terminal they are."""
    return Text(f"left out for lack of room: {', '.join(names)}; in a wider terminal and {where} they are shown", style="dim")


NO_LIMIT = 10_000


def _columns(columns: Sequence[Column], rows: Sequence[Sequence[Text]]) -> list[tuple[Column, list[Text]]]:
    return [(column, [row[place] for row in rows]) for place, column in enumerate(columns)]


def _least(column: Column, wanted: int) -> int:
    return min(wanted, max(column.least, cell_len(column.name))) if column.least else wanted


def _total(widths: Iterable[int]) -> int:
    found = list(widths)
    return sum(found) + GAP * (len(found) - 1)


def _shared(wanted: dict[int, int], least: Sequence[int], width: int) -> dict[int, int]:
    """The width of each column: as wanted, less what the widest texts give up."""
    widths = dict(wanted)
    while _total(widths.values()) > width:
        cuttable = [place for place, wide in widths.items() if wide > least[place]]
        if not cuttable:
            return widths
        widths[max(cuttable, key=lambda place: widths[place])] -= 1
    return widths


def _line(columns: Sequence[Column], cells: Sequence[Text], widths: Sequence[int]) -> Text:
    line = Text()
    for column, cell, width in zip(columns, cells, widths, strict=True):
        space = " " * (width - cell.cell_len)
        line = Text.assemble(line, " " * GAP if line.cell_len else "", *((space, cell) if column.right else (cell, space)))
    line.rstrip()
    return line


def _cut(cell: Text, width: int) -> Text:
    if cell.cell_len <= width:
        return cell
    kept = set_cell_size(cell.plain, width - 1).rstrip()
    return Text(f"{kept}…", style=cell.style)
