"""How a model is asked about one run: by a prompt with places, or by messages that a caller's function or template makes."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, Protocol, runtime_checkable

from eval_skills.core.config.judging import JudgeOptions
from eval_skills.core.documents.loading import validate
from eval_skills.core.errors import InputError
from eval_skills.scorers.judging.conversation import Conversation, messages_of
from eval_skills.scorers.judging.given import given_judge
from eval_skills.scorers.judging.judge import Judge, Ruling
from eval_skills.scorers.judging.judges import Judges
from eval_skills.scorers.judging.prompt import Material, Message, Question
from eval_skills.scorers.judging.waiting import on_the_common_loop, wait_for
from eval_skills.scorers.trajectory.langgraph_thread import in_openais_form
from eval_skills.scorers.trajectory.prompts import (
    ROLE,
    FewShotExample,
    JudgedReply,
    PromptTemplate,
    describe_examples,
    example_materials,
    judged_reply,
)
from eval_skills.scorers.trajectory.results import JudgedResult, feedback

P = ParamSpec("P")

VERSION = "trajectory_llm_as_judge 1"
"""Of the texts in `prompts` and of how a prompt's places are filled; another version is asked again."""

_PROVIDER = re.compile(r"^([a-z][a-z0-9_]*):(?=[^/:]+$)")


@runtime_checkable
class ChatTemplate(Protocol):
    """What works like a prompt of LangChain's: it takes the values of its variables, and returns a prompt of messages."""

    def invoke(self, values: Any) -> Any:
        """The prompt; its messages are in ``to_messages()``, or it is a list of them."""
        ...


PromptFunction = Callable[..., Any]
"""From ``inputs``, ``outputs``, ``reference_outputs`` and whatever else the evaluator is given, as keyword arguments, to a list
of chat messages or a text; it may be asynchronous."""

Prompt = str | PromptFunction | ChatTemplate
Settings = JudgeOptions | Mapping[str, Any]


class JudgedEvaluator(Protocol):
    """Judges an output; further keyword arguments fill the prompt's other places."""

    def __call__(self, *, outputs: Any, reference_outputs: Any = None, inputs: Any = None, **given: Any) -> JudgedResult:
        """The result for one run; no argument is changed."""
        ...


class AsyncJudgedEvaluator(Protocol):
    """A `JudgedEvaluator` to await."""

    def __call__(
        self, *, outputs: Any, reference_outputs: Any = None, inputs: Any = None, **given: Any
    ) -> Coroutine[Any, Any, JudgedResult]:
        """The result for one run; no argument is changed."""
        ...


class Run(Protocol):
    """One run to be judged, in the two forms that prompts ask for."""

    def values(self, places: Sequence[str]) -> Mapping[str, Any]:
        """What stands in these places of a prompt: texts, or JSON data that a model reads; None is nothing."""
        ...

    def arguments(self) -> Mapping[str, Any]:
        """What a caller's function is given."""
        ...


@dataclass(frozen=True, slots=True)
class Asking:
    """A factory's arguments, checked: how runs are judged. The judge `is_given` where it asks an object of the caller's."""

    judge: Judge
    is_given: bool
    prompt: PromptTemplate | PromptFunction | ChatTemplate
    role: str
    reply: type[JudgedReply]
    examples: tuple[Material, ...]
    preface: str
    key: str
    nothing: bool | float
    metadata: bool

    @classmethod
    def of(
        cls,
        *,
        prompt: Prompt,
        model: str | None,
        judge: object | None,
        feedback_key: str,
        system: str | None,
        continuous: bool,
        choices: Sequence[float] | None,
        use_reasoning: bool,
        few_shot_examples: Sequence[FewShotExample] | None,
        settings: Settings | None,
        metadata: bool,
        needed: tuple[str, ...],
    ) -> Asking:
        """The arguments of the factories, of which a text must have one of the places that are `needed`.

        Raises:
            InputError: one of them cannot be used; `path` names it.
        """
        reply = judged_reply(continuous=continuous, choices=choices, use_reasoning=use_reasoning)
        examples = list(few_shot_examples or ())
        checked = _prompt(prompt, needed)
        if system is not None and not isinstance(checked, PromptTemplate):
            raise InputError("given beside a prompt that makes its own messages; put it among them", path="system")
        return cls(
            judge=_judge(model, judge, settings),
            is_given=judge is not None,
            prompt=checked,
            role=_role(system),
            reply=reply,
            examples=example_materials(examples, reply),
            preface=describe_examples(examples),
            key=feedback_key,
            nothing=min(choices) if choices is not None else 0.0 if continuous else False,
            metadata=metadata,
        )

    async def judged(self, read: Callable[[], Run | None]) -> JudgedResult:
        """The result for the run that `read` returns; for None, which is not a run, the lowest score, and no model is asked."""
        with feedback(self.key) as log:
            run = read()
            result = self._nothing() if run is None else self._result(await self._ruling(await self._question(run)))
            log(result)
        return result

    async def _ruling(self, question: Question[JudgedReply]) -> Ruling[JudgedReply]:
        """A caller's object is asked on the caller's loop, to which its connections belong."""
        asked = self.judge.ask(question)
        return await (asked if self.is_given else on_the_common_loop(asked))

    def _nothing(self) -> JudgedResult:
        """An empty trajectory is not a good one."""
        comment = "NOTHING_TO_JUDGE: outputs holds no message, and no model was asked"
        return {"key": self.key, "score": self.nothing, "comment": comment, "metadata": {} if self.metadata else None}

    async def _question(self, run: Run) -> Question[JudgedReply]:
        if not isinstance(self.prompt, PromptTemplate):
            said = await _messages(self.prompt, run.arguments())
            return Conversation(
                role="", version=VERSION, instructions=self.preface, materials=self.examples, reply=self.reply, said=said
            )
        return Question(
            role=self.role,
            version=VERSION,
            instructions="\n\n".join(part for part in (self.prompt.instructions, self.preface) if part),
            materials=(*self.examples, *self.prompt.materials(run.values(self.prompt.places))),
            reply=self.reply,
        )

    def _result(self, ruling: Ruling[JudgedReply]) -> JudgedResult:
        facts = {"model": ruling.model, "cached": ruling.cached, "replies": ruling.readings, "truncated": ruling.truncated}
        metadata = facts if self.metadata else None
        return {"key": self.key, "score": ruling.reply.given, "comment": ruling.reply.said, "metadata": metadata}


def waiting(name: str, factory: Callable[P, AsyncJudgedEvaluator]) -> Callable[P, JudgedEvaluator]:
    """The factory `name`, which differs from `factory` in that its evaluators wait for their result."""

    @wraps(factory)
    def create(*args: P.args, **options: P.kwargs) -> JudgedEvaluator:
        judged = factory(*args, **options)

        def evaluate(*, outputs: Any, reference_outputs: Any = None, inputs: Any = None, **given: Any) -> JudgedResult:
            return wait_for(judged(outputs=outputs, reference_outputs=reference_outputs, inputs=inputs, **given))

        evaluate.__name__ = evaluate.__qualname__ = getattr(judged, "__name__", name)
        return evaluate

    create.__dict__["__signature__"] = inspect.signature(factory).replace(return_annotation="JudgedEvaluator")
    create.__name__ = create.__qualname__ = name
    return create


def _judge(model: str | None, judge: object | None, settings: Settings | None) -> Judge:
    options = settings if isinstance(settings, JudgeOptions) else validate(JudgeOptions, dict(settings or {}), source="settings")
    named = model if model is not None else options.llm.model
    if judge is not None:
        return given_judge(judge, None if named is None else _PROVIDER.sub("", named), options)
    if named is None:
        raise InputError("no judging model is named; give model='openai/…', or settings={'llm': {'model': …}}", path="model")
    return Judges(options).judge(_PROVIDER.sub(r"\1/", named) if model is not None else None)


def _prompt(prompt: object, needed: tuple[str, ...]) -> PromptTemplate | PromptFunction | ChatTemplate:
    if isinstance(prompt, ChatTemplate):
        if getattr(prompt, "schema_", None):
            raise InputError("it has a schema of its own for the reply, which is not used here; give one without", path="prompt")
        return prompt
    if callable(prompt):
        return prompt
    template = PromptTemplate.of(prompt)
    if not set(needed) & set(template.places):
        places = " or ".join(f"{{{name}}}" for name in needed)
        raise InputError(f"it has no place {places}, so the trajectory would not be shown; say where it belongs", path="prompt")
    return template


def _role(system: str | None) -> str:
    if system is not None and not system.strip():
        raise InputError("it is blank; say how to judge, or leave it out", path="system")
    return ROLE if system is None else system.strip()


async def _messages(prompt: PromptFunction | ChatTemplate, arguments: Mapping[str, Any]) -> tuple[Message, ...]:
    """What a caller's function or template makes of a run."""
    if isinstance(prompt, ChatTemplate):
        made, source = _made(prompt, arguments), "the prompt's messages"
    else:
        made, source = prompt(**arguments), "what the prompt function returned"
        made = await made if inspect.isawaitable(made) else made
    return messages_of([in_openais_form(each) for each in made] if isinstance(made, list | tuple) else made, source)


def _made(template: ChatTemplate, arguments: Mapping[str, Any]) -> Any:
    texts = {name: _text(value) for name, value in arguments.items() if value is not None}
    try:
        made = template.invoke(texts)
    except KeyError as error:  # as LangChain says that a variable is missing
        raise InputError(f"the prompt cannot be filled: {error.args[0] if error.args else error}", path="prompt") from error
    return made.to_messages() if hasattr(made, "to_messages") else made


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
