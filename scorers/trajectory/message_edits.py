"""What would have to change for two trajectories to match message by message."""

from __future__ import annotations

from eval_skills.scorers.trajectory.alignment import aligned
from eval_skills.scorers.trajectory.edits import Edit, call_edits
from eval_skills.scorers.trajectory.matching import Pairing
from eval_skills.scorers.trajectory.messages import Message, Trajectory


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
