"""The fewest changes with which two trajectories would match: of their calls alone, or message by message."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import NamedTuple

from eval_skills.core.text import normalise_tool_name
from eval_skills.scorers.trajectory.alignment import aligned
from eval_skills.scorers.trajectory.calls import Call
from eval_skills.scorers.trajectory.matching import Pairing
from eval_skills.scorers.trajectory.messages import Message, Trajectory

MAX_SHOWN = 20
"""How many edits a comment shows."""

_MAX_PAIRS_COMPARED = 2_500
_SHOWN_DIFFERENCES = 5


class Edit(NamedTuple):
    """One change: its code (as of a reason), the words for it, and where it lies."""

    code: str
    text: str
    where: str = "messages"


def comment_of(edits: Sequence[Edit]) -> str | None:
    """The edits as one line, None without any; of very many the first, and how many more there are."""
    if not edits:
        return None
    more = [f"and {len(edits) - MAX_SHOWN} more"] if len(edits) > MAX_SHOWN else []
    return "; ".join([edit.text for edit in edits[:MAX_SHOWN]] + more)


def call_edits(
    pairing: Pairing, outputs: Sequence[int], references: Sequence[int], *, missing: bool = True, extra: bool = True
) -> list[Edit]:
    """The smallest edit between the calls at these places: by the order of the reference, then what is extra.

    A match costs 0; other arguments for the same tool, another spelling of its name, a missing call and an extra call cost 1
    each, unless `missing` or `extra` are allowed. Within one tool any call can be changed into any other, so a largest
    matching, with the rest of the tool's calls paired off, is a cheapest assignment.
    """
    matching = pairing.matched(outputs, references)
    lacking = _without(references, set(matching.values()))
    unasked = _without(outputs, matching)
    changed = _paired(pairing, unasked, lacking, lambda call: call.name, _distance)
    lacking, unasked = _without(lacking, changed), _without(unasked, set(changed.values()))
    renamed = _paired(pairing, unasked, lacking, lambda call: normalise_tool_name(call.written), lambda *_: 0)
    lacking, unasked = _without(lacking, renamed), _without(unasked, set(renamed.values()))
    found = [(place, _changed(pairing, output, place)) for place, output in changed.items()]
    found += [(place, _renamed(pairing, output, place)) for place, output in renamed.items()]
    found += [(place, _missing(pairing.references[place])) for place in lacking if missing]
    ordered = [edit for _, edit in sorted(found, key=lambda each: each[0])]
    return ordered + [_extra(pairing.outputs[place]) for place in unasked if extra]


def _without(places: Iterable[int], others: Container[int]) -> list[int]:
    return [place for place in places if place not in others]


def _paired(
    pairing: Pairing,
    outputs: list[int],
    references: list[int],
    kind: Callable[[Call], str],
    distance: Callable[[Pairing, int, int], int],
) -> dict[int, int]:
    """References with an output of the same kind each, the nearest first, as many as possible; very many are paired in order
    instead.
    """
    if not outputs or not references:
        return {}
    of_kind: dict[str, list[int]] = {}
    for place in outputs:
        of_kind.setdefault(kind(pairing.outputs[place]), []).append(place)
    wanted = {place: kind(pairing.references[place]) for place in references}
    if sum(len(of_kind.get(each, ())) for each in wanted.values()) > _MAX_PAIRS_COMPARED:
        left = {each: iter(places) for each, places in of_kind.items()}
        in_order = {place: next(left.get(each, iter(())), None) for place, each in wanted.items()}
        return {place: output for place, output in in_order.items() if output is not None}
    candidates = [(each, place) for place in references for each in of_kind.get(wanted[place], ())]
    if len(candidates) > 1:
        candidates.sort(key=lambda pair: distance(pairing, *pair))
    pairs: dict[int, int] = {}
    used: set[int] = set()
    for output, reference in candidates:
        if reference not in pairs and output not in used:
            pairs[reference] = output
            used.add(output)
    return pairs


def _differences(pairing: Pairing, output: int, reference: int) -> list[str]:
    one, other = pairing.outputs[output].arguments, pairing.references[reference].arguments
    if one is None or other is None:
        return []
    return pairing.rules.of(pairing.references[reference].name).differences(one, other)


def _distance(pairing: Pairing, output: int, reference: int) -> int:
    malformed = pairing.outputs[output].arguments is None
    return 1_000_000 if malformed else len(_differences(pairing, output, reference))


def _changed(pairing: Pairing, output: int, reference: int) -> Edit:
    call = pairing.outputs[output]
    if call.arguments is None:
        return Edit("MALFORMED_TOOL_CALL", f"{call.shown_name}: the arguments are not a JSON object: {call}")
    differences = _differences(pairing, output, reference)
    more = ", …" if len(differences) > _SHOWN_DIFFERENCES else ""
    return Edit("TRAJECTORY_ARGUMENTS", f"{call.shown_name}: {', '.join(differences[:_SHOWN_DIFFERENCES])}{more}")


def _renamed(pairing: Pairing, output: int, reference: int) -> Edit:
    written, expected = pairing.outputs[output].shown_name, pairing.references[reference].shown_name
    return Edit("TOOL_NAME_MISMATCH", f"{expected}: called as {written!r}, which is another spelling")


def _missing(call: Call) -> Edit:
    return Edit("TRAJECTORY_MISSING_CALL", f"missing: {call}", "expected.trajectory")


def _extra(call: Call) -> Edit:
    if call.arguments is None:
        return Edit("MALFORMED_TOOL_CALL", f"extra: {call}, whose arguments are not a JSON object")
    return Edit("TRAJECTORY_EXTRA_CALL", f"extra: {call}")


def messages_match(output: Trajectory, reference: Trajectory, pairing: Pairing) -> bool:
    """Whether there are as many messages, each of the same role and with calls that match one to one, in any order."""
    if len(output.messages) != len(reference.messages):
        return False
    for one, other in zip(output.messages, reference.messages, strict=True):
        if one is other:
            continue  # the same role, and no calls
        count = one.stop - one.start
        if one.role != other.role or count != other.stop - other.start:
            return False
        if count and not (pairing.fits(one.start, other.start) if count == 1 else _calls_match(one, other, pairing)):
            return False
    return True


def message_edits(output: Trajectory, reference: Trajectory, pairing: Pairing) -> list[Edit]:
    """The smallest edit, message by message: another role costs 1, calls as in `call_edits`, a message that is missing or extra
    as much as its calls, and 1 if it has none. Numbers of messages count from 1, on the output's side where it has the message.
    """
    costs: dict[tuple[int, int], int] = {}

    def pair(one: int, other: int) -> int:
        if (one, other) not in costs:
            costs[one, other] = _cost(output.messages[one], reference.messages[other], pairing)
        return costs[one, other]

    path = aligned(
        len(output.messages),
        len(reference.messages),
        pair=pair,
        extra=lambda place: len(output.messages[place].calls) or 1,
        missing=lambda place: len(reference.messages[place].calls) or 1,
    )
    edits: list[Edit] = []
    for one, other in path:
        if one is None and other is not None:
            edits += _lone(reference.messages[other], other + 1, "missing", pairing)
        elif one is not None and other is None:
            edits += _lone(output.messages[one], one + 1, "extra", pairing)
        elif one is not None and other is not None and pair(one, other):
            edits += _changed_message(output.messages[one], reference.messages[other], one + 1, pairing)
    return edits


def _calls_match(one: Message, other: Message, pairing: Pairing) -> bool:
    if all(map(pairing.fits, one.calls, other.calls)):
        return True
    return len(one.calls) > 1 and len(pairing.matched(one.calls, other.calls)) == len(one.calls)


def _cost(one: Message, other: Message, pairing: Pairing) -> int:
    role = one.role != other.role
    if one.start == one.stop or other.start == other.stop:
        return role + len(one.calls) + len(other.calls)
    if len(one.calls) == len(other.calls) and _calls_match(one, other, pairing):
        return int(role)
    return role + len(call_edits(pairing, one.calls, other.calls))


def _changed_message(one: Message, other: Message, number: int, pairing: Pairing) -> list[Edit]:
    where = f"messages[{number - 1}]"
    edits = [edit._replace(text=f"message {number}: {edit.text}") for edit in call_edits(pairing, one.calls, other.calls)]
    if one.role != other.role:
        edits.insert(0, Edit("TRAJECTORY_ROLE", f"message {number}: expected {other.role}, got {one.role}"))
    return [edit if edit.where.startswith("expected") else edit._replace(where=where) for edit in edits]


def _lone(message: Message, number: int, what: str, pairing: Pairing) -> list[Edit]:
    missing = what == "missing"
    where = f"{'expected.trajectory' if missing else 'messages'}[{number - 1}]"
    side = " of the reference" if missing else ""
    if not message.calls:
        code = "TRAJECTORY_MISSING_MESSAGE" if missing else "TRAJECTORY_EXTRA_MESSAGE"
        return [Edit(code, f"{what}: message {number}{side} ({message.role})", where)]
    edits = call_edits(pairing, () if missing else message.calls, message.calls if missing else ())
    return [edit._replace(text=f"{edit.text} in message {number}{side}", where=where) for edit in edits]
