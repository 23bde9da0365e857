"""Evaluators that ask a model about a trajectory, for scripts, pytest and LangSmith; also for callers that cannot await."""

from __future__ import annotations

import asyncio
import os
import re
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, wraps
from inspect import signature
from typing import Any, ParamSpec, Protocol, TypeVar

from eval_skills.core.config.options import JudgeOptions
from eval_skills.core.documents.loading import validate
from eval_skills.core.errors import InputError
from eval_skills.scorers.judging.judge import Judge, Ruling
from eval_skills.scorers.judging.judges import Judges
from eval_skills.scorers.judging.prompt import Material, Question
from eval_skills.scorers.trajectory.messages import OUTPUT, REFERENCE
from eval_skills.scorers.trajectory.prompts import (
    ROLE,
    TRAJECTORY_ACCURACY_PROMPT,
    FewShotExample,
    JudgedReply,
    PromptTemplate,
    describe_examples,
    example_materials,
    judged_reply,
)
from eval_skills.scorers.trajectory.results import JudgedResult, feedback
from eval_skills.scorers.trajectory.transcript import transcript

P = ParamSpec("P")

VERSION = "trajectory_llm_as_judge 1"
"""Of the texts in `prompts` and of how a prompt's places are filled; another version is asked again."""

_PROVIDER = re.compile(r"^([a-z][a-z0-9_]*):(?=[^/:]+$)")


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


@dataclass(frozen=True, slots=True)
class _Asking:
    """A factory's arguments, checked: how one trajectory is judged."""

    judge: Judge
    template: PromptTemplate
    role: str
    reply: type[JudgedReply]
    examples: tuple[Material, ...]
    preface: str
    key: str
    nothing: bool | float

    async def judged(self, given: Mapping[str, Any]) -> JudgedResult:
        """The result for one run."""
        with feedback(self.key) as log:
            if not transcript(given[OUTPUT], OUTPUT):
                return self._nothing(log)
            result = self._result(await self.judge.ask(self._question(given)))
            log(result)
        return result

    def _nothing(self, log: Callable[[JudgedResult], None]) -> JudgedResult:
        """An empty trajectory is not a good one; no model is asked."""
        comment = "NOTHING_TO_JUDGE: outputs holds no message, and no model was asked"
        result: JudgedResult = {"key": self.key, "score": self.nothing, "comment": comment, "metadata": {}}
        log(result)
        return result

    def _question(self, given: Mapping[str, Any]) -> Question[JudgedReply]:
        readable = {**given, OUTPUT: transcript(given[OUTPUT], OUTPUT)}
        if REFERENCE in self.template.places and given[REFERENCE] is not None:  # it is not shown where it has no place
            readable[REFERENCE] = transcript(given[REFERENCE], REFERENCE)
        return Question(
            role=self.role,
            version=VERSION,
            instructions="\n\n".join(part for part in (self.template.instructions, self.preface) if part),
            materials=(*self.examples, *self.template.materials(readable)),
            reply=self.reply,
        )

    def _result(self, ruling: Ruling[JudgedReply]) -> JudgedResult:
        facts = {"model": ruling.model, "cached": ruling.cached, "replies": ruling.readings, "truncated": ruling.truncated}
        return {"key": self.key, "score": ruling.reply.given, "comment": ruling.reply.said, "metadata": facts}


def create_async_trajectory_llm_as_judge(
    *,
    prompt: str = TRAJECTORY_ACCURACY_PROMPT,
    model: str | None = None,
    feedback_key: str = "trajectory_accuracy",
    system: str | None = None,
    continuous: bool = False,
    choices: Sequence[float] | None = None,
    use_reasoning: bool = True,
    few_shot_examples: Sequence[FewShotExample] | None = None,
    settings: JudgeOptions | Mapping[str, Any] | None = None,
) -> AsyncJudgedEvaluator:
    """An evaluator that asks a model about the messages of an agent's run, with or without a reference.

    `prompt` says what is asked, with places: ``{outputs}``, ``{reference_outputs}``, ``{inputs}`` and any other that is given to
    the evaluator as a keyword argument. What stands there reaches the model as material between markers, never as part of the
    prompt; ``{outputs}`` must be there, and what has no place is not shown. ``{{`` is a brace. `system` takes the place of our
    own words on how to judge. `model` is named as litellm does (``openai/o3-mini``); ``openai:o3-mini`` is understood too.

    The score is true or false; with `continuous` a number from 0 to 1; with `choices` one of these numbers. The comment is the
    reasoning, which comes first, unless `use_reasoning` is false. Outputs without a message get the lowest score, and no model is
    asked. `few_shot_examples` are verdicts that are right: ``{"inputs", "outputs", "reasoning", "score"}``, two of which are
    optional. `settings` are those of judging, as a mapping or `JudgeOptions`: ``{"llm": {"apiBase": …, "apiKeyEnv": …},
    "maxJudgeCost": 1}``; one factory's evaluations share its cache and its budget.

    The result is a `JudgedResult`, to be awaited of `create_async_trajectory_llm_as_judge`. What is judged may come in any shape
    that `shapes` knows. Nothing is imported or asked before the first evaluation.

    Raises:
        ValueError: here for an unusable prompt, choice or example, and where no model is named; from the evaluator for what is
            not a trajectory, and for a place of the prompt that is not given.
        JudgeError: from the evaluator, where the model gave no readable verdict; never a guessed score.
    """
    reply = judged_reply(continuous=continuous, choices=choices, use_reasoning=use_reasoning)
    examples = list(few_shot_examples or ())
    asking = _Asking(
        judge=_judge(model, settings),
        template=_template(prompt),
        role=_role(system),
        reply=reply,
        examples=example_materials(examples, reply),
        preface=describe_examples(examples),
        key=feedback_key,
        nothing=min(choices) if choices is not None else 0.0 if continuous else False,
    )

    async def evaluate(*, outputs: Any, reference_outputs: Any = None, inputs: Any = None, **given: Any) -> JudgedResult:
        return await asking.judged({**given, OUTPUT: outputs, REFERENCE: reference_outputs, "inputs": inputs})

    evaluate.__name__ = evaluate.__qualname__ = feedback_key  # how LangSmith names its column
    return evaluate


def _waiting(name: str, factory: Callable[P, AsyncJudgedEvaluator]) -> Callable[P, JudgedEvaluator]:
    """The factory `name`, which differs from `factory` in that its evaluators wait for their result."""

    @wraps(factory)
    def create(*args: P.args, **options: P.kwargs) -> JudgedEvaluator:
        judged = factory(*args, **options)

        def evaluate(*, outputs: Any, reference_outputs: Any = None, inputs: Any = None, **given: Any) -> JudgedResult:
            return wait_for(judged(outputs=outputs, reference_outputs=reference_outputs, inputs=inputs, **given))

        evaluate.__name__ = evaluate.__qualname__ = getattr(judged, "__name__", name)
        return evaluate

    create.__dict__["__signature__"] = signature(factory).replace(return_annotation="JudgedEvaluator")
    create.__name__ = create.__qualname__ = name
    return create


create_trajectory_llm_as_judge = _waiting("create_trajectory_llm_as_judge", create_async_trajectory_llm_as_judge)


def _judge(model: str | None, settings: JudgeOptions | Mapping[str, Any] | None) -> Judge:
    options = settings if isinstance(settings, JudgeOptions) else validate(JudgeOptions, dict(settings or {}), source="settings")
    if model is None and options.llm.model is None:
        raise InputError("no judging model is named; give model='openai/…', or settings={'llm': {'model': …}}", path="model")
    return Judges(options).judge(None if model is None else _PROVIDER.sub(r"\1/", model))


def _template(prompt: object) -> PromptTemplate:
    template = PromptTemplate.of(prompt)
    if OUTPUT not in template.places:
        raise InputError("it has no place {outputs}, so the trajectory would not be shown; say where it belongs", path="prompt")
    return template


def _role(system: str | None) -> str:
    if system is not None and not system.strip():
        raise InputError("it is blank; say how to judge, or leave it out", path="system")
    return ROLE if system is None else system.strip()


T = TypeVar("T")


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which runs on one event loop in a thread of its own while the caller waits.

    Callers may be on any thread, also on that of a running loop, and any number at a time; context variables are theirs. The
    loop is the same for all, since connections are bound to the loop that opened them.
    """
    return asyncio.run_coroutine_threadsafe(work, _loop()).result()


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(_report)
    threading.Thread(target=loop.run_forever, name="eval-skills judged evaluators", daemon=True).start()
    return loop


def _report(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Only exceptions: libraries drop background tasks of their own, and our own work is waited for."""
    if "exception" in context:
        loop.default_exception_handler(context)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_loop.cache_clear)  # no thread outlives a fork
