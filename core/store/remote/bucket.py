"""The bucket of a store: listing, reading and writing its objects, and what can be wrong with that, in one line.

Errors of the library repeat requests and answers; ours have the status and the service's code alone, so no secret gets into them.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urlsplit

from eval_skills.core.errors import RunError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from obstore.store import ObjectStore

    from eval_skills.core.store.remote.address import Address

INSTALL = "pip install 'eval-skills[object-storage]'"

_SERVICES = {"s3": "S3Store", "gs": "GCSStore", "az": "AzureStore"}
_CREDENTIALS = {
    "s3": ("AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
           "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_SKIP_SIGNATURE"),
    "gs": ("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_SERVICE_ACCOUNT", "GOOGLE_SERVICE_ACCOUNT_KEY", "GOOGLE_SKIP_SIGNATURE"),
    "az": ("AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_ACCESS_KEY", "AZURE_STORAGE_SAS_TOKEN", "AZURE_STORAGE_SAS_KEY",
           "AZURE_STORAGE_CLIENT_SECRET", "AZURE_CLIENT_SECRET", "AZURE_FEDERATED_TOKEN_FILE", "AZURE_SKIP_SIGNATURE"),
}  # fmt: skip
"""Any of these says who asks. Without one, the library would ask the network of a cloud that need not be there."""

_NAMED = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS",
    "az": "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
}
_SECRETS = {"AWS_ACCESS_KEY_ID": "AWS_SECRET_ACCESS_KEY"}
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

_TIMEOUTS = {"connect_timeout": "5s", "timeout": "120s"}
_RETRIES = {
    "max_retries": 3,
    "backoff": {"init_backoff": timedelta(seconds=0.1), "max_backoff": timedelta(seconds=2), "base": 2},
    "retry_timeout": timedelta(seconds=30),
}

_DIGEST = "sha256"
"""The metadata of an object that has the digest of its bytes, as they were meant to be."""


class ObjectConflict(Exception):
    """The object is not what the writer knew it as: somebody else wrote it, or removed it."""


@dataclass(frozen=True, slots=True)
class ListedObject:
    """What a listing says of an object: the tag of its version, its size in bytes, and when it was written (UTC)."""

    tag: str
    size: int
    written: datetime


@dataclass(frozen=True, slots=True)
class FetchedObject:
    """An object that was read into a file: the tag of its version, the digest of its bytes, and the one that it should have."""

    tag: str
    digest: str
    expected: str


class Bucket:
    """The objects below one address. Nothing is asked before the first call.

    Raises:
        UsageError: the extra is not installed, credentials are missing, or the endpoint is neither https nor on this machine.
    """

    def __init__(self, address: Address) -> None:
        self._address = address
        self._store = _opened(address)

    def listed(self) -> dict[str, ListedObject]:
        """All objects by their name below the address.

        Raises:
            UserError: there is no such bucket, or the credentials are refused.
            RunError: the service cannot be reached, or cannot answer.
        """
        import obstore

        with self._explained("read"):
            return {
                each["path"]: ListedObject(_tag(each), each["size"], each["last_modified"].astimezone(UTC))
                for chunk in obstore.list(self._store)
                for each in chunk
            }

    def fetch(self, name: str, file: Path) -> FetchedObject | None:
        """Read an object into a file, which is made or overwritten; None where it is gone. Errors as in `listed`."""
        import obstore

        found = hashlib.sha256()
        with self._explained("read"):
            try:
                result = obstore.get(self._store, name)
                with file.open("wb") as target:
                    for part in result.stream():
                        found.update(part)
                        target.write(part)
            except FileNotFoundError:
                return None
            digest = found.hexdigest()
            return FetchedObject(_tag(result.meta), digest, str(result.attributes.get(_DIGEST, digest)))

    def put(self, name: str, content: bytes, *, replaces: str | None) -> str:
        """Write an object, whole or not at all, if it is still the version of the tag `replaces` (None: if there is none).

        Returns the tag of the new version.

        Raises:
            ObjectConflict: it is not.
            UserError: there is no such bucket, or the credentials may not write.
            RunError: the service cannot be reached, or cannot answer.
        """
        import obstore
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        with self._explained("written to"):
            try:
                mode: Any = "create" if replaces is None else {"e_tag": replaces}
                attributes: Any = {_DIGEST: hashlib.sha256(content).hexdigest()}
                return _tag(obstore.put(self._store, name, content, mode=mode, attributes=attributes))
            except (AlreadyExistsError, PreconditionError):
                raise ObjectConflict(name) from None

    def delete(self, name: str) -> None:
        """Remove an object; nothing where it is gone. Errors as in `put`, but for the conflict."""
        import obstore

        with self._explained("deleted from"):
            try:
                obstore.delete(self._store, name)
            except FileNotFoundError:
                return

    @contextmanager
    def _explained(self, done: str) -> Iterator[None]:
        from obstore.exceptions import BaseError

        try:
            yield
        except (BaseError, FileNotFoundError) as error:
            self._raise(error, done)

    def _raise(self, error: Exception, done: str) -> NoReturn:
        text, url = str(error), self._address.url
        code = next(iter(re.findall(r"(?:<Code>|\(code: )(\w+)", text)), "")  # the latter of an object that is to be deleted
        status = next(iter(re.findall(r"status code: (\d{3})", text)), "")
        said = " ".join(filter(None, [f"HTTP {status}" if status else "", code]))
        if code in ("NoSuchBucket", "ContainerNotFound") or status == "404":
            raise UsageError(
                f"the store {url}: there is no bucket {self._address.bucket}; create it, or correct --store"
            ) from None
        if status in ("400", "401", "403") or code == "AccessDenied":
            who = _NAMED[self._address.scheme]
            raise UsageError(
                f"the store {url} cannot be {done} with these credentials ({said}); check {who}, and what they are allowed to do"
            ) from None
        at = f" at {endpoint}" if (endpoint := _shown(self._address.endpoint)) else ""
        if said:
            raise RunError(f"the store {url} cannot be {done}: its service{at} answers {said}; try again later") from None
        cause = _cause(text)
        raise RunError(f"the store {url} cannot be reached{at}{cause}; check the network, then call the command again") from None


def _cause(text: str) -> str:
    """Why there was no answer, in our own words: the library's have the request in them."""
    if "kind: Timeout" in text or "timed out" in text:
        return " (no answer in time)"
    if "dns error" in text or "failed to lookup" in text:
        return " (there is no such host)"
    return " (connection refused)" if "Connection refused" in text else ""


def _opened(address: Address) -> ObjectStore:
    try:
        from obstore import store as services
    except ImportError:
        raise UsageError(f"the store {address.url} needs the package obstore, which is not installed; {INSTALL}") from None
    if (lacking := _lacking(address)) is not None:
        raise UsageError(f"the store {address.url} needs credentials, and {lacking} is not set; set {_NAMED[address.scheme]}")
    options: Any = {**_TIMEOUTS, "allow_http": _allows_http(address)}
    service: Any = getattr(services, _SERVICES[address.scheme])
    more = {"endpoint": address.endpoint} if address.scheme == "s3" and address.endpoint else {}
    opened: ObjectStore = service(
        address.bucket, prefix=address.prefix or None, client_options=options, retry_config=_RETRIES, **more
    )
    return opened


def _lacking(address: Address) -> str | None:
    """The variable that is missing for the credentials to be whole; None where they are."""
    given = next((name for name in _CREDENTIALS[address.scheme] if os.environ.get(name)), None)
    if given is None:
        return _CREDENTIALS[address.scheme][0]
    if address.scheme == "az" and not os.environ.get("AZURE_STORAGE_ACCOUNT_NAME"):
        return "AZURE_STORAGE_ACCOUNT_NAME"
    return None if os.environ.get(needed := _SECRETS.get(given, given)) else needed


def _allows_http(address: Address) -> bool:
    """Whether the endpoint may be asked without encryption: on this machine, or where it was asked for.

    Raises:
        UsageError: neither, and it would be.
    """
    asked = os.environ.get("AWS_ALLOW_HTTP", "").lower() in ("1", "true")
    parts = urlsplit(address.endpoint)
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK and not asked:
        raise UsageError(
            f"the store {address.url}: {_shown(address.endpoint)} is not encrypted; use an https endpoint, or set "
            "AWS_ALLOW_HTTP=true"
        )
    return parts.scheme == "http"


def _shown(endpoint: str) -> str:
    """The endpoint without what may be a secret in it."""
    parts = urlsplit(endpoint)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}" if parts.scheme in ("http", "https") else ""


def _tag(found: Any) -> str:
    """What tells one version of an object from all others."""
    return str(found.get("e_tag") or "")
