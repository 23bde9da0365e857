"""Tests of promptfoo: ``promptfooconfig.yaml``, and tables of tests with ``__expected`` columns."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from eval_skills.benchmarks.importers.promptfoo.asserts import OWN_MODELS, scored_by, share
from eval_skills.benchmarks.importers.promptfoo.templates import MoreThanVariables, rendered, rendered_prompt, resolved, spelled
from eval_skills.benchmarks.importers.rows import Row, Skip, Task
from eval_skills.benchmarks.importers.source import Source
from eval_skills.benchmarks.importers.tables import TEXT_SUFFIXES, read_table
from eval_skills.core.documents.aliases import refuse_cycles
from eval_skills.core.documents.loading import LINES_SUFFIXES, numbered_json_lines, read_document
from eval_skills.core.errors import InputError
from eval_skills.core.text import excerpt

_MOST_TESTS = 10_000
_EXPECTED = re.compile(r"__expected\d*")
_TYPES = (
    "answer-relevance|bleu|classifier|contains|contains-all|contains-any|contains-html|contains-json|contains-sql|"
    "contains-xml|context-faithfulness|context-recall|context-relevance|conversation-relevance|cost|equals|factuality|"
    "finish-reason|g-eval|gleu|guardrails|icontains|icontains-all|icontains-any|is-html|is-json|is-refusal|is-sql|"
    "is-valid-function-call|is-valid-openai-function-call|is-valid-openai-tools-call|is-xml|javascript|latency|levenshtein|"
    "llm-rubric|pi|meteor|model-graded-closedqa|model-graded-factuality|moderation|perplexity|perplexity-score|python|regex|"
    "rouge-n|ruby|similar|similar:cosine|similar:dot|similar:euclidean|starts-with|tool-call-f1|skill-used|"
    "trajectory:goal-success|trajectory:tool-args-match|trajectory:step-count|trajectory:tool-sequence|trajectory:tool-used|"
    "trace-error-spans|trace-span-count|trace-span-duration|search-rubric|agent-rubric|webhook|word-count"
)
"""What a cell may ask for, in promptfoo's order (``BaseAssertionTypesSchema`` in its ``src/types/index.ts``)."""

_ASSERTION = re.compile(
    rf"(?P<type>(?:not-)?(?:{_TYPES}))(?:\((?P<threshold>[0-9]+(?:\.[0-9]+)?)\))?(?::(?P<value>.*))?", re.DOTALL
)
_THRESHOLDS = {
    "similar": 0.8,
    **dict.fromkeys(("cost", "latency", "levenshtein", "rouge-n"), 0.75),
}
"""Whose ``(number)`` is read, and what a cell means that gives none; in a configuration the defaults are others."""

_PREFIXES = {"javascript:": "javascript", "fn:": "javascript", "eval:": "javascript", "grade:": "llm-rubric", "python:": "python"}
_FILE = re.compile(
    r"(?:file|exec|langfuse|portkey|helicone)://|exec:|[^\n]*\.(?:txt|jsonl?|md|j2|csv|ya?ml|[cm]?[jt]s|py|sh|rb|exe|bat|cmd|ps1)(?::\w+)?$"
)
"""A prompt that is the name of a file or a program, or that another service keeps (``maybeFilePath`` in its ``src/prompts``)."""

_HISTORY = re.compile(r"\b_conversation\b")
_SEVERAL = "there is not one text that is the prompt: none is asked, the variables are; a skill for each prompt compares them"
_TWICE = "a variable named prompt is asked in place of the prompt that it is part of"
_RESERVED = re.compile(
    r"__(?:expected.*|metadata(?::.*)?|config:.*|prefix|suffix|description|providerOutput|metric|threshold)", re.DOTALL
)
"""The names of columns that hold something other than a variable."""

_CODE_FILE = re.compile(r"file://.*?(?:(?P<python>\.py(?::.*)?)|\.[cm]?[jt]s(?::.*)?)", re.DOTALL)


def is_promptfoo(source: Source) -> bool:
    """Whether it is a configuration of promptfoo, or a table of its tests."""
    if source.rows:
        return any(_EXPECTED.fullmatch(key) for key in source.keys)
    return "tests" in source.keys and bool(source.keys & {"prompts", "providers", "targets", "defaultTest"})


def promptfoo_entries(source: Source) -> list[Row]:
    """Every test, with the default test in it; a variable that is a list makes a test for each of its values."""
    config = source.document if isinstance(source.document, dict) else {}
    default = _default(config, source)
    _say_of_the_whole(config, source)
    found = (
        [row if row.data.keys() & {"vars", "assert"} else _test_of_table(row) for row in source.rows]
        if source.rows
        else list(_tests(config.get("tests"), source))
    )
    merged = [_merged(row, default, config) for row in found]
    if (count := sum(math.prod(map(len, _several(row).values())) for row in merged)) > _MOST_TESTS:
        raise InputError(f"the lists of variables make {count:,} tests; at most {_MOST_TESTS:,} are read", source=source.path)
    return [made for row in merged for made in _combinations(row)]


def _say_of_the_whole(config: Mapping[str, Any], source: Source) -> None:
    """Say what of a configuration is left out, beside providers, which skills take the place of."""
    if config.get("scenarios"):
        if not config.get("tests"):
            raise InputError("scenarios are not imported; write them as tests", source=source.path, path="scenarios")
        source.say("scenarios are not imported; write them as tests")
    if config.get("extensions"):
        source.say("extensions are not run: what they change in tests and answers is left out")
    if any("transform" in each for each in _provider_options(config)):
        source.say("transform of a provider is left out: the skill must give the answer that the assertions expect")
    options = [config.get("evaluateOptions"), config.get("commandLineOptions")]
    if repeat := next((each["repeat"] for each in options if isinstance(each, dict) and each.get("repeat", 1) != 1), None):
        source.say(f"repeat: {excerpt(repeat, 20)} is left out: --runs says how often a task is asked")


def _provider_options(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The options of each provider that has some: ``{id: x, transform: …}`` or ``{x: {transform: …}}``."""
    given = config.get("providers", config.get("targets"))
    found = [each for each in (given if isinstance(given, list) else [given]) if isinstance(each, dict)]
    return [*found, *(part for each in found for part in each.values() if isinstance(part, dict))]


def promptfoo_task(row: Row, source: Source) -> Task:
    """A test: its variables are asked, and its assertions say what is expected."""
    if row.has("path"):
        raise Skip("a program makes its tests")
    options = _options(row)
    if options.get("transform") or options.get("postprocess"):
        raise Skip("it transforms the answer with code")
    if options.get("transformVars"):
        raise Skip("it transforms its variables with code")
    if _is_of_a_conversation(row, options):
        raise Skip("it is part of a conversation, which promptfoo's prompt or provider carries on")
    if row.has("assertScoringFunction"):
        raise Skip("its score is computed by code")
    variables = _variables(row)
    asserts = [_rendered(each, variables) for each in row.data.get("assert") or []]
    threshold = share(row, "threshold") if row.data.get("threshold") is not None else None
    defaults = [f"{source.files[0]}: defaultTest.assert[{index}]" for index in range(row.data["defaults"])]
    scored = scored_by(asserts, threshold, row, source.say, defaults=defaults)
    _remark(row, options, source)
    asked = {**variables, **_prompt(row, options, variables, source)}
    more: Task = {"description": row.text("description")} if row.has("description") else {}
    if isinstance(metadata := row.data.get("metadata"), dict):
        more["metadata"] = metadata
    return {"id": row.text("id"), "inputData": asked, **scored, **more}


def _options(row: Row) -> dict[str, Any]:
    options = row.data.get("options")
    return options if isinstance(options, dict) else {}


def _is_of_a_conversation(row: Row, options: Mapping[str, Any]) -> bool:
    """Whether a test is a turn that sees those before it (``_conversation`` in a prompt), or has a simulated user."""
    provider = row.data.get("provider")
    named = provider.get("id") if isinstance(provider, dict) else provider
    if isinstance(named, str) and named.startswith("promptfoo:simulated-user"):
        return True
    return bool(_HISTORY.search(spelled(row.data["prompts"]))) and not options.get("disableConversationVar")


def _remark(row: Row, options: Mapping[str, Any], source: Source) -> None:
    """Say what of a test is left out."""
    if options.keys() & {"provider", "rubricPrompt"}:
        source.say(OWN_MODELS)
    if row.data.keys() & {"provider", "providers"}:
        source.say("provider of a test is left out: every skill of the run is asked all tests")
    if row.has("providerOutput"):
        source.say("recorded answers (providerOutput) are left out: the skills of the run are asked")


def _prompt(row: Row, options: Mapping[str, Any], variables: Mapping[str, Any], source: Source) -> dict[str, Any]:
    """The only prompt with the variables in it; none where there are several, or it is a file or more than plain variables."""
    prompts = row.data["prompts"]
    if not prompts:
        return {}
    [prompt, *more] = prompts if isinstance(prompts, list) else [prompts]
    if more or not isinstance(prompt := prompt.get("raw") if isinstance(prompt, dict) else prompt, str):
        source.say(_SEVERAL)
        return {}
    try:
        if not _FILE.match(prompt):
            whole = rendered_prompt(f"{options.get('prefix') or ''}{prompt}{options.get('suffix') or ''}", variables)
            if (own := variables.get("prompt", whole)) != whole:
                source.say(_TWICE)
            return {"prompt": own}
    except MoreThanVariables:
        pass  # it is left out, which is said
    source.say("the prompt is a file or holds more than plain {{variables}}: it is left out, the variables are asked")
    return {}


def _variables(row: Row) -> dict[str, Any]:
    given = row.data.get("vars")
    if given is None:
        return {}
    if isinstance(given, str):
        raise Skip("its variables are read from a file")
    if not isinstance(given, dict):
        raise row.refusal(f"expected an object of variables, got {excerpt(given, 80)}", "vars")
    if any(isinstance(value, str) and value.startswith("file://") for value in given.values()):
        raise Skip("one of its variables is read from a file")
    if [] in given.values() and not _options(row).get("disableVarExpansion"):
        raise Skip("one of its variables is an empty list, which makes no test")
    return resolved({str(name): value for name, value in given.items()})


def _rendered(value: Any, variables: Mapping[str, Any]) -> Any:
    """An assertion with the variables in it.

    Raises:
        Skip: it holds a template that is more than plain variables.
    """
    if isinstance(value, dict):
        return {key: _rendered(part, variables) for key, part in value.items()}
    if isinstance(value, list):
        return [_rendered(part, variables) for part in value]
    if not isinstance(value, str):
        return value
    try:
        return rendered(value, variables, objects=False)
    except MoreThanVariables:
        raise Skip("an assertion holds a template that is more than plain variables") from None


def _default(config: Mapping[str, Any], source: Source) -> dict[str, Any]:
    default = config.get("defaultTest") or {}
    if isinstance(default, str):
        raise InputError("a default test in a file of its own is not read; write it here", source=source.path, path="defaultTest")
    if not isinstance(default, dict):
        raise InputError(f"expected an object, got {excerpt(default, 80)}", source=source.path, path="defaultTest")
    return default


def _tests(given: Any, source: Source) -> Iterator[Row]:
    if isinstance(given, str):
        given = [given]
    if not isinstance(given, list):
        raise InputError(f"expected a list of tests, or a file, got {excerpt(given, 80)}", source=source.path, path="tests")
    for index, test in enumerate(given):
        place = f"{source.files[0]}: tests[{index}]"
        if isinstance(test, str):
            yield from _tests_in(test.removeprefix("file://"), place, source)
        elif isinstance(test, dict):
            yield Row(place, test)
        else:
            raise InputError(f"expected an object or a file, got {excerpt(test, 80)}", source=place)


def _tests_in(name: str, place: str, source: Source) -> Iterator[Row]:
    """The tests in a file that the configuration names, which must lie in its folder."""
    root = source.folder.resolve()
    path = (root / name).resolve() if "://" not in name else Path("/")
    if not path.is_relative_to(root) or not path.is_file():
        raise InputError(f"{name!r} is not a file in {source.folder}; nothing is fetched, and globs are not read", source=place)
    source.files = (*source.files, source.folder / path.relative_to(root))
    if path.suffix.lower() in TEXT_SUFFIXES:
        yield from map(_test_of_table, read_table(path))
        return
    if path.suffix.lower() in LINES_SUFFIXES:
        values = [(f"{path}:{number}", value) for number, value in numbered_json_lines(path)]
    else:
        document = read_document(path)
        refuse_cycles(document)
        values = [
            (f"{path}: [{index}]", value) for index, value in enumerate(document if isinstance(document, list) else [document])
        ]
    for where, value in values:
        if not isinstance(value, dict):
            raise InputError(f"expected an object, got {excerpt(value, 80)}", source=where)
        yield Row(where, value)


def _test_of_table(row: Row) -> Row:
    """The test in a row: columns of `_RESERVED` names say what is expected and more, all others are variables.

    Source: promptfoo's ``testCaseFromCsvRow`` in its ``src/csv.ts``.
    """
    own = {key: value for key, value in row.data.items() if _RESERVED.fullmatch(key)}
    test: dict[str, Any] = {"vars": {key: value for key, value in row.data.items() if key not in own}}
    asserts = [_assertion(str(value)) for key, value in own.items() if key.startswith("__expected") and row.has(key)]
    for key in own:
        if key.startswith("__config:"):
            _set_threshold(asserts, key, row)
    test["assert"] = [each | {"metric": own["__metric"]} for each in asserts] if row.has("__metric") else asserts
    test["options"] = {key: own[f"__{key}"] for key in ("prefix", "suffix") if own.get(f"__{key}")}
    test |= {key: own[f"__{key}"] for key in ("description", "providerOutput") if row.has(f"__{key}")}
    if row.has("__threshold"):
        test["threshold"] = _finite("__threshold", row)
    metadata = dict(_noted(key, str(value)) for key, value in own.items() if key.startswith("__metadata:") and row.has(key))
    return Row(row.place, test | ({"metadata": metadata} if metadata else {}))


def _noted(key: str, value: str) -> tuple[str, Any]:
    """The name and value of metadata in a cell; in a column whose name ends in ``[]``, commas part the values."""
    name = key.partition(":")[2]
    if not name.endswith("[]"):
        return name, value
    return name.removesuffix("[]"), [each.strip().replace("\\,", ",") for each in re.split(r"(?<!\\),", value)]


def _set_threshold(asserts: list[dict[str, Any]], key: str, row: Row) -> None:
    """Set the threshold that a column gives to the assertion that it names: the Nth that is there."""
    if (named := re.fullmatch(r"__config:__expected([1-9]\d*)?:threshold", key)) is None:
        raise row.refusal("unknown column; known are __config:__expected:threshold and __config:__expectedN:threshold", key)
    if (place := int(named[1] or 1)) <= len(asserts):
        asserts[place - 1]["threshold"] = _finite(key, row)


def _finite(key: str, row: Row) -> float:
    try:
        if math.isfinite(number := float(row.data[key])):
            return number
        raise ValueError("not finite")
    except ValueError:
        raise row.refusal(f"give a number; got {excerpt(row.data[key], 80)}", key) from None


def _assertion(text: str) -> dict[str, Any]:
    """The assertion that a cell says: ``contains: x``, ``latency(500)``, ``is-sql``; any other text is what the answer equals.

    The value is None where the cell gives none. What has no equivalent here is read as well, so that its test is skipped.

    Source: promptfoo's ``assertionFromString`` in its ``src/csv.ts``.
    """
    text = text.strip()
    for prefix, kind in _PREFIXES.items():
        if text.startswith(prefix):
            return {"type": kind, "value": text.removeprefix(prefix).strip()}
    if (file := _CODE_FILE.fullmatch(text)) is not None:
        return {"type": "python" if file["python"] else "javascript", "value": text}
    if (found := _ASSERTION.fullmatch(text)) is None:
        return {"type": "equals", "value": text}
    kind = found["type"]
    assertion: dict[str, Any] = {"type": kind, "value": None if found["value"] is None else found["value"].strip()}
    if (default := _THRESHOLDS.get(kind.removeprefix("not-"))) is not None:
        assertion["threshold"] = float(found["threshold"] or default)
    return assertion


def _merged(row: Row, default: Mapping[str, Any], config: Mapping[str, Any]) -> Row:
    """The test with the default test in it: of variables, options and metadata each that the test does not give itself."""
    test = {**default, **row.data, "prompts": config.get("prompts")}
    for part in ("vars", "options", "metadata"):
        if isinstance(default.get(part), dict) and isinstance(own := row.data.get(part) or {}, dict):
            test[part] = {**default[part], **own}
    asserts = [default.get("assert") or [], row.data.get("assert") or []]
    if wrong := next((each for each in asserts if not isinstance(each, list)), None):
        raise row.refusal(f"expected a list of assertions, got {excerpt(wrong, 80)}", "assert")
    asserts = [[_from_template(each, config) for each in part] for part in asserts]
    if _options(row).get("disableDefaultAsserts") is True:
        asserts[0] = []
    test |= {"assert": [*asserts[0], *asserts[1]], "defaults": len(asserts[0])}
    return Row(row.place, test)


def _from_template(assertion: Any, config: Mapping[str, Any]) -> Any:
    """An assertion, or the one under ``assertionTemplates`` that it refers to, with what it says itself."""
    if not isinstance(assertion, dict) or not isinstance(reference := assertion.get("$ref"), str):
        return assertion
    name = reference.removeprefix("#/assertionTemplates/")
    templates = config.get("assertionTemplates")
    if name == reference or not isinstance(templates, dict) or not isinstance(template := templates.get(name), dict):
        return assertion
    return {**template, **{key: value for key, value in assertion.items() if key != "$ref"}}


def _several(row: Row) -> dict[str, list[Any]]:
    """The variables that are lists, by name; one without values is left as it is, and its test is skipped."""
    variables = row.data.get("vars")
    if _options(row).get("disableVarExpansion"):
        return {}
    return (
        {name: value for name, value in variables.items() if isinstance(value, list) and value}
        if isinstance(variables, dict)
        else {}
    )


def _combinations(row: Row) -> Iterator[Row]:
    """The test once for each combination of the values of variables that are lists."""
    variables, several = row.data.get("vars"), _several(row)
    number = re.search(r"(\d+)\]?$", row.place)
    name = f"{'line' if ']' not in row.place else 'test'}-{number[1] if number else 1}"
    if not several:
        yield Row(row.place, {**row.data, "id": name})
        return
    for place, values in enumerate(itertools.product(*several.values()), 1):
        chosen = {**variables, **dict(zip(several, values, strict=True))} if isinstance(variables, dict) else {}
        yield Row(row.place, {**row.data, "vars": chosen, "id": f"{name}-{place}"})
