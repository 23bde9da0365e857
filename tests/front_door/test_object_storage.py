"""Runs whose store is in object storage: from Python, and as commands read them."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

import eval_skills as es
from eval_skills.adapters.process.launch import child_environment
from eval_skills.cli.main import call
from eval_skills.core.errors import RunError
from eval_skills.core.store.remote import bucket
from tests.object_storage import ObjectStorage

OnMachine = Callable[[str], None]
TASKS = [{"id": "a", "input": "a", "expected": "A"}, {"id": "b", "input": "b", "expected": "b"}]


def upper(text: str) -> str:
    return text.upper()


@pytest.mark.slow
def test_a_run_is_read_on_another_machine(url: str, on_machine: OnMachine) -> None:
    result = es.evaluate(upper, TASKS, store=url)
    assert result.store == url
    on_machine("other")
    items = es.Store(url).items(run_id=result.run_id)
    assert dict(zip(items.task_id, items.status, strict=True)) == {"a": "pass", "b": "fail"}
    assert es.evaluate(upper, TASKS, store=es.Store(url)).run_id in es.Store(url).run_ids()


@pytest.mark.slow
def test_a_run_whose_storage_is_gone_at_its_end_loses_nothing(
    url: str,
    on_machine: OnMachine,
    object_storage: ObjectStorage,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(bucket._RETRIES, "max_retries", 0)
    object_storage.before = lambda method, path: "503 Slow Down" if method == "PUT" else None
    with pytest.raises(RunError, match=r"cannot be written to: .* HTTP 503.*nothing is lost: 3 files of run \S+ are kept in"):
        es.evaluate(upper, TASKS, store=url)
    assert call(["history", "--store", url]) == 0
    said = capsys.readouterr()
    assert "50.0 %" in said.out
    assert "and the next command with this store publishes them" in said.err
    object_storage.forget()
    assert call(["history", "--store", url]) == 0
    assert capsys.readouterr().err == ""
    on_machine("other")
    assert len(es.Store(url).items()) == 2


def test_the_program_of_a_skill_is_not_given_the_credentials(object_storage: ObjectStorage) -> None:
    given = child_environment({}, [])
    assert not {*given.values()} & {os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]}


@pytest.mark.slow
def test_commands_say_what_is_wrong_with_the_storage_in_one_line(
    url: str, object_storage: ObjectStorage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(bucket._RETRIES, "max_retries", 0)
    for arguments, code, message in (
        (["history", "--store", url], 2, f"--store {url}: no such store (nothing of one is there); evaluate something first"),
        (["query", "SELECT 1", "--store", "s3://not-there"], 2, "there is no bucket not-there"),
        (["view", "--no-open", "--store", "s3://a?b"], 2, "has an @, ? or # in it"),
    ):
        assert call(arguments) == code
        said = capsys.readouterr()
        assert (said.out, said.err.count("\n"), message in said.err) == ("", 1, True), said
    object_storage.before = lambda method, path: "403 Forbidden"
    for command in (["history"], ["trend"], ["query", "SELECT 1"], ["store", "verify"], ["report", "diff", "latest", "latest"]):
        assert call([*command, "--store", url]) == 2
        said = capsys.readouterr()
        assert (said.out, said.err.count("\n"), "with these credentials (HTTP 403)" in said.err) == ("", 1, True), said
        assert os.environ["AWS_SECRET_ACCESS_KEY"] not in said.err
