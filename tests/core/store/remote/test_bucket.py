"""What can be wrong with a store in object storage is said in one line, which has no secret in it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from eval_skills.core.errors import EvalSkillsError, RunError, UsageError
from eval_skills.core.store import Store
from eval_skills.core.store.remote import bucket as bucket_module
from eval_skills.core.store.remote.address import Address
from eval_skills.core.store.remote.bucket import Bucket
from tests.object_storage import ObjectStorage
from tests.tables import each_row

LandWhole = Callable[..., None]


@each_row(
    ("url", "message"),
    [
        pytest.param("ftp://b/c", "'ftp://b/c' cannot be opened: a store is a folder, or begins with s3://", id="scheme"),
        pytest.param("s3://", r"write s3://bucket or s3://bucket/prefix", id="no-bucket"),
        pytest.param("s3://b//c", r"write s3://bucket or s3://bucket/prefix", id="empty-part"),
        pytest.param("gs://b/../c", r"write gs://bucket or gs://bucket/prefix", id="upwards"),
        pytest.param(
            "s3://key:hush@b/c", r"the store s3://… has an @, \? or # in it; give s3://bucket/prefix alone", id="secret"
        ),
        pytest.param("az://b/c?sig=hush", r"the store az://… has an @, \? or # in it", id="signature"),
    ],
)
def test_what_is_no_address_is_refused(url: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        Store(url)
    assert "hush" not in str(raised.value)


def test_each_address_at_each_service_has_a_folder_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    here = Address.of("s3://b/team/evals").mirror
    assert here.parent == tmp_path / "eval-skills" / "stores"
    assert here.name.startswith("b-team-evals-")
    assert Address.of("s3://b/team/evals/").mirror == here
    assert len({here, Address.of("s3://b/team-evals").mirror, Address.of("gs://b/team/evals").mirror}) == 3
    monkeypatch.setenv("AWS_ENDPOINT_URL", "https://elsewhere.example")
    assert Address.of("s3://b/team/evals").mirror != here
    monkeypatch.setenv("XDG_STATE_HOME", "relative")  # as the specification has it, that is ignored
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert Address.of("s3://b").mirror.is_relative_to(tmp_path / "home" / ".local" / "state" / "eval-skills")


@pytest.mark.parametrize(
    ("url", "variables", "message"),
    [
        pytest.param(
            "s3://b", {}, "needs credentials, and AWS_ACCESS_KEY_ID is not set; set AWS_ACCESS_KEY_ID and AWS_S", id="s3"
        ),
        pytest.param("s3://b", {"AWS_ACCESS_KEY_ID": "k"}, "and AWS_SECRET_ACCESS_KEY is not set", id="half"),
        pytest.param("gs://b", {}, "and GOOGLE_APPLICATION_CREDENTIALS is not set; set GOOGLE_APPLICATION_CREDENTIALS", id="gs"),
        pytest.param("az://b", {}, "and AZURE_STORAGE_ACCOUNT_KEY is not set; set AZURE_STORAGE_ACCOUNT_NAME and AZURE", id="az"),
        pytest.param("az://b", {"AZURE_STORAGE_ACCOUNT_KEY": "k"}, "and AZURE_STORAGE_ACCOUNT_NAME is not set", id="no-account"),
    ],
)
def test_missing_credentials_are_named(
    url: str, variables: dict[str, str], message: str, object_storage: ObjectStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=message):
        Store(url)
    assert object_storage.requests == []


def test_a_missing_package_is_named_with_its_extra(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(
        UsageError, match=r"needs the package obstore, which is not installed; pip install 'eval-skills\[object-s"
    ):
        Store(url)


def test_a_missing_bucket_is_no_empty_store(object_storage: ObjectStorage) -> None:
    with pytest.raises(UsageError, match="the store s3://no-such/x: there is no bucket no-such; create it, or correct --store"):
        Store("s3://no-such/x")


def test_a_service_that_is_not_there_is_no_empty_store(object_storage: ObjectStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setitem(bucket_module._RETRIES, "max_retries", 0)
    with pytest.raises(RunError, match=r"cannot be reached at http://127.0.0.1:9 \(connection refused\); check the network"):
        Store("s3://b/x")


def test_only_this_machine_is_asked_without_encryption(object_storage: ObjectStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://user:hush@storage.example:9000/")
    with pytest.raises(UsageError, match=r"http://storage.example:9000 is not encrypted; use an https endpoint, or set"):
        Store("s3://b/x")


@pytest.mark.parametrize(
    ("status", "error", "message"),
    [
        pytest.param("403 Forbidden", UsageError, r"be read with these credentials \(HTTP 403\); check AWS_ACC", id="refused"),
        pytest.param("401 Unauthorized", UsageError, r"be read with these credentials \(HTTP 401\)", id="unknown"),
        pytest.param("503 Slow Down", RunError, r"be read: its service at http://127\S+ answers HTTP 503; try again", id="busy"),
    ],
)
def test_a_refusal_is_no_empty_store(
    status: str,
    error: type[EvalSkillsError],
    message: str,
    url: str,
    object_storage: ObjectStorage,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(bucket_module._RETRIES, "max_retries", 0)
    object_storage.before = lambda method, path: status
    with pytest.raises(error, match=f"the store {url} cannot {message}") as raised:
        Store(url)
    assert "the-secret-key" not in str(raised.value)


@pytest.mark.parametrize(
    ("code", "error", "message"),
    [
        pytest.param(
            "AccessDenied", UsageError, r" with these credentials \(AccessDenied\); check AWS_ACCESS_KEY_ID", id="refused"
        ),
        pytest.param("InternalError", RunError, r": its service at \S+ answers InternalError; try again later", id="busy"),
    ],
)
def test_an_object_that_may_not_be_deleted_is_no_trouble_with_the_network(
    code: str, error: type[EvalSkillsError], message: str, url: str, object_storage: ObjectStorage
) -> None:
    name = "items/date=2026-11-21/20261121T233824Z-3f9a.parquet"
    refusal = f"<Error><Key>team/evals/{name}</Key><Code>{code}</Code><Message>No.</Message></Error>"
    object_storage.before = lambda method, path: "200 OK"  # S3 answers so: the refusal is in what it says of each object
    object_storage.body = f"<DeleteResult>{refusal}</DeleteResult>".encode()
    with pytest.raises(error, match=f"the store {url} cannot be deleted from{message}"):
        Bucket(Address.of(url)).delete(name)


@pytest.mark.slow
@pytest.mark.parametrize("status", ["403 Forbidden", "503 Slow Down"])
def test_what_cannot_be_published_is_kept_and_published_by_the_next_command(
    status: str,
    url: str,
    run_id: str,
    on_machine: Callable[[str], None],
    land_whole: LandWhole,
    object_storage: ObjectStorage,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(bucket_module._RETRIES, "max_retries", 0)
    store = Store(url)
    land_whole(store, run_id, "a")
    object_storage.before = lambda method, path: status if method == "PUT" and "/reports/" in path else None
    kept = f"nothing is lost: 2 files of run {run_id} are kept in {store.layout.root}, and the next command with this store publ"
    with pytest.raises(EvalSkillsError, match=kept):
        store.publish()
    assert [kept in remark for remark in Store(url).remarks] == [True]
    assert len(Store(url).items()) == 1
    object_storage.forget()
    assert Store(url).remarks == []
    on_machine("other")
    assert Store(url).history() == {"adder@1.0.0": 0.5}
