"""The fewest changes with which two trajectories would match: of their calls alone, or message by message."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import Literal, NamedTuple

from eval_skills.core.text import normalise_tool_name
from eval_skills.scorers.trajectory.alignment import Aligned, aligned
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


PairKind = Literal["match", "arguments", "name", "missing", "extra"]


class CallPair(NamedTuple):
    """The places of two calls that belong together; None where there is none on that side (`missing` in the output, `extra`).

    `arguments`: the same tool with other arguments; `name`: the tool under another spelling.
    """

    output: int | None
    reference: int | None
    kind: PairKind


def call_edits(
    pairing: Pairing, outputs: Sequence[int], references: Sequence[int], *, missing: bool = True, extra: bool = True
) -> list[Edit]:
    """The smallest edit between the calls at these places: by the order of the reference, then what is extra.

    A match costs 0; other arguments for the same tool, another spelling of its name, a missing call and an extra call cost 1
    each, unless `missing` or `extra` are allowed.
    """
    allowed = {kind for kind, counts in (("missing", missing), ("extra", extra)) if not counts} | {"match"}
    return [_edit(pairing, pair) for pair in call_pairs(pairing, outputs, references) if pair.kind not in allowed]


def call_pairs(pairing: Pairing, outputs: Sequence[int], references: Sequence[int]) -> list[CallPair]:
    """Which calls at these places belong together, by the order of the reference, then what is extra.

    Within one tool any call can be changed into any other, so a largest matching, with the rest of the tool's calls paired off,
    is a cheapest assignment.
    """
    matching = {reference: output for output, reference in pairing.matched(outputs, references).items()}
    lacking, unasked = _without(references, matching), _without(outputs, set(matching.values()))
    changed = _paired(pairing, unasked, lacking, lambda call: call.name, _distance)
    lacking, unasked = _without(lacking, changed), _without(unasked, set(changed.values()))
    renamed = _paired(pairing, unasked, lacking, lambda call: normalise_tool_name(call.written), lambda *_: 0)
    lacking, unasked = _without(lacking, renamed), _without(unasked, set(renamed.values()))
    kinds: list[tuple[PairKind, dict[int, int]]] = [("match", matching), ("arguments", changed), ("name", renamed)]
    found = [CallPair(output, place, kind) for kind, pairs in kinds for place, output in pairs.items()]
    found += [CallPair(None, place, "missing") for place in lacking]
    in_order = sorted(found, key=lambda pair: -1 if pair.reference is None else pair.reference)
    return in_order + [CallPair(place, None, "extra") for place in unasked]


def message_pairs(output: Trajectory, reference: Trajectory, pairing: Pairing) -> list[CallPair]:
    """The same, message by message, as `message_edits` aligns them."""
    pairs: list[CallPair] = []
    for one, other in _message_path(output, reference, pairing):
        calls = () if one is None else output.messages[one].calls
        pairs += call_pairs(pairing, calls, () if other is None else reference.messages[other].calls)
    return pairs


def _edit(pairing: Pairing, pair: CallPair) -> Edit:
    output, reference, kind = pair
    if output is None:
        assert reference is not None
        return _missing(pairing.references[reference])
    if reference is None:
        return _extra(pairing.outputs[output])
    return (_renamed if kind == "name" else _changed)(pairing, output, reference)


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
    edits: list[Edit] = []
    for one, other in _message_path(output, reference, pairing):
        if one is None and other is not None:
            edits += _lone(reference.messages[other], other + 1, "missing", pairing)
        elif one is not None and other is None:
            edits += _lone(output.messages[one], one + 1, "extra", pairing)
        elif one is not None and other is not None and _cost(output.messages[one], reference.messages[other], pairing):
            edits += _changed_message(output.messages[one], reference.messages[other], one + 1, pairing)
    return edits


def _message_path(output: Trajectory, reference: Trajectory, pairing: Pairing) -> Aligned:
    """Which messages belong together, at the least cost; see `message_edits`."""
    costs: dict[tuple[int, int], int] = {}

    def pair(one: int, other: int) -> int:
        if (one, other) not in costs:
            costs[one, other] = _cost(output.messages[one], reference.messages[other], pairing)
        return costs[one, other]

    return aligned(
        len(output.messages),
        len(reference.messages),
        pair=pair,
        extra=lambda place: len(output.messages[place].calls) or 1,
        missing=lambda place: len(reference.messages[place].calls) or 1,
    )


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
