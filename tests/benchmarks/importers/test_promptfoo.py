"""Tests of promptfoo become tasks that pass and fail the same answers, or are skipped with their reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval_skills.benchmarks import load_tasks
from eval_skills.benchmarks.importers.importing import Imported, import_tasks
from eval_skills.benchmarks.importers.promptfoo.templates import spelled
from eval_skills.core.errors import InputError
from eval_skills.core.models import SkillResponse
from eval_skills.scorers import score_response
from tests.tables import each_row


def suite(folder: Path, *tests: Any, **config: Any) -> Imported:
    document = {"prompts": ["Greet {{name}}"], "providers": ["echo"], "tests": list(tests), **config}
    (folder / "promptfooconfig.yaml").write_text(json.dumps(document))
    return import_tasks(folder)


def asserting(*asserts: Any, **more: Any) -> dict[str, Any]:
    return {"vars": {"name": "Ann"}, "assert": list(asserts), **more}


HALF = {
    "type": "assert-set", "threshold": 0.5, "assert": [{"type": "contains", "value": "a"}, {"type": "contains", "value": "b"}],
}  # fmt: skip


@pytest.mark.slow
@each_row(
    ("asserts", "right", "wrong"),
    [
        ([{"type": "equals", "value": "Hi (Ann)"}], ["Hi (Ann)"], ["Hi (Ann)!", "hi (ann)", " Hi (Ann)", "Hi (Ann)\n"]),
        ([{"type": "equals", "value": " Hi\n"}], [" Hi\n"], ["Hi", " Hi"]),
        ([{"type": "equals", "value": 1.0}], ["1"], ["1.0", "1 "]),
        ([{"type": "equals", "value": ""}], [""], [" ", "x"]),
        ([{"type": "contains", "value": 2.0}], ["1 2 3"], ["1"]),
        ([{"type": "equals", "value": {"a": 1}}], [{"a": 1}, '{"a": 1}'], [{"a": 2}, "a"]),
        ([{"type": "not-equals", "value": {"a": 1}}], [{"a": 2}, "a"], [{"a": 1}, '{"a": 1}']),
        ([{"type": "equals", "value": True}], ["true"], ["false"]),
        ([{"type": "not-equals", "value": "Hi"}], ["Hi!", "ho"], ["Hi"]),
        ([{"type": "contains", "value": "a.b"}], ["xa.by"], ["xaby", "A.B"]),
        ([{"type": "icontains", "value": "Hi"}], ["oh hI"], ["ho"]),
        ([{"type": "not-contains", "value": "x"}], ["y\nX"], ["y\nx"]),
        ([{"type": "not-icontains", "value": "x"}], ["y"], ["y\nX"]),
        ([{"type": "contains-all", "value": ["a", "b"]}], ["b a"], ["a", "b"]),
        ([{"type": "not-contains-all", "value": ["a", "b"]}], ["a", "b", ""], ["b\na"]),
        ([{"type": "icontains-any", "value": 'a, "b, c"'}], ["A", "B, C"], ["c", "b"]),
        ([{"type": "contains-any", "value": [4, "a|b"]}], ["40", "a|b"], ["a", "b"]),
        ([{"type": "not-contains-any", "value": ["a", "b"]}], ["c"], ["c\nb"]),
        ([{"type": "starts-with", "value": "Hi"}], ["Hi Ann"], ["Oh, Hi"]),
        ([{"type": "not-starts-with", "value": "Hi"}], ["Oh, Hi"], ["Hi Ann"]),
        ([{"type": "regex", "value": r"\d{2}"}], ["a 42"], ["4 2"]),
        ([{"type": "not-regex", "value": r"\d{2}"}], ["4 2"], ["a\n42"]),
        ([{"type": "regex", "value": r"^\d+$"}], ["3"], ["٣", "3\n", "٣\n"]),
        ([{"type": "regex", "value": r"^[\d$.\]]+\$\.$"}], ["1$.]$."], ["٣$.", "1$.x", "1$.\n"]),
        ([{"type": "regex", "value": r"^\w+\b$"}], ["a_1"], ["é", "a\n"]),
        ([{"type": "regex", "value": r"^a\sb[\sx]c\S$"}], ["a b\u3000c.", "a\ufeffbxcé", "a\u2003b\tc1"], ["a\x1cb c.", "abxc."]),
        ([{"type": "regex", "value": "^a.b$"}], ["a-b"], ["a\nb", "a\rb", "a\u2028b"]),
        ([{"type": "is-json"}], ['{"a": 1}', "[]"], ["{a}", "hello"]),
        ([{"type": "is-json", "value": {"required": ["a"], "type": "object"}}], ['{"a": 1}'], ['{"b": 1}', "x"]),
        ([{"type": "is-json", "value": "{type: object, required: [a]}"}], ['{"a": 1}'], ['{"b": 1}', "x"]),
        ([{"type": "is-json", "value": {"items": [{"type": "string"}]}}], ['["a", 1]'], ["[1]"]),
        ([{"type": "not-is-json"}], ["a", ""], ["{}"]),
        ([{"type": "not-is-json", "value": {"required": ["a"]}}], ["a", "{}"], ['{"a": 1}']),
        ([{"type": "levenshtein", "value": "Switzerland"}], ["Switserland", "Schweizerland"], ["Austria"]),
        ([{"type": "levenshtein", "value": "Bern", "threshold": 1.5}], ["Born", "Berne"], ["Berlin"]),
        ([{"type": "not-levenshtein", "value": "Bern", "threshold": 1}], ["Berlin"], ["Berne"]),
        ([{"type": "rouge-n", "value": "the cat sat on the mat"}], ["on the mat the cat sat"], ["a dog sat"]),
        ([{"type": "not-rouge-n", "value": "the cat sat", "threshold": 0.5}], ["a dog"], ["The cat"]),
        ([{"type": "contains", "value": "a"}, {"type": "not-icontains", "value": "b"}], ["a"], ["aB", "c"]),
        ([{"type": "contains", "value": "a"}, {"type": "is-json"}], ['["a"]'], ["a", "[]"]),
        ([{"type": "contains", "value": "a", "weight": 0}, {"type": "contains", "value": "b"}], ["b"], ["a"]),
        ([{"type": "contains", "value": "a", "weight": 3}, {"type": "contains", "value": "b"}], ["ab"], ["a", "b"]),
        ([{"type": "assert-set", "assert": [{"type": "contains", "value": "a"}, {"type": "is-json"}]}], ['["a"]'], ["a", "[]"]),
        ([{"type": "contains", "value": "c"}, HALF], ["ca", "cb"], ["c", "ab"]),
        ([{"type": "contains", "value": "c"}, {**HALF, "weight": 0}], ["ca", "cb"], ["c", "ab"]),
        ([{"type": "contains", "value": "{{name}}"}], ["Hi Ann"], ["Hi {{name}}"]),
    ],
)
async def test_assertions_pass_and_fail_what_they_do_there(
    tmp_path: Path, asserts: Any, right: list[Any], wrong: list[Any]
) -> None:
    [task] = suite(tmp_path, asserting(*asserts)).benchmark.tasks

    async def passes(answer: Any) -> bool:
        return (await score_response(task, SkillResponse(output=answer))).passed

    assert [each for each in right if not await passes(each)] == []
    assert [each for each in wrong if await passes(each)] == []


A, B = {"type": "contains", "value": "a"}, {"type": "contains", "value": "b"}


@each_row(
    ("asserts", "threshold", "right", "wrong"),
    [
        pytest.param([A, B], 0.5, ["a", "b"], ["c"], id="the-mean-reaches-it"),
        pytest.param([{**A, "weight": 3}, B], 0.75, ["a"], ["b"], id="weighted"),
        pytest.param([A, {"type": "not-contains", "value": "b"}], 1, ["a"], ["ab", "c"], id="inverted"),
        pytest.param([{"type": "rouge-n", "value": "a b c d", "threshold": 1}], 0.5, ["a b", "a b c"], ["a"], id="a-share"),
        pytest.param([A, {**HALF, "weight": 2}], 0.6, ["ab", "a"], ["b"], id="a-set-counts-with-its-mean"),
        pytest.param([A, {**HALF, "weight": 0}], 1, ["a"], ["b"], id="a-set-without-weight-decides-nothing"),
    ],
)
async def test_a_threshold_is_what_the_weighted_mean_of_the_scores_must_reach(
    tmp_path: Path, asserts: Any, threshold: float, right: list[str], wrong: list[str]
) -> None:
    [task] = suite(tmp_path, asserting(*asserts, threshold=threshold)).benchmark.tasks
    assert [each for each in right if not (await score_response(task, SkillResponse(output=each))).passed] == []
    assert [each for each in wrong if (await score_response(task, SkillResponse(output=each))).passed] == []


async def test_cost_and_latency_are_assertions_like_others(tmp_path: Path) -> None:
    limits = [{"type": "cost", "threshold": 0.01}, {"type": "latency", "threshold": 500}]
    limited, mean, slow = suite(
        tmp_path,
        asserting(A, *limits),
        asserting(A, *limits, threshold=0.6),
        asserting({"type": "not-latency", "threshold": 500}),
    ).benchmark.tasks
    good: dict[str, Any] = {"output": "a", "cost_usd": 0.01, "latency_ms": 500.0}
    late = {**good, "latency_ms": 501.0}
    verdicts = [
        [(await score_response(task, SkillResponse(**given))).passed for given in (good, late)] for task in (limited, mean, slow)
    ]
    assert verdicts == [[True, False], [True, True], [False, True]]


async def test_the_score_is_that_of_promptfoo(tmp_path: Path) -> None:
    several = {"type": "contains-all", "value": ["a", "b", "x"]}
    [task] = suite(tmp_path, asserting({**A, "weight": 3}, B, several, {**HALF, "weight": 2})).benchmark.tasks
    assert (await score_response(task, SkillResponse(output="a"))).score == pytest.approx((3 + 0 + 0 + 2 * 0.5) / 7)


def test_metrics_name_dimensions_and_are_told_apart(tmp_path: Path) -> None:
    metrics = ["Tone of voice", "Tone of voice", "{{name}}", "hallucination"]
    [task] = suite(tmp_path, asserting(*({**A, "metric": each} for each in metrics))).benchmark.tasks
    assert [each.name for each in task.evaluators or []] == ["Tone-of-voice", "Tone-of-voice-2", "Ann", "metric-hallucination"]


def test_models_are_asked_by_llm_rubric_and_similar(tmp_path: Path) -> None:
    similar = {"type": "not-similar", "value": ["Bern", "Berne"], "provider": "openai:embedding:x"}
    idle = {"type": "llm-rubric", "value": "is short", "weight": 0}
    found = suite(tmp_path, asserting(A, {"type": "llm-rubric", "value": "is kind"}, similar, idle))
    [task] = found.benchmark.tasks
    assert [each.model_dump(by_alias=True) for each in task.evaluators or []] == [
        {"type": "regex", "patterns": ["a"]},
        {"type": "llm_judge", "criteria": "is kind"},
        {"type": "similarity", "value": ["Bern", "Berne"], "threshold": 0.75, "not": True},
    ]
    said = " ".join(found.remarks)
    assert all(each in said for each in ("--judge-model", "llm.embeddingModel", "provider and rubricPrompt", "weight 0"))


def test_variables_and_the_rendered_prompt_are_asked_with_those_of_the_default_test(tmp_path: Path) -> None:
    test = {"vars": {"name": ["Ann", "Bo"]}, "assert": [{"type": "contains", "value": "{{name}}"}], "description": "greets"}
    default = {"vars": {"tone": "kind", "name": "x"}, "assert": [{"type": "not-contains", "value": "AI"}]}
    tasks = suite(tmp_path, test, defaultTest=default).benchmark.tasks
    assert [task.input_data for task in tasks] == [
        {"tone": "kind", "name": name, "prompt": f"Greet {name}"} for name in ("Ann", "Bo")
    ]
    assert [(task.id, task.description) for task in tasks] == [("test-0-1", "greets"), ("test-0-2", "greets")]
    assert [(each.type, each.negated) for each in tasks[0].evaluators or []] == [("regex", True), ("regex", False)]


@each_row(
    ("variables", "prompt", "rendered"),
    [
        ({"a": True, "b": None, "c": {"k": [1, "é"]}}, "{{a}}|{{ b }}|{{c}}|{{c.k}}", 'true||{"k":[1,"é"]}|[1,"é"]'),
        ({"a": 1.0, "b": 0.5, "c": -2}, "{{a}} {{b}} {{c}}", "1 0.5 -2"),
        ({"n": "{{who}} B", "who": "{{first.name}}", "first": {"name": "Ann"}}, "Hi {{n}}", "Hi Ann B"),
        ({"a": "one\n"}, "{{a}}.", "one."),
        ({"a": "x"}, "[" * 100_000 + "{{a}}", "[" * 100_000 + "x"),
        ({"a": 'say "x"'}, '[{"role": "user", "content": "Hi {{a}}", "n": 1}]',
         '[\n  {\n    "role": "user",\n    "content": "Hi say \\"x\\"",\n    "n": 1\n  }\n]'),
        ({"a": "x"}, "{{a}} {{unknown}}", None),
        ({"a": "x"}, "{{a | upper}}", None),
        ({"a": "x"}, "{% if a %}{{a}}{% endif %}", None),
        ({"a": "x"}, "{# note #}{{a}}", None),
    ],
)  # fmt: skip
def test_a_prompt_is_rendered_as_it_is_there(tmp_path: Path, variables: Any, prompt: str, rendered: str | None) -> None:
    found = suite(tmp_path, {"vars": variables, "assert": [A]}, prompts=[prompt])
    [task] = found.benchmark.tasks
    assert task.input_data.get("prompt") == rendered
    assert any("more than plain {{variables}}" in remark for remark in found.remarks) == (rendered is None)


@each_row(
    ("prompts", "variables", "asked", "remark"),
    [
        ("Greet {{n}}", {"n": "Bo"}, "Greet Bo", None),
        ([{"raw": "Greet {{n}}", "label": "short"}], {"n": "Bo"}, "Greet Bo", None),
        (["Greet {{n}}", "Hail {{n}}"], {"n": "Bo"}, None, "not one text that is the prompt"),
        ({"a.txt": "short"}, {"n": "Bo"}, None, "not one text that is the prompt"),
        (["{{prompt}}"], {"prompt": "Hi"}, "Hi", None),
        (["Say: {{prompt}}"], {"prompt": "Hi"}, "Hi", "a variable named prompt is asked in place"),
        *(([each], {"n": "Bo"}, None, "the prompt is a file or") for each in (
            "prompts.txt", "prompts/chat.json", "file://p.md", "gen.py:create", "exec: ./p.sh", "langfuse://greet:3",
        )),
        (["Greet e.g. {{n}}"], {"n": "Bo"}, "Greet e.g. Bo", None),
    ],
)  # fmt: skip
def test_a_prompt_is_a_text_and_no_name_of_one(tmp_path: Path, prompts: Any, variables: Any, asked: Any, remark: Any) -> None:
    found = suite(tmp_path, {"vars": variables, "assert": [A]}, prompts=prompts)
    assert found.benchmark.tasks[0].input_data == variables | ({"prompt": asked} if asked else {})
    assert [remark in each for each in found.remarks] == ([True] if remark else [])


def test_options_and_metadata_are_those_of_the_default_test_unless_the_test_has_its_own(tmp_path: Path) -> None:
    default = {"options": {"prefix": "Be kind. ", "suffix": "!"}, "metadata": {"team": "a", "level": 1}, "assert": [B]}
    plain, own = suite(
        tmp_path,
        asserting(A, options={"provider": "x"}, metadata={"level": 2}),
        asserting(A, options={"suffix": ".", "disableDefaultAsserts": True}),
        defaultTest=default,
    ).benchmark.tasks
    assert [task.input_data["prompt"] for task in (plain, own)] == ["Be kind. Greet Ann!", "Be kind. Greet Ann."]
    assert (plain.metadata, own.metadata) == ({"team": "a", "level": 2}, {"team": "a", "level": 1})
    assert (len(plain.evaluators or []), own.evaluators) == (2, None)


def test_the_code_of_the_default_test_is_not_lost_to_options_of_the_test(tmp_path: Path) -> None:
    default = {"options": {"transform": "output.x"}}
    found = suite(tmp_path, asserting(A, options={"suffix": "!"}), asserting(A, options={"transform": ""}), defaultTest=default)
    assert [task.id for task in found.benchmark.tasks] == ["test-1"]
    assert list(found.skipped) == ["it transforms the answer with code"]


def test_a_list_is_one_value_where_lists_are_not_expanded(tmp_path: Path) -> None:
    variables = {"name": ["Ann", "Bo"], "none": []}
    [task] = suite(tmp_path, {"vars": variables, "assert": [A], "options": {"disableVarExpansion": True}}).benchmark.tasks
    assert task.input_data == {**variables, "prompt": 'Greet ["Ann","Bo"]'}


def test_turns_that_see_those_before_them_are_no_tasks_of_their_own(tmp_path: Path) -> None:
    prompt = "{% for turn in _conversation %}{{turn.output}}{% endfor %}{{name}}"
    found = suite(tmp_path, asserting(A), asserting(A, options={"disableConversationVar": True}), prompts=[prompt])
    assert [task.id for task in found.benchmark.tasks] == ["test-1"]
    assert list(found.skipped) == ["it is part of a conversation, which promptfoo's prompt or provider carries on"]
    assert len(suite(tmp_path, asserting(A, vars={"my_conversation": "x"}), prompts=["{{my_conversation}}"]).benchmark.tasks) == 1


def test_what_is_left_out_of_a_configuration_is_said(tmp_path: Path) -> None:
    found = suite(
        tmp_path,
        asserting(A),
        extensions=["file://hook.js:beforeEach"],
        evaluateOptions={"repeat": 3},
        providers=["echo", {"openai:x": {"transform": "output.text"}}],
        scenarios=[{"config": [], "tests": []}],
    )
    said = ["scenarios are not", "extensions are not run", "transform of a provider", "repeat: 3 is left out: --runs"]
    assert [part in remark for part, remark in zip(said, found.remarks, strict=True)] == [True] * 4
    assert suite(tmp_path, asserting(A), evaluateOptions={"maxConcurrency": 2}, providers=[{"id": "x"}]).remarks == ()


def test_an_assertion_may_be_a_template_of_the_configuration(tmp_path: Path) -> None:
    templates = {"polite": {"type": "contains", "value": "{{name}}", "weight": 2}}
    reference = {"$ref": "#/assertionTemplates/polite", "metric": "tone"}
    [task] = suite(tmp_path, asserting(reference), assertionTemplates=templates).benchmark.tasks
    assert [each.model_dump(by_alias=True) for each in task.evaluators or []] == [
        {"type": "regex", "patterns": ["Ann"], "weight": 2.0, "name": "tone"}
    ]
    with pytest.raises(InputError, match=r"tests\[0\]\.assert\[0\]: expected an object with a type"):
        suite(tmp_path, asserting({"$ref": "#/assertionTemplates/rude"}), assertionTemplates=templates)


def test_scenarios_alone_are_refused_by_their_name(tmp_path: Path) -> None:
    (tmp_path / "promptfooconfig.yaml").write_text("{prompts: [x], providers: [echo], scenarios: [{config: [], tests: []}]}")
    with pytest.raises(InputError, match="scenarios: scenarios are not imported; write them as tests"):
        import_tasks(tmp_path / "promptfooconfig.yaml", "promptfoo")


def test_what_is_left_out_of_a_test_is_said(tmp_path: Path) -> None:
    found = suite(tmp_path, asserting(A, options={"rubricPrompt": "x"}, provider="openai:x", providerOutput="Hi"))
    said = ["provider and rubricPrompt of judges", "provider of a test", "(providerOutput) are left out"]
    assert [part in remark for part, remark in zip(said, found.remarks, strict=True)] == [True] * 3


@each_row(
    ("value", "text"),
    [(1e-05, "0.00001"), (1.5e-07, "1.5e-7"), (1e21, "1e+21"), (1e20, "100000000000000000000"), (-0.25, "-0.25")],
)
def test_values_are_spelled_as_by_javascript(value: Any, text: str) -> None:
    assert spelled(value) == text


async def test_variables_in_variables_are_rendered_in_what_is_asked_and_expected(tmp_path: Path) -> None:
    test = {"vars": {"n": "{{who}} B", "who": "Ann", "yes": True}, "assert": [{"type": "equals", "value": "{{n}} {{yes}}"}]}
    [task] = suite(tmp_path, test).benchmark.tasks
    assert (task.input_data["n"], task.input_data["yes"]) == ("Ann B", True)
    answers = ["Ann B true", "{{who}} B true", "Ann B True"]
    assert [(await score_response(task, SkillResponse(output=each))).passed for each in answers] == [True, False, False]


def test_a_rubric_is_judged_by_a_model(tmp_path: Path) -> None:
    [task] = suite(tmp_path, asserting({"type": "llm-rubric", "value": "is kind", "threshold": 0.8})).benchmark.tasks
    assert task.evaluator is not None
    assert (task.evaluator.type, task.evaluator.options) == ("llm_judge", {"criteria": "is kind", "threshold": 0.8})


async def test_tests_in_a_csv_file(tmp_path: Path) -> None:
    (tmp_path / "tests.csv").write_text(
        "name,__expected,__expected2,__description\n"
        "Ann,contains: Ann,latency(500),greets\n"
        'Bo,"contains-any: Bo, bo",,\n'
        "Cy,Hello: Cy,,\n"
        "Di,similar: Di,levenshtein(2): Di,\n"
    )
    found = suite(tmp_path, "file://tests.csv")
    ann, bo, cy, di = found.benchmark.tasks
    assert (ann.id, ann.input_data["name"], ann.description) == ("line-2", "Ann", "greets")
    assert [each.type for each in ann.evaluators or []] == ["regex", "latency"]
    assert [each.model_dump(by_alias=True) for each in di.evaluators or []] == [
        {"type": "similarity", "value": "Di", "threshold": 0.8},
        {"type": "levenshtein", "value": "Di", "maxEdits": 2},
    ]
    assert [(await score_response(bo, SkillResponse(output=each))).passed for each in ("bo", "x")] == [True, False]
    assert (await score_response(cy, SkillResponse(output="Hello: Cy"))).passed
    assert [task.id for task in load_tasks(tmp_path / "tests.csv").tasks] == ["line-2", "line-3", "line-4", "line-5"]
    assert load_tasks(tmp_path / "promptfooconfig.yaml").tasks[0].input_data["prompt"] == "Greet Ann"


def test_columns_say_what_they_say_there(tmp_path: Path) -> None:
    (tmp_path / "tests.csv").write_text(
        "name,__expected1,__expected2,__config:__expected1:threshold,__metric,__prefix,__suffix,__metadata:tags[],__note\n"
        'Ann,similar: Ann,contains: Ann,0.95,greets,"Be kind. ",!,"a, b\\,c",x\n'
        "Bo,,levenshtein: Bo,1,,,,,y\n"
    )
    ann, bo = suite(tmp_path, "tests.csv").benchmark.tasks
    assert [each.model_dump(by_alias=True) for each in ann.evaluators or []] == [
        {"type": "similarity", "value": "Ann", "threshold": 0.95, "name": "greets"},
        {"type": "regex", "patterns": ["Ann"], "name": "greets-2"},
    ]
    assert bo.evaluator is not None
    assert bo.evaluator.options == {"value": "Bo", "maxEdits": 1}
    assert ann.input_data == {"name": "Ann", "__note": "x", "prompt": "Be kind. Greet Ann!"}
    assert ann.metadata == {"tags": ["a", "b,c"]}


@each_row(
    ("column", "message"),
    [
        ("__config:__expected:weight", "unknown column; known are __config:__expected:threshold"),
        ("__config:__expected:threshold", "__config:__expected:threshold: give a number; got .x"),
        ("__threshold", "__threshold: give a number; got .x"),
    ],
)
def test_a_column_that_promptfoo_does_not_read_is_refused(tmp_path: Path, column: str, message: str) -> None:
    (tmp_path / "x.csv").write_text(f"q,__expected,{column}\na,similar: b,x\n")
    with pytest.raises(InputError, match=message):
        import_tasks(tmp_path / "x.csv")


@each_row(
    ("cell", "reason"),
    [
        *((each, f"its assertion {each.partition('(')[0].partition(':')[0]} has no equivalent here") for each in (
            "contains-json", "not-contains-json", "contains-json: {type: object}", "contains-sql", "is-sql", "is-xml", "is-html",
            "is-refusal", "word-count: 5", "moderation", "guardrails", "perplexity(5)", "perplexity-score(0.5)",
            "answer-relevance", "context-faithfulness(0.9)", "is-valid-openai-tools-call", "not-is-valid-function-call",
            "pi", "g-eval: kind", "meteor: x", "finish-reason: stop", "model-graded-closedqa: x",
            "skill-used: pdf", "agent-rubric: x",
        )),
        ("trajectory:tool-used: search", "its assertion trajectory:tool-used has no equivalent here"),
        ("python", "its assertion python is code"),
        ("ruby: output", "its assertion ruby is code"),
        ("fn: output", "its assertion javascript is code"),
        ("file://check.py:good", "its assertion python is code"),
        ("file://check.mjs", "its assertion javascript is code"),
        ("file://answer.txt", "the value of its assertion equals is a file"),
        ("contains", "its assertion contains has no value"),
        ("not-regex:", "its assertion not-regex has no value"),
    ],
)  # fmt: skip
def test_a_cell_that_asks_for_something_else_is_no_text_that_the_answer_must_equal(
    tmp_path: Path, cell: str, reason: str
) -> None:
    quoted = cell.replace('"', '""')
    (tmp_path / "x.csv").write_text(f'q,__expected\na,"{quoted}"\nb,contains: b\n')
    found = import_tasks(tmp_path / "x.csv")
    assert [task.id for task in found.benchmark.tasks] == ["line-3"]
    assert found.skips() == [{"reason": reason, "count": 1, "places": [f"{tmp_path}/x.csv:2"]}]


@each_row(
    ("cell", "right", "wrong"),
    [
        ("is-json", ["{}"], ["is-json"]),
        ("not-is-json", ["x"], ["{}"]),
        ("is-json: {type: array}", ["[]"], ["{}"]),
        ("equals(3): Hi", ["Hi"], ["equals(3): Hi"]),
        ("pi is 3.14", ["pi is 3.14"], ["3.14"]),
        ("contains-jsonl", ["contains-jsonl"], ["{}"]),
        ("perplexity(x)", ["perplexity(x)"], ["x"]),
        ("levenshtein(1): Bern", ["Born"], ["Berlin"]),
        ("not-starts-with: Hi", ["Oh, Hi"], ["Hi"]),
    ],
)
async def test_a_cell_says_what_it_says_there(tmp_path: Path, cell: str, right: list[str], wrong: list[str]) -> None:
    (tmp_path / "x.csv").write_text(f'q,__expected\na,"{cell}"\n')
    [task] = import_tasks(tmp_path / "x.csv").benchmark.tasks
    assert [each for each in right if not (await score_response(task, SkillResponse(output=each))).passed] == []
    assert [each for each in wrong if (await score_response(task, SkillResponse(output=each))).passed] == []


@each_row(
    ("test", "reason"),
    [
        (asserting({"type": "javascript", "value": "output.length"}), "its assertion javascript is code"),
        (asserting({"type": "python", "value": "True"}), "its assertion python is code"),
        (asserting({"type": "bleu", "value": "x"}), "its assertion bleu has no equivalent here"),
        (asserting({"type": "not-similar:dot", "value": "x"}), "its assertion not-similar:dot has no equivalent here"),
        (asserting({"type": "llm-rubric", "value": {"kind": True}}), "the rubric of its assertion llm-rubric is an object"),
        (asserting({"type": "contains", "value": "a"}, threshold=0), "its threshold is 0, which any answer reaches"),
        (asserting({"type": "contains", "value": "a", "weight": 0}), "all of its assertions weigh 0, so any answer passes"),
        (asserting({**HALF, "assert": [HALF]}), "an assert-set in an assert-set"),
        (asserting({**HALF, "assert": [{"type": "python", "value": "True"}]}), "its assertion python is code"),
        (asserting({"type": "contains", "value": "{{ name | upper }}"}), "more than plain variables"),
        (asserting({"type": "contains", "value": "{% if name %}x{% endif %}"}), "an assertion holds a template that is more"),
        ({"vars": {"o": {"k": 1}}, "assert": [{"type": "contains", "value": "{{o}}"}]}, "an assertion holds a template that is"),
        ({"vars": {"a": "{{b | upper}}", "b": "x"}, "assert": [A]}, "one of its variables holds a template that is more than"),
        ({"vars": {"a": "{{nobody}}"}, "assert": [A]}, "one of its variables holds a template that is more than plain"),
        ({"vars": {"a": "x {{a}}"}, "assert": [A]}, "one of its variables holds itself"),
        (asserting({"type": "contains", "value": "file://x.txt"}), "its assertion contains is a file"),
        (asserting({"type": "regex", "value": "("}), "one of JavaScript's"),
        (asserting({"type": "regex", "value": r"[\S]"}), "one of JavaScript's"),
        (asserting({"type": "contains", "value": "a"}, options={"transform": "output.x"}), "transforms the answer with code"),
        (asserting(A, options={"transformVars": "vars"}), "it transforms its variables with code"),
        ({"path": "file://gen.py:create", "config": {"n": 20}}, "a program makes its tests"),
        (asserting(A, provider={"id": "promptfoo:simulated-user", "config": {"maxTurns": 3}}), "it is part of a conversation"),
        (asserting(), "it has no assertions"),
        ({"vars": "file://vars.yaml", "assert": []}, "its variables are read from a file"),
    ],
)
def test_what_has_no_equivalent_is_skipped_with_its_reason(tmp_path: Path, test: Any, reason: str) -> None:
    found = suite(tmp_path, test, asserting({"type": "contains", "value": "a"}))
    assert (found.read, len(found.benchmark.tasks)) == (2, 1)
    [skip] = found.skips()
    assert reason in skip["reason"]
    assert skip["places"] == [f"{tmp_path}/promptfooconfig.yaml: tests[0]"]


@each_row(
    ("tests", "message"),
    [
        ([5], r"tests\[0\]: expected an object or a file, got 5"),
        ([{"assert": 5}], r"tests\[0\]: assert: expected a list of assertions"),
        ([{"assert": [5]}], r"tests\[0\]\.assert\[0\]: expected an object with a type"),
        ([asserting({"type": "contains"})], r"tests\[0\]\.assert\[0\]: value: this key is missing"),
        ([asserting({"type": "cost", "threshold": "x"})], r"threshold: expected a number from 0"),
        ([asserting({"type": "contains", "value": "a", "weight": -1})], r"weight: expected a number from 0, got -1"),
        ([asserting({**HALF, "assert": [{"type": "contains"}]})], r"tests\[0\]\.assert\[0\]\.assert\[0\]: value: this key is"),
        ([asserting({"type": "is-json", "value": "{a"})], r"value: expected a JSON Schema as JSON or YAML"),
        ([asserting({"type": "contains", "value": "a"}, threshold=2)], "threshold: expected a number from 0 to 1"),
        (["file://../tests.csv"], r"'\.\./tests\.csv' is not a file in .*nothing is fetched"),
        (["https://example.com/t.csv"], "nothing is fetched"),
    ],
)
def test_what_is_malformed_is_refused_with_its_place(tmp_path: Path, tests: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        suite(tmp_path, *tests)


@each_row(
    ("default", "own", "place"),
    [
        (A, {"type": "contains"}, r"promptfooconfig\.yaml: tests\[0\]\.assert\[0\]: value"),
        ({"type": "contains"}, A, r"promptfooconfig\.yaml: defaultTest\.assert\[0\]: value"),
        (A, 5, r"tests\[0\]\.assert\[0\]: expected an object"),
    ],
)
def test_an_assertion_is_named_where_it_is_written(tmp_path: Path, default: Any, own: Any, place: str) -> None:
    with pytest.raises(InputError, match=place):
        suite(tmp_path, {"vars": {"name": "x"}, "assert": [own]}, defaultTest={"assert": [default]})


def test_lists_that_would_make_too_many_tests_are_refused_before_they_are_made(tmp_path: Path) -> None:
    lists = {f"v{number}": list(range(10)) for number in range(12)}
    with pytest.raises(InputError, match="make 1,000,000,000,000 tests; at most 10,000 are read"):
        suite(tmp_path, {"vars": lists, "assert": [{"type": "contains", "value": "a"}]})


def test_a_variable_without_a_value_is_a_test_that_is_counted(tmp_path: Path) -> None:
    asserts = [{"type": "contains", "value": "a"}]
    found = suite(tmp_path, {"vars": {"q": []}, "assert": asserts}, {"vars": {"q": ["x", "y"]}, "assert": asserts})
    assert (found.read, len(found.benchmark.tasks)) == (3, 2)
    assert list(found.skipped) == ["one of its variables is an empty list, which makes no test"]


@pytest.mark.parametrize("tests", ["tests: &t\n  - *t\n", "tests: [file://more.yaml]\n"], ids=["config", "file"])
def test_a_part_that_holds_itself_is_refused(tmp_path: Path, tests: str) -> None:
    (tmp_path / "promptfooconfig.yaml").write_text(f"prompts: [x]\nproviders: [echo]\n{tests}")
    (tmp_path / "more.yaml").write_text("- &t {vars: {q: *t}}\n")
    with pytest.raises(InputError, match="this part contains itself"):
        import_tasks(tmp_path)
