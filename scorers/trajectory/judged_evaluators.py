"""Evaluators that ask a model about the messages of a run, for scripts, pytest and LangSmith, whether they can await or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval_skills.scorers.trajectory.asking import Asking, AsyncJudgedEvaluator, Prompt, Settings, waiting
from eval_skills.scorers.trajectory.messages import OUTPUT, REFERENCE
from eval_skills.scorers.trajectory.prompts import NO_REFERENCE, TRAJECTORY_ACCURACY_PROMPT, FewShotExample
from eval_skills.scorers.trajectory.results import JudgedResult
from eval_skills.scorers.trajectory.transcript import Step, text_of_steps, transcript


@dataclass(frozen=True, slots=True)
class _Messages:
    """A run by its messages; `given` are the evaluator's arguments, the outputs among them read as `steps`."""

    steps: list[Step]
    given: Mapping[str, Any]
    without_reference: str | None

    def values(self, places: Sequence[str]) -> Mapping[str, Any]:
        # a reference that has no place is not shown, and not looked at
        reference = self._reference() if REFERENCE in places else None
        return {**self.given, OUTPUT: self.steps, REFERENCE: self.without_reference if reference is None else reference}

    def arguments(self) -> Mapping[str, Any]:
        reference = self._reference()
        return {**self.given, OUTPUT: text_of_steps(self.steps), REFERENCE: text_of_steps(reference or [])}

    def _reference(self) -> list[Step] | None:
        given = self.given[REFERENCE]
        return None if given is None else transcript(given, REFERENCE)


def create_async_trajectory_llm_as_judge(
    *,
    prompt: Prompt = TRAJECTORY_ACCURACY_PROMPT,
    model: str | None = None,
    feedback_key: str = "trajectory_accuracy",
    judge: object | None = None,
    system: str | None = None,
    continuous: bool = False,
    choices: Sequence[float] | None = None,
    use_reasoning: bool = True,
    few_shot_examples: Sequence[FewShotExample] | None = None,
    settings: Settings | None = None,
    metadata: bool = True,
) -> AsyncJudgedEvaluator:
    """An evaluator that asks a model about the messages of an agent's run, with or without a reference.

    `prompt` says what is asked, with places: ``{outputs}``, ``{reference_outputs}``, ``{inputs}`` and any other that is given to
    the evaluator as a keyword argument. What stands there reaches the model as material between markers, never as part of the
    prompt; ``{outputs}`` must be there, and what has no place is not shown. ``{{`` is a brace. `system` takes the place of our
    own words on how to judge. Instead of a text it may be a function of the same names as keyword arguments, with the
    trajectories as texts, that returns chat messages, or a prompt template of LangChain's: these words reach the model as they
    are.

    `model` is named as litellm does (``openai/o3-mini``); ``openai:o3-mini`` is understood too. `judge` is an object that is
    asked instead: a client of OpenAI's, which needs `model` too, or a chat model of LangChain's, or what works like one; see
    `given_judge`.

    The score is true or false; with `continuous` a number from 0 to 1; with `choices` one of these numbers. The comment is the
    reasoning, which comes first, unless `use_reasoning` is false. Outputs without a message get the lowest score, and no model is
    asked. `few_shot_examples` are verdicts that are right: ``{"inputs", "outputs", "reasoning", "score"}``, two of which are
    optional. `settings` are those of judging, as a mapping or `JudgeOptions`: ``{"llm": {"apiBase": …, "apiKeyEnv": …},
    "maxJudgeCost": 1}``; one factory's evaluations share its cache and its budget. `metadata` false: that of results is None.

    The result is a `JudgedResult`, to be awaited of `create_async_trajectory_llm_as_judge`. What is judged may come in any shape
    that `shapes` knows. Nothing is imported or asked before the first evaluation.

    Raises:
        ValueError: here for an unusable prompt, judge, choice or example, and where no model is named; from the evaluator for
            what is not a trajectory, and for a place of the prompt that is not given.
        JudgeError: from the evaluator, where the model gave no readable verdict; never a guessed score.
    """
    return judge_of_messages(
        Asking.of(
            prompt=prompt, model=model, judge=judge, feedback_key=feedback_key, system=system, continuous=continuous,
            choices=choices, use_reasoning=use_reasoning, few_shot_examples=few_shot_examples, settings=settings,
            metadata=metadata, needed=(OUTPUT,),
        )
    )  # fmt: skip


def judge_of_messages(asking: Asking, *, needs_reference: bool = True) -> AsyncJudgedEvaluator:
    """The evaluator that asks so. Unless it `needs_reference`, a prompt may have a place for one where none is given."""
    without = None if needs_reference else NO_REFERENCE

    async def evaluate(*, outputs: Any, reference_outputs: Any = None, inputs: Any = None, **given: Any) -> JudgedResult:
        def read() -> _Messages | None:
            steps = transcript(outputs, OUTPUT)
            everything = {**given, "inputs": inputs, OUTPUT: outputs, REFERENCE: reference_outputs}
            return _Messages(steps, everything, without) if steps else None

        return await asking.judged(read)

    evaluate.__name__ = evaluate.__qualname__ = asking.key  # how LangSmith names its column
    return evaluate


create_trajectory_llm_as_judge = waiting("create_trajectory_llm_as_judge", create_async_trajectory_llm_as_judge)
