"""Laying one sequence along another at the least cost."""

from __future__ import annotations

from collections.abc import Callable

MAX_CELLS = 10_000
"""Beyond so many pairs of places the sequences are compared place by place."""

Cost = Callable[[int], int]
PairCost = Callable[[int, int], int]
Aligned = list[tuple[int | None, int | None]]


def aligned(outputs: int, references: int, *, pair: PairCost, extra: Cost, missing: Cost) -> Aligned:
    """Pairs of places in two sequences of these lengths, in order, at the least total cost.

    A place of either side may stand alone, at the cost `extra` or `missing` says; its partner is then None. Global alignment by
    dynamic programming (Needleman and Wunsch 1970), pairs first where costs are equal. What agrees at both ends is set aside;
    of a rest that is larger than `MAX_CELLS` each place is paired with the same place of the other side.
    """
    head = 0
    while head < min(outputs, references) and pair(head, head) == 0:
        head += 1
    tail = 0
    while tail < min(outputs, references) - head and pair(outputs - tail - 1, references - tail - 1) == 0:
        tail += 1
    middle = _middle(range(head, outputs - tail), range(head, references - tail), pair, extra, missing)
    ends: Aligned = [(outputs - each, references - each) for each in range(tail, 0, -1)]
    return [*((each, each) for each in range(head)), *middle, *ends]


def _middle(outputs: range, references: range, pair: PairCost, extra: Cost, missing: Cost) -> Aligned:
    if len(outputs) * len(references) > MAX_CELLS:
        return _place_by_place(outputs, references)
    costs = _costs(outputs, references, pair, extra, missing)
    path: Aligned = []
    row, column = len(outputs), len(references)
    while row or column:
        here = costs[row][column]
        if row and column and here == costs[row - 1][column - 1] + pair(outputs[row - 1], references[column - 1]):
            row, column = row - 1, column - 1
            path.append((outputs[row], references[column]))
        elif row and here == costs[row - 1][column] + extra(outputs[row - 1]):
            row -= 1
            path.append((outputs[row], None))
        else:
            column -= 1
            path.append((None, references[column]))
    return path[::-1]


def _costs(outputs: range, references: range, pair: PairCost, extra: Cost, missing: Cost) -> list[list[int]]:
    """The least cost of every pair of beginnings, by how many places of each side they hold."""
    first = [0]
    for place in references:
        first.append(first[-1] + missing(place))
    rows = [first]
    for output in outputs:
        above, row = rows[-1], [rows[-1][0] + extra(output)]
        for column, reference in enumerate(references, start=1):
            best = min(above[column - 1] + pair(output, reference), above[column] + extra(output))
            row.append(min(best, row[-1] + missing(reference)))
        rows.append(row)
    return rows


def _place_by_place(outputs: range, references: range) -> Aligned:
    both: Aligned = list(zip(outputs, references, strict=False))
    return [*both, *((place, None) for place in outputs[len(both) :]), *((None, place) for place in references[len(both) :])]
