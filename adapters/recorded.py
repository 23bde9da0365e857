"""A recorded run: one line of a trace file, as what a call would have returned; and the line of a live run, to be replayed."""

from __future__ import annotations

import json
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator
from pydantic.alias_generators import to_camel

from eval_skills.adapters.answer.envelope import parse_json
from eval_skills.adapters.conversation import without_repeats
from eval_skills.core.documents.loading import distinct_keys, validate
from eval_skills.core.errors import ContractError, InfraError, InputError, ItemError, SkillError, SkillTimeout
from eval_skills.core.messages.responses_items import ELSEWHERE, kind_of_item
from eval_skills.core.messages.roles import inner_message, last_words, role_in, unanswered, unknown_role, whole_messages
from eval_skills.core.models import ItemResult, Model, SkillResponse, TurnResponse, TurnResult
from eval_skills.core.models.base import Text
from eval_skills.core.models.result import ErrorKind
from eval_skills.core.text import skill_key

MAX_RUNS = 1000
"""As many runs of a task as a call may ask for."""

_FAILURES: dict[str, type[ItemError]] = {
    "skill": SkillError, "contract": ContractError, "infra": InfraError, "timeout": SkillTimeout,
}  # fmt: skip


class RecordedFailure(Model):
    """What a run ended in instead of an answer. Bare text is an error of the skill."""

    kind: Literal["skill", "contract", "infra", "timeout"] = "skill"
    message: Text


class RecordedAttempt(Model):
    """An attempt before the last one: what stopped it, and after how long."""

    error_kind: ErrorKind | None = None
    latency_ms: float | None = Field(default=None, ge=0)


class RecordedRun(SkillResponse):
    """One run of one task as it was recorded.

    The parts of the answer stand beside `task_id`, or below `response`; each at one of the two places. `skill` is ``id`` or
    ``id@version``, or its parts are in `skill_id` and `skill_version`. `run_index` counts from 0; None: the order of the lines.
    Of a conversation `turns` has the answers, in place of one.

    What this program recorded (`recorded_line`) has three more keys: `input_digest` of what the skill was asked, by which a
    replay knows that it is the answer to the same question; the `earlier_attempts`, and the names of the tools that those called
    (`earlier_calls`; None is unknown).
    """

    task_id: Text
    run_index: int | None = Field(default=None, ge=0, lt=MAX_RUNS)
    skill: Text | None = None
    skill_id: Text | None = None
    skill_version: Text | None = None
    response: SkillResponse | None = None
    error: RecordedFailure | None = None
    input_digest: Text | None = None
    earlier_attempts: list[RecordedAttempt] = Field(default_factory=list)
    earlier_calls: list[str] | None = None

    @field_validator("error", mode="before")
    @classmethod
    def _bare_text(cls, value: Any) -> Any:
        return {"message": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if twice := sorted(self._own_parts() & self._nested_parts()):
            raise ValueError(f"{twice[0]!r} stands beside response and in it; keep one")
        if self.skill is not None and self.skill_id is not None:
            raise ValueError("skill and skillId name the skill twice; keep one")
        if self.skill_version is not None and self.skill_id is None:
            raise ValueError("skillVersion needs skillId")
        said = self._own_parts() | self._nested_parts()
        if "turns" in said:
            return self._says_one_conversation(said)
        if self.error is None and not said & {"output", "messages"}:
            raise ValueError("there is no answer; give output, messages, or the error that the run ended in")
        if self.error is not None and "output" in said and self.answer.output is not None:
            raise ValueError("a run has an output or ended in an error; keep one")
        self._refuse_unknown_roles(self._parts().get("messages") or [])
        return self

    def _refuse_unknown_roles(self, messages: list[dict[str, Any]]) -> None:
        """A person who writes a role wrong is told so; what a skill really answered is recorded as it was."""
        if self.input_digest is not None:
            return
        for place, message in enumerate(map(inner_message, messages)):
            if role_in(message) is None and kind_of_item(message) not in ELSEWHERE:
                raise ValueError(f"messages[{place}]: {unknown_role(message)}")

    def _says_one_conversation(self, said: set[str]) -> Self:
        if twice := sorted(said & {"output", "messages", "tool_calls", "content"}):
            raise ValueError(
                f"{to_camel(twice[0])!r} stands beside turns, which say what each of them said; keep it in the turns"
            )
        turns = self._parts()["turns"]
        if not turns:
            raise ValueError("turns is an empty list; give what was answered in each turn")
        for place, turn in enumerate(turns):
            is_cut = self.error is not None and place == len(turns) - 1
            if not is_cut and not turn.model_fields_set & {"output", "messages"}:
                raise ValueError(f"turns[{place}] has no answer; give output or messages")
            self._refuse_unknown_roles(turn.messages or [])
        return self

    @property
    def skill_key(self) -> str | None:
        """The skill as the line names it, ``id`` or ``id@version``; None where it names none."""
        if self.skill_id is None:
            return self.skill
        return self.skill_id if self.skill_version is None else skill_key(self.skill_id, self.skill_version)

    @property
    def answer(self) -> SkillResponse:
        """What a call would have returned. Without an output, the text of the model's last message is the answer."""
        parts = _with_output(self._parts())
        if (turns := parts.pop("turns", None)) is None:
            return SkillResponse().model_copy(update=parts)
        if self.input_digest is None:  # what a run recorded are the turns' own messages
            turns = _with_own_messages(turns)
        answers = [
            turn.model_copy(update=_with_output({name: getattr(turn, name) for name in turn.model_fields_set})) for turn in turns
        ]
        if self.error is not None and "output" in turns[-1].model_fields_set:  # it ended in the turn after that
            answers.append(TurnResponse())
        return SkillResponse.of_turns(answers, ended=self.error is None).model_copy(update=parts)

    @property
    def failure(self) -> ItemError | None:
        """What a call would have raised: the recorded error, or that the messages hold no answer to the user's last one."""
        if self.error is not None:
            return _FAILURES[self.error.kind](self.error.message, latency_ms=self.answer.latency_ms)
        parts = self._parts()
        if {"output", "turns"} & parts.keys() or (why := unanswered(parts.get("messages") or [])) is None:
            return None
        return ContractError(why, latency_ms=self.answer.latency_ms)

    def _parts(self) -> dict[str, Any]:
        parts = {name: getattr(self, name) for name in self._own_parts()}
        if self.response is not None:
            parts |= {name: getattr(self.response, name) for name in self._nested_parts()}
        return parts if self.input_digest is not None else _with_whole_messages(parts)

    def _own_parts(self) -> set[str]:
        return self.model_fields_set & SkillResponse.model_fields.keys()

    def _nested_parts(self) -> set[str]:
        return set() if self.response is None else self.response.model_fields_set


def _with_whole_messages(parts: dict[str, Any]) -> dict[str, Any]:
    """The parts with chunks joined as messages; what a run recorded stays as it was."""
    return parts if parts.get("messages") is None else parts | {"messages": whole_messages(parts["messages"])}


def _with_own_messages(turns: list[TurnResponse]) -> list[TurnResponse]:
    """The turns without the messages that they repeat, as in a conversation that is had."""
    before: list[dict[str, Any]] = []
    own = []
    for turn in turns:
        said = turn.messages if turn.messages is None else whole_messages(turn.messages)
        new = said if said is None else without_repeats(said, before)
        before = before if said is None else said
        own.append(turn if new is turn.messages else turn.model_copy(update={"messages": new}))
    return own


def _with_output(parts: dict[str, Any]) -> dict[str, Any]:
    """Without an output, the text of the model's last message is the answer."""
    if "output" in parts or (words := last_words(parts.get("messages") or [])) is None:
        return parts
    return parts | {"output": words}


def read_recorded(line: bytes, place: str) -> RecordedRun:
    """The run in one line. As in a skill's envelope, null stands for "unknown" in every part but `output`.

    Raises:
        InputError: the line is not a JSON object of this shape; the message begins with `place` and names the nearest known key.
    """
    try:
        data = parse_json(line)
        json.loads(line.decode("utf-8-sig"), object_pairs_hook=distinct_keys)
    except ValueError as error:
        raise InputError(f"{error}; a line holds one whole JSON object", source=place) from None
    if not isinstance(data, dict):
        raise InputError("expected a JSON object with taskId and output, one in each line", source=place)
    known = _known_parts(data, place)
    if isinstance(nested := known.get("response"), dict):
        known["response"] = _known_parts(nested, place)
    for holder in (known, known.get("response")):
        if isinstance(holder, dict) and isinstance(turns := holder.get("turns"), list):
            holder["turns"] = [_known_parts(turn, place) if isinstance(turn, dict) else turn for turn in turns]
    return validate(RecordedRun, known, source=place)


_OF_AN_ANSWER = ("messages", "tool_calls", "content", "finish_reason", "cost_usd", "latency_ms", "time_to_first_token_ms")
_OF_AN_AGENT = ("files", "skills_loaded", "steps")


def recorded_line(result: ItemResult, input_digest: str) -> bytes | None:
    """The line, line end included, from which `read_recorded` gets the same answer or error as that of `result`.

    None where there is none to record: the model that played the user failed. `input_digest` is that of what was asked.
    """
    if result.error_kind == "simulator":
        return None
    line: dict[str, Any] = {
        "task_id": result.task_id,
        "run_index": result.run_index,
        "skill": result.skill_key,
        "input_digest": input_digest,
        **({"turns": _recorded_turns(result, result.turns)} if result.turns else _recorded_answer(result)),
        **_known({name: getattr(result, name) for name in _OF_AN_AGENT}),
    }
    if _ended_in_error(result):
        line |= {"error": {"kind": result.error_kind, "message": result.error_message or "no message"}}
        line.pop("output", None)
    if len(result.attempts) > 1:
        earlier = [{"error_kind": each.error_kind, "latency_ms": each.latency_ms} for each in result.attempts[:-1]]
        line |= {"earlier_attempts": [_camel(_known(each)) for each in earlier]}
        line |= _known({"earlier_calls": result.earlier_calls})
    return json.dumps(_camel(line), ensure_ascii=False, separators=(",", ":"), default=_plain).encode() + b"\n"


def _ended_in_error(result: ItemResult | TurnResult) -> bool:
    """Whether it ended without an answer. An error of a scorer or a judge has one, and a failed item may have none."""
    return result.error_kind in _FAILURES


def _recorded_answer(result: ItemResult | TurnResult) -> dict[str, Any]:
    usage = _camel(_known({"prompt_tokens": result.prompt_tokens, "completion_tokens": result.completion_tokens}))
    known = _known({name: getattr(result, name) for name in _OF_AN_ANSWER})
    return {"output": result.output, **known, **({"usage": usage} if usage else {})}


def _recorded_turns(result: ItemResult, turns: list[TurnResult]) -> list[dict[str, Any]]:
    recorded = [{"input": turn.input, **_recorded_answer(turn)} for turn in turns]
    if _ended_in_error(result) and _ended_in_error(turns[-1]):
        del recorded[-1]["output"]  # the conversation was cut in this turn, and not after it
    return [_camel(turn) for turn in recorded]


def _known(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _camel(fields: dict[str, Any]) -> dict[str, Any]:
    return {to_camel(name): value for name, value in fields.items()}


def _plain(value: Any) -> Any:
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


def _known_parts(data: dict[str, Any], place: str) -> dict[str, Any]:
    if twice := next((key for key in data if "_" in key and to_camel(key) in data), None):
        raise InputError(f"{to_camel(twice)!r} is given twice, in two spellings; keep one", source=place)
    return {key: value for key, value in data.items() if value is not None or key == "output"}
